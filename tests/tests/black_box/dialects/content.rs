//! What a prompt may hold besides text and pictures, and answers of a shape that the provider itself holds: seen through dry runs,
//! which tell what is sent.

use onwards_tests::{Launch, Request, Upstream};
use serde_json::{Value, json};

use super::{Client, Kind};

/// What each kind of provider is sent for a body, in the order of [`Kind::ALL`].
async fn sent(client: Client, body: &Value, members: impl Fn(Kind) -> Value) -> Vec<Value> {
    let up = Upstream::start().await;
    let providers: Vec<Value> = Kind::ALL
        .iter()
        .map(|kind| kind.provider_with(&up, &members(*kind)))
        .collect();
    let config = json!({
        "dry_run_key": "sk-operator",
        "targets": {"m": {"strategy": "priority", "providers": providers}},
    });
    let gateway = Launch::new(&config).start().await;
    let asked = json!({"path": client.path(false), "body": body});
    let request = Request::post("/v1/dry-run").bearer("sk-operator");
    let told = gateway.send(request.json(&asked)).await.json();
    let requests = told["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 5, "{told}");
    requests.iter().map(|one| one["body"].clone()).collect()
}

/// A document of few bytes.
const PDF: &str = "JVBERi0xLjQKJSVFT0YK";

#[tokio::test]
async fn documents_reach_every_kind() {
    let url = format!("data:application/pdf;base64,{PDF}");
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": [
        {"type": "text", "text": "Sum up."},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": url}},
    ]}]});
    let responses = json!({"model": "m", "input": [{"role": "user", "content": [
        {"type": "input_text", "text": "Sum up."},
        {"type": "input_file", "filename": "a.pdf", "file_data": url},
    ]}]});
    let messages = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [
        {"type": "text", "text": "Sum up."},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
    ]}]});
    let gemini = json!({"contents": [{"role": "user", "parts": [
        {"text": "Sum up."},
        {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
    ]}]});
    for (client, body) in Client::ALL
        .into_iter()
        .zip([chat, responses, messages, gemini])
    {
        let [openai, azure, anthropic, google, bedrock] =
            &sent(client, &body, |_| json!({})).await[..]
        else {
            panic!("five kinds");
        };
        let file = match client {
            Client::Responses => &openai["input"][0]["content"][1]["file_data"],
            _ => &openai["messages"][0]["content"][1]["file"]["file_data"],
        };
        assert_eq!(*file, url, "{client:?}");
        let file = &azure["messages"][0]["content"][1]["file"];
        assert_eq!(file["file_data"], url, "{client:?}");
        let source = &anthropic["messages"][0]["content"][1]["source"];
        assert_eq!(
            *source,
            json!({"type": "base64", "media_type": "application/pdf", "data": PDF}),
            "{client:?}"
        );
        let part = &google["contents"][0]["parts"][1]["inlineData"];
        assert_eq!(
            *part,
            json!({"mimeType": "application/pdf", "data": PDF}),
            "{client:?}"
        );
        let document = &bedrock["messages"][0]["content"][1]["document"];
        assert_eq!(document["format"], "pdf", "{client:?}: {bedrock}");
        assert_eq!(document["source"], json!({"bytes": PDF}), "{client:?}");
        assert!(document["name"].is_string(), "{client:?}");
    }
}

#[tokio::test]
async fn cache_hints_reach_those_who_have_them() {
    let hint = json!({"type": "ephemeral"});
    let chat = json!({"model": "m", "messages": [
        {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache_control": hint}]},
        {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": hint}]},
    ]});
    let messages = json!({
        "model": "m", "max_tokens": 9,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": hint}],
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "Hi", "cache_control": hint},
        ]}],
    });
    for (client, body) in [(Client::Chat, chat), (Client::Messages, messages)] {
        let [openai, azure, anthropic, google, bedrock] =
            &sent(client, &body, |_| json!({})).await[..]
        else {
            panic!("five kinds");
        };
        assert_eq!(anthropic["system"][0]["cache_control"], hint, "{client:?}");
        let part = &anthropic["messages"][0]["content"][0];
        assert_eq!(part["cache_control"], hint, "{client:?}");
        let point = json!({"cachePoint": {"type": "default"}});
        assert_eq!(bedrock["system"][1], point, "{client:?}");
        assert_eq!(bedrock["messages"][0]["content"][1], point, "{client:?}");
        assert!(!google.to_string().contains("ephemeral"), "{client:?}");
        // What a client of Chat Completions writes goes to those who speak it as it is.
        for chat in [openai, azure] {
            let kept = chat.to_string().matches("ephemeral").count();
            let expected = if client == Client::Chat { 2 } else { 0 };
            assert_eq!(kept, expected, "{client:?}");
        }
    }
}

#[tokio::test]
async fn the_shape_of_an_answer_can_be_the_providers_to_hold() {
    let schema =
        json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}}});
    for native in [false, true] {
        let way = if native { "native" } else { "tool" };
        let members = |kind| match kind {
            Kind::Anthropic | Kind::Bedrock => json!({"structured_output": way}),
            _ => json!({}),
        };
        let [_, _, anthropic, google, bedrock] = &sent(Client::Chat, &chat, members).await[..]
        else {
            panic!("five kinds");
        };
        let config = &google["generationConfig"];
        assert_eq!(config["responseMimeType"], "application/json", "{way}");
        if native {
            assert_eq!(
                anthropic["output_config"]["format"],
                json!({"type": "json_schema", "schema": schema})
            );
            assert_eq!(anthropic.get("tools"), None);
            let format = &bedrock["outputConfig"]["textFormat"];
            assert_eq!(format["type"], "json_schema");
            let held = &format["structure"]["jsonSchema"];
            assert_eq!(held["name"], "verdict");
            let text = held["schema"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), schema);
            assert_eq!(bedrock.get("toolConfig"), None);
        } else {
            assert_eq!(
                anthropic["tool_choice"],
                json!({"type": "tool", "name": "verdict"})
            );
            assert_eq!(anthropic["tools"][0]["input_schema"], schema);
            assert_eq!(anthropic.get("output_config"), None);
            let tools = &bedrock["toolConfig"];
            assert_eq!(tools["toolChoice"], json!({"tool": {"name": "verdict"}}));
            assert_eq!(tools["tools"][0]["toolSpec"]["inputSchema"]["json"], schema);
            assert_eq!(bedrock.get("outputConfig"), None);
        }
    }
}
