use super::*;

const NOW: u64 = 1_700_000_000;

fn post(path: &str, body: &Value) -> Echo {
    answer(&Method::POST, path, body.to_string().as_bytes(), NOW)
}

fn whole(echo: &Echo) -> Value {
    assert_eq!(
        (echo.status, echo.content_type),
        (StatusCode::OK, "application/json")
    );
    let EchoBody::Whole(text) = &echo.body else {
        panic!("{echo:?}")
    };
    serde_json::from_str(text).unwrap()
}

/// The names and payloads of a stream's events; `[DONE]` must come last and is left out.
fn events(echo: &Echo) -> Vec<(String, Value)> {
    assert_eq!(
        (echo.status, echo.content_type),
        (StatusCode::OK, "text/event-stream")
    );
    let EchoBody::Events(events) = &echo.body else {
        panic!("{echo:?}")
    };
    let mut seen = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let event = event.strip_suffix("\n\n").unwrap();
        let (name, data) = event.split_once("data: ").unwrap();
        assert_eq!(data.lines().count(), 1);
        if data == "[DONE]" {
            assert_eq!(at + 1, events.len());
        } else {
            let name = name.strip_prefix("event: ").unwrap_or(name).trim_end();
            seen.push((name.to_owned(), serde_json::from_str(data).unwrap()));
        }
    }
    seen
}

fn status(echo: &Echo) -> u16 {
    echo.status.as_u16()
}

fn tools() -> Value {
    let parameters = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["C", "F"]}, "exact": {"type": "boolean"}},
        "required": ["city", "days", "unit"],
    });
    json!([
        {"type": "function", "function": {"name": "clock"}},
        {"type": "function", "function": {"name": "weather", "parameters": parameters}},
    ])
}

fn user(content: &Value) -> Value {
    json!([{"role": "system", "content": "be kind"}, {"role": "user", "content": content}])
}

#[test]
fn chat_says_what_the_user_said_last() {
    for (messages, said) in [
        (user(&json!("good morning")), "good morning"),
        (
            user(
                &json!([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]),
            ),
            "a\nb",
        ),
        (
            json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]),
            "x",
        ),
        (
            json!([{"role": "user", "content": "x"}, {"role": "tool", "content": "42"}]),
            "42",
        ),
        (json!([]), ""),
    ] {
        let body = whole(&post(
            "/v1/chat/completions",
            &json!({"model": "m", "messages": messages}),
        ));
        assert_eq!(body["choices"][0]["message"]["content"], said, "{messages}");
        assert_eq!(body["choices"][0]["finish_reason"], "stop");
    }
}

#[test]
fn a_whole_chat_answer() {
    let body = whole(&post(
        "/chat/completions",
        &json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]}),
    ));
    assert_eq!(
        body,
        json!({
            "id": "chatcmpl-echo", "object": "chat.completion", "created": NOW, "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "hello", "refusal": null}, "logprobs": null, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4},
        })
    );
}

#[test]
fn a_chat_stream_gives_the_text_in_words() {
    for usage in [false, true] {
        let ask = json!({"model": "m", "messages": user(&json!("good  morning all")), "stream": true, "stream_options": {"include_usage": usage}});
        let events = events(&post("/v1/chat/completions", &ask));
        let deltas: Vec<_> = events
            .iter()
            .filter_map(|(_, chunk)| chunk["choices"][0]["delta"]["content"].as_str())
            .collect();
        assert_eq!(deltas, ["", "good ", " ", "morning ", "all"]);
        let finishes: Vec<_> = events
            .iter()
            .filter_map(|(_, chunk)| chunk["choices"][0]["finish_reason"].as_str())
            .collect();
        assert_eq!(finishes, ["stop"]);
        let usages: Vec<_> = events
            .iter()
            .filter_map(|(_, chunk)| chunk.get("usage"))
            .collect();
        if usage {
            assert_eq!(usages.len(), events.len());
            assert_eq!(events.last().unwrap().1["choices"], json!([]));
            assert_eq!(usages.iter().filter(|usage| usage.is_object()).count(), 1);
        } else {
            assert_eq!(usages, [&Value::Null; 0]);
        }
    }
}

