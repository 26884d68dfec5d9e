//! The binary under test, as a child process.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::metrics::Metrics;
use crate::raw::{RawConn, Request, Response};
use crate::wait::{PATIENCE, eventually, within};

/// How the gateway is started; [`Launch::start`] does it.
#[derive(Clone, Debug)]
pub struct Launch {
    config: Vec<u8>,
    args: Vec<String>,
    env: Vec<(String, String)>,
    mounted: bool,
    piped: bool,
    under: Vec<String>,
}

impl Launch {
    /// With this configuration.
    #[must_use]
    pub fn new(config: &Value) -> Self {
        Self {
            config: config.to_string().into_bytes(),
            args: vec![],
            env: vec![],
            mounted: false,
            piped: false,
            under: vec![],
        }
    }

    /// With these targets and nothing else in the configuration.
    #[must_use]
    pub fn targets(targets: &Value) -> Self {
        Self::new(&json!({ "targets": targets }))
    }

    /// With these targets in strict mode.
    #[must_use]
    pub fn strict(targets: &Value) -> Self {
        Self::new(&json!({ "strict_mode": true, "targets": targets }))
    }

    /// More arguments.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    /// One more environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Another program starts it: that program and its arguments, after which the binary and its own are put. It has to
    /// become the gateway, so that both are one process.
    #[must_use]
    pub fn under(mut self, program: &[&str]) -> Self {
        self.under = program.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// The configuration file stands in a folder that is mounted as clusters mount their configuration: a link to
    /// a file behind a link to the folder of the current version. [`Gateway::swap_mount`] exchanges it.
    #[must_use]
    pub fn mounted(mut self) -> Self {
        self.mounted = true;
        self
    }

    /// Starts it and waits until it is ready. The ports are free ones; should another process have taken one in
    /// between, others are tried.
    pub async fn start(self) -> Gateway {
        for _ in 0..5 {
            let mut gateway = self.spawn();
            if gateway.becomes_ready().await {
                return gateway;
            }
            let log = gateway.log();
            assert!(log.contains("in use"), "the gateway did not start: {log}");
        }
        panic!("no free ports in five tries");
    }

    /// Starts it with a pipe in the place of the configuration file and waits until it reads from it; gives the end where
    /// the configuration is to be written.
    pub async fn begin(mut self) -> (Gateway, File) {
        self.piped = true;
        let gateway = self.spawn();
        let pipe = gateway.dir.path().join("config.json");
        let opening = tokio::task::spawn_blocking(move || File::options().write(true).open(pipe));
        let opened = within("the gateway to read its configuration", opening).await;
        (gateway, opened.expect("a thread").expect("a pipe"))
    }

    fn spawn(&self) -> Gateway {
        let dir = tempfile::tempdir().expect("a folder");
        if self.piped {
            let made = Command::new("mkfifo")
                .arg(dir.path().join("config.json"))
                .status();
            assert!(made.expect("mkfifo").success());
        } else if self.mounted {
            mount(dir.path(), "..v1", &self.config);
            symlink("..data/config.json", dir.path().join("config.json")).expect("a link");
        } else {
            fs::write(dir.path().join("config.json"), &self.config).expect("a configuration file");
        }
        let log = File::create(dir.path().join("log")).expect("a log file");
        let (port, metrics_port) = free_ports();
        let child = command(&self.under)
            .args(["-f".as_ref(), dir.path().join("config.json").as_os_str()])
            .args([
                "--port",
                &port.to_string(),
                "--metrics-port",
                &metrics_port.to_string(),
            ])
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log file"))
            .stderr(log)
            .spawn()
            .expect("the binary starts");
        // What runs under another program may be slow.
        let patience = PATIENCE * if self.under.is_empty() { 1 } else { 10 };
        Gateway {
            child,
            dir,
            port,
            metrics_port,
            patience,
        }
    }
}

/// A running gateway with a folder of its own. Dropping it kills it.
#[derive(Debug)]
pub struct Gateway {
    child: Child,
    dir: TempDir,
    port: u16,
    metrics_port: u16,
    patience: Duration,
}

impl Gateway {
    /// Starts one with these targets.
    pub async fn serve(targets: Value) -> Self {
        Launch::targets(&targets).start().await
    }

