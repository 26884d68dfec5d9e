use super::{Ended, Translator};
use crate::answer::Usage;
use crate::failure::Failure;
use crate::options::{Context, Expose, Reading};
use crate::testing::options;
use crate::{Kind, Protocol, Step};

fn translator() -> Translator {
    translator_to(Protocol::Chat)
}

fn translator_to(protocol: Protocol) -> Translator {
    let context = Context {
        model: "fast".to_owned(),
        unique: "u1".to_owned(),
        request_id: "r-1".to_owned(),
        created: 1,
        strict: false,
        expose: Expose::Full,
        echo: String::new(),
        array: false,
        sequential: false,
        signed: false,
    };
    let decoder = Kind::OpenAi.decoder(Reading::default(), &options());
    Translator::new(decoder, protocol.encoder(context))
}

const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
const ROLE: &str = r#"{"id":"a","choices":[{"index":0,"delta":{"role":"assistant"}}]}"#;
const TEXT: &str = r#"{"id":"a","choices":[{"index":0,"delta":{"content":"x"}}]}"#;
const FINISH: &str = r#"{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

#[test]
fn content_commits_and_what_is_before_it_does_not() {
    let mut translator = translator();
    let mut out = String::new();
    for (payload, expected) in [(USAGE, false), (ROLE, false), (TEXT, true)] {
        translator.payload("", payload, &mut out).unwrap();
        assert_eq!(translator.seen_content(), expected, "{payload}");
    }
    let usage = Usage {
        prompt: 1,
        completion: 2,
        ..Usage::default()
    };
    assert_eq!(translator.usage(), Some(usage));
}

#[test]
fn the_ending_is_written_once_and_only_for_a_complete_answer() {
    let mut translator = translator();
    let mut out = String::new();
    assert_eq!(translator.payload("", TEXT, &mut out), Ok(Step::Open));
    let mut aborted = translator;
    out.clear();
    assert_eq!(aborted.end(&mut out), Ended::Aborted);
    assert_eq!(out, "");
    aborted.keep_alive(&mut out);
    assert_eq!(out, ": keep-alive\n\n");

    let mut complete = self::translator();
    out.clear();
    complete.payload("", FINISH, &mut out).unwrap();
    assert_eq!(complete.payload("", "[DONE]", &mut out), Ok(Step::Complete));
    assert_eq!(complete.end(&mut out), Ended::Complete);
    assert_eq!(complete.end(&mut out), Ended::Complete);
    complete.fail(&Failure::unsaid(500), &mut out);
    assert_eq!(out.matches("[DONE]").count(), 1);
    assert_eq!(out.matches("\"error\"").count(), 0);
}

#[test]
fn an_error_of_the_providers_is_told_to_the_caller_alone() {
    let mut translator = translator();
    let mut out = String::new();
    let step = translator.payload("", r#"{"error":{"message":"m","code":429}}"#, &mut out);
    let Ok(Step::Failed(failure)) = step else {
        panic!("{step:?}");
    };
    assert_eq!((failure.status, out.as_str()), (429, ""));
    translator.fail(&failure, &mut out);
    assert!(
        out.starts_with("data: {\"error\":{\"message\":\"m\""),
        "{out}"
    );
}

/// A model may write its arguments over several lines, and a provider what it says of tokens; an event is one line nevertheless.
#[test]
fn nothing_of_a_provider_breaks_a_frame() {
    let call = |text: &str| {
        format!(
            r#"{{"id":"a","choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"c","function":{{"name":"f","arguments":{text}}}}}]}}}}]}}"#
        )
    };
    let logprobs = "{\"id\":\"a\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"logprobs\":{\"content\":[\n\r\n]}}]}";
    for protocol in [
        Protocol::Chat,
        Protocol::Responses,
        Protocol::Messages,
        Protocol::GenerateContent,
    ] {
        let mut translator = translator_to(protocol);
        let mut out = String::new();
        for payload in [
            logprobs,
            &call("\"{\\n\\n  \\\"city\\\":\\r\\n \\\"a b\\\"\""),
            &call("\"\\r}\\n\""),
            FINISH,
        ] {
            translator.payload("", payload, &mut out).unwrap();
        }
        assert_eq!(translator.end(&mut out), Ended::Complete);
        assert!(!out.contains('\r'), "{protocol:?}: {out:?}");
        for line in out.lines().filter(|line| !line.is_empty()) {
            let known = line.starts_with("data: ") || line.starts_with("event: ");
            assert!(known, "{protocol:?}: {line:?} in {out}");
        }
        let payloads = crate::testing::events(&out);
        let whole = payloads.iter().filter(|(_, data)| data != "[DONE]");
        for (_, data) in whole {
            serde_json::from_str::<serde_json::Value>(data).unwrap();
        }
    }
}
