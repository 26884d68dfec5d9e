use expect_test::expect;

use crate::testing::{options, settings};
use crate::{Kind, Protocol};

const PROTOCOLS: [Protocol; 4] = [
    Protocol::Chat,
    Protocol::Responses,
    Protocol::Messages,
    Protocol::GenerateContent,
];

#[test]
fn every_protocol_lists_models() {
    let mut out = String::new();
    for protocol in PROTOCOLS {
        protocol.write_models(&["fast", "a\"b"], 1_700_000_000, &mut out);
        out.push('\n');
    }
    expect![[r#"
        {"object":"list","data":[{"id":"fast","object":"model","created":1700000000,"owned_by":"None"},{"id":"a\"b","object":"model","created":1700000000,"owned_by":"None"}]}
        {"object":"list","data":[{"id":"fast","object":"model","created":1700000000,"owned_by":"None"},{"id":"a\"b","object":"model","created":1700000000,"owned_by":"None"}]}
        {"data":[{"type":"model","id":"fast","display_name":"fast","created_at":"2023-11-14T22:13:20Z"},{"type":"model","id":"a\"b","display_name":"a\"b","created_at":"2023-11-14T22:13:20Z"}],"first_id":"fast","last_id":"a\"b","has_more":false}
        {"models":[{"name":"models/fast","displayName":"fast","supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]},{"name":"models/a\"b","displayName":"a\"b","supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]}]}
    "#]].assert_eq(&out);
}

#[test]
fn tokens_are_counted_by_those_that_count() {
    let body = br#"{"model":"fast","messages":[{"role":"user","content":"hi"}],"contents":[{"parts":[{"text":"hi"}]}]}"#;
    let options = options();
    let settings = settings(&options);
    let mut out = String::new();
    for protocol in PROTOCOLS {
        let request = match protocol.read_count(body) {
            Ok(request) => request,
            Err(rejected) => {
                out += &format!("{protocol:?}: {}\n", rejected.code);
                continue;
            }
        };
        for kind in [Kind::OpenAi, Kind::Anthropic, Kind::Gemini, Kind::Bedrock] {
            let path = kind.count_path(&settings);
            let written = kind
                .write_count(&request, &settings)
                .map_or_else(|rejected| rejected.code.to_owned(), |written| written.body);
            out += &format!("{protocol:?} {kind:?} {} {path} {written}\n", kind.counts());
        }
        protocol.write_count(7, &mut out);
        out.push('\n');
    }
    expect![[r#"
        Chat: endpoint_not_supported
        Responses: endpoint_not_supported
        Messages OpenAi false  endpoint_not_supported
        Messages Anthropic true /v1/messages/count_tokens {"model":"the-model","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}
        Messages Gemini true /v1beta/models/the-model:countTokens {"generateContentRequest":{"model":"models/the-model","contents":[{"role":"user","parts":[{"text":"hi"}]}]}}
        Messages Bedrock true /model/the-model/count-tokens {"input":{"converse":{"messages":[{"role":"user","content":[{"text":"hi"}]}]}}}
        {"input_tokens":7}
        GenerateContent OpenAi false  endpoint_not_supported
        GenerateContent Anthropic true /v1/messages/count_tokens {"model":"the-model","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}
        GenerateContent Gemini true /v1beta/models/the-model:countTokens {"generateContentRequest":{"model":"models/the-model","contents":[{"role":"user","parts":[{"text":"hi"}]}],"messages":[{"role":"user","content":"hi"}]}}
        GenerateContent Bedrock true /model/the-model/count-tokens {"input":{"converse":{"messages":[{"role":"user","content":[{"text":"hi"}]}]}}}
        {"totalTokens":7}
    "#]].assert_eq(&out);
    for (kind, body, expected) in [
        (Kind::Anthropic, r#"{"input_tokens":7}"#, Some(7)),
        (Kind::Gemini, r#"{"totalTokens":7}"#, Some(7)),
        (Kind::Bedrock, r#"{"inputTokens":7}"#, Some(7)),
        (Kind::OpenAi, r#"{"input_tokens":7}"#, None),
    ] {
        assert_eq!(kind.read_count(body), expected);
    }
}
