//! The store of shared counts, where the binary knows one and it is installed: restarted once, in the middle.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use onwards_tests::{eventually, run};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// How long nobody answers.
const AWAY: Duration = Duration::from_secs(1);

pub(crate) struct Store {
    server: Child,
    port: u16,
    folder: TempDir,
}

impl Store {
    /// Starts one, or says why there is none.
    pub(crate) async fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let schema = run(folder.path(), &["schema"]).await.output;
        if !schema.contains("\"shared_state\"") {
            println!("soak: this binary shares no state: no store is restarted");
            return None;
        }
        let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = nobody.local_addr().unwrap().port();
        drop(nobody);
        let Ok(server) = launch(port, &folder) else {
            println!("soak: redis-server is not installed: no store is restarted");
            return None;
        };
        let store = Self {
            server,
            port,
            folder,
        };
        store.listens().await;
        Some(store)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Kills it, leaves it away for a moment, and starts it without its data.
    pub(crate) async fn restart(&mut self) {
        self.end();
        sleep(AWAY).await;
        self.server = launch(self.port, &self.folder).unwrap();
        self.listens().await;
        println!("soak: the store was killed, and is back after {AWAY:?}");
    }

    async fn listens(&self) {
        let address = (Ipv4Addr::LOCALHOST, self.port);
        eventually("the store to listen", || async {
            TcpStream::connect(address).await.is_ok()
        })
        .await;
    }

    fn end(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.end();
    }
}

fn launch(port: u16, folder: &TempDir) -> std::io::Result<Child> {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "no", "--dir"])
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}
