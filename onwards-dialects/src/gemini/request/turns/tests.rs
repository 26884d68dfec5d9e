use serde_json::{Value, json};

use crate::options::Kept;
use crate::request::State;
use crate::testing::{options, settings};
use crate::text::Str;
use crate::{Family, Protocol};

/// A turn of two calls with these ids, the first with a signature or not, and their results in the other order: the parts that Gemini is
/// sent of calls and results.
fn sent(ids: [&str; 2], signature: Option<&str>, remembered: &str) -> Value {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let mut first = call(ids[0]);
    if let Some(signature) = signature {
        first["extra_content"] = json!({"google": {"thought_signature": signature}});
    }
    let result =
        |id: &str| json!({"role": "tool", "tool_call_id": id, "content": format!("of {id}")});
    let body = json!({"model": "m", "messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": null, "tool_calls": [first, call(ids[1])]},
        result(ids[1]), result(ids[0]),
    ]})
    .to_string();
    let request = Protocol::Chat.read_request(body.as_bytes()).unwrap();
    let recall = |id: &str| {
        (id == remembered).then(|| Kept {
            thoughts: Vec::new(),
            state: Some(State {
                family: Family::Google,
                data: Str::owned("S"),
            }),
        })
    };
    let options = options();
    let settings = crate::Settings {
        recall: &recall,
        ..settings(&options)
    };
    let written = super::super::write_request(&request, &settings).unwrap();
    let written: Value = serde_json::from_str(&written.body).unwrap();
    let parts = |turn: usize, member: &str| {
        let parts = written["contents"][turn]["parts"].as_array().unwrap();
        parts
            .iter()
            .map(|part| {
                let part = &part[member];
                json!([part["id"], part["response"]["result"]])
            })
            .collect::<Value>()
    };
    json!([parts(1, "functionCall"), parts(2, "functionResponse")])
}

#[test]
fn ids_go_back_to_gemini_where_it_has_given_them() {
    let theirs = json!([
        [["x1", null], ["x2", null]],
        [["x2", "of x2"], ["x1", "of x1"]]
    ]);
    assert_eq!(sent(["x1", "x2"], Some("S"), ""), theirs);
    assert_eq!(sent(["x1", "x2"], None, "x1"), theirs, "from memory");
}

#[test]
fn ids_of_others_do_not_reach_gemini_and_results_stand_in_the_order_of_the_calls() {
    for (ids, signature) in [
        (["a1", "a2"], None),
        (["a1", "a2"], Some("skip_thought_signature_validator")),
        (["a1", "a2"], Some("context_engineering_is_the_way_to_go")),
        (["call_1", "call_2"], None),
        (["call_1", "call_2"], Some("S")),
        (["toolu_1", "toolu_2"], None),
        (["tooluse_1", "tooluse_2"], None),
        (["fc_1", "fc_2"], None),
    ] {
        let [first, second] = ids.map(|id| format!("of {id}"));
        let expected = json!([
            [[null, null], [null, null]],
            [[null, first], [null, second]]
        ]);
        assert_eq!(sent(ids, signature, ""), expected, "{ids:?} {signature:?}");
    }
}
