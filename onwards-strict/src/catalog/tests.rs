use super::*;

fn names(members: &str) -> Vec<&'static str> {
    let body = format!(r#"{{"model":"m","messages":[],{members}}}"#);
    let flags = flagged(body.as_bytes());
    let checked = crate::check(crate::Endpoint::Chat, body.as_bytes());
    if let Ok(checked) = checked {
        assert_eq!(
            checked.flagged, flags,
            "the check finds the same: {members}"
        );
    }
    flags.iter().map(|parameter| parameter.name).collect()
}

#[test]
fn values_that_count_as_absent() {
    let cases = [
        ("n", "1", "2"),
        ("logprobs", "false", "true"),
        ("top_logprobs", "0", "2"),
        ("prompt_logprobs", "null", "0"),
        ("min_tokens", "0", "4"),
        ("ignore_eos", "false", "true"),
        ("include_stop_str_in_output", "false", "true"),
        ("skip_special_tokens", "true", "false"),
        ("add_generation_prompt", "true", "false"),
        ("continue_final_message", "false", "true"),
        (
            "chat_template_args",
            r#"{"thinking":true,"enable_thinking":1,"thinking_mode":"x","reasoning_effort":2}"#,
            r#"{"thinking":true,"other":1}"#,
        ),
        ("web_search_options", "null", "{}"),
        ("media_io_kwargs", "null", "{}"),
        ("guided_json", "null", "{}"),
        ("guided_regex", "null", "\"\""),
        ("guided_grammar", "null", "\"g\""),
        ("guided_choice", "null", "[]"),
        ("guided_decoding_backend", "null", "\"b\""),
        ("guided_whitespace_pattern", "null", "\"p\""),
        ("functions", "null", "[]"),
        ("function_call", "null", "\"auto\""),
        ("modalities", "null", "[\"text\"]"),
        ("audio", "null", "{}"),
        ("prediction", "null", "{}"),
        ("mm_processor_kwargs", "null", "{}"),
    ];
    assert_eq!(cases.len(), PARAMETERS.len());
    for ((name, neutral, used), parameter) in cases.into_iter().zip(&PARAMETERS) {
        assert_eq!(name, parameter.name);
        assert_eq!(names(&format!(r#""{name}":{neutral}"#)), [""; 0], "{name}");
        assert_eq!(names(&format!(r#""{name}":null"#)), [""; 0], "{name}");
        assert_eq!(names(&format!(r#""{name}": {used} "#)), [name], "{name}");
        assert_eq!(
            names(&format!(r#""{name}":"1""#)),
            [name],
            "another type is flagged"
        );
        assert_eq!(find(name), Some(parameter));
    }
}

#[test]
fn catalog_order_whatever_the_order_of_the_request() {
    assert_eq!(
        names(r#""guided_json":{},"n":2,"x":1,"logprobs":true"#),
        ["n", "logprobs", "guided_json"]
    );
    assert_eq!(
        names(r#""chat_template_kwargs":{"a":1},"x":{"n":2}"#),
        [""; 0]
    );
    assert_eq!(find("chat_template_kwargs"), None);
}

#[test]
fn refusals() {
    assert_eq!(
        refusal(&["logprobs"]),
        "Unsupported parameter(s): `logprobs`"
    );
    assert_eq!(
        refusal(&["n", "logprobs"]),
        "Unsupported parameter(s): `n`, `logprobs`"
    );
}
