use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use expect_test::{expect, expect_file};

use super::reading;
use crate::bedrock::{Decoder, embedded_error, read_answer, write_count, write_request};
use crate::chat;
use crate::options::{BedrockApi, Options};
use crate::testing::settings;
use crate::{Step, messages};

fn options() -> Options {
    Options {
        bedrock_api: BedrockApi::InvokeAnthropic,
        betas: vec!["beta-1".to_owned()],
        api_version: String::new(),
        api_v1: true,
        ..crate::testing::options()
    }
}

const BODY: &[u8] = br#"{"model":"m","stream":true,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}],
    "tools":[{"type":"function","function":{"name":"f"}}],"seed":1}"#;

#[test]
fn a_request_is_anthropic_s_without_model_and_stream() {
    let request = chat::read_request(BODY).unwrap();
    let mut options = options();
    let written = write_request(&request, &settings(&options)).unwrap();
    expect![[r#"
        {"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["beta-1"],"max_tokens":4096,"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"system":"Be brief.","messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}
        added=max_tokens,dropped=seed"#]].assert_eq(&format!("{}\n{}", written.body, written.report.whole(1024)));
    options.default_max_tokens = Some(7);
    let written = write_request(&request, &settings(&options)).unwrap();
    assert!(written.body.contains(r#""max_tokens":7,"#));
}

#[test]
fn a_request_is_counted_as_it_would_be_sent() {
    let request = chat::read_request(BODY).unwrap();
    let options = options();
    let body = write_request(&request, &settings(&options)).unwrap().body;
    let count = write_count(&request, &settings(&options)).unwrap().body;
    let count: serde_json::Value = serde_json::from_str(&count).unwrap();
    let wrapped = count["input"]["invokeModel"]["body"].as_str().unwrap();
    assert_eq!(STANDARD.decode(wrapped).unwrap(), body.as_bytes());
}

#[test]
fn a_whole_answer_is_anthropic_s() {
    let body = include_str!("../../../tests/data/bedrock/invoke.json");
    let answer = read_answer(body, &reading());
    assert_eq!(answer, messages::read_answer(body, &reading()));
    assert_eq!(answer.unwrap().choices[0].parts.len(), 1);
    let failure =
        embedded_error(r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#);
    assert_eq!(
        failure.map(|it| (it.status, it.message)),
        Some((529, "busy".into()))
    );
}

/// The events of a stream of these chunks, one a line, wrapped as the service wraps them or as they are.
fn told(frames: &str, wrapped: bool) -> String {
    let mut decoder = Decoder::new(reading());
    let mut out = String::new();
    for frame in frames.lines() {
        let (kind, event) = frame.split_once(' ').unwrap();
        let payload = if wrapped {
            format!(r#"{{"bytes":"{}","p":"abc"}}"#, STANDARD.encode(event))
        } else {
            event.to_owned()
        };
        let step = decoder.payload(kind, &payload, &mut |event| out += &format!("{event:?}\n"));
        out += match step.unwrap() {
            Step::Open => "",
            Step::Complete => "complete\n",
            Step::Failed(_) => "failed\n",
        };
    }
    let ended = decoder.end(&mut |event| out += &format!("{event:?}\n"));
    out + &format!("ended: {ended}\n")
}

#[test]
fn captures_of_a_server_wrapped_and_as_they_came() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bedrock/");
    for name in ["invoke", "invoke-tool"] {
        let frames = std::fs::read_to_string(format!("{folder}{name}.events")).unwrap();
        let plain = told(&frames, false);
        expect_file![format!("{folder}{name}.events.golden")].assert_eq(&plain);
        assert_eq!(told(&frames, true), plain);
        let cut: String = frames.lines().take(3).collect::<Vec<_>>().join("\n");
        assert!(told(&cut, true).ends_with("ended: false\n"));
    }
}

#[test]
fn an_error_within_a_chunk_fails_the_stream() {
    let error = r#"chunk {"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    assert_eq!(told(error, true), "failed\nended: false\n");
}

#[test]
fn what_is_no_chunk() {
    for (payload, why) in [
        ("{", "no JSON object"),
        (r#"{"bytes":"?"}"#, "a chunk that is no base64"),
        (r#"{"bytes":"/w=="}"#, "a chunk that is no UTF-8"),
    ] {
        let mut decoder = Decoder::new(reading());
        let found = decoder.payload("chunk", payload, &mut |_| {});
        assert_eq!(found.unwrap_err().why, why);
    }
}
