use super::*;

/// What `check` says about a body: `ok`, or the defect's message without its beginning.
fn verdict(endpoint: Endpoint, body: &str) -> String {
    match check(endpoint, body.as_bytes()) {
        Ok(_) => "ok".to_owned(),
        Err(defect) => {
            let message = defect.message();
            let rest = message
                .strip_prefix("Invalid request: ")
                .expect("the common beginning");
            rest.to_owned()
        }
    }
}

#[track_caller]
fn all(endpoint: Endpoint, base: &str, cases: &[(&str, &str)]) {
    for (members, expected) in cases {
        let comma = if members.is_empty() { "" } else { "," };
        let body = format!("{{{base}{comma}{members}}}");
        assert_eq!(verdict(endpoint, &body), *expected, "{body}");
    }
}

#[test]
fn chat_members() {
    let base = r#""model":"m","messages":[]"#;
    all(
        Endpoint::Chat,
        base,
        &[
            ("", "ok"),
            (
                r#""temperature":0.7,"top_p":1,"presence_penalty":-0.5,"frequency_penalty":1e-1"#,
                "ok",
            ),
            (
                r#""n":2,"seed":-7,"max_tokens":5,"max_completion_tokens":9,"top_logprobs":3"#,
                "ok",
            ),
            (
                r#""stop":["a","b"],"user":"u","service_tier":"auto","parallel_tool_calls":false"#,
                "ok",
            ),
            (
                r#""stop":"END","logit_bias":{"50256":-100},"reasoning_effort":7"#,
                "ok",
            ),
            (
                r#""temperature":null,"stop":null,"tools":null,"stream":null,"n":null"#,
                "ok",
            ),
            (
                r#""min_p":0.1,"guided_json":{"type":"object"},"metadata":{"a":"b"},"store":false"#,
                "ok",
            ),
            (
                r#""response_format":{"type":"json_schema","json_schema":{"name":"x"}}"#,
                "ok",
            ),
        ],
    );
}