#[test]
fn chat_calls_a_tool_when_told_to() {
    let asked = json!(r#"{"city":"please call weather now","days":1,"unit":"C"}"#);
    for (choice, said, call) in [
        (
            json!("auto"),
            "please call weather now",
            Some(("weather", &asked)),
        ),
        (json!("auto"), "what is the weather", None),
        (json!("none"), "call weather", None),
        (json!("required"), "anything", Some(("clock", &json!("{}")))),
        (
            json!("required"),
            "please call weather now",
            Some(("weather", &asked)),
        ),
        (
            json!({"type": "function", "function": {"name": "clock"}}),
            "call weather",
            Some(("clock", &json!("{}"))),
        ),
        (
            json!({"type": "function", "function": {"name": "unknown"}}),
            "x",
            None,
        ),
        (Value::Null, "call clock", Some(("clock", &json!("{}")))),
    ] {
        let ask = json!({"model": "m", "messages": user(&json!(said)), "tools": tools(), "tool_choice": choice});
        let choice = &whole(&post("/v1/chat/completions", &ask))["choices"][0];
        let function = &choice["message"]["tool_calls"][0]["function"];
        match call {
            Some((name, arguments)) => {
                assert_eq!(
                    (&function["name"], &function["arguments"]),
                    (&json!(name), arguments)
                );
                assert_eq!(
                    (&choice["message"]["content"], &choice["finish_reason"]),
                    (&Value::Null, &json!("tool_calls"))
                );
            }
            None => assert_eq!(
                (function, &choice["message"]["content"]),
                (&Value::Null, &json!(said))
            ),
        }
    }
}

#[test]
fn a_streamed_tool_call_adds_up() {
    let ask = json!({"model": "m", "messages": user(&json!("call weather")), "tools": tools(), "stream": true});
    let events = events(&post("/v1/chat/completions", &ask));
    let calls = || {
        events
            .iter()
            .map(|(_, chunk)| &chunk["choices"][0]["delta"]["tool_calls"][0])
    };
    assert_eq!(
        calls()
            .filter_map(|call| call["function"]["name"].as_str())
            .collect::<String>(),
        "weather"
    );
    let arguments: String = calls()
        .filter_map(|call| call["function"]["arguments"].as_str())
        .collect();
    assert_eq!(arguments, r#"{"city":"call weather","days":1,"unit":"C"}"#);
    assert_eq!(
        events.last().unwrap().1["choices"][0]["finish_reason"],
        "tool_calls"
    );
}

#[test]
fn completions_give_the_prompt_back() {
    let body = whole(&post(
        "/v1/completions",
        &json!({"model": "m", "prompt": ["a b", "c"]}),
    ));
    let texts: Vec<_> = body["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| (&choice["index"], &choice["text"]))
        .collect();
    assert_eq!(
        texts,
        [(&json!(0), &json!("a b")), (&json!(1), &json!("c"))]
    );
    let ask = json!({"model": "m", "prompt": "a b", "stream": true, "stream_options": {"include_usage": true}});
    let events = events(&post("/v1/completions", &ask));
    let texts: Vec<_> = events
        .iter()
        .filter_map(|(_, chunk)| chunk["choices"][0]["text"].as_str())
        .collect();
    assert_eq!(texts, ["a ", "b", ""]);
    assert_eq!(events.last().unwrap().1["usage"]["total_tokens"], 2);
}

#[test]
fn embeddings_are_unit_vectors_that_depend_on_the_text() {
    let vectors = |ask: Value| -> Vec<Vec<f64>> {
        let body = whole(&post("/v1/embeddings", &ask));
        body["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| {
                entry["embedding"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|x| x.as_f64().unwrap())
                    .collect()
            })
            .collect()
    };
    let both = vectors(json!({"model": "m", "input": ["one", "two"], "dimensions": 300}));
    for vector in &both {
        assert_eq!(vector.len(), 300);
        assert!((vector.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-4);
    }
    assert_ne!(both[0], both[1]);
    assert_eq!(
        vectors(json!({"input": "one", "dimensions": 300}))[0],
        both[0]
    );
    for (input, count) in [
        (json!([1, 2, 3]), 1),
        (json!([[1, 2], [3]]), 2),
        (json!(""), 1),
    ] {
        assert_eq!(vectors(json!({"input": input})).len(), count, "{input}");
    }
    for dimensions in [json!(0), json!(-1), json!(4097), json!("8"), json!(1.5)] {
        assert_eq!(
            status(&post(
                "/v1/embeddings",
                &json!({"input": "x", "dimensions": dimensions})
            )),
            400
        );
    }
}

#[test]
fn base64_embeddings_hold_the_same_numbers() {
    for (bytes, text) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("\u{ff}\u{ff}", "w7/Dvw=="),
    ] {
        assert_eq!(embeddings::encode(bytes.as_bytes()), text);
    }
    let floats = whole(&post(
        "/v1/embeddings",
        &json!({"input": "x", "dimensions": 3}),
    ));
    let coded = whole(&post(
        "/v1/embeddings",
        &json!({"input": "x", "dimensions": 3, "encoding_format": "base64"}),
    ));
    let bytes: Vec<u8> = floats["data"][0]["embedding"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|x| (x.as_f64().unwrap() as f32).to_le_bytes())
        .collect();
    assert_eq!(coded["data"][0]["embedding"], embeddings::encode(&bytes));
}

#[test]
fn responses_answer_the_last_input() {
    for (input, said) in [
        (json!("hello there"), "hello there"),
        (
            json!([{"role": "user", "content": [{"type": "input_text", "text": "a"}]}]),
            "a",
        ),
        (
            json!([{"role": "user", "content": "a"}, {"type": "function_call_output", "call_id": "c", "output": "42"}]),
            "42",
        ),
    ] {
        let body = whole(&post(
            "/v1/responses",
            &json!({"model": "m", "input": input}),
        ));
        assert_eq!(
            (&body["status"], &body["output"][0]["content"][0]["text"]),
            (&json!("completed"), &json!(said))
        );
    }
}

#[test]
fn a_response_stream_has_the_usual_events_in_order() {
    let events = events(&post(
        "/v1/responses",
        &json!({"model": "m", "input": "a b", "stream": true}),
    ));
    let names: Vec<_> = events
        .iter()
        .map(|(name, _)| name.strip_prefix("response.").unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "created",
            "in_progress",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "completed",
        ]
    );
    for (number, (name, payload)) in events.iter().enumerate() {
        assert_eq!(
            (&payload["type"], &payload["sequence_number"]),
            (&json!(name), &json!(number))
        );
    }
    let unary = whole(&post(
        "/v1/responses",
        &json!({"model": "m", "input": "a b"}),
    ));
    assert_eq!(events.last().unwrap().1["response"], unary);
}

#[test]
fn a_response_stream_can_call_a_tool() {
    let tool = json!([{"type": "function", "name": "weather", "parameters": {"required": ["x"], "properties": {"x": {"type": "number"}}}}]);
    let events = events(&post(
        "/v1/responses",
        &json!({"model": "m", "input": "call weather", "tools": tool, "stream": true}),
    ));
    let names: Vec<_> = events
        .iter()
        .map(|(name, _)| name.strip_prefix("response.").unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "created",
            "in_progress",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed"
        ]
    );
    assert_eq!(
        events.last().unwrap().1["response"]["output"][0]["arguments"],
        r#"{"x":1}"#
    );
}

