use super::*;

#[test]
fn completions() {
    let cleaner = Cleaner::new(Endpoint::Completions, &context(false));
    check(
        &cleaner,
        false,
        r#"{"id":"c","object":"text_completion","created":1,"model":"x","choices":[{"text":"t","index":0,"stop_reason":null,"finish_reason":"stop","logprobs":{"tokens":["t"],"token_logprobs":[null,-1.50],"top_logprobs":[null,{"t":-1.5}],"text_offset":[0],"content":[]}}],"cost":3}"#,
        r#"{"id":"c","object":"text_completion","created":1,"model":"fast","choices":[{"text":"t","index":0,"finish_reason":"stop","logprobs":{"tokens":["t"],"token_logprobs":[null,-1.50],"top_logprobs":[null,{"t":-1.5}],"text_offset":[0]}}]}"#,
    );
    check(
        &cleaner,
        true,
        r#"{"choices":[{"logprobs":null}]}"#,
        r#"{"choices":[{"text":"","index":0,"finish_reason":null}],"id":"cmpl-u-1","object":"text_completion","created":0,"model":"fast"}"#,
    );
    check(
        &cleaner,
        false,
        r#"{"choices":[{"index":0}]}"#,
        "choices[0].text: wanted a string, found nothing",
    );
}

#[test]
fn embeddings() {
    let cleaner = Cleaner::new(Endpoint::Embeddings, &context(false));
    let usage = r#""usage":{"prompt_tokens":5,"total_tokens":5}"#;
    check(
        &cleaner,
        false,
        &format!(
            r#"{{"data":[{{"embedding":[0.1000,-1e-7, 12345678901234567890.5],"cost":1}},{{"index":1,"embedding":"AACAPw==","encoding_format":"base64"}}],"model":"v",{usage},"x":0}}"#
        ),
        &format!(
            r#"{{"data":[{{"embedding":[0.1000,-1e-7, 12345678901234567890.5],"object":"embedding","index":0}},{{"index":1,"embedding":"AACAPw==","object":"embedding"}}],"model":"fast",{usage},"object":"list"}}"#
        ),
    );
    let cases = [
        (
            r#"{"data":[]}"#.to_owned(),
            "usage: wanted an object, found nothing",
        ),
        (
            format!(r#"{{{usage}}}"#),
            "data: wanted an array of objects, found nothing",
        ),
        (
            format!(r#"{{"data":[{{}}],{usage}}}"#),
            "data[0].embedding: wanted an array of numbers or a string, found nothing",
        ),
        (
            format!(r#"{{"data":[{{"embedding":[1,"a"]}}],{usage}}}"#),
            "data[0].embedding[1]: wanted a number, found a string",
        ),
        (
            format!(r#"{{"data":[{{"embedding":[[1]]}}],{usage}}}"#),
            "data[0].embedding[0]: wanted a number, found an array",
        ),
        (
            format!(r#"{{"data":[{{"embedding":[1,null]}}],{usage}}}"#),
            "data[0].embedding[1]: wanted a number, found null",
        ),
        (
            format!(r#"{{"data":[{{"index":1.5,"embedding":[]}}],{usage}}}"#),
            "data[0].index: wanted an integer, found a number",
        ),
    ];
    for (text, expected) in cases {
        check(&cleaner, false, &text, expected);
    }
}

#[test]
fn models() {
    let cleaner = Cleaner::new(Endpoint::Models, &context(false));
    check(
        &cleaner,
        false,
        r#"{"models":[{"name":"x"}],"object":"list","data":[{"id":"a","aliases":["b"],"created":1,"owned_by":"o","meta":{}},{"id":"c"}]}"#,
        r#"{"object":"list","data":[{"id":"a","created":1,"owned_by":"o","object":"model"},{"id":"c","object":"model","created":0,"owned_by":""}]}"#,
    );
}

#[test]
fn without_strict_mode() {
    let context = Context {
        created: 1_700_000_000,
        ..context(false)
    };
    let cleaner = Cleaner::sanitizer(&context);
    check(
        &cleaner,
        false,
        r#"{"id":"i","object":"chat.completion","created":1,"model":"v","choices":[{"index":0,"message":{"role":"assistant","content":"a","vendor":{"x":1},"reasoning":"r"},"finish_reason":"stop","stop_reason":151643,"native_finish_reason":"eos","logprobs":null}],"usage":{"prompt_tokens":1,"total_tokens":3,"cost_details":1},"provider":"p","system_fingerprint":null}"#,
        r#"{"id":"i","object":"chat.completion","created":1,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"a","vendor":{"x":1},"reasoning":"r"},"finish_reason":"stop","stop_reason":151643,"logprobs":null}],"usage":{"prompt_tokens":1,"total_tokens":3,"completion_tokens":0},"system_fingerprint":null}"#,
    );
    check(
        &cleaner,
        true,
        r#"{"choices":[{"delta":{"content":"a","vendor":1},"native_finish_reason":null}],"cost":1}"#,
        r#"{"choices":[{"delta":{"content":"a","vendor":1},"index":0,"finish_reason":null}],"id":"chatcmpl-unknown","object":"chat.completion.chunk","created":1700000000,"model":"fast"}"#,
    );
    check(
        &cleaner,
        true,
        r#"{"choices":[],"error":{"code":402,"message":"m"}}"#,
        "error 402",
    );
    check(
        &cleaner,
        true,
        r#"{"model":"v"}"#,
        "choices: wanted an array of objects, found nothing",
    );
    check(
        &cleaner,
        false,
        r#"{"model":"v","choices":[{}]}"#,
        "choices[0].message: wanted an object, found nothing",
    );
}
