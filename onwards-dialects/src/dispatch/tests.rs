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
        (Protocol::Gemini, [false, false, false, true, false]),
    ] {
        assert_eq!(
            kinds.map(|kind| kind.native(protocol)),
            expected,
            "{protocol:?}"
        );
    }
}

#[test]
fn only_responses_repeat_their_request() {
    let body = br#"{"temperature":1}"#;
    assert_eq!(Protocol::Chat.echo(body), "");
    assert!(Protocol::Responses.echo(body).contains("\"temperature\":1"));
}
