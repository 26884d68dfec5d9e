//! `demo`: a gateway in front of the provider inside, to try on one machine without a key or a model.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::args::Demo;
use super::run;
use crate::shutdown::{Signals, Stops};
use crate::{House, Settings, listen};

const CONFIGURATION: &str = r#"{"targets": {"demo": {"url": "builtin:echo"}}}"#;
const CHAT: &str =
    r#"{"model":"demo","messages":[{"role":"user","content":"Hello from the demo!"}]}"#;
const STREAMED_CHAT: &str = r#"{"model":"demo","messages":[{"role":"user","content":"Hello from the demo!"}],"stream":true}"#;
const EMBEDDING: &str = r#"{"model":"demo","input":"Hello from the demo!"}"#;
/// How long requests may take to finish after Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Demo) -> anyhow::Result<ExitCode> {
    let runtime = run::runtime(None)?;
    runtime.block_on(demonstrate(args, &mut io::stdout()))?;
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn demonstrate(args: &Demo, out: &mut impl Write) -> anyhow::Result<()> {
    let mut signals = Signals::new().context("cannot handle signals")?;
    let house = House::new(Settings::default())?;
    house
        .load(CONFIGURATION.as_bytes())
        .context("the configuration of the demo")?;
    let port = if args.once { 0 } else { args.port };
    let sockets = listen::bind(&[SocketAddr::from((Ipv4Addr::LOCALHOST, port))]).await?;
    let listener = run::open(&house, sockets, listen::Settings::default());
    let address = *listener.addresses().first().context("no address")?;
    if args.once {
        for body in [CHAT, STREAMED_CHAT] {
            let answer = ask(address, "/v1/chat/completions", body).await?;
            writeln!(
                out,
                "> POST /v1/chat/completions {body}\n{}\n",
                answer.trim_end()
            )?;
        }
    } else {
        invite(out, address)?;
        signals.next().await;
    }
    listener.drain(PATIENCE).await;
    Ok(())
}

fn invite(out: &mut impl Write, address: SocketAddr) -> io::Result<()> {
    writeln!(
        out,
        "The alias \"demo\" answers with what you say, at http://{address} until Ctrl-C. Try:\n"
    )?;
    for (flags, path, body) in [
        ("-s", "chat/completions", CHAT),
        ("-sN", "chat/completions", STREAMED_CHAT),
        ("-s", "embeddings", EMBEDDING),
    ] {
        writeln!(
            out,
            "curl {flags} http://{address}/v1/{path} -H 'content-type: application/json' -d '{body}'"
        )?;
    }
    out.flush()
}

/// Sends one request over a connection of its own and reads the whole answer.
async fn ask(address: SocketAddr, path: &str, body: &'static str) -> anyhow::Result<String> {
    let stream = TcpStream::connect(address)
        .await
        .context("cannot connect to the demo")?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::post(path)
        .header(HOST, address.to_string())
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from_static(body.as_bytes())))?;
    let answer = async move {
        let response = sender.send_request(request).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        anyhow::Ok((status, bytes))
    };
    let (ended, answer) = tokio::join!(connection, answer);
    let (status, bytes) = answer?;
    ended?;
    ensure!(
        status == StatusCode::OK,
        "the demo answered {status}: {}",
        String::from_utf8_lossy(&bytes)
    );
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
