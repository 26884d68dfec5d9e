//! `cargo xtask clients`: the official Python and Node SDKs against the binary, in every mode it has.
//!
//! The gateway serves its embedded provider and `clients/upstream.py`, a provider that misbehaves by model name. Python
//! plays that provider, so without Python nothing runs; without Node only the Node tests are left out. Both are said.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::{Owned, command, present, run as execute};
use crate::{suite, workspace};

/// The gateway is asked this often, this far apart, whether it is ready.
const READY_TRIES: u32 = 500;
const READY_PAUSE: Duration = Duration::from_millis(20);

/// Prepares both SDKs, runs their tests against the gateway in every mode, and closes with one line of counts.
pub(crate) fn run(root: &Path) -> Result<()> {
    if !present("python3", &["--version"]) {
        println!("clients: skipped, python3 is not installed");
        return Ok(());
    }
    let server = suite::server_binary(root, true)?;
    println!("clients: {}", server.display());
    let work = workspace::metadata(root)?.target_directory.join("clients");
    std::fs::create_dir_all(&work).with_context(|| format!("making {}", work.display()))?;

    let mut tests = vec![python(root, &work)?];
    if present("node", &["--version"]) && present("npm", &["--version"]) {
        tests.push(node(root, &work)?);
    } else {
        println!("clients: the Node tests are skipped, node or npm is not installed");
    }

    let mut total = Count::default();
    for strict in [false, true] {
        let stage = Stage::set(root, &work, &server, strict)?;
        println!("clients: strict_mode {strict}, {}", stage.gateway_url);
        for test in &mut tests {
            total.add(stage.play(test)?);
        }
    }
    println!("clients: {} passed, {} failed", total.passed, total.failed);
    if total.failed > 0 || total.passed == 0 {
        bail!("clients: {} failed", total.failed);
    }
    Ok(())
}

/// The Python tests, in a virtual environment that is made again when the requirements change.
fn python(root: &Path, work: &Path) -> Result<Command> {
    let folder = root.join("clients/python");
    let venv = work.join("venv");
    let python = venv.join("bin/python");
    let requirements = folder.join("requirements.txt");
    if !prepared(&requirements, &venv)? {
        execute(
            command(root, "python3")
                .args(["-m", "venv", "--clear"])
                .arg(&venv),
        )?;
        let install = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ];
        execute(command(root, &python).args(install).arg(&requirements))?;
        finished(&requirements, &venv)?;
    }
    let mut test = command(&folder, &python);
    test.arg("-B").arg("test_gateway.py");
    Ok(test)
}

/// The Node tests, in a copy of their folder, so that the checkout stays as it is.
fn node(root: &Path, work: &Path) -> Result<Command> {
    let copy = work.join("node");
    std::fs::create_dir_all(&copy)?;
    let lock = root.join("clients/node/package-lock.json");
    for name in [
        "package.json",
        "package-lock.json",
        ".npmrc",
        "gateway.test.mjs",
        "run.mjs",
    ] {
        std::fs::copy(root.join("clients/node").join(name), copy.join(name))
            .with_context(|| format!("copying {name}"))?;
    }
    if !prepared(&lock, &copy.join("node_modules"))? {
        execute(command(&copy, "npm").args([
            "ci",
            "--no-audit",
            "--no-fund",
            "--loglevel",
            "error",
        ]))?;
        finished(&lock, &copy.join("node_modules"))?;
    }
    let mut test = command(&copy, "node");
    test.arg("run.mjs");
    Ok(test)
}

/// Whether the folder was made from this list of packages.
fn prepared(list: &Path, folder: &Path) -> Result<bool> {
    let wanted = std::fs::read(list).with_context(|| format!("reading {}", list.display()))?;
    Ok(std::fs::read(folder.join(".made-from")).is_ok_and(|found| found == wanted))
}

fn finished(list: &Path, folder: &Path) -> Result<()> {
    std::fs::copy(list, folder.join(".made-from")).context("noting what was installed")?;
    Ok(())
}

/// How many tests passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    passed: u32,
    failed: u32,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// Reads `NAME: N passed, M failed`.
    fn read(line: &str) -> Option<Self> {
        let (_, counts) = line.split_once(": ")?;
        let (passed, failed) = counts.split_once(" passed, ")?;
        Some(Self {
            passed: passed.parse().ok()?,
            failed: failed.strip_suffix(" failed")?.parse().ok()?,
        })
    }
}

/// A scripted provider and a gateway in front of it; both end with this value.
#[derive(Debug)]
struct Stage {
    gateway_url: String,
    upstream_url: String,
    _gateway: Owned,
    _upstream: Owned,
}

