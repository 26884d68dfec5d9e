use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{count_path, path, write_count, write_request};
use crate::failure::Rejected;
use crate::options::{
    Expose, ImageUrls, Kept, MidSystem, Options, Picture, ReasoningStyle, SchemaMode, Settings,
    Written,
};
use crate::request::{Message, Part, PartKind, Request, State, Thinking};
use crate::testing::{options, settings};
use crate::text::Str;
use crate::{Family, Protocol, gemini};

fn write(body: &str, options: &Options) -> Result<Written, Rejected> {
    let request = Protocol::Chat.read_request(body.as_bytes()).unwrap();
    write_request(&request, &settings(options))
}

/// A body and what it has lost.
fn told(written: &Written) -> String {
    assert!(serde_json::from_str::<serde_json::Value>(&written.body).is_ok());
    let mut out = written.body.clone() + "\n";
    if !written.report.is_empty() {
        out += &format!("{}\n", written.report.whole(1000));
    }
    out
}

#[expect(clippy::needless_pass_by_value, reason = "as expect! makes it")]
fn check(body: &str, expected: Expect) {
    match write(body, &options()) {
        Ok(written) => expected.assert_eq(&told(&written)),
        Err(rejected) => expected.assert_eq(&format!(
            "{} [{}] {}\n",
            rejected.code,
            rejected.param.unwrap_or_default(),
            rejected.message
        )),
    }
}

/// The members beside a greeting.
fn beside(members: &str, options: &Options) -> String {
    let body =
        format!(r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}],{members}}}"#);
    let told = told(&write(&body, options).unwrap());
    told.replace(
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"#,
        "{",
    )
    .replace(
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
        "{}",
    )
}

#[test]
fn turns_system_and_text() {
    check(
        r#"{"model":"m","messages":[{"role":"system","content":"one"},{"role":"developer","content":[{"type":"text","text":"two"}]},
            {"role":"user","content":"a\u2028"},{"role":"user","content":[{"type":"text","text":"b"}]},{"role":"assistant","content":"c"},
            {"role":"system","content":"late"},{"role":"user","content":""},{"role":"user","content":"d"}]}"#,
        expect![[r#"
            {"contents":[{"role":"user","parts":[{"text":"a\u2028"},{"text":"b"}]},{"role":"model","parts":[{"text":"c"}]},{"role":"user","parts":[{"text":"d"}]}],"systemInstruction":{"parts":[{"text":"one"},{"text":"two"},{"text":"late"}]}}
            changed=system_position
        "#]],
    );
    let options = Options {
        mid_system: MidSystem::UserNote,
        ..options()
    };
    let body = r#"{"model":"m","messages":[{"role":"assistant","content":"c"},{"role":"system","content":"late"}]}"#;
    expect![[r#"
        {"contents":[{"role":"user","parts":[{"text":"."}]},{"role":"model","parts":[{"text":"c"}]},{"role":"user","parts":[{"text":"System: late"}]}]}
        changed=synthetic_user_turn,changed=system_position
    "#]]
    .assert_eq(&told(&write(body, &options).unwrap()));
}

#[test]
fn calls_and_results() {
    check(
        r#"{"model":"m","messages":[{"role":"user","content":"go"},
            {"role":"assistant","content":null,"tool_calls":[
                {"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"n\": 1.10}"}},
                {"id":"own-2","type":"function","function":{"name":"1 g","arguments":""}},
                {"id":"call_3","type":"function","function":{"name":"f","arguments":"null"},"extra_content":{"google":{"thought_signature":"S"}}}]},
            {"role":"user","content":"meanwhile"},
            {"role":"tool","tool_call_id":"own-2","content":"{\"a\": 18446744073709551616}"},
            {"role":"tool","tool_call_id":"call_1","content":"sunny"},
            {"role":"tool","tool_call_id":"call_3","content":[{"type":"text","text":"[1,"},{"type":"text","text":"2]"}]},
            {"role":"tool","tool_call_id":"lost","content":"18446744073709551616"}]}"#,
        expect![[r#"
            {"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n": 1.10}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"own-2","name":"_1_g","args":{}}},{"functionCall":{"name":"f","args":{"input":null}},"thoughtSignature":"S"}]},{"role":"user","parts":[{"functionResponse":{"id":"own-2","name":"_1_g","response":{"a": 18446744073709551616}}},{"functionResponse":{"name":"f","response":{"result":"sunny"}}},{"functionResponse":{"name":"f","response":{"result":[1,2]}}},{"functionResponse":{"name":"lost","response":{"result":"18446744073709551616"}}},{"text":"meanwhile"}]}]}
            changed=thought_signature,changed=tool_arguments
        "#]],
    );
}

