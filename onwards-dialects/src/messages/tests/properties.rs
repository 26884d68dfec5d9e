//! There and back again.

use proptest::prelude::*;

use super::context;
use super::decoder::{decoded, reading};
use crate::answer::{Answer, Choice, Event, Finish, Piece, Reason, Usage};
use crate::messages::{Decoder, Encoder, read_answer, read_request, write_answer, write_request};
use crate::options::{Options, Reading};
use crate::request::{Arguments, State, Thinking, ToolCall};
use crate::testing::settings;
use crate::text::Str;
use crate::{Family, Request};

fn word() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\u{2028}é ]{0,6}[a-z]"
}

fn object() -> impl Strategy<Value = String> {
    prop::collection::vec(("[a-z]", "-?[1-9][0-9]{0,25}(\\.[0-9]{1,4})?"), 0..4).prop_map(
        |members| {
            let members: Vec<String> = members
                .iter()
                .map(|(name, number)| format!("\"{name}\":{number}"))
                .collect();
            format!("{{{}}}", members.join(","))
        },
    )
}

fn piece() -> impl Strategy<Value = Piece<'static>> {
    let state = |data: String| {
        Some(State {
            family: Family::Anthropic,
            data: Str::owned(data),
        })
    };
    prop_oneof![
        word().prop_map(|text| Piece::Text(Str::owned(text), None)),
        (proptest::option::of(word()), word()).prop_map(move |(text, data)| {
            Piece::Thinking(Thinking {
                text: text.map(Str::owned),
                state: state(data),
            })
        }),
        ("[a-z]{1,4}", "[a-z]{1,4}", object()).prop_map(|(id, name, arguments)| {
            Piece::ToolCall(ToolCall {
                id: Some(Str::owned(id)),
                name: Str::owned(name),
                arguments: Arguments::Value(arguments.into()),
                state: None,
            })
        }),
    ]
}

/// Pieces as a provider of this dialect gives them: a thought first, so that their order is kept; no text beside text.
fn pieces() -> impl Strategy<Value = Vec<Piece<'static>>> {
    prop::collection::vec(piece(), 0..6).prop_map(|mut pieces| {
        let thought = Piece::Thinking(Thinking {
            text: None,
            state: Some(State {
                family: Family::Anthropic,
                data: Str::plain("d"),
            }),
        });
        pieces.insert(0, thought);
        pieces.dedup_by(|b, a| matches!((a, b), (Piece::Text(..), Piece::Text(..))));
        pieces
    })
}

fn usage() -> impl Strategy<Value = Usage> {
    (0_u64..99, 0_u64..99, 0_u64..99, 0_u64..99).prop_map(|(fresh, cached, written, completion)| {
        Usage {
            prompt: fresh + cached + written,
            completion,
            total: None,
            cached: Some(cached),
            cache_write: Some(written),
            reasoning: None,
        }
    })
}

