use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{context, options};
use crate::answer::{Answer, Choice, Event, Finish, Piece, Reason, Usage};
use crate::chat::{Decoder, Encoder, read_answer, read_request, write_answer, write_request};
use crate::options::{Reading, Settings};
use crate::request::{Arguments, ToolCall};
use crate::testing::events;
use crate::text::Str;

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z\"\\\\\u{2028}é🦀\n]{1,8}", Just("null".to_owned())]
}

fn piece() -> impl Strategy<Value = Piece<'static>> {
    prop_oneof![
        word().prop_map(|text| Piece::Text(Str::owned(text), None)),
        (word(), "[a-z_]{1,9}", word()).prop_map(|(id, name, arguments)| {
            Piece::ToolCall(ToolCall {
                id: Some(Str::owned(id)),
                name: Str::owned(name),
                arguments: Arguments::Text(Str::owned(arguments)),
                state: None,
            })
        }),
    ]
}

/// Answers that Chat Completions can say: at most one text, which is first.
fn answer() -> impl Strategy<Value = Answer<'static>> {
    let reason = prop_oneof![
        Just(Reason::Stop),
        Just(Reason::Length),
        Just(Reason::ContentFilter)
    ];
    let usage = proptest::option::of((0_u64..99, 0_u64..99, proptest::option::of(0_u64..9)));
    (proptest::collection::vec(piece(), 0..4), reason, usage).prop_map(|(pieces, reason, usage)| {
        let (mut texts, calls): (Vec<_>, Vec<_>) = pieces
            .into_iter()
            .partition(|piece| matches!(piece, Piece::Text(..)));
        texts.truncate(1);
        let reason = reason.with_calls(!calls.is_empty());
        texts.extend(calls);
        Answer {
            id: Some(Str::plain("a1")),
            choices: vec![Choice {
                parts: texts,
                finish: Finish {
                    reason,
                    ..Finish::default()
                },
                ..Choice::default()
            }],
            usage: usage.map(|(prompt, completion, cached)| Usage {
                prompt,
                completion,
                cached,
                ..Usage::default()
            }),
            extra: Vec::new(),
        }
    })
}

/// What a stream says, its deltas joined.
#[derive(Debug, Default, PartialEq)]
struct Joined {
    text: String,
    calls: Vec<(String, String, String)>,
    reason: Option<Reason>,
    usage: Option<Usage>,
    ended: bool,
}

fn joined(stream: &str) -> Joined {
    let mut joined = Joined::default();
    let mut decoder = Decoder::new(Reading::default());
    for (event, payload) in events(stream) {
        decoder
            .payload(&event, &payload, &mut |event| match event {
                Event::Text { text, .. } => joined.text += &text.decoded(),
                Event::ToolStart { id, name, .. } => joined.calls.push((
                    id.decoded().into_owned(),
                    name.decoded().into_owned(),
                    String::new(),
                )),
                Event::ToolArguments { call, text, .. } => {
                    joined.calls[usize::try_from(call).unwrap()].2 += &text.decoded();
                }
                Event::Finish { finish, .. } => joined.reason = Some(finish.reason),
                Event::Usage(usage) => joined.usage = Some(usage),
                _ => {}
            })
            .unwrap();
    }
    joined.ended = decoder.end(&mut |_| ());
    joined
}

/// The answer as a stream whose texts are cut into pieces of `size` characters.
fn streamed(answer: &Answer<'_>, size: usize) -> String {
    let mut out = String::new();
    let mut encoder = Encoder::new(context());
    let mut tell = |event: Event<'_>| encoder.event(&event, &mut out);
    tell(Event::Start {
        id: answer.id.clone(),
    });
    let mut call = 0;
    for piece in &answer.choices[0].parts {
        match piece {
            Piece::Text(text, _) => {
                for cut in cuts(&text.decoded(), size) {
                    tell(Event::Text {
                        choice: 0,
                        text: Str::plain(&cut),
                    });
                }
            }
            Piece::ToolCall(tool) => {
                tell(Event::ToolStart {
                    choice: 0,
                    call,
                    id: tool.id.clone().unwrap(),
                    name: tool.name.clone(),
                    state: None,
                });
                let Arguments::Text(text) = &tool.arguments else {
                    unreachable!()
                };
                for cut in cuts(&text.decoded(), size) {
                    tell(Event::ToolArguments {
                        choice: 0,
                        call,
                        text: Str::plain(&cut),
                    });
                }
                tell(Event::ToolEnd { choice: 0, call });
                call += 1;
            }
            _ => {}
        }
    }
    if let Some(usage) = answer.usage {
        tell(Event::Usage(usage));
    }
    tell(Event::Finish {
        choice: 0,
        finish: answer.choices[0].finish.clone(),
    });
    encoder.end(&mut out);
    out
}

fn cuts(text: &str, size: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(size).map(|cut| cut.iter().collect()).collect()
}

proptest! {
    #[test]
    fn an_answer_that_is_written_is_read_again(answer in answer()) {
        let mut body = String::new();
        write_answer(&answer, &context(), &mut body);
        let mut expected = answer.clone();
        for piece in &mut expected.choices[0].parts {
            if let Piece::ToolCall(ToolCall { arguments: Arguments::Text(text), .. }) = piece && text.is_blank() {
                *text = Str::plain("{}");
            }
        }
        prop_assert_eq!(read_answer(&body, &Reading::default()), Ok(expected));
    }

    #[test]
    fn a_text_cut_anywhere_says_the_same(answer in answer(), size in 1_usize..9) {
        let whole = joined(&streamed(&answer, usize::MAX));
        prop_assert!(whole.ended);
        prop_assert_eq!(whole.reason, Some(answer.choices[0].finish.reason));
        prop_assert_eq!(whole.usage, answer.usage);
        prop_assert_eq!(joined(&streamed(&answer, size)), whole);
    }

    #[test]
    fn a_request_that_is_written_is_read_again(
        texts in proptest::collection::vec((0_usize..3, word()), 1..5),
        temperature in proptest::option::of(0.0_f64..2.0),
        stop in proptest::collection::vec(word(), 0..3),
        seed in any::<u64>(),
    ) {
        let mut messages = String::new();
        for (role, text) in &texts {
            if !messages.is_empty() {
                messages.push(',');
            }
            let role = ["system", "user", "assistant"][*role];
            messages += &format!(r#"{{"role":"{role}","content":{}}}"#, onwards_json::quote(text));
        }
        let stop = serde_json::to_string(&stop).unwrap();
        let temperature = temperature.map(|t| format!(r#","temperature":{t}"#)).unwrap_or_default();
        let body = format!(r#"{{"messages":[{messages}],"stop":{stop},"seed":{seed},"max_tokens":7{temperature},"odd":{{"a":1.10}}}}"#);
        let first = read_request(body.as_bytes()).unwrap();
        let (options, pictures) = (options(), BTreeMap::new());
        let settings = Settings { model: "m", options: &options, pictures: &pictures, recall: &|_| None };
        let written = write_request(&first, &settings).unwrap();
        let second = read_request(written.body.as_bytes()).unwrap();
        prop_assert_eq!(&second, &first);
    }

    #[test]
    fn nothing_panics(text in "[\\[\\]{}:,\"a-f0-9 ]{0,60}") {
        let _request = read_request(text.as_bytes());
        let _answer = read_answer(&text, &Reading::default());
        let mut decoder = Decoder::new(Reading::default());
        let _step = decoder.payload("", &text, &mut |_| ());
        decoder.end(&mut |_| ());
    }
}