#[test]
fn results_out_of_order() {
    check(
        r#"{"model":"m","messages":[{"role":"user","content":"go"},
            {"role":"assistant","tool_calls":[
                {"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}},
                {"id":"call_2","type":"function","function":{"name":"g","arguments":"{}"}},
                {"id":"call_3","type":"function","function":{"name":"f","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"call_3","content":"third"},
            {"role":"tool","tool_call_id":"call_2","content":"second"},
            {"role":"tool","tool_call_id":"call_1","content":"first"}]}"#,
        expect![[r#"
            {"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"g","args":{}}},{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"first"}}},{"functionResponse":{"name":"g","response":{"result":"second"}}},{"functionResponse":{"name":"f","response":{"result":"third"}}}]}]}
            changed=thought_signature
        "#]],
    );
}

#[test]
fn a_result_without_an_id_or_a_name_is_refused() {
    check(
        r#"{"model":"m","messages":[{"role":"user","content":"go"},{"role":"tool","content":"x"}]}"#,
        expect![[r#"
            tool_call_id_missing [/messages/1/tool_call_id] /messages/1/tool_call_id: missing, expected the id of the call it answers
        "#]],
    );
    check(
        r#"{"model":"m","messages":[{"role":"system","content":"x"}]}"#,
        expect![[r#"
            conversation_empty [messages] no message is left to be answered: expected one that is not a system message and not empty
        "#]],
    );
}

#[test]
fn failed_results_of_another_protocol() {
    let result = |content: &str| {
        let body = format!(
            r#"{{"contents":[{{"parts":[{{"text":"x"}}]}},{{"role":"model","parts":[{{"functionCall":{{"name":"f"}},"thoughtSignature":"S"}}]}},
            {{"parts":[{{"functionResponse":{{"name":"f","response":{content}}}}}]}}]}}"#
        );
        let mut request = Protocol::GenerateContent
            .read_request(body.as_bytes())
            .unwrap();
        for part in request
            .messages
            .iter_mut()
            .flat_map(|message| &mut message.parts)
        {
            if let PartKind::ToolResult(result) = &mut part.kind {
                result.json = None;
            }
        }
        let options = options();
        let written = write_request(&request, &settings(&options)).unwrap();
        let (_, response) = written.body.split_once("\"response\":").unwrap();
        response.trim_end_matches("}}]}]}").to_owned()
    };
    assert_eq!(result(r#"{"error":"bad"}"#), r#"{"error":"bad"}"#);
    assert_eq!(result(r#"{"error":{"code":7}}"#), r#"{"error":{"code":7}}"#);
    assert_eq!(result(r#"{"result":null}"#), r#"{"result":null}"#);
    assert_eq!(result(r#"{"a":1,"b":2}"#), r#"{"a":1,"b":2}"#);
}

#[test]
fn thoughts_come_back_to_google_alone() {
    let state = |family, data| {
        Some(State {
            family,
            data: Str::plain(data),
        })
    };
    let thought = |text: Option<&'static str>, state| {
        Part::new(PartKind::Thinking(Thinking {
            text: text.map(Str::plain),
            state,
        }))
    };
    let text = |text| Part::new(PartKind::Text(Str::plain(text)));
    let request = Request {
        messages: vec![
            Message::text(crate::request::Role::User, Str::plain("hi")),
            Message::new(
                crate::request::Role::Assistant,
                vec![
                    thought(Some("hm"), state(Family::Google, "S1")),
                    thought(Some("ah"), state(Family::Anthropic, "A")),
                    thought(Some("oh"), None),
                    text("t"),
                    thought(None, state(Family::Google, "S2")),
                    text(""),
                    thought(None, state(Family::Google, "S3")),
                    thought(None, state(Family::Google, "S4")),
                ],
            ),
        ],
        ..Request::default()
    };
    let options = options();
    let written = write_request(&request, &settings(&options)).unwrap();
    expect![[r#"
        {"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"S1"},{"text":"t","thoughtSignature":"S2"},{"text":"","thoughtSignature":"S3"},{"text":"","thoughtSignature":"S4"}]}]}
        dropped=reasoning_content,dropped=thinking_blocks
    "#]]
    .assert_eq(&told(&written));
}

#[test]
fn signatures_that_are_remembered() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[
        {"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"x"}]}"#;
    let request = Protocol::Chat.read_request(body.as_bytes()).unwrap();
    let options = options();
    let recall = |id: &str| {
        (id == "call_1").then(|| Kept {
            thoughts: Vec::new(),
            state: Some(State {
                family: Family::Google,
                data: Str::plain("kept"),
            }),
        })
    };
    let settings = Settings {
        recall: &recall,
        ..settings(&options)
    };
    expect![[r#"
        {"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"kept"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"x"}}}]}]}
    "#]]
    .assert_eq(&told(&write_request(&request, &settings).unwrap()));
}

#[test]
fn a_chat_client_gives_the_signature_of_text_back() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"t","extra_content":{"google":{"thought_signature":"S"}}},{"role":"user","content":"go on"}]}"#;
    check(
        body,
        expect![[r#"
            {"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"t","thoughtSignature":"S"}]},{"role":"user","parts":[{"text":"go on"}]}]}
        "#]],
    );
    // And a server of its own dialect gets it as it came.
    let request = Protocol::Chat.read_request(body.as_bytes()).unwrap();
    let options = options();
    let settings = Settings {
        model: "m",
        ..settings(&options)
    };
    let again = crate::Kind::OpenAi
        .write_request(&request, &settings)
        .unwrap();
    assert_eq!(told(&again), format!("{body}\n"));
}

#[test]
fn sound_of_a_client_of_this_dialect_reaches_chat() {
    let body = r#"{"contents":[{"parts":[{"text":"what?"},{"inlineData":{"mimeType":"audio/mp3","data":"aGk="}}]}]}"#;
    let request = Protocol::GenerateContent
        .read_request(body.as_bytes())
        .unwrap();
    let options = options();
    let written = crate::Kind::OpenAi
        .write_request(&request, &settings(&options))
        .unwrap();
    expect![[r#"
        {"model":"the-model","messages":[{"role":"user","content":[{"type":"text","text":"what?"},{"type":"input_audio","input_audio":{"data":"aGk=","format":"mp3"}}]}]}
    "#]]
    .assert_eq(&told(&written));
}

#[test]
fn parameters() {
    let options = options();
    for (members, expected) in [
        (
            r#""temperature":1.10,"top_p":0.5,"top_k":3,"n":2,"seed":7,"presence_penalty":0.1,"frequency_penalty":-1,"max_completion_tokens":9,"stop":["x","\u2028"],"logprobs":true,"top_logprobs":4"#,
            r#"{"generationConfig":{"temperature":1.10,"topP":0.5,"topK":3,"candidateCount":2,"presencePenalty":0.1,"frequencyPenalty":-1,"seed":7,"maxOutputTokens":9,"stopSequences":["x","\u2028"],"responseLogprobs":true,"logprobs":4}}
"#,
        ),
        (
            r#""logprobs":false,"top_logprobs":4,"parallel_tool_calls":true,"modalities":["text"]"#,
            "{}\n",
        ),
        (r#""seed":4294967296"#, "{}\ndropped=seed\n"),
        (
            r#""modalities":["text","image"]"#,
            "{\"generationConfig\":{\"responseModalities\":[\"TEXT\",\"IMAGE\"]}}\n",
        ),
        (
            r#""user":"u","safety_identifier":"s","metadata":{},"service_tier":"auto","logit_bias":{},"store":true,"prediction":{},"verbosity":"low","prompt_cache_key":"k","parallel_tool_calls":false,"new":1"#,
            "{}\ndropped=logit_bias,dropped=metadata,dropped=new,dropped=parallel_tool_calls,dropped=prediction,dropped=prompt_cache_key,dropped=safety_identifier,dropped=service_tier,dropped=store,dropped=user,dropped=verbosity\n",
        ),
    ] {
        assert_eq!(beside(members, &options), expected, "{members}");
    }
    let with_default = Options {
        default_max_tokens: Some(5),
        ..options.clone()
    };
    assert_eq!(
        beside(r#""n":1"#, &with_default),
        "{\"generationConfig\":{\"candidateCount\":1,\"maxOutputTokens\":5}}\nadded=max_tokens\n"
    );
    for members in [
        r#""modalities":["text","audio"]"#,
        r#""audio":{"voice":"x"}"#,
    ] {
        let body =
            format!(r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}],{members}}}"#);
        assert_eq!(
            write(&body, &options).unwrap_err().code,
            "unsupported_parameter"
        );
    }
}

#[test]
fn tools_and_which_must_be_called() {
    let tools = r#""tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}}},
        {"type":"function","function":{"name":"g.h","parameters":{"type":"object","properties":{}}}},
        {"type":"function","function":{"name":"k","parameters":{"type":"object","properties":{"a":{"enum":[1]}}}}},
        {"type":"function","function":{"name":"m","parameters":{"type":"object","properties":{"a":{"not":{}}}}}}]"#;
    expect![[r#"
        {"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string","nullable":true}}}},{"name":"g_h"},{"name":"k","parameters":{"type":"object","properties":{"a":{"type":"string","enum":["1"]}}}},{"name":"m","parametersJsonSchema":{"type":"object","properties":{"a":{"not":{}}}}}]}]}
        dropped=strict,changed=tools(enum)
    "#]]
    .assert_eq(&beside(tools, &options()));
    let json_schema = Options {
        schema_mode: SchemaMode::JsonSchema,
        ..options()
    };
    expect![[r#"
        {"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}},{"name":"g_h"},{"name":"k","parametersJsonSchema":{"type":"object","properties":{"a":{"enum":[1]}}}},{"name":"m","parametersJsonSchema":{"type":"object","properties":{"a":{"not":{}}}}}]}]}
        dropped=strict
    "#]]
    .assert_eq(&beside(tools, &json_schema));

    let two = r#""tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g.h"}}]"#;
    let mut all = String::new();
    for choice in [
        r#""auto""#,
        r#""none""#,
        r#""required""#,
        r#"{"type":"function","function":{"name":"g.h"}}"#,
        r#"{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g.h"}}]}}"#,
        r#"{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g.h"}},{"type":"function","function":{"name":"f"}}]}}"#,
    ] {
        all += &beside(&format!(r#"{two},"tool_choice":{choice}"#), &options());
    }
    expect![[r#"
        {"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g_h"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}
        {"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g_h"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}
        {"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g_h"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}
        {"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g_h"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g_h"]}}}
        {"tools":[{"functionDeclarations":[{"name":"g_h"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}
        {"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g_h"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g_h","f"]}}}
    "#]]
    .assert_eq(&all);
    assert_eq!(beside(r#""tool_choice":"none""#, &options()), "{}\n");
}

#[test]
fn names_are_told_back() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"g.h"}}]}"#;
    let memory = write(body, &options()).unwrap().memory;
    assert_eq!(memory.client_name("g_h"), "g.h");
}

#[test]
fn reasoning() {
    let with = |style, expose, member: &str| {
        let options = Options {
            reasoning_style: style,
            expose_reasoning: expose,
            reasoning_budgets: BTreeMap::from([("high".to_owned(), 99)]),
            ..options()
        };
        beside(&format!(r#""reasoning_effort":"{member}""#), &options)
    };
    use Expose::{Full, None, Text};
    use ReasoningStyle::{Budget, Level, Off};
    for (style, expose, effort, expected) in [
        (
            Budget,
            Full,
            "low",
            r#"{"thinkingBudget":1024,"includeThoughts":true}"#,
        ),
        (
            Budget,
            Text,
            "high",
            r#"{"thinkingBudget":99,"includeThoughts":true}"#,
        ),
        (Budget, None, "max", r#"{"thinkingBudget":32768}"#),
        (Budget, Full, "none", r#"{"thinkingBudget":0}"#),
        (
            Level,
            Full,
            "xhigh",
            r#"{"thinkingLevel":"high","includeThoughts":true}"#,
        ),
    ] {
        let expected = format!("{{\"generationConfig\":{{\"thinkingConfig\":{expected}}}}}\n");
        assert_eq!(with(style, expose, effort), expected);
    }
    assert_eq!(
        with(Level, None, "none"),
        "{\"generationConfig\":{\"thinkingConfig\":{\"thinkingLevel\":\"minimal\"}}}\nchanged=reasoning_effort\n"
    );
    for (style, effort) in [(Off, "low"), (Budget, "ultra"), (Level, "ultra")] {
        assert_eq!(with(style, Full, effort), "{}\ndropped=reasoning_effort\n");
    }
}

#[test]
fn shapes_of_the_answer() {
    for (format, expected) in [
        (r#"{"type":"text"}"#, "{}\n"),
        (
            r#"{"type":"json_object"}"#,
            "{\"generationConfig\":{\"responseMimeType\":\"application/json\"}}\n",
        ),
        (
            r#"{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true}}"#,
            "{\"generationConfig\":{\"responseMimeType\":\"application/json\",\"responseSchema\":{\"description\":\"d\",\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}}}\n",
        ),
        (
            r#"{"type":"json_schema","json_schema":{"name":"n","schema":{"description":"own","enum":[1,2]}}}"#,
            "{\"generationConfig\":{\"responseMimeType\":\"application/json\",\"responseSchema\":{\"type\":\"string\",\"description\":\"own\",\"enum\":[\"1\",\"2\"]}}}\nchanged=response_format(enum)\n",
        ),
        (
            r##"{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"$ref":"#"}}}"##,
            "{\"generationConfig\":{\"responseMimeType\":\"application/json\",\"responseJsonSchema\":{\"description\":\"d\",\"$ref\":\"#\"}}}\n",
        ),
        (
            r#"{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{ }}}"#,
            "{\"generationConfig\":{\"responseMimeType\":\"application/json\",\"responseJsonSchema\":{\"description\":\"d\"}}}\n",
        ),
    ] {
        assert_eq!(
            beside(&format!(r#""response_format":{format}"#), &options()),
            expected
        );
    }
}

#[test]
fn pictures_sound_and_films() {
    let content = |part: &str| {
        format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"text","text":"x"}},{part}]}}]}}"#
        )
    };
    let pictures = BTreeMap::from([(
        "https://a.example/p.png".to_owned(),
        Picture {
            mime: "image/webp".into(),
            base64: "d2Vi".into(),
        },
    )]);
    let write = |part: &str, image_urls| {
        let options = Options {
            image_urls,
            ..options()
        };
        let settings = Settings {
            pictures: &pictures,
            ..settings(&options)
        };
        let body = content(part);
        let request = Protocol::Chat.read_request(body.as_bytes()).unwrap();
        match write_request(&request, &settings) {
            Ok(written) => told(&written)
                .replace(r#"{"contents":[{"role":"user","parts":[{"text":"x"},"#, "")
                .replace("]}]}\n", "\n"),
            Err(rejected) => format!("{} {}\n", rejected.code, rejected.param.unwrap_or_default()),
        }
    };
    let mut all = String::new();
    for part in [
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk=","detail":"high"}}"#,
        r#"{"type":"image_url","image_url":{"url":"https://a.example/p.png","detail":"auto"}}"#,
        r#"{"type":"image_url","image_url":{"url":"https://a.example/other.jpeg?x=.png"}}"#,
        r#"{"type":"image_url","image_url":{"url":"gs://bucket/p.PNG"}}"#,
        r#"{"type":"image_url","image_url":{"url":"https://generativelanguage.googleapis.com/v1beta/files/abc"}}"#,
        r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,aGk="}}"#,
        r#"{"type":"file","file":{"file_id":"file-1"}}"#,
        r#"{"type":"input_audio","input_audio":{"data":"aGk","format":"wav"}}"#,
        r#"{"type":"video_url","video_url":{"url":"data:video/mp4;base64,aGk="}}"#,
        r#"{"type":"video_url","video_url":{"url":"https://video.example/a.mp4"}}"#,
        r#"{"type":"fileData","fileData":{}}"#,
    ] {
        all += &write(part, ImageUrls::Fetch);
    }
    expect![[r#"
        {"inlineData":{"mimeType":"image/png","data":"aGk="}}
        dropped=detail
        {"inlineData":{"mimeType":"image/webp","data":"d2Vi"}}
        image_fetch_failed /messages/0/content/1
        {"fileData":{"mimeType":"image/png","fileUri":"gs://bucket/p.PNG"}}
        {"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/abc"}}
        {"inlineData":{"mimeType":"application/pdf","data":"aGk="}}
        dropped=filename
        unsupported_content /messages/0/content/1
        {"inlineData":{"mimeType":"audio/wav","data":"aGk="}}
        {"inlineData":{"mimeType":"video/mp4","data":"aGk="}}
        {"fileData":{"mimeType":"video/mp4","fileUri":"https://video.example/a.mp4"}}
        unsupported_content /messages/0/content/1
    "#]]
    .assert_eq(&all);
    let url = r#"{"type":"image_url","image_url":{"url":"https://a.example/p.png?q=1"}}"#;
    expect![[r#"
        {"fileData":{"mimeType":"image/png","fileUri":"https://a.example/p.png?q=1"}}
        unsupported_content /messages/0/content/1
    "#]]
    .assert_eq(&(write(url, ImageUrls::Forward) + &write(url, ImageUrls::Reject)));
}

#[test]
fn paths() {
    let options = options();
    for (model, expected) in [
        ("gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash"),
        ("a b%/../ü", "/v1beta/a%20b%25/../%C3%BC"),
        ("a:b?c#d", "/v1beta/models/a%3Ab%3Fc%23d"),
        ("tunedModels/x", "/v1beta/tunedModels/x"),
    ] {
        let settings = Settings {
            model,
            ..settings(&options)
        };
        assert_eq!(
            path(&settings, false),
            format!("{expected}:generateContent")
        );
        assert_eq!(
            path(&settings, true),
            format!("{expected}:streamGenerateContent?alt=sse")
        );
        assert_eq!(count_path(&settings), format!("{expected}:countTokens"));
    }
}

#[test]
fn requests_to_count() {
    let body = r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}],"temperature":1}"#;
    let request = Protocol::Chat.read_request(body.as_bytes()).unwrap();
    let options = options();
    let written = write_count(&request, &settings(&options)).unwrap();
    expect![[r#"
        {"generateContentRequest":{"model":"models/the-model","contents":[{"role":"user","parts":[{"text":"hi"}]}],"systemInstruction":{"parts":[{"text":"s"}]},"generationConfig":{"temperature":1}}}
    "#]]
    .assert_eq(&told(&written));
    let again = gemini::read_count_request(written.body.as_bytes()).unwrap();
    assert_eq!(again.messages.len(), 2);
}

#[test]
fn what_a_client_of_this_dialect_says_comes_back() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"x"},{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/x"},"videoMetadata":{"fps":2}},{"inlineData":{"mimeType":"application/pdf","data":"aGk=","displayName":"n"}}]},{"role":"model","parts":[{"functionCall":{"id":"own","name":"f","args":{"a":1.10}},"thoughtSignature":"S"},{"text":"t","thoughtSignature":"S2"}]},{"role":"user","parts":[{"functionResponse":{"id":"own","name":"f","response":{"output":{"b":2}}}}]}],"systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"number","nullable":true}}}}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},"generationConfig":{"temperature":0.10,"maxOutputTokens":9,"stopSequences":["q"],"thinkingConfig":{"thinkingBudget":-1,"includeThoughts":true},"responseMimeType":"application/json","responseSchema":{"type":"string"},"speechConfig":{"a":1}},"safetySettings":[{"category":"X"}],"labels":{"k":"v"}}"#;
    let request = Protocol::GenerateContent
        .read_request(body.as_bytes())
        .unwrap();
    let options = options();
    let written = write_request(&request, &settings(&options)).unwrap();
    assert_eq!(told(&written), format!("{body}\n"));
}

fn text() -> impl Strategy<Value = String> {
    "[a\"\\\\\n\u{2028}é💻]{1,6}".prop_map(|text| onwards_json::quote(&text))
}

fn any_turn() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(text(), 1..3).prop_map(|texts| {
            let parts: Vec<String> = texts.iter().map(|text| format!(r#"{{"text":{text}}}"#)).collect();
            format!(r#"{{"role":"user","parts":[{}]}}"#, parts.join(","))
        }),
        text().prop_map(|text| format!(r#"{{"role":"user","parts":[{{"inlineData":{{"mimeType":"image/png","data":"aGk="}}}},{{"text":{text}}}]}}"#)),
        (text(), text()).prop_map(|(id, name)| {
            let id = id.replacen('"', "\"i", 1);
            format!(
                r#"{{"role":"user","parts":[{{"text":{name}}}]}},{{"role":"model","parts":[{{"text":{name}}},{{"functionCall":{{"id":{id},"name":"f","args":{{"a":1.10}}}},"thoughtSignature":"S"}}]}},{{"role":"user","parts":[{{"functionResponse":{{"id":{id},"name":"f","response":{{"result":{name}}}}}}}]}}"#
            )
        }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(turns in proptest::collection::vec(any_turn(), 1..4), limit in proptest::option::of(1..99_u64)) {
        let limit = limit.map(|limit| format!(r#","generationConfig":{{"maxOutputTokens":{limit}}}"#)).unwrap_or_default();
        let body = format!(r#"{{"contents":[{}]{limit}}}"#, turns.join(","));
        let request = Protocol::GenerateContent.read_request(body.as_bytes()).unwrap();
        let options = options();
        let written = write_request(&request, &settings(&options)).unwrap();
        prop_assert!(written.report.is_empty());
        let again = Protocol::GenerateContent.read_request(written.body.as_bytes()).unwrap();
        // Turns of one side have become one.
        let once = write_request(&again, &settings(&options)).unwrap();
        prop_assert_eq!(&once.body, &written.body);
        let parts = |request: &Request<'_>| -> Vec<String> {
            let parts = request.messages.iter().flat_map(|message| &message.parts);
            let mut parts: Vec<String> = parts.map(|part| format!("{part:?}")).collect();
            parts.sort();
            parts
        };
        prop_assert_eq!(parts(&again), parts(&request));
    }
}
