//! What holds for all dialects: there and back is the identity on what they have in common, and how a stream is cut says nothing.

use crate::common::{PROTOCOLS, Written, context, events, options, write};
use onwards_dialects::answer::{Choice, Finish, Piece, Reason, Usage};
use onwards_dialects::options::{Expose, Reading};
use onwards_dialects::request::{Arguments, PartKind, Request, Role, ToolCall};
use onwards_dialects::text::{Str, compact};
use onwards_dialects::{Answer, Event, Kind, Protocol};
use proptest::prelude::*;

/// The dialects that both sides speak.
const BOTH: [(Kind, Protocol); 3] = [
    (Kind::OpenAi, Protocol::Chat),
    (Kind::Anthropic, Protocol::Messages),
    (Kind::Gemini, Protocol::GenerateContent),
];

/// A text that nobody trims or leaves out.
fn word() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\u{2028}é🦀][a-z\"\\\\\u{2028}é🦀\n ]{0,6}[a-z\"\\\\é🦀]"
}

/// Arguments: an object whose numbers have a spelling.
fn arguments() -> impl Strategy<Value = String> {
    let member = (
        "[a-z]{1,4}",
        prop_oneof![
            Just("1.10".to_owned()),
            Just("12345678901234567890123".to_owned()),
            Just("[null,{}]".to_owned()),
            word().prop_map(|word| onwards_json::quote(&word)),
        ],
    );
    proptest::collection::vec(member, 0..3).prop_map(|members| {
        let members: Vec<_> = members
            .into_iter()
            .enumerate()
            .map(|(index, (name, value))| format!("\"{name}{index}\":{value}"))
            .collect();
        format!("{{{}}}", members.join(","))
    })
}

/// What is said in one exchange: the person's text, the model's, and calls with their results.
type Exchange = (String, String, Vec<(String, String)>);

fn exchanges() -> impl Strategy<Value = Vec<Exchange>> {
    let calls = proptest::collection::vec((arguments(), word()), 0..3);
    proptest::collection::vec((word(), word(), calls), 1..4)
}

/// The conversation as a Chat Completions request.
fn body(exchanges: &[Exchange], last: &str, seed: u32) -> String {
    let mut messages = vec![r#"{"role":"system","content":"be kind"}"#.to_owned()];
    for (turn, (asked, said, calls)) in exchanges.iter().enumerate() {
        let (asked, said) = (onwards_json::quote(asked), onwards_json::quote(said));
        messages.push(format!(r#"{{"role":"user","content":{asked}}}"#));
        let made: Vec<_> = calls
            .iter()
            .enumerate()
            .map(|(index, (arguments, _))| {
                let arguments = onwards_json::quote(arguments);
                // Signed, so that Gemini is sent the ids.
                format!(
                    r#"{{"id":"t{turn}c{index}","type":"function","function":{{"name":"f","arguments":{arguments}}},
                    "extra_content":{{"google":{{"thought_signature":"S"}}}}}}"#
                )
            })
            .collect();
        let made = match made.is_empty() {
            true => String::new(),
            false => format!(r#","tool_calls":[{}]"#, made.join(",")),
        };
        messages.push(format!(r#"{{"role":"assistant","content":{said}{made}}}"#));
        for (index, (_, result)) in calls.iter().enumerate() {
            // What is JSON is no text to Gemini.
            let result = onwards_json::quote(&format!("gave {result}"));
            messages.push(format!(
                r#"{{"role":"tool","tool_call_id":"t{turn}c{index}","content":{result}}}"#
            ));
        }
    }
    messages.push(format!(
        r#"{{"role":"user","content":{}}}"#,
        onwards_json::quote(last)
    ));
    let messages = messages.join(",");
    format!(
        r#"{{"messages":[{messages}],"tools":[{{"type":"function","function":{{"name":"f","description":"d","parameters":{{"type":"object","properties":{{"a":{{"type":"string"}}}}}}}}}}],
        "tool_choice":"required","max_tokens":{},"temperature":0.5,"stop":["x y"]}}"#,
        seed % 1000 + 1
    )
}

/// What a request says, apart from how it is divided into messages.
fn said(request: &Request<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for message in &request.messages {
        let side = match message.role {
            Role::System | Role::Developer => "operator",
            Role::Assistant => "model",
            Role::User | Role::Tool => "person",
        };
        for part in &message.parts {
            all.push(match &part.kind {
                PartKind::Text(text) => format!("{side} {:?}", text.decoded()),
                PartKind::ToolCall(call) => format!(
                    "{side} calls {:?} {:?} {}",
                    call.id,
                    call.name,
                    written(&call.arguments)
                ),
                PartKind::ToolResult(result) => {
                    let texts = result.content.iter().map(|part| match &part.kind {
                        PartKind::Text(text) => text.decoded().into_owned(),
                        other => format!("{other:?}"),
                    });
                    let texts: Vec<_> = texts.collect();
                    format!("{side} {:?} gave {texts:?}", result.id)
                }
                other => format!("{side} {other:?}"),
            });
        }
    }
    for tool in &request.tools {
        let schema = tool.schema.as_deref().map(compact);
        all.push(format!("{:?} {:?} {schema:?}", tool.name, tool.description));
    }
    all.push(format!(
        "{:?} {:?} {:?} {:?}",
        request.tool_choice,
        request.max_tokens.map(|limit| limit.tokens),
        request.stop,
        request.param("temperature")
    ));
    all
}

fn written(arguments: &Arguments<'_>) -> String {
    match arguments {
        Arguments::Text(text) => compact(&text.decoded()).into_owned(),
        Arguments::Value(json) => compact(json).into_owned(),
    }
}

/// An answer that every dialect can give.
fn answer() -> impl Strategy<Value = Answer<'static>> {
    let text = proptest::option::of(word());
    let calls = proptest::collection::vec(arguments(), 0..3);
    let reason = prop_oneof![Just(Reason::Stop), Just(Reason::Length)];
    (text, calls, reason, 0_u64..50, 0_u64..50).prop_map(|(text, calls, reason, cached, more)| {
        let mut parts: Vec<_> = text
            .map(|text| Piece::Text(Str::owned(text), None))
            .into_iter()
            .collect();
        parts.extend(calls.into_iter().enumerate().map(|(index, arguments)| {
            Piece::ToolCall(ToolCall {
                id: Some(Str::owned(format!("c{index}"))),
                name: Str::owned(format!("f{index}")),
                arguments: Arguments::Text(Str::owned(arguments)),
                state: None,
            })
        }));
        Answer {
            id: Some(Str::plain("msg_1")),
            choices: vec![Choice {
                parts,
                finish: Finish {
                    reason,
                    ..Finish::default()
                },
                ..Choice::default()
            }],
            usage: Some(Usage {
                prompt: cached + more,
                completion: more,
                cached: Some(cached),
                ..Usage::default()
            }),
            extra: Vec::new(),
        }
    })
}

/// What an answer says, whole or in pieces.
#[derive(Debug, Default, PartialEq)]
struct Told {
    text: String,
    calls: Vec<(String, String, String)>,
    reason: Option<Reason>,
    usage: Option<(u64, u64, u64)>,
}

impl Told {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Text { text, .. } => self.text += &text.decoded(),
            Event::ToolStart { id, name, .. } => self.calls.push((
                id.decoded().into_owned(),
                name.decoded().into_owned(),
                String::new(),
            )),
            Event::ToolArguments { call, text, .. } => {
                self.calls[usize::try_from(*call).unwrap()].2 += &text.decoded();
            }
            Event::Finish { finish, .. } => {
                self.reason = Some(finish.reason.with_calls(!self.calls.is_empty()));
            }
            Event::Usage(usage) => {
                self.usage = Some((usage.prompt, usage.completion, usage.cached.unwrap_or(0)));
            }
            _ => {}
        }
    }

    fn of(answer: &Answer<'_>) -> Self {
        let mut told = Self::default();
        answer.replay(&mut |event| told.event(&event));
        told
    }
}

