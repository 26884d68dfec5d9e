//! Text completions, after the schema `CreateCompletionResponse`, which the stream uses too.

use serde_json::{Value, json};

use super::{Ask, Echo, data, done, pieces, tokens, usage};

pub(super) fn answer(ask: &Ask<'_>) -> Echo {
    let prompt = ask.get("prompt");
    let prompts = match prompt {
        Value::Array(texts) if texts.iter().all(Value::is_string) => {
            texts.iter().filter_map(Value::as_str).collect()
        }
        Value::String(text) => vec![text.as_str()],
        _ => vec!["<tokens>"],
    };
    let count: usize = prompts.iter().map(|text| tokens(text)).sum();
    let answer = |choices: Value| json!({"id": "cmpl-echo", "object": "text_completion", "created": ask.now, "model": ask.model(), "choices": choices});
    let choice = |index: usize, text: &str, finish: Option<&str>| json!({"index": index, "text": text, "logprobs": null, "finish_reason": finish});
    let with_usage = |mut answer: Value, usage: Value| {
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("usage".to_owned(), usage);
        }
        answer
    };
    if !ask.streams() {
        let choices = prompts
            .iter()
            .enumerate()
            .map(|(index, text)| choice(index, text, Some("stop")))
            .collect();
        return Echo::json(with_usage(answer(choices), usage(count, count)));
    }
    let mut events = Vec::new();
    for (index, text) in prompts.iter().enumerate() {
        events.extend(pieces(text).map(|piece| data(&answer(json!([choice(index, piece, None)])))));
        events.push(data(&answer(json!([choice(index, "", Some("stop"))]))));
    }
    if ask.wants_usage() {
        events.push(data(&with_usage(answer(json!([])), usage(count, count))));
    }
    events.push(done());
    Echo::events(events)
}
