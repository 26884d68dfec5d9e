use expect_test::expect_file;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::context;
use crate::answer::{Answer, Choice, Event, Finish, Piece, Reason, Usage};
use crate::failure::Failure;
use crate::options::Expose;
use crate::request::{Arguments, Thinking, ToolCall};
use crate::responses::{Encoder, read_request, write_answer};
use crate::testing::events;
use crate::text::Str;

fn start() -> Event<'static> {
    Event::Start { id: None }
}

fn text(text: &str) -> Event<'_> {
    Event::Text {
        choice: 0,
        text: Str::plain(text),
    }
}

fn thinking(text: &str) -> Event<'_> {
    Event::Thinking {
        choice: 0,
        text: Str::plain(text),
    }
}

fn thought(text: Option<&str>) -> Event<'_> {
    Event::ThinkingEnd {
        choice: 0,
        thinking: Thinking {
            text: text.map(Str::plain),
            state: None,
        },
    }
}

fn call(call: u64, id: &str) -> Event<'_> {
    Event::ToolStart {
        choice: 0,
        call,
        id: Str::plain(id),
        name: Str::plain("f"),
        state: None,
    }
}

fn arguments(call: u64, text: &str) -> Event<'_> {
    Event::ToolArguments {
        choice: 0,
        call,
        text: Str::plain(text),
    }
}

fn called(call: u64) -> Event<'static> {
    Event::ToolEnd { choice: 0, call }
}

fn finish(reason: Reason) -> Event<'static> {
    Event::Finish {
        choice: 0,
        finish: Finish {
            reason,
            ..Finish::default()
        },
    }
}

fn usage() -> Event<'static> {
    Event::Usage(Usage {
        prompt: 3,
        completion: 4,
        ..Usage::default()
    })
}

fn stream(events: &[Event<'_>]) -> String {
    let mut encoder = Encoder::new(context());
    let mut out = String::new();
    for event in events {
        encoder.event(event, &mut out);
    }
    encoder.end(&mut out);
    out
}

macro_rules! golden {
    ($name:literal, $stream:expr) => {
        expect_file![concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/data/responses/",
            $name,
            ".sse"
        )]
        .assert_eq(&$stream)
    };
}

#[test]
fn text_is_told_piece_by_piece_and_again_as_a_whole() {
    let events = [
        start(),
        text("Zwölf \u{2028}"),
        Event::KeepAlive,
        text("\"x\""),
        finish(Reason::Stop),
        usage(),
    ];
    golden!("text", stream(&events));
}

#[test]
fn a_thought_then_text_then_a_call_without_arguments() {
    let events = [
        start(),
        thinking("First"),
        thinking(" this."),
        thought(Some("First this.")),
        thought(None),
        thinking("Then that."),
        text("So:"),
        call(0, "c0"),
        called(0),
        finish(Reason::Stop),
        usage(),
    ];
    golden!("thought_text_call", stream(&events));
}

#[test]
fn interleaved_parallel_calls_are_kept_apart() {
    let events = [
        start(),
        call(0, "c0"),
        call(1, "c1"),
        arguments(0, "{\"a\":"),
        arguments(1, "{\"b\":"),
        arguments(0, "1}"),
        arguments(1, "2}"),
        called(0),
        called(1),
        finish(Reason::ToolCalls),
    ];
    golden!("interleaved_calls", stream(&events));
}

#[test]
fn a_call_that_the_limit_cut_off_is_incomplete() {
    let events = [
        start(),
        call(0, "c0"),
        arguments(0, "{}"),
        called(0),
        call(1, "c1"),
        arguments(1, "{\"q\":\"a"),
        called(1),
        finish(Reason::Length),
    ];
    golden!("cut_call", stream(&events));
}

