//! `cargo xtask clients`: the official Python and Node SDKs against the binary, in every mode it has.
//!
//! The gateway serves its embedded provider and `clients/upstream.py`, a provider that misbehaves by model name. Python
//! plays that provider, so without Python nothing runs; without Node only what needs it is left out. Both are said. Every
//! client protocol against every kind of provider is in [`matrix`].

mod matrix;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::{Owned, command, present, run as execute};
use crate::{suite, workspace};

/// A process is asked this often, this far apart, whether it is ready.
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

    let python = Python::prepare(root, &work)?;
    let node = if present("node", &["--version"]) && present("npm", &["--version"]) {
        Some(Node::prepare(root, &work)?)
    } else {
        println!("clients: what needs node and npm is skipped, they are not installed");
        None
    };

    let mut total = Count::default();
    for strict in [false, true] {
        let stage = Stage::set(root, &work, &server, strict)?;
        println!("clients: strict_mode {strict}, {}", stage.gateway_url);
        total.add(stage.play(&mut python.test("test_gateway.py"))?);
        if let Some(node) = &node {
            total.add(stage.play(&mut node.test("run.mjs"))?);
        }
    }
    if let Some(node) = &node {
        total.add(matrix::run(root, &work, &server, &python, node)?);
    }
    println!("clients: {} passed, {} failed", total.passed, total.failed);
    if total.failed > 0 || total.passed == 0 {
        bail!("clients: {} failed", total.failed);
    }
    Ok(())
}

/// A virtual environment with the Python SDKs, made again when the requirements change.
#[derive(Debug)]
struct Python {
    folder: PathBuf,
    program: PathBuf,
}

impl Python {
    fn prepare(root: &Path, work: &Path) -> Result<Self> {
        let folder = root.join("clients/python");
        let venv = work.join("venv");
        let program = venv.join("bin/python");
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
            execute(command(root, &program).args(install).arg(&requirements))?;
            finished(&requirements, &venv)?;
        }
        Ok(Self { folder, program })
    }

    fn test(&self, file: &str) -> Command {
        let mut test = command(&self.folder, &self.program);
        test.arg("-B").arg(file);
        test
    }
}

/// A copy of the Node tests with the Node SDKs beside them, so that the checkout stays as it is.
#[derive(Debug)]
struct Node {
    folder: PathBuf,
}

impl Node {
    fn prepare(root: &Path, work: &Path) -> Result<Self> {
        let original = root.join("clients/node");
        let folder = work.join("node");
        std::fs::create_dir_all(&folder)?;
        for entry in std::fs::read_dir(&original)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), folder.join(entry.file_name()))
                    .with_context(|| format!("copying {}", entry.path().display()))?;
            }
        }
        let lock = original.join("package-lock.json");
        let modules = folder.join("node_modules");
        if !prepared(&lock, &modules)? {
            let install = ["ci", "--no-audit", "--no-fund", "--loglevel", "error"];
            execute(command(&folder, "npm").args(install))?;
            finished(&lock, &modules)?;
        }
        Ok(Self { folder })
    }

    fn test(&self, file: &str) -> Command {
        let mut test = command(&self.folder, "node");
        test.arg(file);
        test
    }
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

/// Provider and gateway; all processes end with this value, the gateway first.
#[derive(Debug)]
struct Stage {
    gateway_url: String,
    /// The variable that tells tests where the provider is, and its value.
    provider: (&'static str, String),
    _processes: Vec<Owned>,
}

impl Stage {
    fn set(root: &Path, work: &Path, server: &Path, strict: bool) -> Result<Self> {
        let script = root.join("clients/upstream.py");
        let (upstream, url) = scripted(command(root, "python3").arg("-B").arg(script))?;
        let file = work.join(format!("strict-{strict}.json"));
        let (gateway, gateway_url) = serve(root, server, &file, &config(&url, strict))?;
        Ok(Self {
            gateway_url,
            provider: ("UPSTREAM_URL", url),
            _processes: vec![gateway, upstream],
        })
    }

    /// Runs one SDK's tests, repeats what they print, and reads the line that closes it.
    fn play(&self, test: &mut Command) -> Result<Count> {
        test.env("ONWARDS_BASE_URL", &self.gateway_url)
            .env(self.provider.0, &self.provider.1);
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

/// Starts a provider that says its port in its first line, and gives its address.
fn scripted(start: &mut Command) -> Result<(Owned, String)> {
    let mut provider = Owned::start(start.stdout(Stdio::piped()))?;
    let output = provider.child().stdout.take();
    let output = output.context("the provider's output is a pipe")?;
    let mut port = String::new();
    BufReader::new(output)
        .read_line(&mut port)
        .context("reading the provider's port")?;
    Ok((provider, format!("http://127.0.0.1:{}", port.trim())))
}

/// Starts the gateway with a configuration, and gives its address once it is ready.
fn serve(root: &Path, server: &Path, file: &Path, config: &Value) -> Result<(Owned, String)> {
    std::fs::write(file, config.to_string()).context("writing the configuration")?;
    let (port, metrics_port) = free_ports()?;
    let mut gateway = Owned::start(&mut gateway(root, server, file, port, metrics_port))?;
    ready(&mut gateway, metrics_port, "/readyz")?;
    Ok((gateway, format!("http://127.0.0.1:{port}")))
}

fn gateway(root: &Path, server: &Path, file: &Path, port: u16, metrics_port: u16) -> Command {
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

/// Waits until a process says at a path that it is ready; fails at once where it has ended.
fn ready(process: &mut Owned, port: u16, path: &str) -> Result<()> {
    for _ in 0..READY_TRIES {
        if let Some(status) = process.child().try_wait()? {
            bail!("a process ended at its start: {status}");
        }
        if probe(port, path).is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
            return Ok(());
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "no runtime here, and the other process tells nobody that it is ready"
        )]
        std::thread::sleep(READY_PAUSE);
    }
    bail!("a process was not ready in time: {path}")
}

fn probe(port: u16, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests;
