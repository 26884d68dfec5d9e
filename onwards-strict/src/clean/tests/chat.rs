use super::*;

fn cleaner() -> Cleaner {
    Cleaner::new(Endpoint::Chat, &context(false))
}

/// An answer around one message.
#[track_caller]
fn message(given: &str, expected: &str) {
    let around = |message: &str| {
        format!(
            r#"{{"id":"i","object":"chat.completion","created":1,"model":"fast","choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}]}}"#
        )
    };
    let expected = if expected.starts_with('{') {
        around(expected)
    } else {
        expected.to_owned()
    };
    check(&cleaner(), false, &around(given), &expected);
}

/// A chunk around one delta.
#[track_caller]
fn delta(given: &str, expected: &str) {
    let around = |delta: &str| {
        format!(
            r#"{{"id":"i","object":"chat.completion.chunk","created":1,"model":"fast","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#
        )
    };
    let expected = if expected.starts_with('{') {
        around(expected)
    } else {
        expected.to_owned()
    };
    check(&cleaner(), true, &around(given), &expected);
}

#[test]
fn unknown_members_go_wherever_they_stand() {
    check(
        &cleaner(),
        false,
        r#"{"cost":1,"id":"i","x":[1],"object":"chat.completion","created":1,"model":"vendor/x","choices":[{"a":{},"b":2,"index":0,"message":{"role":"assistant","c":0,"content":"kept","d":1},"finish_reason":"stop","native_finish_reason":"STOP"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"cost":0.1,"prompt_tokens_details":{"cached_tokens":4,"z":1}},"system_fingerprint":"f","service_tier":"default","provider":"p"}"#,
        r#"{"id":"i","object":"chat.completion","created":1,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"kept"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":4}},"system_fingerprint":"f","service_tier":"default"}"#,
    );
    message(r#"{"x":1}"#, r#"{"role":"assistant","content":null}"#);
    message(r#"{ }"#, r#"{"role":"assistant","content":null }"#);
    message(
        r#"{ "x":1 , "y":2, "content" : "a" , "z":3 }"#,
        r#"{ "content" : "a","role":"assistant" }"#,
    );
}

#[test]
fn missing_members_are_written() {
    check(
        &cleaner(),
        false,
        r#"{"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}]}"#,
        r#"{"choices":[{"message":{"content":"a","role":"assistant"},"index":0,"finish_reason":null},{"message":{"content":"b","role":"assistant"},"index":1,"finish_reason":null}],"id":"chatcmpl-u-1","object":"chat.completion","created":0,"model":"fast"}"#,
    );
    check(
        &cleaner(),
        true,
        r#"{"choices":[{}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":null}],"id":"chatcmpl-u-1","object":"chat.completion.chunk","created":0,"model":"fast"}"#,
    );
}

#[test]
fn what_does_not_fit() {
    let cases = [
        (
            r#"{"id":"x"}"#,
            "choices: wanted an array of objects, found nothing",
        ),
        (
            r#"["secret"]"#,
            "the answer: wanted an object, found an array",
        ),
        (
            r#"{"choices":"secret"}"#,
            "choices: wanted an array of objects, found a string",
        ),
        (
            r#"{"choices":null}"#,
            "choices: wanted an array of objects, found null",
        ),
        (
            r#"{"choices":[{"index":0}]}"#,
            "choices[0].message: wanted an object, found nothing",
        ),
        (
            r#"{"choices":[],"id":77}"#,
            "id: wanted a string, found a number",
        ),
        (
            r#"{"choices":[],"id":null}"#,
            "id: wanted a string, found null",
        ),
        (
            r#"{"choices":[],"usage":"secret"}"#,
            "usage: wanted an object, found a string",
        ),
        (
            r#"{"choices":[],"usage":{"prompt_tokens":1,"total_tokens":1}}"#,
            "usage.completion_tokens: wanted an integer, found nothing",
        ),
        (
            r#"{"choices":[],"choices":[]}"#,
            "choices: wanted an array of objects, found it more than once",
        ),
        (
            r#"{"choices":[],"choi\u0063es":[]}"#,
            "choices: wanted an array of objects, found it more than once",
        ),
    ];
    for (text, expected) in cases {
        check(&cleaner(), false, text, expected);
    }
    let whole = r#"{"choices":[{"message":{"content":"secret"},"x":[1,{"y":-1.5e3}],"finish_reason":null}]}"#;
    for end in 0..whole.len() {
        let cut = cleaned(&cleaner(), false, whole.get(..end).expect("ASCII"));
        assert!(
            !cut.starts_with('{') && !cut.contains("secret"),
            "{end}: {cut}"
        );
    }
    assert!(cleaned(&cleaner(), false, whole).starts_with('{'));
}

#[test]
fn nulls() {
    message(
        r#"{"role":null,"content":null}"#,
        r#"{"content":null,"role":"assistant"}"#,
    );
    message(
        r#"{"role":"assistant","content":"a","refusal":null,"tool_calls":null,"audio":null,"reasoning":null}"#,
        r#"{"role":"assistant","content":"a"}"#,
    );
    delta(
        r#"{"role":null,"content":null,"tool_calls":null}"#,
        r#"{"content":null}"#,
    );
    check(
        &cleaner(),
        true,
        r#"{"id":"i","object":null,"created":null,"model":null,"choices":[{"index":null,"delta":null,"finish_reason":null,"logprobs":null}],"usage":null,"system_fingerprint":null,"service_tier":null}"#,
        r#"{"id":"i","choices":[{"finish_reason":null,"index":0,"delta":{}}],"object":"chat.completion.chunk","created":0,"model":"fast"}"#,
    );
}

#[test]
fn numbers_keep_their_text() {
    let logprobs = r#"{"content":[{"token":"H","logprob":-0.50000000000000000001,"bytes":[72],"top_logprobs":[{"token":"H","logprob":-5e-1,"bytes":null}]}],"refusal":null}"#;
    let text = format!(
        r#"{{"id":"i","object":"chat.completion","created":12345678901234567890123,"model":"fast","choices":[{{"index":0,"message":{{"role":"assistant","content":"\u0041\/"}},"logprobs":{logprobs},"finish_reason":"stop"}}]}}"#
    );
    check(&cleaner(), false, &text, &text);
}

#[test]
fn reasoning_moves() {
    message(
        r#"{"reasoning":"why\n","role":"assistant","content":"a"}"#,
        r#"{"role":"assistant","content":"a","reasoning_content":"why\n"}"#,
    );
    message(
        r#"{"role":"assistant","content":"a","reasoning":"x","reasoning_content":"y"}"#,
        r#"{"role":"assistant","content":"a","reasoning_content":"y"}"#,
    );
    message(
        r#"{"role":"assistant","content":"a","reasoning_content":null,"reasoning":"x"}"#,
        r#"{"role":"assistant","content":"a","reasoning_content":"x"}"#,
    );
    message(
        r#"{"role":"assistant","content":"a","reasoning":{"text":"x"},"reasoning_details":[{"x":1}]}"#,
        r#"{"role":"assistant","content":"a","reasoning_details":[{"x":1}]}"#,
    );
    delta(r#"{"reasoning":"why"}"#, r#"{"reasoning_content":"why"}"#);
}

#[test]
fn tool_calls() {
    let call =
        |call: &str| format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#);
    let function = |arguments: &str| {
        call(&format!(
            r#"{{"id":"c","type":"function","function":{{"name":"f"{arguments}}}}}"#
        ))
    };
    for nothing in [
        "",
        r#","arguments":null"#,
        r#","arguments":"""#,
        r#","arguments":"null""#,
    ] {
        message(&function(nothing), &function(r#","arguments":"{}""#));
    }
    let whole = function(r#","arguments":"{\"city\": \"Paris\"}""#);
    message(&whole, &whole);
    message(
        &function(r#","arguments":{}"#),
        "choices[0].message.tool_calls[0].function.arguments: wanted a string, found an object",
    );
    let custom = call(r#"{"id":"c","type":"custom","custom":{"name":"n","input":"x"}}"#);
    message(&custom, &custom);
    message(
        &call(r#"{"function":{"arguments":"{}","name":"f"},"index":0}"#),
        &call(r#"{"function":{"arguments":"{}","name":"f"},"id":"call_u-1_0","type":"function"}"#),
    );
    message(
        &call(r#"{"id":"c","type":"function"}"#),
        "choices[0].message.tool_calls[0].function: wanted an object, found nothing",
    );
    let first = r#"{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]}"#;
    delta(first, first);
    let next = r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}"#;
    delta(next, next);
    let custom = r#"{"tool_calls":[{"index":1,"custom":{"input":"x"}}]}"#;
    delta(custom, custom);
}

#[test]
fn members_of_todays_contract_stay() {
    for whole in [
        r#"{"role":"assistant","content":null,"refusal":"no"}"#,
        r#"{"role":"assistant","content":null,"audio":{"id":"a","expires_at":1,"data":"","transcript":"t"}}"#,
        r#"{"role":"assistant","content":"a","annotations":[{"type":"url_citation","url_citation":{"end_index":1,"start_index":0,"url":"u","title":"t"}}]}"#,
        r#"{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}"#,
    ] {
        message(whole, whole);
    }
}

#[test]
fn vendor_shapes_of_optional_members_are_dropped() {
    message(
        r#"{"x":1,"audio":"y","role":"assistant","content":"a"}"#,
        r#"{"role":"assistant","content":"a"}"#,
    );
    message(
        r#"{"x":1,"annotations":[{"type":1}]}"#,
        r#"{"role":"assistant","content":null}"#,
    );
    message(
        r#"{"role":"assistant","audio":"x","content":"a","annotations":{"k":[1]}}"#,
        r#"{"role":"assistant","content":"a"}"#,
    );
    message(
        r#"{"annotations":[{"type":"url_citation","x":1},{"no type":{}}],"role":"assistant","content":"a"}"#,
        r#"{"role":"assistant","content":"a"}"#,
    );
}

#[test]
fn embedded_errors() {
    let wrapped = r#"{"id":"x","object":"chat.completion.chunk","choices":[],"error":{"code":429,"message":"m"}}"#;
    check(&cleaner(), true, wrapped, "error 429");
    check(&cleaner(), false, wrapped, "error 429");
    check(
        &cleaner(),
        true,
        r#"{"error":{"message":"m"}}"#,
        "error 500",
    );
    check(&cleaner(), true, r#"{"error":"text"}"#, "error 500");
    check(
        &cleaner(),
        true,
        r#"{"choices":7,"error":{"code":"rate_limit"}}"#,
        "error 429",
    );
    let named = r#"{"error":{"message":"m","code":"named"}}"#;
    check(
        &cleaner(),
        false,
        named,
        "choices: wanted an array of objects, found nothing",
    );
    for none in ["null", "{}"] {
        check(
            &cleaner(),
            true,
            &format!(
                r#"{{"id":"i","error":{none},"object":"chat.completion.chunk","created":1,"model":"fast","choices":[]}}"#
            ),
            r#"{"id":"i","object":"chat.completion.chunk","created":1,"model":"fast","choices":[]}"#,
        );
    }
}

#[test]
fn chunks_are_one_line() {
    check(
        &cleaner(),
        true,
        "{\"id\":\"i\",\n\"object\":\"chat.completion.chunk\",\r\n \"created\":1,\"model\":\"v\",\"choices\":[{\"index\":0,\n\"delta\":{\"content\":\"a\\n\"},\"finish_reason\":null}]}\n",
        "{\"id\":\"i\",\"object\":\"chat.completion.chunk\", \"created\":1,\"model\":\"fast\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\n\"},\"finish_reason\":null}]}",
    );
}

#[test]
fn facts() {
    let facts = |text: &str| {
        let mut out = Vec::new();
        match cleaner().clean_chunk(text.as_bytes(), 0, &mut out) {
            Ok(Cleaned::Answer(facts)) => (
                facts.finished,
                facts.usage,
                facts.choices,
                facts.only_usage(),
            ),
            other => panic!("{other:?}"),
        }
    };
    let usage = r#"{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}"#;
    let cases = [
        (
            r#""choices":[{"delta":{}}]"#.to_owned(),
            (false, false, true, false),
        ),
        (
            r#""choices":[{"finish_reason":null}],"usage":null"#.to_owned(),
            (false, false, true, false),
        ),
        (
            r#""choices":[{"finish_reason":"stop"}]"#.to_owned(),
            (true, false, true, false),
        ),
        (
            format!(r#""choices":[ ],"usage":{usage}"#),
            (false, true, false, true),
        ),
        (
            format!(r#""choices":[{{}}],"usage":{usage}"#),
            (false, true, true, false),
        ),
    ];
    for (members, expected) in cases {
        assert_eq!(facts(&format!("{{{members}}}")), expected, "{members}");
    }
}
