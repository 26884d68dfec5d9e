//! What the tests of this crate share, and the properties that hold across its modules.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::{Ask, Controls, Edit, Effort, Spec, Surface, SurfaceSpec, Translation, WriteSpec};

/// A write from `{"low": …}`.
pub(crate) fn write(target_path: &str, values: Value) -> WriteSpec {
    let values = values
        .as_object()
        .unwrap()
        .iter()
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    WriteSpec {
        target_path: target_path.to_owned(),
        values,
    }
}

/// A write of one value for every effort.
pub(crate) fn always(target_path: &str, value: &Value) -> WriteSpec {
    let values: BTreeMap<String, Value> = Effort::ALL
        .into_iter()
        .map(|effort| (effort.name().to_owned(), value.clone()))
        .collect();
    WriteSpec {
        target_path: target_path.to_owned(),
        values,
    }
}

/// A write of each effort's own name.
pub(crate) fn names(target_path: &str) -> WriteSpec {
    let values = Effort::ALL
        .into_iter()
        .map(|e| (e.name().to_owned(), json!(e.name())))
        .collect();
    WriteSpec {
        target_path: target_path.to_owned(),
        values,
    }
}

/// The token budgets of the documentation's example.
pub(crate) fn budgets() -> WriteSpec {
    write(
        "/thinking_token_budget",
        json!({"none": 0, "minimal": 512, "low": 1024, "medium": 4096, "high": 8192, "xhigh": 12288, "max": 16384}),
    )
}

/// A surface that supports exactly what its first write maps.
pub(crate) fn surface(writes: Vec<WriteSpec>) -> SurfaceSpec {
    let mapped = writes
        .first()
        .map(|write| write.values.clone())
        .unwrap_or_default();
    let unsupported = Effort::ALL
        .into_iter()
        .map(Effort::name)
        .filter(|name| !mapped.contains_key(*name));
    SurfaceSpec {
        unsupported_efforts: unsupported.map(str::to_owned).collect(),
        writes,
    }
}

pub(crate) fn on(at: Surface, spec: SurfaceSpec) -> Spec {
    match at {
        Surface::Responses => Spec {
            responses: Some(spec),
            chat_completions: None,
        },
        _ => Spec {
            chat_completions: Some(spec),
            responses: None,
        },
    }
}

/// A translation of one surface; the rules are kept.
pub(crate) fn translation(at: Surface, writes: Vec<WriteSpec>) -> Translation {
    Translation::new(&on(at, surface(writes))).unwrap()
}

/// The controls of a body written as JSON.
pub(crate) fn controls<T>(at: Surface, body: &Value, then: impl FnOnce(Controls<'_>) -> T) -> T {
    let raw: BTreeMap<&str, String> = body
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_string()))
        .collect();
    then(Controls::of(at, |name| raw.get(name).map(String::as_str)))
}

/// The ask of a body that has one.
pub(crate) fn ask(at: Surface, body: &Value) -> Ask {
    controls(at, body, |c| c.ask()).unwrap().unwrap()
}

/// Carries edits out on a parsed document, one after the other; the pointer of the first that crosses a
/// non-object.
pub(crate) fn apply<'e>(
    body: &Value,
    edits: impl IntoIterator<Item = &'e Edit>,
) -> Result<Value, String> {
    let mut body = body.clone();
    for edit in edits {
        match edit {
            Edit::Set { path, value } => {
                put(&mut body, path, serde_json::from_str(value).unwrap())
                    .ok_or_else(|| edit.pointer())?;
            }
            Edit::Remove {
                path,
                drop_empty_parent,
            } => take(&mut body, path, *drop_empty_parent),
        }
    }
    Ok(body)
}

fn put(body: &mut Value, path: &[String], value: Value) -> Option<()> {
    let (last, parents) = path.split_last()?;
    let mut at = body.as_object_mut()?;
    for name in parents {
        at = at
            .entry(name.as_str())
            .or_insert_with(|| Value::Object(Map::new()))
            .as_object_mut()?;
    }
    at.insert(last.clone(), value);
    Some(())
}

fn take(body: &mut Value, path: &[String], drop_empty_parent: bool) {
    let (last, parents) = path.split_last().unwrap();
    let pointer = parents.iter().fold(String::new(), |p, name| p + "/" + name);
    let Some(parent) = body.pointer_mut(&pointer).and_then(Value::as_object_mut) else {
        return;
    };
    parent.remove(last);
    if drop_empty_parent && parent.is_empty() {
        take(body, parents, false);
    }
}