impl Stage {
    fn set(root: &Path, work: &Path, server: &Path, strict: bool) -> Result<Self> {
        let script = root.join("clients/upstream.py");
        let mut upstream = Owned::start(
            command(root, "python3")
                .arg("-B")
                .arg(script)
                .stdout(Stdio::piped()),
        )?;
        let mut port = String::new();
        let output = upstream
            .child()
            .stdout
            .take()
            .context("the provider's output is a pipe")?;
        BufReader::new(output)
            .read_line(&mut port)
            .context("reading the provider's port")?;
        let upstream_url = format!("http://127.0.0.1:{}", port.trim());

        let file = work.join(format!("strict-{strict}.json"));
        std::fs::write(&file, config(&upstream_url, strict).to_string())
            .context("writing the configuration")?;
        let (port, metrics_port) = free_ports()?;
        let mut start = gateway(root, server, &file, port, metrics_port);
        let mut gateway = Owned::start(&mut start)?;
        ready(&mut gateway, metrics_port)?;
        Ok(Self {
            gateway_url: format!("http://127.0.0.1:{port}"),
            upstream_url,
            _gateway: gateway,
            _upstream: upstream,
        })
    }

    /// Runs one SDK's tests, repeats what they print, and reads the line that closes it.
    fn play(&self, test: &mut Command) -> Result<Count> {
        test.env("ONWARDS_BASE_URL", &self.gateway_url)
            .env("UPSTREAM_URL", &self.upstream_url);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().to_lowercase().ends_with("_proxy") {
                test.env_remove(name);
            }
        }
        let mut child = Owned::start(test.stdout(Stdio::piped()))?;
        let output = child
            .child()
            .stdout
            .take()
            .context("the tests' output is a pipe")?;
        let mut count = None;
        for line in BufReader::new(output).lines() {
            let line = line.context("reading the tests' output")?;
            println!("{line}");
            count = Count::read(&line).or(count);
        }
        let status = child.child().wait()?;
        let count = count.context("the tests closed without a line of counts")?;
        if !status.success() && count.failed == 0 {
            bail!("the tests ended with {status} although none failed");
        }
        Ok(count)
    }
}

fn gateway(root: &Path, server: &Path, file: &PathBuf, port: u16, metrics_port: u16) -> Command {
    let mut start = command(root, server);
    start.arg("--targets").arg(file).args(["--watch", "false"]);
    start.args([
        "--port",
        &port.to_string(),
        "--metrics-port",
        &metrics_port.to_string(),
    ]);
    start.env("RUST_LOG", "off");
    start
}

/// One alias for each way in which the tests want to be served.
fn config(upstream: &str, strict: bool) -> Value {
    let mut targets = serde_json::Map::new();
    let statuses =
        [400, 401, 403, 404, 409, 422, 429, 500, 503].map(|status| format!("status-{status}"));
    let scripted = [
        "chat", "tools", "embed", "busy", "slow", "drip", "cut", "fault",
    ]
    .map(str::to_owned);
    for name in statuses.into_iter().chain(scripted) {
        targets.insert(name, json!({"url": upstream, "trusted": true}));
    }
    targets.insert("echo".into(), json!({"url": "builtin:echo"}));
    targets.insert(
        "locked".into(),
        json!({"url": "builtin:echo", "keys": ["sk-good"]}),
    );
    let nobody = json!({"max_concurrent_requests": 0});
    targets.insert(
        "full".into(),
        json!({"url": "builtin:echo", "concurrency_limit": nobody}),
    );
    // Port 1 is reserved and nothing listens there.
    targets.insert("unreachable".into(), json!({"url": "http://127.0.0.1:1"}));
    json!({"strict_mode": strict, "targets": targets})
}

/// Two ports that were free a moment ago.
fn free_ports() -> Result<(u16, u16)> {
    let one = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let two = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok((one.local_addr()?.port(), two.local_addr()?.port()))
}

/// Waits until `/readyz` says yes; fails at once where the process has ended.
fn ready(gateway: &mut Owned, metrics_port: u16) -> Result<()> {
    for _ in 0..READY_TRIES {
        if let Some(status) = gateway.child().try_wait()? {
            bail!("the gateway ended at its start: {status}");
        }
        if probe(metrics_port).is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
            return Ok(());
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "no runtime here, and the other process tells nobody that it is ready"
        )]
        std::thread::sleep(READY_PAUSE);
    }
    bail!("the gateway was not ready in time")
}

fn probe(port: u16) -> std::io::Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests;
