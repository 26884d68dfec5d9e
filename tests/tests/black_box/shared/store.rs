//! A `redis-server` of the test's own: started on a free port, frozen, killed and started again.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use onwards_tests::within;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A running server; its data lie in a folder that goes with it.
pub(crate) struct Store {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Store {
    /// Starts one; none, and a line that says so, where it is not installed.
    pub(crate) async fn start() -> Option<Self> {
        let mut version = Command::new("redis-server");
        version.arg("--version").stdout(Stdio::null());
        if version.status().is_err() {
            eprintln!("skipped: redis-server is not installed");
            return None;
        }
        // Between the choice of a port and its use somebody else may take it.
        for _ in 0..5 {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            drop(listener);
            let folder = tempfile::tempdir().unwrap();
            let child = launch(port, &folder);
            let mut store = Self {
                child,
                port,
                folder,
            };
            if store.answers().await {
                return Some(store);
            }
        }
        unreachable!("redis-server does not start on any port");
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again on the same port, without its data.
    pub(crate) async fn start_again(&mut self) {
        self.child = launch(self.port, &self.folder);
        assert!(self.answers().await, "it starts again");
    }

    /// Stops it in its tracks: connections stay, nothing is answered.
    pub(crate) fn freeze(&self) {
        self.signal("STOP");
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        self.signal("CONT");
    }

    /// How many requests of a scope on an alias it counts.
    pub(crate) async fn running(&self, scope: &str, alias: &str) -> u32 {
        let key = format!("{{onwards:{alias}}}:running:{scope}");
        let answer = self.tell(&format!("ZCARD {key}\r\n")).await.unwrap();
        answer.trim().trim_start_matches(':').parse().unwrap()
    }

    /// Every name in it, one a line, with the lengths that go with them.
    pub(crate) async fn names(&self) -> String {
        self.tell("KEYS *\r\n").await.unwrap()
    }

    /// Sends one command on a connection of its own, and reads until the answer is over.
    async fn tell(&self, command: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await?;
        stream
            .write_all(format!("{command}QUIT\r\n").as_bytes())
            .await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer.trim_end_matches("+OK\r\n").to_owned())
    }

    async fn answers(&mut self) -> bool {
        let asking = async {
            while self.child.try_wait().unwrap().is_none() {
                let pong = self.tell("PING\r\n").await;
                if pong.is_ok_and(|pong| pong.contains("PONG")) {
                    return true;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            false
        };
        within("the store to answer", asking).await
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.unwrap().success(), "kill -s {name}");
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn launch(port: u16, folder: &TempDir) -> Child {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "no", "--dir"])
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
