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
