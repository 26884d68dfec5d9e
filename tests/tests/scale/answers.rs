//! Answers of 30 MiB: passed on they cost nothing that depends on their size; cleaned whole they are held once as they came
//! and once as they leave.

use onwards_tests::{Gateway, Launch, Reply, Request, Upstream};
use serde_json::json;

use super::rig::{FINISH, KIB, LARGE, MIB, Peak, completion, event, text};

/// Memory that an answer may take besides what is stated.
const BESIDES: usize = 8 * MIB;

fn whole(body: &str) -> Reply {
    Reply::new(200, &[("content-type", "application/json")], body)
}

/// In the chunked coding, in pieces of this size.
fn in_pieces(kind: &str, body: &str, size: usize) -> Reply {
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
    body.as_bytes()
        .chunks(size)
        .fold(Reply::default().send(head), Reply::chunk)
        .last_chunk()
}

fn stream() -> String {
    let block = text(KIB);
    let mut events = event(&block).repeat(LARGE / KIB);
    events.push_str(FINISH);
    events
}

#[tokio::test]
async fn passed_on_they_take_nothing() {
    let up = Upstream::start().await;
    let gateway = Gateway::serve(json!({"m": {"url": up.url()}})).await;
    let (answer, events) = (completion(LARGE), stream());
    let kind = "application/json";
    let cases = [
        ("whole", whole(&answer), &*answer),
        ("large chunks", in_pieces(kind, &answer, MIB), &answer),
        ("small chunks", in_pieces(kind, &answer, KIB), &answer),
        (
            "a stream",
            in_pieces("text/event-stream", &events, 16 * KIB),
            &events,
        ),
    ];
    let small = completion(KIB);
    up.always(whole(&small));
    let peak = Peak::after(&gateway, Request::chat()).await;
    for (what, reply, expected) in cases {
        up.reply(reply);
        let answer = peak.holds(&gateway, what, 4 * MIB, Request::chat()).await;
        assert!(answer.body == expected.as_bytes(), "{what} differs");
    }
}

#[tokio::test]
async fn cleaned_events_take_nothing() {
    let up = Upstream::start().await;
    let gateway = Launch::strict(&json!({"m": {"url": up.url()}}))
        .start()
        .await;
    let events = stream();
    up.always(in_pieces(
        "text/event-stream",
        &[&event("x"), FINISH].concat(),
        100,
    ));
    let request = Request::chat_with(&json!({"stream": true}));
    let peak = Peak::after(&gateway, request.clone()).await;
    up.reply(in_pieces("text/event-stream", &events, 16 * KIB));
    let answer = peak
        .holds(&gateway, "a cleaned stream", 4 * MIB, request)
        .await;
    assert!(answer.body == events.as_bytes(), "the stream differs");
}

#[tokio::test]
async fn cleaned_whole_they_are_held_twice() {
    let up = Upstream::start().await;
    let strict = Launch::strict(&json!({"m": {"url": up.url()}}));
    let target = json!({"m": {"url": up.url(), "sanitize_response": true}});
    let sanitised = Launch::targets(&target);
    up.always(whole(&completion(64 * KIB)));
    // Each with a gateway of its own: an allocator keeps large places for a moment.
    for (mode, launch, in_chunks) in [
        ("strict", strict.clone(), false),
        ("strict", strict, true),
        ("sanitised", sanitised, false),
    ] {
        let gateway = launch.start().await;
        let peak = Peak::after(&gateway, Request::chat()).await;
        for size in [64 * KIB, MIB, LARGE] {
            let answer = completion(size);
            up.reply(if in_chunks {
                in_pieces("application/json", &answer, KIB)
            } else {
                whole(&answer)
            });
            let what = format!("{mode} {size}, in chunks: {in_chunks}");
            let most = 2 * size + BESIDES;
            let got = peak.holds(&gateway, &what, most, Request::chat()).await;
            assert!(got.body == answer.as_bytes(), "{what} differs");
        }
    }
}
