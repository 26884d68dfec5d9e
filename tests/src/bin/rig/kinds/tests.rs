use super::*;

#[test]
fn checksums() {
    assert_eq!(crc32(b""), 0);
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
}

#[test]
fn a_message_as_amazon_frames_it() {
    let bytes = message("x", &json!({}));
    let headers = b"\x0b:event-type\x07\0\x01x\x0d:content-type\x07\0\x10application/json\x0d:message-type\x07\0\x05event";
    assert_eq!(bytes[..8], [0, 0, 0, 89, 0, 0, 0, 71]);
    assert_eq!(bytes[12..83], *headers);
    assert_eq!(bytes[83..85], *b"{}");
    assert_eq!(bytes.len(), 89);
}

#[test]
fn each_step_says_what_the_client_is_told() {
    let steps = |kind, protocol| match stream(kind, protocol, 5, 4) {
        Answer::Steps(steps) => steps
            .iter()
            .map(|step| (step.events, step.told))
            .collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    assert_eq!(
        steps(Kind::OpenAi, Protocol::Messages),
        [(4, 6), (4, 2), (1, 3)]
    );
    assert_eq!(
        steps(Kind::Anthropic, Protocol::Chat),
        [(4, 3), (4, 3), (2, 3)]
    );
    assert_eq!(steps(Kind::Gemini, Protocol::Chat), [(4, 5), (2, 4)]);
    assert_eq!(
        steps(Kind::Bedrock, Protocol::Chat),
        [(4, 4), (4, 2), (1, 3)]
    );
}

#[test]
fn all_kinds_say_the_same() {
    let text = |event: &[u8], pointer: &str| -> String {
        let from = event.iter().position(|byte| *byte == b'{').unwrap();
        let rest = serde_json::Deserializer::from_slice(&event[from..]);
        let value: Value = rest.into_iter().next().unwrap().unwrap();
        value.pointer(pointer).unwrap().as_str().unwrap().to_owned()
    };
    let says = |kind: Kind, pointer: &str| -> Vec<String> {
        let [_, texts, _] = kind.events(12);
        texts.iter().map(|event| text(event, pointer)).collect()
    };
    let chat = says(Kind::OpenAi, "/choices/0/delta/content");
    assert_eq!(chat.len(), 12);
    assert_eq!(says(Kind::Anthropic, "/delta/text"), chat);
    assert_eq!(
        says(Kind::Gemini, "/candidates/0/content/parts/0/text"),
        chat
    );
    assert_eq!(says(Kind::Bedrock, "/delta/text"), chat);
}
