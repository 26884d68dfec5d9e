use expect_test::expect;

use crate::failure::Failure;
use crate::testing::{options, settings};
use crate::{Kind, Protocol};

#[test]
fn who_speaks_whose_language() {
    let kinds = [
        Kind::OpenAi,
        Kind::Azure,
        Kind::Anthropic,
        Kind::Gemini,
        Kind::Bedrock,
    ];
    for (protocol, expected) in [
        (Protocol::Chat, [true, true, false, false, false]),
        (Protocol::Responses, [true, false, false, false, false]),
        (Protocol::Messages, [false, false, true, false, false]),
        (
            Protocol::GenerateContent,
            [false, false, false, true, false],
        ),
    ] {
        assert_eq!(
            kinds.map(|kind| kind.speaks(protocol)),
            expected,
            "{protocol:?}"
        );
    }
}

#[test]
fn errors_of_aws_are_passing_by_their_names() {
    for (kind, status, name, expected) in [
        (Kind::Bedrock, 424, "ModelErrorException", true),
        (Kind::Bedrock, 424, "", false),
        (Kind::Bedrock, 400, "ValidationException", false),
        (Kind::OpenAi, 424, "ModelErrorException", false),
        (Kind::OpenAi, 429, "", true),
        (Kind::Gemini, 503, "", true),
    ] {
        assert_eq!(
            kind.retries(status, name),
            expected,
            "{kind:?} {status} {name}"
        );
    }
}

#[test]
fn an_error_in_a_stream_is_told_in_frames_of_the_protocol() {
    let failure = Failure::of(502, Some("provider_stream_aborted"), "it \"ended\"");
    let mut out = String::new();
    for protocol in [
        Protocol::Chat,
        Protocol::Responses,
        Protocol::Messages,
        Protocol::GenerateContent,
    ] {
        protocol.write_stream_failure(&failure, "r-1", &mut out);
    }
    expect![[r#"
        data: {"error":{"message":"it \"ended\"","type":"api_error","param":null,"code":"provider_stream_aborted","request_id":"r-1"}}

        data: [DONE]

        event: error
        data: {"type":"error","code":"provider_stream_aborted","param":null,"message":"it \"ended\"","sequence_number":0}

        event: error
        data: {"type":"error","error":{"type":"api_error","message":"[provider_stream_aborted] it \"ended\""},"request_id":"r-1"}

        data: {"error":{"code":502,"message":"it \"ended\"","status":"UNAVAILABLE","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"provider_stream_aborted"}]}}

    "#]].assert_eq(&out);
}

#[test]
fn every_kind_has_its_path() {
    let options = options();
    let settings = settings(&options);
    let mut out = String::new();
    for kind in [
        Kind::OpenAi,
        Kind::Azure,
        Kind::Anthropic,
        Kind::Gemini,
        Kind::Bedrock,
    ] {
        for stream in [false, true] {
            out += &format!("{kind:?} {}\n", kind.path(&settings, stream));
        }
    }
    expect![[r#"
        OpenAi /v1/chat/completions
        OpenAi /v1/chat/completions
        Azure /openai/v1/chat/completions
        Azure /openai/v1/chat/completions
        Anthropic /v1/messages
        Anthropic /v1/messages
        Gemini /v1beta/models/the-model:generateContent
        Gemini /v1beta/models/the-model:streamGenerateContent?alt=sse
        Bedrock /model/the-model/converse
        Bedrock /model/the-model/converse-stream
    "#]]
    .assert_eq(&out);
}