/// The rule of the documentation, word by word: the canonical member goes unless a write targets it, an
/// emptied `reasoning` goes with it, then every write is set on what is left.
fn oracle(at: Surface, body: &Value, writes: &[(String, Value)]) -> Option<Value> {
    let canonical = if at == Surface::Responses {
        "/reasoning/effort"
    } else {
        "/reasoning_effort"
    };
    let path = |pointer: &str| {
        pointer
            .split('/')
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut body = body.clone();
    if writes.iter().all(|(pointer, _)| pointer != canonical) {
        take(&mut body, &path(canonical), true);
    }
    for (pointer, value) in writes {
        put(&mut body, &path(pointer), value.clone())?;
    }
    Some(body)
}

const PATHS: [&str; 14] = [
    "/reasoning_effort",
    "/thinking",
    "/thinking/type",
    "/thinking/deep/er",
    "/thinking/deep/est",
    "/reasoning",
    "/reasoning/effort",
    "/reasoning/effort/level",
    "/reasoning/effort/deep/er",
    "/reasoning/enabled",
    "/reasoning/a/b",
    "/chat_template_kwargs/thinking",
    "/chat_template_kwargs/enable_thinking",
    "/thinking_token_budget",
];

fn any_member() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(7)),
        Just(json!({})),
        Just(json!({"deep": {"er": 1}, "x": []})),
        Just(json!({"deep": "text", "thinking": true})),
        Just(json!({"a": {"b": {}}, "effort": "medium"})),
    ]
}

fn any_body(at: Surface) -> impl Strategy<Value = Value> {
    const ROOTS: [&str; 5] = [
        "thinking",
        "chat_template_kwargs",
        "reasoning",
        "messages",
        "thinking_token_budget",
    ];
    (
        prop::collection::btree_map(prop::sample::select(&ROOTS[..]), any_member(), 0..5),
        any::<bool>(),
    )
        .prop_map(move |(members, alone)| {
            let mut body = json!(members);
            body["max_tokens"] = json!(1_000_000);
            body["max_output_tokens"] = json!(1_000_000);
            match at {
                Surface::Responses => match &mut body["reasoning"] {
                    Value::Object(o) if !alone => drop(o.insert("effort".to_owned(), json!("low"))),
                    other => *other = json!({"effort": "low"}),
                },
                _ => body["reasoning_effort"] = json!("low"),
            }
            body
        })
}

fn any_surface() -> impl Strategy<Value = Surface> {
    prop_oneof![Just(Surface::ChatCompletions), Just(Surface::Responses)]
}

proptest! {
    #[test]
    fn edits_do_what_the_rule_says_in_any_order(
        (at, body) in any_surface().prop_flat_map(|at| (Just(at), any_body(at))),
        paths in prop::sample::subsequence(&PATHS[..], 1..5),
    ) {
        let writes: Vec<WriteSpec> =
            paths.iter().enumerate().map(|(i, path)| always(path, &json!(i))).collect();
        let Ok(translation) = Translation::new(&on(at, surface(writes))) else { return Ok(()) };
        let ask = ask(at, &body);
        prop_assert_eq!(translation.check(&ask), Ok(()));
        let edits = translation.edits(&ask);
        let expected = oracle(at, &body, &paths.iter().enumerate().map(|(i, p)| ((*p).to_owned(), json!(i))).collect::<Vec<_>>());
        prop_assert_eq!(apply(&body, edits).ok(), expected.clone());
        prop_assert_eq!(apply(&body, edits.iter().rev()).ok(), expected);
    }

    #[test]
    fn edits_are_disjoint(at in any_surface(), paths in prop::sample::subsequence(&PATHS[..], 1..6)) {
        let writes = paths.iter().map(|path| always(path, &json!(1))).collect();
        let Ok(translation) = Translation::new(&on(at, surface(writes))) else { return Ok(()) };
        let body = json!({"reasoning_effort": "low", "reasoning": {"effort": "low"}, "max_tokens": 9, "max_output_tokens": 9});
        let edits = translation.edits(&ask(at, &body));
        for (i, one) in edits.iter().enumerate() {
            for other in &edits[i + 1..] {
                prop_assert!(!one.path().starts_with(other.path()) && !other.path().starts_with(one.path()));
            }
        }
    }

    #[test]
    fn no_control_of_any_shape_panics_or_is_echoed_at_length(text in "\\PC{0,200}", value in any_member()) {
        for body in [json!({"reasoning_effort": text}), json!({"reasoning": {"effort": text}}), json!({"reasoning": value})] {
            for at in [Surface::ChatCompletions, Surface::Responses, Surface::Completions] {
                if let Err(refusal) = controls(at, &body, |c| c.ask()) {
                    prop_assert!(refusal.message.chars().count() < 200);
                }
                controls(at, &body, |c| c.refuse_native()).ok();
            }
        }
    }
}
