//! The gateway inside an axum application: its routes below `/ai`, the application's own beside them.
//!
//! `cargo run -p onwards-server --example embed` sends itself one request and prints the answer.

use std::io::Write;

use axum::Router;
use axum::routing::get;
use onwards_server::AppState;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = br#"{"targets": {"demo": {"url": "builtin:echo"}}}"#;
    let house = AppState::new(onwards_config::read(text, &())?.gateway)
        .with_body_limit(1024 * 1024)
        .build()?;
    let app = Router::new()
        .route("/", get(|| async { "the application's own page" }))
        .nest("/ai", onwards_server::router(house));

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut client = TcpStream::connect(listener.local_addr()?).await?;
    let body = r#"{"model":"demo","messages":[{"role":"user","content":"hello"}]}"#;
    let head = "POST /ai/v1/chat/completions HTTP/1.1\r\nhost: app\r\nconnection: close\r\n";
    client
        .write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())
        .await?;

    let mut answer = String::new();
    tokio::select! {
        served = axum::serve(listener, app) => served?,
        read = client.read_to_string(&mut answer) => { read?; }
    }
    writeln!(std::io::stdout(), "{answer}")?;
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("hello"));
    Ok(())
}
