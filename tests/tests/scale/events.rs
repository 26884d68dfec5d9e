//! Events from 64 KiB to 8 MiB, alone and many at once, however they are cut; and what happens to one that is too long.

use onwards_tests::{End, Gateway, Launch, Reply, Request, Response, Step, Upstream, chunked};
use serde_json::json;

use super::rig::{FINISH, KIB, MIB, Peak, event, grows_in_step, text};

const SMALL: usize = 256 * KIB;

/// Events of a kind, of about so many bytes.
type Shape = fn(usize) -> String;

/// A strict gateway that keeps 16 MiB of an unfinished event, and one that passes streams on.
async fn both_modes(up: &Upstream) -> [(&'static str, Gateway); 2] {
    let targets = json!({"m": {"url": up.url()}});
    let limit = (16 * MIB).to_string();
    let roomy = Launch::strict(&targets).args(&["--sse-buffer-limit", &limit]);
    [
        ("passed", Launch::targets(&targets).start().await),
        ("strict", roomy.start().await),
    ]
}

/// A stream with this text in chunks of `piece` bytes, each written for itself.
fn in_pieces(events: &str, piece: usize) -> Reply {
    let pieces = events.as_bytes().chunks(piece);
    pieces.fold(Reply::stream(), Reply::chunk).last_chunk()
}

async fn ask(gateway: &Gateway) -> Response {
    let request = Request::chat_with(&json!({"stream": true}));
    let answer = gateway.send(request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer
}

#[tokio::test]
async fn large_events_arrive_whole() {
    let up = Upstream::start().await;
    let request = Request::chat_with(&json!({"stream": true}));
    // Each with gateways of its own: an allocator keeps large places for a moment.
    for piece in [16 * KIB, 8 * MIB] {
        for (mode, gateway) in both_modes(&up).await {
            up.always(in_pieces(&[&event("x"), FINISH].concat(), 100));
            let peak = Peak::after(&gateway, request.clone()).await;
            for size in [64 * KIB, 8 * MIB] {
                let events = [&event(&text(size)), FINISH].concat();
                up.reply(in_pieces(&events, piece));
                let what = format!("{mode}: {size} in {piece}");
                // Strict: as it comes, growing to its size, and as it leaves.
                let most = if mode == "strict" { 4 * size } else { 0 } + 8 * MIB;
                let answer = peak.holds(&gateway, &what, most, request.clone()).await;
                assert!(answer.body == events.as_bytes(), "{what} differs");
            }
        }
    }
}

#[tokio::test]
async fn large_events_take_their_share_of_time() {
    let up = Upstream::start().await;
    let shapes: [(&str, Shape); 6] = [
        ("one event", |size| event(&text(size))),
        ("many events", |size| event("hello").repeat(size / 140)),
        ("events all alike but for their length", |size| {
            event("x").repeat(size / 140) + &event(&text(size / 8))
        }),
        ("a comment", |size| {
            format!(":{}\n\n{}", text(size), event("x"))
        }),
        ("many comments", |size| {
            ": hi\n\n".repeat(size / 6) + &event("x")
        }),
        ("many data lines", |size| {
            let spaces = format!("data: {}\n", " ".repeat(40)).repeat(size / 47);
            spaces + &event("x")
        }),
    ];
    for (mode, gateway) in both_modes(&up).await {
        for (name, make) in shapes {
            for piece in [KIB, 16 * KIB] {
                let what = format!("{mode}: {name} in {piece}");
                grows_in_step(&gateway, &what, SMALL, async |size| {
                    let events = make(size) + FINISH;
                    let pieces = chunked(events.as_bytes().chunks(piece));
                    up.reply(Reply::stream().send(pieces));
                    assert!(ask(&gateway).await.body.ends_with(b"data: [DONE]\n\n"));
                })
                .await;
            }
        }
    }
}

/// An event that never ends is cut off at the limit, wherever it begins: the client is told, and its body does not end.
#[tokio::test]
async fn an_event_beyond_the_limit_breaks_the_stream() {
    let up = Upstream::start().await;
    let gateway = Launch::strict(&json!({"m": {"url": up.url()}}))
        .start()
        .await;
    let request = Request::chat_with(&json!({"stream": true}));
    let endless = |reply: Reply| {
        (0..100)
            .fold(reply.chunk("data: "), |reply, _| {
                reply.chunk("x".repeat(KIB))
            })
            .then(Step::Hang)
    };
    up.reply(endless(Reply::stream()));
    assert_eq!(gateway.send(request.clone()).await.status, 502);
    up.reply(endless(Reply::stream().delta("one")));
    let mut client = gateway.begin(request).await;
    let head = client.head().await;
    assert_eq!(head.status, 200);
    let (body, end) = client.body(&head).await;
    assert_eq!(end, End::Broken);
    let body = String::from_utf8(body).unwrap();
    let (one, error) = body.split_once("\n\n").unwrap();
    assert!(one.contains("\"one\""), "{body}");
    assert_eq!(error, TOLD);
    for served in [0, 1] {
        up.request(served).await.gone().await;
    }
}

/// What a client reads of a stream that cannot go on.
const TOLD: &str = "data: {\"error\":{\"message\":\"The upstream response ended before it was complete.\",\
\"type\":\"api_error\",\"param\":null,\"code\":502}}\n\n";
