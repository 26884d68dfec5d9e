use expect_test::expect;

use super::*;

#[test]
fn every_sentence() {
    use Surface::{ChatCompletions as Chat, Completions, Responses};
    let all = [
        effort_not_a_string(Chat),
        effort_not_a_string(Responses),
        reasoning_not_an_object(),
        unknown_effort(Chat, "ultra"),
        unknown_effort(Responses, ""),
        unsupported_effort(Responses, Effort::XHigh, "low, medium"),
        limit_missing(Chat, Effort::High, 8192),
        limit_missing(Responses, Effort::Max, 1),
        limit_too_low(Chat, Effort::Low, 1024, ("max_tokens", 1024)),
        limit_too_low(Responses, Effort::None, 0, ("max_output_tokens", 0)),
        limit_not_a_count("max_tokens"),
        native_control(Chat, "chat_template_kwargs.thinking"),
        native_control(Responses, "reasoning_effort"),
        native_control(Completions, "reasoning"),
        crossing("/thinking/type"),
    ];
    let lines: Vec<String> = all
        .iter()
        .map(|r| format!("{} {} {}: {r}\n", r.status, r.code, r.param))
        .collect();
    expect![[r#"
        400 invalid_type reasoning_effort: Invalid type for 'reasoning_effort'. Expected a string.
        400 invalid_type reasoning.effort: Invalid type for 'reasoning.effort'. Expected a string.
        400 invalid_type reasoning: Invalid type for 'reasoning'. Expected an object.
        400 invalid_value reasoning_effort: Invalid value 'ultra' for 'reasoning_effort'. Expected one of: none, minimal, low, medium, high, xhigh, max.
        400 invalid_value reasoning.effort: Invalid value '' for 'reasoning.effort'. Expected one of: none, minimal, low, medium, high, xhigh, max.
        400 unsupported_value reasoning.effort: Reasoning effort 'xhigh' is not supported by this provider. Supported values: low, medium.
        422 reasoning_budget_requires_max_tokens max_completion_tokens: reasoning_effort 'high' maps to an 8192-token reasoning budget for this model, but max_completion_tokens is not set. Set max_completion_tokens above 8192 or select a lower reasoning_effort.
        422 reasoning_budget_requires_max_tokens max_output_tokens: reasoning.effort 'max' maps to an 1-token reasoning budget for this model, but max_output_tokens is not set. Set max_output_tokens above 1 or select a lower reasoning.effort.
        400 reasoning_budget_exceeds_max_tokens max_tokens: reasoning_effort 'low' maps to an 1024-token reasoning budget for this model, but max_tokens is 1024. Increase max_tokens above 1024 or select a lower reasoning_effort.
        400 reasoning_budget_exceeds_max_tokens max_output_tokens: reasoning.effort 'none' maps to an 0-token reasoning budget for this model, but max_output_tokens is 0. Increase max_output_tokens above 0 or select a lower reasoning.effort.
        400 invalid_type max_tokens: Invalid type for 'max_tokens'. Expected a non-negative integer.
        400 unsupported_parameter chat_template_kwargs.thinking: Unsupported parameter 'chat_template_kwargs.thinking'; use 'reasoning_effort'.
        400 unsupported_parameter reasoning_effort: Unsupported parameter 'reasoning_effort'; use 'reasoning.effort'.
        400 unsupported_parameter reasoning: Parameter 'reasoning' is not supported by /v1/completions. Use /v1/chat/completions or /v1/responses.
        400 invalid_translation_config reasoning_translation: Invalid reasoning translation config: the path '/thinking/type' crosses a value that is not an object.
    "#]]
    .assert_eq(&lines.concat());
}

#[test]
fn a_long_value_is_cut_between_characters() {
    assert_eq!(echo(&"é".repeat(ECHO_CHARS)), "é".repeat(ECHO_CHARS));
    assert_eq!(
        echo(&"é".repeat(ECHO_CHARS + 1)),
        format!("{}…", "é".repeat(ECHO_CHARS))
    );
}
