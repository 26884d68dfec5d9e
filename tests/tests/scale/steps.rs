//! Eight times the body takes eight times the work: no step of requests and answers is quadratic.

use onwards_tests::{Gateway, Launch, Reply, Request, Upstream, chunked};
use serde_json::json;

use super::rig::{KIB, grows_in_step, post, text};

/// The smaller of the two bodies.
const SMALL: usize = 128 * KIB;

/// `piece` again and again, with commas, up to about `size` bytes.
fn list(piece: &str, size: usize) -> String {
    let mut list = format!("{piece},").repeat(size / (piece.len() + 1));
    list.pop();
    list
}

/// Members `"k0":value, …` up to about `size` bytes.
fn members(value: &str, size: usize) -> String {
    let count = size / (value.len() + 11);
    let members: Vec<_> = (0..count)
        .map(|i| format!(r#""k{i:06}":{value}"#))
        .collect();
    members.join(",")
}

/// Shapes of what stands in a chat request, each grown to about `size` bytes.
fn requests(size: usize) -> Vec<(&'static str, String)> {
    let chat =
        |messages: &str, more: &str| format!(r#"{{"messages":[{messages}]{more},"model":"m"}}"#);
    let says = |content: &str| format!(r#"{{"role":"user","content":{content}}}"#);
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let long = "x".repeat(100);
    vec![
        (
            "one string",
            chat(&says(&format!("\"{}\"", text(size))), ""),
        ),
        (
            "escapes",
            chat(
                &says(&format!("\"{}\"", r#"\n\u00e9\"\\"#.repeat(size / 12))),
                "",
            ),
        ),
        (
            "members at the top",
            chat(
                &says("\"\""),
                &format!(",{}", members(&format!("\"{long}\""), size)),
            ),
        ),
        (
            "members inside",
            chat(
                &says("\"\""),
                &format!(r#","x":{{{}}}"#, members("1", size)),
            ),
        ),
        ("messages", chat(&list(&says("\"hi\""), size), "")),
        (
            "parts",
            chat(
                &says(&format!(
                    "[{}]",
                    list(r#"{"text":"hi","type":"text"}"#, size)
                )),
                "",
            ),
        ),
        (
            "depth",
            chat(&says("\"\""), &format!(r#","x":[{}]"#, list(&deep, size))),
        ),
        (
            "numbers",
            chat(
                &says("\"\""),
                &format!(r#","x":[{}]"#, list("-0.125e1", size)),
            ),
        ),
        ("white space", chat(&says("\"\""), &" \n".repeat(size / 2))),
    ]
}

/// Shapes of a chat answer, each grown to about `size` bytes.
fn answers(size: usize) -> Vec<(&'static str, String)> {
    let answer = |content: &str, choice: &str, more: &str| {
        format!(
            r#"{{"x":0{more},"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":{content}}},"finish_reason":"stop"}}{choice}]}}"#
        )
    };
    let choice =
        r#"{"index":0,"message":{"content":"hi","role":"assistant","y":1},"finish_reason":"stop"}"#;
    vec![
        ("one string", answer(&format!("\"{}\"", text(size)), "", "")),
        (
            "escapes",
            answer(
                &format!("\"{}\"", r#"\n\u00e9\"\\"#.repeat(size / 12)),
                "",
                "",
            ),
        ),
        (
            "unknown members",
            answer("\"\"", "", &format!(",{}", members("1", size))),
        ),
        (
            "choices",
            answer("\"\"", &format!(",{}", list(choice, size)), ""),
        ),
        ("white space", answer("\"\"", "", &" \n".repeat(size / 2))),
        (
            "usage",
            answer(
                "\"\"",
                "",
                &format!(r#","y":[{}]"#, list(r#"{"usage":{}}"#, size)),
            ),
        ),
        (
            "open usage",
            answer(
                "\"\"",
                "",
                &format!(r#","y":[{}]"#, list(r#""usage""#, size)),
            ),
        ),
    ]
}

fn shape(shapes: Vec<(&'static str, String)>, name: &str) -> String {
    let found = shapes.into_iter().find(|(known, _)| *known == name);
    found.unwrap().1
}

async fn both_modes(up: &Upstream, model: &str) -> [(&'static str, Gateway); 2] {
    let targets = json!({"m": {"url": up.url(), "onwards_model": model}});
    [
        ("passed", Launch::targets(&targets).start().await),
        ("strict", Launch::strict(&targets).start().await),
    ]
}

#[tokio::test]
async fn request_bodies() {
    let up = Upstream::start().await;
    for (mode, gateway) in both_modes(&up, "other").await {
        for (name, _) in requests(KIB) {
            grows_in_step(&gateway, &format!("{mode}: {name}"), SMALL, async |size| {
                let answer = gateway.send(post(shape(requests(size), name))).await;
                assert_eq!(answer.status, 200, "{name}: {}", answer.text());
            })
            .await;
        }
        for piece in [16, KIB] {
            let what = format!("{mode}: pieces of {piece} bytes");
            grows_in_step(&gateway, &what, SMALL, async |size| {
                let body = shape(requests(size), "one string");
                let mut client = gateway.connect().await;
                client.send(b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n").await;
                client.send(&chunked(body.as_bytes().chunks(piece))).await;
                assert_eq!(client.response().await.status, 200);
            })
            .await;
        }
    }
}

#[tokio::test]
async fn answer_bodies() {
    let up = Upstream::start().await;
    let kind = [("content-type", "application/json")];
    for (mode, gateway) in both_modes(&up, "m").await {
        for (name, _) in answers(KIB) {
            grows_in_step(&gateway, &format!("{mode}: {name}"), SMALL, async |size| {
                up.reply(Reply::new(200, &kind, shape(answers(size), name)));
                let answer = gateway.send(Request::chat()).await;
                assert_eq!(answer.status, 200, "{name}: {}", answer.text());
            })
            .await;
        }
        for piece in [16, KIB] {
            let what = format!("{mode}: pieces of {piece} bytes");
            grows_in_step(&gateway, &what, SMALL, async |size| {
                let body = shape(answers(size), "one string");
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
                let pieces = chunked(body.as_bytes().chunks(piece));
                up.reply(Reply::default().send(head).send(pieces));
                assert!(gateway.send(Request::chat()).await.status == 200);
            })
            .await;
        }
    }
}
