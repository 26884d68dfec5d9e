use super::*;

fn cleaner() -> Cleaner {
    Cleaner::new(Endpoint::Responses, &context(false))
}

/// All members of an answer with their defaults, but for those given (without braces).
fn whole(given: &[(&str, &str)]) -> String {
    let defaults = [
        ("id", r#""resp_u-1""#),
        ("object", r#""response""#),
        ("created_at", "0"),
        ("status", r#""completed""#),
        ("background", "false"),
        ("completed_at", "null"),
        ("error", "null"),
        ("incomplete_details", "null"),
        ("instructions", "null"),
        ("max_output_tokens", "null"),
        ("max_tool_calls", "null"),
        ("model", r#""fast""#),
        ("output", "[]"),
        ("parallel_tool_calls", "true"),
        ("previous_response_id", "null"),
        ("prompt_cache_key", "null"),
        ("reasoning", "null"),
        ("safety_identifier", "null"),
        ("service_tier", r#""default""#),
        ("store", "false"),
        ("temperature", "1.0"),
        ("text", r#"{"format":{"type":"text"}}"#),
        ("tool_choice", r#""auto""#),
        ("tools", "[]"),
        ("top_logprobs", "0"),
        ("top_p", "1.0"),
        ("presence_penalty", "0.0"),
        ("frequency_penalty", "0.0"),
        ("truncation", r#""disabled""#),
        ("usage", "null"),
        ("metadata", "null"),
    ];
    let rest = defaults
        .iter()
        .filter(|(name, _)| !given.iter().any(|(given, _)| given == name));
    let members: Vec<_> = given
        .iter()
        .chain(rest)
        .map(|(n, v)| format!(r#""{n}":{v}"#))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// An item goes in, another comes out.
#[track_caller]
fn item(given: &str, expected: &str) {
    let text = format!(r#"{{"output":[{given}]}}"#);
    let expected = match expected.starts_with('{') {
        true => whole(&[("output", &format!("[{expected}]"))]),
        false => expected.to_owned(),
    };
    check(&cleaner(), false, &text, &expected);
}

#[test]
fn all_members_are_always_sent() {
    check(
        &cleaner(),
        false,
        r#"{"output":[],"cost":1}"#,
        &whole(&[("output", "[]")]),
    );
    let nulls = whole(&[
        ("output", "[]"),
        ("temperature", "null"),
        ("service_tier", "null"),
        ("truncation", "null"),
        ("background", "null"),
        ("user", "null"),
    ]);
    check(&cleaner(), false, &nulls, &nulls);
    check(
        &cleaner(),
        false,
        r#"{"output":[],"tools":null,"text":null,"tool_choice":null,"id":null,"model":null,"status":null}"#,
        &whole(&[("output", "[]")]),
    );
}

#[test]
fn what_does_not_fit() {
    let cases = [
        (
            r#"{"id":"x"}"#,
            "output: wanted an array of objects, found nothing",
        ),
        (
            r#"{"output":null}"#,
            "output: wanted an array of objects, found null",
        ),
        (
            r#"{"output":[1]}"#,
            "output[0]: wanted an object with a type, found a number",
        ),
        (
            r#"{"output":[{"type":1}]}"#,
            "output[0].type: wanted a string, found a number",
        ),
        (
            r#"{"output":[{"type":"message"}]}"#,
            "output[0].content: wanted a string or an array of objects, found nothing",
        ),
        (
            r#"{"output":[{"type":"function_call","call_id":"c","name":"f","arguments":{}}]}"#,
            "output[0].arguments: wanted a string, found an object",
        ),
        (
            r#"{"output":[],"usage":{"input_tokens":1}}"#,
            "usage.output_tokens: wanted an integer, found nothing",
        ),
        (
            r#"{"output":[],"id":5}"#,
            "id: wanted a string, found a number",
        ),
    ];
    for (text, expected) in cases {
        check(&cleaner(), false, text, expected);
    }
}

#[test]
fn where_real_providers_differ() {
    let cases: [&[(&str, &str)]; 7] = [
        &[
            ("output", "[]"),
            (
                "tools",
                r#"[{"type":"web_search"},{"type":"of tomorrow","x":1}]"#,
            ),
        ],
        &[
            ("output", "[]"),
            (
                "tools",
                r#"[{"type":"function","name":"f","description":null,"parameters":null,"strict":null}]"#,
            ),
        ],
        &[
            ("output", "[]"),
            (
                "usage",
                r#"{"input_tokens":1,"output_tokens":2,"total_tokens":3}"#,
            ),
        ],
        &[
            ("output", "[]"),
            (
                "instructions",
                r#"[{"type":"message","role":"system","content":[{"type":"input_text","text":"t"}]}]"#,
            ),
        ],
        &[("output", "[]"), ("status", r#""of tomorrow""#)],
        &[("output", "[]"), ("created_at", "1700000000.25")],
        &[
            ("output", "[]"),
            ("tool_choice", r#"{"type":"of tomorrow","x":1}"#),
        ],
    ];
    for members in cases {
        let text = whole(members);
        check(&cleaner(), false, &text, &text);
    }
    check(
        &cleaner(),
        false,
        r#"{"output":[],"metadata":{"a":{"b":1}},"reasoning":"high","temperature":"hot"}"#,
        &whole(&[("output", "[]")]),
    );
}

#[test]
fn items() {
    item(
        r#"{"type":"message","id":"m","x":1,"role":"assistant","status":"completed","content":[{"type":"output_text","y":2,"text":"t","annotations":[{"type":"url_citation","url":"u","start_index":0,"end_index":1,"title":"t","z":3}]}]}"#,
        r#"{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"t","annotations":[{"type":"url_citation","url":"u","start_index":0,"end_index":1,"title":"t"}]}]}"#,
    );
    item(
        r#"{"content":[{"text":"t","type":"output_text"}],"role":"assistant"}"#,
        r#"{"content":[{"text":"t","type":"output_text","annotations":[]}],"role":"assistant","type":"message"}"#,
    );
    item(
        r#"{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":null,"v":[]}"#,
        r#"{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":null}"#,
    );
    item(
        r#"{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"q","engine":"x"},"cost":1}"#,
        r#"{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"q"}}"#,
    );
    item(
        r#"{"type":"web_search_call","id":"w","action":"search"}"#,
        r#"{"type":"web_search_call","id":"w"}"#,
    );
    for whole in [
        r#"{"type":"of tomorrow","model":"x","deep":[{"a":1.50}]}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"part of tomorrow","x":1}]}"#,
        r#"{"type":"message","role":"assistant","content":"text"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}"#,
        r#"{"type":"function_call","id":"f","call_id":"c","name":"n","arguments":"","status":"completed"}"#,
        r#"{"type":"custom_tool_call","call_id":"c","name":"n","input":"x"}"#,
        r#"{"type":"mcp_call","id":"m","server_label":"s","name":"n","arguments":"{}","output":null,"error":{"type":"http_error","code":500,"message":"m"}}"#,
    ] {
        item(whole, whole);
    }
}

#[test]
fn failures_speak_only_for_trusted_providers() {
    let failed = |code: &str, message: &str| {
        whole(&[
            ("status", r#""failed""#),
            (
                "error",
                &format!(r#"{{"code":{code},"message":{message}}}"#),
            ),
            ("output", "[]"),
        ])
    };
    let given = failed(r#""billing_hard_limit""#, r#""secret""#);
    check(
        &cleaner(),
        false,
        &given,
        &failed(r#""server_error""#, r#""An error occurred""#),
    );
    let known = failed(r#""rate_limit_exceeded""#, r#""secret""#);
    check(
        &cleaner(),
        false,
        &known,
        &failed(r#""rate_limit_exceeded""#, r#""An error occurred""#),
    );
    check(
        &Cleaner::new(Endpoint::Responses, &context(true)),
        false,
        &given,
        &given,
    );
    check(&cleaner(), false, &failed("429", r#""m""#), "error 429");
    check(
        &cleaner(),
        false,
        r#"{"error":{"code":"401"}}"#,
        "error 401",
    );
}

#[test]
fn snapshots_in_events() {
    let cases = [
        ("response.created", "in_progress"),
        ("response.in_progress", "in_progress"),
        ("response.queued", "queued"),
        ("response.completed", "completed"),
        ("response.failed", "failed"),
        ("response.incomplete", "incomplete"),
        ("response.cancelled", "cancelled"),
    ];
    for (kind, status) in cases {
        let status = format!("\"{status}\"");
        let response = whole(&[
            ("id", "\"r\""),
            ("model", "\"fast\""),
            ("output", "[]"),
            ("status", &status),
        ]);
        // What is missing is written behind what is there, in the order of the table.
        let tail: Vec<_> = response.split(r#","output":[],"status":"#).collect();
        let rest = tail[1].split_once(',').expect("more members").1.replacen(
            r#""object":"response","created_at":0,"#,
            &format!(r#""object":"response","created_at":0,"status":{status},"#),
            1,
        );
        let rest = rest.replacen(
            r#""max_tool_calls":null,"#,
            r#""max_tool_calls":null,"output":[],"#,
            1,
        );
        check(
            &cleaner(),
            true,
            &format!(r#"{{"type":"{kind}","x":1,"response":{{"id":"r","model":"v","y":2}}}}"#),
            &format!(
                r#"{{"type":"{kind}","response":{{"id":"r","model":"fast",{rest},"sequence_number":7}}"#
            ),
        );
    }
}

#[test]
fn events() {
    for whole in [
        r#"{"type":"response.output_text.delta","sequence_number":4,"item_id":"m","output_index":0,"content_index":0,"delta":"a","logprobs":[],"obfuscation":"xx"}"#,
        r#"{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"type":"message","id":"m","role":"assistant","content":[]}}"#,
        r#"{"type":"response.of_tomorrow","sequence_number":2,"anything":{"x":1}}"#,
        r#"{"type":"response.web_search_call.searching","output_index":0,"item_id":"w","sequence_number":1}"#,
        r#"{"type":"response.shell_call_output_content.delta","sequence_number":1,"item_id":"i","output_index":0,"command_index":0,"delta":{"stdout":"x"}}"#,
    ] {
        check(&cleaner(), true, whole, whole);
    }
    check(
        &cleaner(),
        true,
        r#"{"provider":"p","type":"response.output_text.delta","delta":"a"}"#,
        r#"{"type":"response.output_text.delta","delta":"a","sequence_number":7}"#,
    );
    check(
        &cleaner(),
        true,
        r#"{"type":"error","sequence_number":1,"code":"insufficient_quota","message":"secret","param":"p"}"#,
        r#"{"type":"error","sequence_number":1,"code":"server_error","message":"An error occurred","param":null}"#,
    );
    check(
        &cleaner(),
        true,
        r#"{"type":"error","error":{"message":"m","code":"429"}}"#,
        "error 429",
    );
    check(
        &cleaner(),
        true,
        r#"{"delta":"a"}"#,
        "type: wanted a string, found nothing",
    );
    check(
        &cleaner(),
        true,
        r#"{"type":null}"#,
        "type: wanted a string, found null",
    );
    check(
        &cleaner(),
        true,
        r#"{"type":"response.completed"}"#,
        "response: wanted an object, found nothing",
    );
}

#[test]
fn event_names_and_ends() {
    let facts = |kind: &str| {
        let text = format!(r#"{{"item":{{"type":"message"}},"type":"{kind}","response":{{}}}}"#);
        let mut out = Vec::new();
        match cleaner().clean_chunk(text.as_bytes(), 0, &mut out) {
            Ok(Cleaned::Answer(facts)) => (facts.event.map(str::to_owned), facts.finished),
            other => panic!("{other:?}"),
        }
    };
    let name = |name: &str| Some(name.to_owned());
    for last in ["completed", "failed", "incomplete", "cancelled"] {
        let kind = format!("response.{last}");
        assert_eq!(facts(&kind), (name(&kind), true));
    }
    assert_eq!(facts("error"), (name("error"), true));
    assert_eq!(
        facts("response.output_text.done"),
        (name("response.output_text.done"), false)
    );
    assert_eq!(
        facts("response.of_tomorrow"),
        (name("response.of_tomorrow"), false)
    );
    assert_eq!(
        facts(r"a\nid: 7"),
        (None, false),
        "nothing that could break a line"
    );
}
