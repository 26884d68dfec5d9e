//! Whole answers and requests.

use std::collections::BTreeMap;

use divan::black_box;
use onwards_dialects::options::Reading;
use onwards_dialects::{Kind, Protocol, Settings};

use crate::shapes::Work;
use crate::{context, options};

/// Translates an answer of about a kilobyte with a call.
pub(crate) fn answer(kind: Kind, protocol: Protocol) -> Work {
    let content = "A sentence of an answer, with a \\\"quote\\\" and a line break.\\n".repeat(10);
    let arguments = r#"{"city":"Paris","days":3}"#;
    let answer = match kind {
        Kind::OpenAi | Kind::Azure => format!(
            r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1731420000,"model":"large","choices":[{{"index":0,"message":{{"role":"assistant","content":"{content}","refusal":null,"tool_calls":[{{"id":"call_1","type":"function","function":{{"name":"look_up","arguments":"{}"}}}}]}},"logprobs":null,"finish_reason":"tool_calls"}}],"usage":{{"prompt_tokens":11,"completion_tokens":137,"total_tokens":148}}}}"#,
            arguments.replace('"', "\\\"")
        ),
        Kind::Anthropic => format!(
            r#"{{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{{"type":"text","text":"{content}"}},{{"type":"tool_use","id":"toolu_1","name":"look_up","input":{arguments}}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":11,"output_tokens":137}}}}"#
        ),
        Kind::Gemini => format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{content}"}},{{"functionCall":{{"name":"look_up","args":{arguments}}}}}],"role":"model"}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":11,"candidatesTokenCount":137,"totalTokenCount":148}},"modelVersion":"gemini","responseId":"r1"}}"#
        ),
        Kind::Bedrock => format!(
            r#"{{"metrics":{{"latencyMs":551}},"output":{{"message":{{"content":[{{"text":"{content}"}},{{"toolUse":{{"input":{arguments},"name":"look_up","toolUseId":"t1"}}}}],"role":"assistant"}}}},"stopReason":"tool_use","usage":{{"inputTokens":11,"outputTokens":137,"totalTokens":148}}}}"#
        ),
    };
    let bytes = answer.len();
    let (reading, context) = (Reading::default(), context());
    let mut out = String::with_capacity(8192);
    let run = move || {
        out.clear();
        let answer = kind.read_answer(black_box(&answer), &reading).unwrap();
        protocol.write_answer(&answer, &context, &mut out);
        out.len()
    };
    Work {
        units: 1,
        bytes,
        run: Box::new(run),
    }
}

/// Reads a request whose prompt has that many bytes and writes it for a provider.
pub(crate) fn request(protocol: Protocol, kind: Kind, prompt: usize) -> Work {
    let content = "A sentence of a prompt that is plain text. ".repeat(prompt / 43);
    let request = match protocol {
        Protocol::Messages => format!(
            r#"{{"model":"fast","max_tokens":256,"system":"Be brief.","messages":[{{"role":"user","content":[{{"type":"text","text":"{content}"}}]}}],"temperature":0.7,"stream":true}}"#
        ),
        _ => format!(
            r#"{{"model":"fast","messages":[{{"role":"system","content":"Be brief."}},{{"role":"user","content":"{content}"}}],"temperature":0.7,"max_tokens":256,"stream":true,"stream_options":{{"include_usage":true}}}}"#
        ),
    };
    let bytes = request.len();
    let (options, pictures) = (options(), BTreeMap::new());
    let run = move || {
        let settings = Settings {
            model: "large-instruct-2",
            options: &options,
            pictures: &pictures,
            recall: &|_| None,
        };
        let request = protocol
            .read_request(black_box(request.as_bytes()))
            .unwrap();
        kind.write_request(&request, &settings).unwrap().body.len()
    };
    Work {
        units: 1,
        bytes,
        run: Box::new(run),
    }
}
