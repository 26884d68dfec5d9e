//! A `redis-server` of one's own: started on a free port, frozen, killed and started again by the test.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, ToRedisArgs};
use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};

/// Longest time anything here may take.
pub(crate) const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(5);

/// A running server; its data lie in a folder that goes with it.
pub(crate) struct Server {
    child: Child,
    port: u16,
    folder: TempDir,
    options: Vec<String>,
}

impl Server {
    /// Starts one; none, and a line that says so, where it is not installed.
    pub(crate) async fn start() -> Option<Self> {
        Self::start_with(&[]).await
    }

    /// The same with options of the command line.
    pub(crate) async fn start_with(options: &[&str]) -> Option<Self> {
        let version = Command::new("redis-server")
            .arg("--version")
            .stdout(Stdio::null())
            .status();
        if version.is_err() {
            eprintln!("skipped: redis-server is not installed");
            return None;
        }
        // Between the choice of a port and its use somebody else may take it.
        for _ in 0..5 {
            let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
            let folder = tempfile::tempdir().expect("a folder for its data");
            let port = free_port();
            let mut server = Self {
                child: launch(port, &folder, &options),
                port,
                folder,
                options,
            };
            if server.listens().await {
                return Some(server);
            }
        }
        panic!("redis-server does not start on any port");
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Ends it at once, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }

    /// Starts it again on the same port, without its data.
    pub(crate) async fn start_again(&mut self) {
        self.kill();
        self.child = launch(self.port, &self.folder, &self.options);
        assert!(self.listens().await, "it starts again");
    }

    /// Stops it in its tracks: connections stay, nothing is answered.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Sends a command on a connection of its own.
    pub(crate) async fn tell<T: FromRedisValue>(&self, words: &[impl ToRedisArgs]) -> T {
        let mut connection = self.connection().await;
        let mut command = redis::Cmd::new();
        for word in words {
            command.arg(word);
        }
        command
            .query_async(&mut connection)
            .await
            .expect("an answer")
    }

    pub(crate) async fn connection(&self) -> MultiplexedConnection {
        let client = redis::Client::open(self.url()).expect("an address");
        client
            .get_multiplexed_async_connection()
            .await
            .expect("a connection")
    }

    async fn listens(&mut self) -> bool {
        let until = Instant::now() + LONG;
        while Instant::now() < until {
            if self.child.try_wait().expect("its state").is_some() {
                return false;
            }
            let address = (Ipv4Addr::LOCALHOST, self.port);
            if tokio::net::TcpStream::connect(address).await.is_ok() {
                return true;
            }
            sleep(SHORT).await;
        }
        false
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(status.success(), "kill {signal}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// Waits until `found` says yes.
#[track_caller]
pub(crate) fn eventually(
    what: &str,
    mut found: impl AsyncFnMut() -> bool,
) -> impl Future<Output = ()> {
    let place = std::panic::Location::caller();
    let what = what.to_owned();
    async move {
        let search = async {
            while !found().await {
                sleep(SHORT).await;
            }
        };
        let in_time = timeout(LONG + SHORT, search).await.is_ok();
        assert!(in_time, "{place}: not in time: {what}");
    }
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

fn launch(port: u16, folder: &TempDir, options: &[String]) -> Child {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "no", "--dir"])
        .arg(folder.path())
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server starts")
}