/// The answer as a stream of a protocol, its texts and arguments in pieces of so many characters.
fn streamed(answer: &Answer<'_>, protocol: Protocol, size: usize) -> String {
    let mut encoder = protocol.encoder(context(Expose::Full));
    let mut out = String::new();
    answer.replay(&mut |event| {
        let (Event::Text { text, .. } | Event::ToolArguments { text, .. }) = &event else {
            return encoder.event(&event, &mut out);
        };
        let letters: Vec<char> = text.decoded().chars().collect();
        for cut in letters.chunks(size) {
            let mut piece = event.clone();
            if let Event::Text { text, .. } | Event::ToolArguments { text, .. } = &mut piece {
                *text = Str::owned(cut.iter().collect::<String>());
            }
            encoder.event(&piece, &mut out);
        }
    });
    encoder.end(&mut out);
    out
}

fn read(stream: &str, kind: Kind) -> Told {
    let mut told = Told::default();
    let mut decoder = kind.decoder(Reading::default(), &options(kind));
    for (event, payload) in events(stream) {
        decoder
            .payload(&event, &payload, &mut |event| told.event(&event))
            .unwrap();
    }
    assert!(decoder.end(&mut |event| told.event(&event)));
    told
}

proptest! {
    #[test]
    fn a_request_there_and_back_says_the_same(exchanges in exchanges(), last in word(), seed in any::<u32>()) {
        let body = body(&exchanges, &last, seed);
        let first = Protocol::Chat.read_request(body.as_bytes()).unwrap();
        for (kind, protocol) in BOTH {
            let Written::Sent(sent, ..) = write(kind, &first) else {
                panic!("{kind:?} refuses");
            };
            let second = protocol.read_request(sent.as_bytes()).unwrap();
            prop_assert_eq!(said(&second), said(&first), "{:?}", kind);
        }
    }

    #[test]
    fn a_whole_answer_there_and_back_says_the_same(answer in answer()) {
        for (kind, protocol) in BOTH {
            let mut body = String::new();
            protocol.write_answer(&answer, &context(Expose::Full), &mut body);
            let back = kind.read_answer(&body, &Reading::default()).unwrap();
            prop_assert_eq!(Told::of(&back), Told::of(&answer), "{:?} {}", kind, body);
        }
    }

    #[test]
    fn a_stream_there_and_back_says_the_same_however_it_is_cut(answer in answer(), size in 1_usize..6) {
        for (kind, protocol) in BOTH {
            let stream = streamed(&answer, protocol, size);
            prop_assert_eq!(read(&stream, kind), Told::of(&answer), "{:?} {}", kind, stream);
        }
        // Nobody here reads Responses; their last event has the whole answer.
        let last = |size| {
            let stream = streamed(&answer, Protocol::Responses, size);
            let (_, payload) = events(&stream).pop().unwrap();
            payload.split_once("\"response\":").unwrap().1.to_owned()
        };
        prop_assert_eq!(last(size), last(usize::MAX));
    }

    #[test]
    fn no_protocol_panics_on_a_request(text in "[\\[\\]{}:,\"a-f0-9 ]{0,80}") {
        for (_, protocol) in PROTOCOLS {
            let _request = protocol.read_request(text.as_bytes());
        }
    }
}