#[test]
fn of_parallel_calls_only_the_last_was_cut_off() {
    let told = stream(&[
        start(),
        call(0, "c0"),
        call(1, "c1"),
        arguments(0, "{}"),
        arguments(1, "{\"q"),
        called(0),
        called(1),
        finish(Reason::Length),
    ]);
    let items = together(&told);
    let statuses: Vec<&Value> = items.iter().map(|item| &item["status"]).collect();
    assert_eq!(statuses, ["completed", "incomplete"]);
}

#[test]
fn text_and_refusal_are_parts_of_one_message() {
    let refusal = Event::Refusal {
        choice: 0,
        text: Str::plain("no"),
    };
    let events = [start(), text("I "), refusal, finish(Reason::ContentFilter)];
    golden!("refusal", stream(&events));
}

#[test]
fn log_probabilities_come_with_the_text_and_a_picture_as_an_item() {
    let logprobs = Event::Logprobs {
        choice: 0,
        json: r#"{"content":[{"token":"a","logprob":-1.0,"bytes":[97],"top_logprobs":[]}]}"#.into(),
    };
    let image = Event::Image {
        choice: 0,
        mime: Str::plain("image/png"),
        base64: Str::plain("AA=="),
    };
    let events = [
        start(),
        logprobs.clone(),
        text("a"),
        logprobs,
        text("b"),
        image,
        finish(Reason::Stop),
    ];
    golden!("logprobs_image", stream(&events));
}

#[test]
fn a_stream_that_breaks_ends_as_failed() {
    let mut encoder = Encoder::new(context());
    let mut out = String::new();
    for event in [start(), text("half"), usage()] {
        encoder.event(&event, &mut out);
    }
    let failure = Failure::of(
        502,
        Some("provider_stream_aborted"),
        "the provider's stream ended unexpectedly",
    );
    encoder.fail(&failure, &mut out);
    let told = out.len();
    encoder.end(&mut out);
    encoder.event(&text("more"), &mut out);
    encoder.fail(&failure, &mut out);
    assert_eq!(out.len(), told);
    golden!("failed", out);
}

#[test]
fn an_error_has_a_code_that_the_protocol_knows() {
    for (status, code) in [(429, "rate_limit_exceeded"), (529, "server_error")] {
        let mut encoder = Encoder::new(context());
        let mut out = String::new();
        encoder.fail(&Failure::of(status, None, "m"), &mut out);
        let all = events(&out);
        let names: Vec<&str> = all.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            names,
            [
                "response.created",
                "response.in_progress",
                "response.failed"
            ]
        );
        let last: Value = serde_json::from_str(&all[2].1).unwrap();
        assert_eq!(
            last["response"]["error"],
            json!({"code": code, "message": "m"})
        );
    }
}

#[test]
fn other_candidates_and_hidden_thoughts_are_not_told() {
    let mut quiet = context();
    quiet.expose = Expose::None;
    let mut encoder = Encoder::new(quiet);
    let mut out = String::new();
    for event in [
        start(),
        thinking("a"),
        thought(Some("a")),
        Event::Text {
            choice: 1,
            text: Str::plain("b"),
        },
        finish(Reason::Stop),
        finish(Reason::Length),
    ] {
        encoder.event(&event, &mut out);
    }
    encoder.end(&mut out);
    let all = events(&out);
    let last: Value = serde_json::from_str(&all[2].1).unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!(last["response"]["output"], json!([]));
    assert_eq!(last["response"]["status"], "completed");
}

#[test]
fn an_answer_that_grows_too_long_overflows() {
    let mut encoder = Encoder::new(context());
    let mut out = String::new();
    let piece = "x".repeat(1 << 20);
    for _ in 0..8 {
        encoder.event(&text(&piece), &mut out);
        out.clear();
    }
    assert!(encoder.overflow());
    encoder.event(&text("y"), &mut out);
    assert_eq!(out, "");
    encoder.fail(&Failure::unsaid(502), &mut out);
    assert!(out.starts_with("event: response.failed\n"));
}

/// One thing an answer says.
#[derive(Clone, Debug)]
enum Said {
    Text(Vec<String>),
    Refusal(Vec<String>),
    Thought(Vec<String>),
    Call(Vec<String>),
}

