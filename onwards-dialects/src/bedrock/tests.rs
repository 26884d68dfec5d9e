mod answer;
mod failure;
mod invoke;
mod request;
mod stream;

use crate::options::{BedrockApi, Memory, Reading};
use crate::testing::{options, settings};

fn reading() -> Reading {
    Reading {
        unique: "u1".into(),
        ..Reading::default()
    }
}

/// Of an answer whose shape was asked for with a tool, and with a tool of another name.
fn shaped() -> Reading {
    Reading {
        memory: Memory {
            tool_names: vec![("get_weather".into(), "get.weather".into())],
            structured: Some("json_response".into()),
        },
        ..reading()
    }
}

#[test]
fn a_model_is_one_segment_of_the_path() {
    let mut options = options();
    let mut settings = settings(&options);
    settings.model = "anthropic.claude-sonnet-4-5-20250929-v1:0";
    assert_eq!(
        super::path(&settings, false),
        "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
    );
    settings.model = "arn:aws:bedrock:eu-west-1:1:p/a_b~é";
    assert_eq!(
        super::path(&settings, true),
        "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ap%2Fa_b~%C3%A9/converse-stream"
    );
    options.bedrock_api = BedrockApi::InvokeAnthropic;
    let settings = crate::testing::settings(&options);
    assert_eq!(super::path(&settings, false), "/model/the-model/invoke");
    assert_eq!(
        super::path(&settings, true),
        "/model/the-model/invoke-with-response-stream"
    );
}