#[test]
fn models_are_listed() {
    let list = whole(&answer(&Method::GET, "/v1/models", b"", NOW));
    assert_eq!(
        list["data"],
        json!([{"id": "echo", "object": "model", "created": NOW, "owned_by": "onwards"}])
    );
    assert_eq!(
        whole(&answer(&Method::GET, "/models/echo", b"", NOW)),
        list["data"][0]
    );
    assert_eq!(status(&answer(&Method::GET, "/v1/models/x", b"", NOW)), 404);
}

#[test]
fn what_it_does_not_know_is_an_error_in_the_usual_shape() {
    for (method, path, body, status) in [
        (Method::POST, "/v1/images/generations", "{}", 404),
        (Method::GET, "/", "", 404),
        (Method::GET, "/v1/chat/completions", "", 405),
        (Method::POST, "/v1/models", "{}", 405),
        (Method::POST, "/v1/chat/completions", "{", 400),
        (Method::POST, "/v1/responses", "[]", 400),
        (Method::POST, "/v1/embeddings", "", 400),
    ] {
        let echo = answer(&method, path, body.as_bytes(), NOW);
        assert_eq!(
            (echo.status.as_u16(), echo.content_type),
            (status, "application/json"),
            "{path}"
        );
        let EchoBody::Whole(text) = echo.body else {
            panic!("{path}")
        };
        let error = serde_json::from_str::<Value>(&text).unwrap();
        assert!(
            error["error"]["message"].is_string() && error["error"]["code"].is_string(),
            "{text}"
        );
    }
}