fn said() -> impl Strategy<Value = Said> {
    let pieces = || prop::collection::vec("[a-z\"\\\\\u{2028}é\n]{1,4}", 1..4);
    prop_oneof![
        pieces().prop_map(Said::Text),
        pieces().prop_map(Said::Refusal),
        pieces().prop_map(Said::Thought),
        prop::collection::vec("[a-z\"{}]{1,4}", 0..4).prop_map(Said::Call),
    ]
}

fn reason() -> impl Strategy<Value = Reason> {
    prop_oneof![
        Just(Reason::Stop),
        Just(Reason::Length),
        Just(Reason::ContentFilter)
    ]
}

/// The same answer as pieces and as events.
fn both(all: &[Said], reason: Reason) -> (Answer<'static>, Vec<Event<'static>>) {
    let own = |text: &String| Str::owned(text.as_str());
    let mut parts = Vec::new();
    let mut events = vec![start()];
    for (number, said) in (0_u64..).zip(all) {
        match said {
            Said::Text(pieces) => {
                parts.push(Piece::Text(own(&pieces.concat()), None));
                events.extend(pieces.iter().map(|piece| Event::Text {
                    choice: 0,
                    text: own(piece),
                }));
            }
            Said::Refusal(pieces) => {
                parts.push(Piece::Refusal(own(&pieces.concat())));
                events.extend(pieces.iter().map(|piece| Event::Refusal {
                    choice: 0,
                    text: own(piece),
                }));
            }
            Said::Thought(pieces) => {
                let thinking = Thinking {
                    text: Some(own(&pieces.concat())),
                    state: None,
                };
                parts.push(Piece::Thinking(thinking.clone()));
                events.extend(pieces.iter().map(|piece| Event::Thinking {
                    choice: 0,
                    text: own(piece),
                }));
                events.push(Event::ThinkingEnd {
                    choice: 0,
                    thinking,
                });
            }
            Said::Call(pieces) => {
                let id = Str::owned(format!("c{number}"));
                parts.push(Piece::ToolCall(ToolCall {
                    id: Some(id.clone()),
                    name: Str::plain("f"),
                    arguments: Arguments::Text(own(&pieces.concat())),
                    state: None,
                }));
                events.push(Event::ToolStart {
                    choice: 0,
                    call: number,
                    id,
                    name: Str::plain("f"),
                    state: None,
                });
                events.extend(pieces.iter().map(|piece| Event::ToolArguments {
                    choice: 0,
                    call: number,
                    text: own(piece),
                }));
                events.push(called(number));
            }
        }
    }
    events.push(finish(reason));
    let answer = Answer {
        choices: vec![Choice {
            parts,
            finish: Finish {
                reason,
                ..Finish::default()
            },
            ..Choice::default()
        }],
        ..Answer::default()
    };
    (answer, events)
}

/// Puts an answer together from its events alone, as a client does.
fn together(stream: &str) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    for (number, (name, data)) in events(stream).iter().enumerate() {
        let event: Value = serde_json::from_str(data).unwrap();
        assert_eq!(event["type"], **name);
        assert_eq!(event["sequence_number"], number);
        let index = event["output_index"]
            .as_u64()
            .map(|index| usize::try_from(index).unwrap());
        if let (Some(index), Some(id)) = (index, event.get("item_id")) {
            assert_eq!(*id, items[index]["id"]);
        }
        let at = |list: &str, number: &str| format!("/{list}/{}", event[number]);
        let mut add = |path: &str| {
            let target = items[index.unwrap()].pointer_mut(path).unwrap();
            let whole = format!(
                "{}{}",
                target.as_str().unwrap(),
                event["delta"].as_str().unwrap()
            );
            *target = whole.into();
        };
        match &**name {
            "response.output_item.added" => {
                assert_eq!(index, Some(items.len()));
                items.push(event["item"].clone());
            }
            "response.output_text.delta" => add(&(at("content", "content_index") + "/text")),
            "response.refusal.delta" => add(&(at("content", "content_index") + "/refusal")),
            "response.reasoning_summary_text.delta" => {
                add(&(at("summary", "summary_index") + "/text"));
            }
            "response.function_call_arguments.delta" => add("/arguments"),
            "response.content_part.added" | "response.reasoning_summary_part.added" => {
                let list = if name.contains("summary") {
                    "summary"
                } else {
                    "content"
                };
                let parts = items[index.unwrap()][list].as_array_mut().unwrap();
                parts.push(event["part"].clone());
            }
            "response.content_part.done" | "response.reasoning_summary_part.done" => {
                let path = if name.contains("summary") {
                    at("summary", "summary_index")
                } else {
                    at("content", "content_index")
                };
                assert_eq!(items[index.unwrap()].pointer(&path), Some(&event["part"]));
            }
            "response.output_item.done" => {
                let item = &mut items[index.unwrap()];
                item["status"] = event["item"]["status"].clone();
                assert_eq!(*item, event["item"]);
            }
            _ => {}
        }
    }
    items
}

