//! Splices mean what editing a tree means, and leave the other bytes alone.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

#[path = "support/edits.rs"]
mod edits;

use edits::{Step, check};
use proptest::prelude::*;
use serde_json::{Map, Value as Tree, json};

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
        (path(), tree()).prop_map(|(path, value)| Step::Set(path, format!(" {value:#}\n"))),
        path().prop_map(Step::Remove),
        path().prop_map(Step::Prune),
    ];
    prop::collection::vec(step, 0..6)
}

/// Members as text, with names that repeat.
fn members() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "1",
        "{}",
        "{\"a\":{\"\":null}}",
        "{\"a\":1,\"\\u0061\":2}",
    ]);
    let name = prop::sample::select(vec!["", "a", "\\u00e9"]);
    let member = (name, value).prop_map(|(name, value)| format!("\"{name}\":{value}"));
    prop::collection::vec(member, 0..5).prop_map(|members| members.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn splices_mean_what_the_steps_mean(doc in whole(), steps in steps(), pretty: bool) {
        let text = if pretty { format!("{doc:#}") } else { doc.to_string() };
        check(text.as_bytes(), &steps);
    }

    #[test]
    fn any_script(script in "([srp][a.\u{e9}]{0,4}( 1| \\{\"a\":\\[\\]\\}| x)?\n){0,4}", members in members()) {
        edits::fuzz(format!("{script}\n{{{members}}}").as_bytes());
    }
}
