//! Splices mean what editing a tree means, and leave the other bytes alone.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use onwards_json::{Edit, EditError, apply, object, splices};
use proptest::prelude::*;
use serde_json::{Map, Value as Tree, json};

#[derive(Debug, Clone)]
enum Step {
    Set(Vec<String>, Tree),
    Remove(Vec<String>),
    Prune(Vec<String>),
}

/// The oracle: the same step on a tree. False if the path crosses something else than an object.
fn take(tree: &mut Tree, step: &Step) -> bool {
    match step {
        Step::Set(path, value) => {
            let (last, way) = path.split_last().unwrap();
            let mut here = tree;
            for name in way {
                let Some(map) = here.as_object_mut() else {
                    return false;
                };
                here = map.entry(name.clone()).or_insert_with(|| json!({}));
            }
            let Some(map) = here.as_object_mut() else {
                return false;
            };
            map.insert(last.clone(), value.clone());
            true
        }
        Step::Remove(path) => {
            remove(tree, path);
            true
        }
        Step::Prune(path) => {
            if remove(tree, path) && path.len() > 1 {
                remove(tree, &path[..path.len() - 1]);
            }
            true
        }
    }
}

/// Whether something was removed and left its object empty.
fn remove(tree: &mut Tree, path: &[String]) -> bool {
    let (last, way) = path.split_last().unwrap();
    let parent = way
        .iter()
        .try_fold(tree, |here, name| here.as_object_mut()?.get_mut(name));
    let Some(map) = parent.and_then(Tree::as_object_mut) else {
        return false;
    };
    map.remove(last).is_some() && map.is_empty()
}

fn tree() -> impl Strategy<Value = Tree> {
    let scalar = prop_oneof![
        Just(Tree::Null),
        any::<u8>().prop_map(Tree::from),
        "[ -~]{0,4}".prop_map(Tree::from),
        Just(json!([{"a": 1}, "]"])),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop::collection::btree_map("[abc]|\n", inner, 0..4)
            .prop_map(|map| Tree::Object(Map::from_iter(map)))
    })
}

fn whole() -> impl Strategy<Value = Tree> {
    prop::collection::btree_map("[abc]|\n", tree(), 0..5)
        .prop_map(|map| Tree::Object(Map::from_iter(map)))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let path = || prop::collection::vec("[abcd]|\n", 1..4);
    let step = prop_oneof![
        (path(), tree()).prop_map(|(path, value)| Step::Set(path, value)),
        path().prop_map(Step::Remove),
        path().prop_map(Step::Prune),
    ];
    prop::collection::vec(step, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn splices_mean_what_the_steps_mean(doc in whole(), steps in steps(), pretty: bool) {
        let text = if pretty { format!("{doc:#}") } else { doc.to_string() };
        let values: Vec<String> = steps.iter().map(|step| match step {
            Step::Set(_, value) => format!(" {value:#}\n"),
            _ => String::new(),
        }).collect();
        let edits: Vec<Edit<'_>> = steps.iter().zip(&values).map(|(step, value)| match step {
            Step::Set(path, _) => Edit::Set { path, value },
            Step::Remove(path) => Edit::Remove { path },
            Step::Prune(path) => Edit::Prune { path },
        }).collect();

        let mut expect = doc.clone();
        let refused = steps.iter().position(|step| !take(&mut expect, step));
        let parsed = object(text.as_bytes()).unwrap();
        match (splices(&parsed, &edits), refused) {
            (Err(EditError::CrossesNonObject { edit, .. }), Some(step)) => prop_assert_eq!(edit, step),
            (Ok(splices), None) => {
                for pair in splices.windows(2) {
                    prop_assert!(pair[0].at.end <= pair[1].at.start);
                }
                let changed = apply(text.as_bytes(), &splices);
                let result: Tree = serde_json::from_slice(&changed).unwrap();
                prop_assert_eq!(&result, &expect, "{} {:?}", text, splices);

                // A member no edit names is the same text as before.
                let after = object(&changed).unwrap();
                for member in parsed.members() {
                    let name = member.name();
                    let named = steps.iter().any(|step| {
                        let (Step::Set(path, _) | Step::Remove(path) | Step::Prune(path)) = step;
                        path[0] == name
                    });
                    if !named {
                        let kept = after.get(&name).unwrap().unwrap();
                        prop_assert_eq!(kept.value().text(), member.value().text());
                        prop_assert_eq!(kept.name_text().raw(), member.name_text().raw());
                    }
                }
            }
            (ours, theirs) => prop_assert!(false, "{:?} {:?}", ours, theirs),
        }
    }
}