    /// Where clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// A new connection.
    pub async fn connect(&self) -> RawConn {
        RawConn::connect(self.address()).await
    }

    /// One request on a connection of its own.
    pub async fn send(&self, request: Request) -> Response {
        self.connect().await.ask(&request).await
    }

    /// A request whose answer is still awaited: sent, not read.
    pub async fn begin(&self, request: Request) -> RawConn {
        let mut connection = self.connect().await;
        connection.send(&request.bytes()).await;
        connection
    }

    /// Whether a new client can connect.
    pub async fn accepts(&self) -> bool {
        tokio::net::TcpStream::connect(self.address()).await.is_ok()
    }

    /// A `GET` on the metrics port.
    pub async fn side(&self, path: &str) -> Response {
        let address = (Ipv4Addr::LOCALHOST, self.metrics_port).into();
        RawConn::connect(address)
            .await
            .ask(&Request::get(path))
            .await
    }

    /// A scrape.
    pub async fn metrics(&self) -> Metrics {
        let page = self.side("/metrics").await;
        assert_eq!(page.status, 200);
        Metrics::parse(&page.text())
    }

    /// Waits until the sum of these series is `value`; no series counts as zero.
    pub async fn metric_becomes(&self, name: &str, labels: &[(&str, &str)], value: f64) {
        let what = format!("{name}{labels:?} to be {value}");
        eventually(&what, || async {
            (self.metrics().await.count(name, labels) - value).abs() < 1e-9
        })
        .await;
    }

    /// Everything it has logged so far, and said on its output.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).expect("a log")
    }

    /// Waits until the log says `text` `times` times.
    pub async fn logs(&self, text: &str, times: usize) {
        eventually(&format!("the log to say {text:?}"), || async {
            self.log().matches(text).count() >= times
        })
        .await;
    }

    /// Where its configuration file is; the folder is the gateway's own.
    #[must_use]
    pub fn config_path(&self) -> PathBuf {
        self.dir.path().join("config.json")
    }

    /// Truncates the configuration file and writes this one.
    pub fn write_config(&self, config: &Value) {
        fs::write(self.config_path(), config.to_string()).expect("a configuration file");
    }

    /// Renames a new file over the configuration file, as editors and deployment tools do.
    pub fn replace_config(&self, config: &Value) {
        let new = self.dir.path().join("config.new");
        fs::write(&new, config.to_string()).expect("a configuration file");
        fs::rename(new, self.config_path()).expect("a rename");
    }

    /// Exchanges the mounted folder ([`Launch::mounted`]) for one with this configuration, in one step.
    pub fn swap_mount(&self, version: &str, config: &Value) {
        let old = fs::read_link(self.dir.path().join("..data")).expect("a mounted folder");
        mount(self.dir.path(), version, config.to_string().as_bytes());
        fs::remove_dir_all(self.dir.path().join(old)).expect("the old version goes");
    }

    /// Sends a signal by name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .expect("kill");
        assert!(sent.success(), "kill -s {name} {pid}");
    }

    /// The number of its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended; its exit code, `None` if a signal ended it.
    pub async fn exit(&mut self) -> Option<i32> {
        within("the gateway to end", ends(&mut self.child))
            .await
            .code()
    }

    /// Whether it is still there.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    async fn becomes_ready(&mut self) -> bool {
        let patience = self.patience;
        let probe = async {
            loop {
                if !self.is_running() {
                    return false;
                }
                let side = (Ipv4Addr::LOCALHOST, self.metrics_port);
                if self.accepts().await
                    && tokio::net::TcpStream::connect(side).await.is_ok()
                    && self.side("/readyz").await.status == 200
                {
                    return true;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let ready = tokio::time::timeout(patience, probe).await;
        ready.expect("the gateway gets ready in time")
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(40)..].join("\n");
            eprintln!("---- end of the gateway's log ----\n{last}");
        }
    }
}