#[test]
fn chat_members_that_do_not_fit() {
    all(
        Endpoint::Chat,
        r#""model":"m","messages":[]"#,
        &[
            (
                r#""response_format":{}"#,
                "`response_format.type` is missing, expected a string.",
            ),
            (
                r#""temperature":"hot""#,
                "`temperature` must be a number, found a string.",
            ),
            (
                r#""stream":"yes""#,
                "`stream` must be true or false, found a string.",
            ),
            (
                r#""max_tokens":-1"#,
                "`max_tokens` must be a non-negative integer, found a number.",
            ),
            (
                r#""n":1.0"#,
                "`n` must be a non-negative integer, found a number.",
            ),
            (
                r#""seed":1e3"#,
                "`seed` must be an integer, found a number.",
            ),
            (
                r#""stop":3"#,
                "`stop` must be a string or an array of strings, found a number.",
            ),
            (
                r#""stop":["a",3]"#,
                "`stop[1]` must be a string, found a number.",
            ),
            (
                r#""tools":{"type":"function"}"#,
                "`tools` must be an array of objects, found an object.",
            ),
            (r#""model":"again""#, "`model` is given more than once."),
            (
                r#""m\u006fdel":"again""#,
                "`model` is given more than once.",
            ),
            (
                r#""stream_options":{"include_usage":1}"#,
                "`stream_options.include_usage` must be true or false, found a number.",
            ),
        ],
    );
}

#[test]
fn chat_bodies() {
    let check =
        |body, expected: &str| assert_eq!(verdict(Endpoint::Chat, body), expected, "{body}");
    check(
        r#"{"messages":[]}"#,
        "`model` is missing, expected a string.",
    );
    check(
        r#"{"model":"m"}"#,
        "`messages` is missing, expected an array of objects.",
    );
    check(
        r#"{"model":4,"messages":[]}"#,
        "`model` must be a string, found a number.",
    );
    check(
        r#"{"model":null,"messages":[]}"#,
        "`model` must be a string, found null.",
    );
    check(
        r#"{"model":"m","messages":"hi"}"#,
        "`messages` must be an array of objects, found a string.",
    );
    check(
        r#"[{"model":"m"}]"#,
        "the body must be an object, found an array.",
    );
    check(r#""hello""#, "the body must be an object, found a string.");
}

#[test]
fn chat_messages() {
    let cases = [
        (r#"{"role":"user","content":"x"}"#, "ok"),
        (r#"{"role":"anything"}"#, "ok"),
        (r#"{"role":"assistant","content":null,"vendor":{}}"#, "ok"),
        (
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u","detail":"low"}}]}"#,
            "ok",
        ),
        (
            r#"{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"","format":"wav"}}]}"#,
            "ok",
        ),
        (
            r#"{"role":"user","content":[{"type":"file","file":{"file_id":"f"}},{"type":"video_url","video_url":{}}]}"#,
            "ok",
        ),
        (
            r#"{"role":"user","content":[{"type":"of tomorrow","x":1}]}"#,
            "ok",
        ),
        (
            r#"{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
            "ok",
        ),
        (
            r#"{"role":"assistant","tool_calls":[{"id":"1","type":"custom","custom":{"name":"f","input":"x"}}]}"#,
            "ok",
        ),
        (
            r#"{"role":"assistant","reasoning":"r","reasoning_content":"r","reasoning_details":[{}]}"#,
            "ok",
        ),
        (
            r#"{"content":"x"}"#,
            "`messages[0].role` is missing, expected a string.",
        ),
        (
            r#"{"role":1}"#,
            "`messages[0].role` must be a string, found a number.",
        ),
        (
            r#"{"role":"user","content":5}"#,
            "`messages[0].content` must be a string or an array of objects, found a number.",
        ),
        (
            r#"{"role":"user","content":[{"text":"x"}]}"#,
            "`messages[0].content[0].type` is missing, expected a string.",
        ),
        (
            r#"{"role":"user","content":[{"type":1}]}"#,
            "`messages[0].content[0].type` must be a string, found a number.",
        ),
        (
            r#"{"role":"user","content":[{"type":"text"}]}"#,
            "`messages[0].content[0].text` is missing, expected a string.",
        ),
        (
            r#"{"role":"user","content":["x"]}"#,
            "`messages[0].content[0]` must be an object with a type, found a string.",
        ),
        (
            r#"{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{}}}]}"#,
            "`messages[0].tool_calls[0].function.arguments` must be a string, found an object.",
        ),
    ];
    for (message, expected) in cases {
        let body = format!(r#"{{"model":"m","messages":[{message}]}}"#);
        assert_eq!(verdict(Endpoint::Chat, &body), expected, "{message}");
    }
}

#[test]
fn chat_tools() {
    all(
        Endpoint::Chat,
        r#""model":"m","messages":[]"#,
        &[
            (
                r#""tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{},"strict":true}}]"#,
                "ok",
            ),
            (
                r#""tools":[{"type":"custom","custom":{"name":"c","format":{"type":"text"}}}]"#,
                "ok",
            ),
            (r#""tools":[{"type":"of tomorrow"}]"#, "ok"),
            (r#""tool_choice":"auto""#, "ok"),
            (
                r#""tool_choice":{"type":"function","function":{"name":"f"}}"#,
                "ok",
            ),
            (
                r#""tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}"#,
                "ok",
            ),
            (
                r#""tools":[{"type":"function"}]"#,
                "`tools[0].function` is missing, expected an object.",
            ),
            (
                r#""tools":[{"function":{"name":"f"}}]"#,
                "`tools[0].type` is missing, expected a string.",
            ),
            (
                r#""tool_choice":{"function":{"name":"f"}}"#,
                "`tool_choice.type` is missing, expected a string.",
            ),
            (
                r#""tool_choice":1"#,
                "`tool_choice` must be a string or an object with a type, found a number.",
            ),
        ],
    );
}

#[test]
fn completions() {
    all(
        Endpoint::Completions,
        r#""model":"m""#,
        &[
            ("", "ok"),
            (r#""prompt":"p""#, "ok"),
            (r#""prompt":["a","b"]"#, "ok"),
            (r#""prompt":[1,2]"#, "ok"),
            (r#""prompt":[[1],[2]]"#, "ok"),
            (r#""prompt":[]"#, "ok"),
            (
                r#""logprobs":5,"best_of":2,"echo":true,"suffix":"s","stop_token_ids":[1],"priority":-1"#,
                "ok",
            ),
            (
                r#""logprobs":true"#,
                "`logprobs` must be a non-negative integer, found a boolean.",
            ),
            (
                r#""prompt":[1,"a"]"#,
                "`prompt[1]` must be a non-negative integer, found a string.",
            ),
            (
                r#""stop_token_ids":["a"]"#,
                "`stop_token_ids[0]` must be a non-negative integer, found a string.",
            ),
        ],
    );
}

#[test]
fn embeddings() {
    let inputs = "`input` must be a string, an array of strings, an array of non-negative integers \
                  or an array of arrays of non-negative integers";
    let input = |found: &str| format!("{inputs}, found {found}.");
    all(
        Endpoint::Embeddings,
        r#""model":"m""#,
        &[
            (r#""input":"text""#, "ok"),
            (
                r#""input":["a","b"],"dimensions":256,"encoding_format":"float","user":"u""#,
                "ok",
            ),
            (r#""input":[1,2,3]"#, "ok"),
            (r#""input":[[1,2,3],[4]]"#, "ok"),
            (r#""input":5"#, &input("a number")),
            (r#""input":{"a":1}"#, &input("an object")),
            (
                r#""input":[1.5]"#,
                "`input[0]` must be a non-negative integer, found a number.",
            ),
            (
                r#""input":"x","dimensions":"many""#,
                "`dimensions` must be a non-negative integer, found a string.",
            ),
        ],
    );
}

#[test]
fn responses() {
    all(
        Endpoint::Responses,
        r#""model":"m""#,
        &[
            (
                r#""input":"text","instructions":"i","max_output_tokens":10,"store":false"#,
                "ok",
            ),
            (r#""input":[{"role":"user","content":"hi"}]"#, "ok"),
            (
                r#""input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"data:,x"}]}]"#,
                "ok",
            ),
            (
                r#""input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"1"}]"#,
                "ok",
            ),
            (
                r#""input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"1"}]}]"#,
                "ok",
            ),
            (
                r#""input":[{"id":"msg_1"},{"type":null,"id":"msg_2"},{"type":"item_reference","id":"x"}]"#,
                "ok",
            ),
            (r#""input":[{"type":"of tomorrow","x":[]}]"#, "ok"),
            (r#""prompt":{"id":"p"}"#, "ok"),
            (
                r#""input":"x","reasoning":{"effort":"low"},"text":{"format":{"type":"json_object"},"verbosity":"low"},"truncation":"auto""#,
                "ok",
            ),
            (
                r#""input":"x","tools":[{"type":"function","name":"f"},{"type":"web_search"},{"type":"custom","name":"c"}],"tool_choice":"required""#,
                "ok",
            ),
            (
                r#""input":"x","tool_choice":{"type":"function","name":"f"}"#,
                "ok",
            ),
            (
                "",
                "`input` is missing, expected a string or an array of objects.",
            ),
            (
                r#""input":5"#,
                "`input` must be a string or an array of objects, found a number.",
            ),
            (
                r#""input":[{"type":3,"role":"user","content":"x"}]"#,
                "`input[0].type` must be a string, found a number.",
            ),
            (
                r#""input":[{"role":"user"}]"#,
                "`input[0].content` is missing, expected a string or an array of objects.",
            ),
            (
                r#""input":[{}]"#,
                "`input[0].role` is missing, expected a string.",
            ),
            (
                r#""input":"x","temperature":"hot""#,
                "`temperature` must be a number, found a string.",
            ),
            (
                r#""input":"x","truncation":"sometimes""#,
                "`truncation` must be one of \"auto\", \"disabled\", found a string.",
            ),
            (
                r#""input":"x","tools":[{"type":"function"}]"#,
                "`tools[0].name` is missing, expected a string.",
            ),
            (
                r#""input":"x","tools":[{"name":"f"}]"#,
                "`tools[0].type` is missing, expected a string.",
            ),
        ],
    );
}

#[test]
fn text_that_is_no_json() {
    let bodies: [&[u8]; 8] = [
        b"",
        b"{",
        br#"{"model":"m",}"#,
        b"not json",
        br#"{"model":"m","messages":[]"#,
        b"\xff\xfe",
        br#"{"model":4,"messages":[}"#,
        br#"{"model":"m","messages":[]} x"#,
    ];
    for endpoint in Endpoint::ALL {
        for body in bodies {
            let defect = check(endpoint, body).expect_err("not JSON");
            assert_eq!(
                defect.kind,
                DefectKind::InvalidJson,
                "{}",
                String::from_utf8_lossy(body)
            );
            assert!(
                defect
                    .message()
                    .starts_with("Invalid request: the body is not valid JSON (")
            );
        }
    }
}

#[test]
fn what_is_read() {
    let read = |members: &str| {
        let body = format!(r#"{{"model":"m","messages":[],{members}}}"#);
        let checked = check(Endpoint::Chat, body.as_bytes()).expect("valid");
        (checked.stream, checked.include_usage)
    };
    assert_eq!(read(r#""stream":true"#), (true, false));
    assert_eq!(read(r#""stream":false"#), (false, false));
    assert_eq!(
        read(r#""stream":null,"stream_options":null"#),
        (false, false)
    );
    assert_eq!(
        read(r#""stream":true,"stream_options":{"include_usage":true}"#),
        (true, true)
    );
    assert_eq!(
        read(r#""stream":true,"stream_options":{"include_usage":false}"#),
        (true, false)
    );
    assert_eq!(
        read(r#""x":{"stream":true}"#),
        (false, false),
        "only at the top"
    );
}

#[test]
fn no_value_is_quoted() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":{"sEcReT":"sEcReT"}}],"temperature":"sEcReT"}"#;
    let defect = check(Endpoint::Chat, body.as_bytes()).expect_err("wrong shape");
    assert!(!format!("{defect} {defect:?}").contains("sEcReT"));
}