fn events(pieces: &[Piece<'static>]) -> Vec<Event<'static>> {
    let mut events = Vec::new();
    let mut call = 0;
    for piece in pieces.iter().cloned() {
        match piece {
            Piece::Text(text, _) => events.push(Event::Text { choice: 0, text }),
            Piece::Thinking(thinking) => events.push(Event::ThinkingEnd {
                choice: 0,
                thinking,
            }),
            Piece::ToolCall(made) => {
                let (id, name) = (made.id.unwrap(), made.name);
                events.push(Event::ToolStart {
                    choice: 0,
                    call,
                    id,
                    name,
                    state: None,
                });
                let Arguments::Value(json) = made.arguments else {
                    unreachable!()
                };
                for piece in json.split_inclusive([',', ':']) {
                    let text = Str::owned(piece);
                    events.push(Event::ToolArguments {
                        choice: 0,
                        call,
                        text,
                    });
                }
                events.push(Event::ToolEnd { choice: 0, call });
                call += 1;
            }
            _ => unreachable!(),
        }
    }
    events
}

/// Thoughts are told live by some and at their end by others.
fn told(events: &[Event<'_>]) -> Vec<String> {
    let live = |event: &&Event<'_>| !matches!(event, Event::Thinking { .. } | Event::KeepAlive);
    events
        .iter()
        .filter(live)
        .map(|event| format!("{event:?}"))
        .collect()
}

proptest! {
    #[test]
    fn an_answer_there_and_back(parts in pieces(), usage in usage()) {
        let calls = parts.iter().any(|piece| matches!(piece, Piece::ToolCall(_)));
        let answer = Answer {
            id: Some(Str::plain("msg_1")),
            choices: vec![Choice {
                parts,
                finish: Finish { reason: Reason::Stop.with_calls(calls), ..Finish::default() },
                ..Choice::default()
            }],
            usage: Some(usage),
            extra: Vec::new(),
        };
        let mut body = String::new();
        write_answer(&answer, &context(), &mut body);
        let read = read_answer(&body, &Reading::default()).unwrap();
        prop_assert_eq!(read, answer);
    }

    #[test]
    fn a_stream_there_and_back(parts in pieces()) {
        let calls = parts.iter().any(|piece| matches!(piece, Piece::ToolCall(_)));
        let given = events(&parts);
        let mut encoder = Encoder::new(context());
        let mut out = String::new();
        for event in &given {
            encoder.event(event, &mut out);
        }
        encoder.end(&mut out);
        let mut decoder = Decoder::new(Reading::default());
        let mut read: Vec<Event<'static>> = Vec::new();
        for (name, data) in crate::testing::events(&out) {
            decoder.payload(&name, &data, &mut |event| read.push(owned(&event))).unwrap();
        }
        prop_assert!(decoder.end(&mut |_| ()));
        let content: Vec<_> = read.into_iter().filter(Event::is_content).collect();
        let mut expected = told(&given);
        let finish = Finish { reason: Reason::Stop.with_calls(calls), ..Finish::default() };
        expected.push(format!("{:?}", Event::Finish { choice: 0, finish }));
        prop_assert_eq!(told(&content), expected);
    }

    #[test]
    fn cutting_text_anywhere_changes_nothing(text in "[a-z\"\\\\\u{2028}é日\n]{1,20}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
        let letters: Vec<char> = text.chars().collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(letters.len() + 1)).collect();
        cuts.extend([0, letters.len()]);
        cuts.sort_unstable();
        let payloads: Vec<String> = cuts
            .windows(2)
            .map(|cut| {
                let piece: String = letters[cut[0]..cut[1]].iter().collect();
                let piece = onwards_json::quote(&piece);
                format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{piece}}}}}"#)
            })
            .collect();
        let mut joined = String::new();
        let mut decoder = Decoder::new(Reading::default());
        for payload in &payloads {
            decoder
                .payload("", payload, &mut |event| {
                    if let Event::Text { text, .. } = event {
                        joined += &text.decoded();
                    }
                })
                .unwrap();
        }
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn a_request_there_and_back(words in prop::collection::vec(word(), 1..5), arguments in object(), system in word()) {
        let mut messages = String::new();
        for (number, word) in words.iter().enumerate() {
            let word = onwards_json::quote(word);
            messages += &format!(
                r#"{{"role":"user","content":[{{"type":"text","text":{word}}}]}},{{"role":"assistant","content":[{{"type":"text","text":{word}}},{{"type":"tool_use","id":"c{number}","name":"f","input":{arguments}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{number}","content":{word}}}]}},{{"role":"assistant","content":[{{"type":"text","text":{word}}}]}},"#
            );
        }
        let system = onwards_json::quote(&system);
        let body = format!(
            r#"{{"model":"m","max_tokens":7,"system":{system},"messages":[{}],"tools":[{{"name":"f","input_schema":{arguments}}}],"tool_choice":{{"type":"any"}},"stop_sequences":["x"],"temperature":0.5,"metadata":{{"user_id":"u"}},"stream":true}}"#,
            messages.trim_end_matches(',')
        );
        let options = Options { default_max_tokens: Some(1), ..crate::testing::options() };
        let request: Request<'_> = read_request(body.as_bytes()).unwrap();
        let written = write_request(&request, &settings(&options)).unwrap();
        prop_assert!(written.report.is_empty());
        prop_assert_eq!(read_request(written.body.as_bytes()).unwrap(), request);
    }

    #[test]
    fn nothing_panics(payload in "[\\[\\]{}\":,a-z0-9\\\\ ]{0,40}") {
        decoded(&[&payload], reading());
        let read = (read_answer(&payload, &reading()).is_ok(), read_request(payload.as_bytes()).is_ok());
        prop_assert_eq!(read, (false, false));
    }
}

fn owned(event: &Event<'_>) -> Event<'static> {
    let keep = |text: &Str<'_>| text.clone().into_owned();
    match event {
        Event::Text { choice, text } => Event::Text {
            choice: *choice,
            text: keep(text),
        },
        Event::ThinkingEnd { choice, thinking } => Event::ThinkingEnd {
            choice: *choice,
            thinking: Thinking {
                text: thinking.text.as_ref().map(keep),
                state: thinking.state.as_ref().map(|state| State {
                    family: state.family,
                    data: keep(&state.data),
                }),
            },
        },
        Event::ToolStart {
            choice,
            call,
            id,
            name,
            ..
        } => Event::ToolStart {
            choice: *choice,
            call: *call,
            id: keep(id),
            name: keep(name),
            state: None,
        },
        Event::ToolArguments { choice, call, text } => Event::ToolArguments {
            choice: *choice,
            call: *call,
            text: keep(text),
        },
        Event::ToolEnd { choice, call } => Event::ToolEnd {
            choice: *choice,
            call: *call,
        },
        Event::Finish { choice, finish } => Event::Finish {
            choice: *choice,
            finish: Finish {
                reason: finish.reason,
                native: finish.native.as_ref().map(keep),
                stop_sequence: finish.stop_sequence.as_ref().map(keep),
            },
        },
        _ => Event::KeepAlive,
    }
}