proptest! {
    #[test]
    fn a_stream_says_what_the_whole_answer_says(
        all in prop::collection::vec(said(), 0..6),
        reason in reason(),
    ) {
        let (answer, steps) = both(&all, reason);
        let mut whole = String::new();
        write_answer(&answer, &context(), &mut whole);
        let whole: Value = serde_json::from_str(&whole).unwrap();
        let told = stream(&steps);
        let last = events(&told).pop().unwrap();
        let last: Value = serde_json::from_str(&last.1).unwrap();
        prop_assert_eq!(&last["response"], &whole);
        prop_assert_eq!(&Value::from(together(&told)), &whole["output"]);
    }

    #[test]
    fn an_answer_that_is_sent_back_is_what_was_said(all in prop::collection::vec(said(), 1..6)) {
        let (answer, _) = both(&all, Reason::Stop);
        let mut whole = String::new();
        write_answer(&answer, &context(), &mut whole);
        let whole: Value = serde_json::from_str(&whole).unwrap();
        let body = json!({"model": "m", "input": whole["output"]}).to_string();
        let request = read_request(body.as_bytes()).unwrap();
        let parts = request.messages.into_iter().flat_map(|message| message.parts);
        let told: Vec<String> = parts.map(|part| format!("{:?}", part.kind)).collect();
        prop_assert_eq!(told, in_one_breath(&all));
    }
}

/// What a client sends back of an answer: no thoughts, and one part for what was said without a break.
fn in_one_breath(all: &[Said]) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut last: Option<(bool, String)> = None;
    let flush = |last: &mut Option<(bool, String)>, parts: &mut Vec<String>| {
        if let Some((refusal, text)) = last.take() {
            let name = if refusal { "Refusal" } else { "Text" };
            parts.push(format!("{name}({text:?})"));
        }
    };
    for (number, said) in all.iter().enumerate() {
        let (refusal, pieces) = match said {
            Said::Text(pieces) => (false, pieces),
            Said::Refusal(pieces) => (true, pieces),
            Said::Thought(_) => {
                flush(&mut last, &mut parts);
                continue;
            }
            Said::Call(pieces) => {
                flush(&mut last, &mut parts);
                let arguments = match pieces.concat() {
                    none if none.is_empty() => "{}".to_owned(),
                    given => given,
                };
                let call = ToolCall {
                    id: Some(Str::owned(format!("c{number}"))),
                    name: Str::plain("f"),
                    arguments: Arguments::Text(Str::owned(arguments)),
                    state: None,
                };
                parts.push(format!("ToolCall({call:?})"));
                continue;
            }
        };
        match &mut last {
            Some((kind, text)) if *kind == refusal => text.push_str(&pieces.concat()),
            _ => {
                flush(&mut last, &mut parts);
                last = Some((refusal, pieces.concat()));
            }
        }
    }
    flush(&mut last, &mut parts);
    parts
}