/// What a run of the binary left.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it said on both outputs.
    pub output: String,
}

/// Runs the binary with `args` in `dir` until it ends by itself; panics, and kills it, if it does not.
pub async fn run(dir: &Path, args: &[&str]) -> Ended {
    let mut output = tempfile::tempfile().expect("a file");
    let mut child = command(&[])
        .current_dir(dir)
        .args(args)
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("a file"))
        .stderr(output.try_clone().expect("a file"))
        .spawn()
        .map(Killed)
        .expect("the binary starts");
    let status = within(&format!("{args:?} to end"), ends(&mut child.0)).await;
    let mut text = Vec::new();
    output.seek(SeekFrom::Start(0)).expect("a file");
    output.read_to_end(&mut text).expect("a file");
    Ended {
        code: status.code(),
        output: String::from_utf8_lossy(&text).into_owned(),
    }
}

/// A child that does not outlive this.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

async fn ends(child: &mut Child) -> ExitStatus {
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The binary in an environment that holds nothing which could change its behaviour.
fn command(under: &[String]) -> Command {
    let mut words = under.iter().map(OsStr::new).chain([binary().as_os_str()]);
    let mut command = Command::new(words.next().expect("the binary at least"));
    command.args(words).env_clear().env("RUST_BACKTRACE", "1");
    command
}

/// `ONWARDS_SERVER_BIN`, else the one of this build, which is made if cargo is there to make it.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(path) = std::env::var_os("ONWARDS_SERVER_BIN") {
            return path.into();
        }
        let this = std::env::current_exe().expect("a path");
        let folder = this
            .ancestors()
            .nth(2)
            .expect("target/<profile>/deps/<test>");
        if let Some(cargo) = std::env::var_os("CARGO") {
            let profile = folder.file_name().map(|name| {
                if name == "debug" {
                    "dev".into()
                } else {
                    name.to_owned()
                }
            });
            let made = Command::new(cargo)
                .args([
                    "build",
                    "--quiet",
                    "--package",
                    "onwards-server",
                    "--bin",
                    "onwards-server",
                    "--profile",
                ])
                .arg(profile.expect("a profile"))
                .arg("--target-dir")
                .arg(folder.parent().expect("a target folder"))
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status();
            assert!(
                made.expect("cargo runs").success(),
                "the binary could not be built"
            );
        }
        folder.join("onwards-server")
    })
}

/// Writes a version of a mounted folder and points `..data` to it.
fn mount(folder: &Path, version: &str, config: &[u8]) {
    fs::create_dir(folder.join(version)).expect("a folder");
    fs::write(folder.join(version).join("config.json"), config).expect("a configuration file");
    symlink(version, folder.join("..data.new")).expect("a link");
    fs::rename(folder.join("..data.new"), folder.join("..data")).expect("a rename");
}

/// Two ports that nothing listens on at this moment. They are below those that the system gives to whoever asks for any, and
/// none is given twice by one process, so that nobody takes them before the gateway does.
fn free_ports() -> (u16, u16) {
    (free_port(), free_port())
}

fn free_port() -> u16 {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 10_000;
    const COUNT: u16 = 20_000;
    // Processes of tests that run side by side begin at places of their own.
    let begin = u16::try_from(std::process::id().wrapping_mul(7919) % u32::from(COUNT));
    let begin = begin.expect("less than the count");
    for _ in 0..COUNT {
        let step = GIVEN.fetch_add(1, Ordering::Relaxed) % COUNT;
        let port = FIRST + (begin + step) % COUNT;
        if TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok() {
            return port;
        }
    }
    panic!("no free port");
}
