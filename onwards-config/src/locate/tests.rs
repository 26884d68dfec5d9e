use serde_json::Value;

use super::{Places, Ruler};
use crate::path::{Path, To};
use crate::problem::Position;

const TEXT: &str =
    "{ \"a\": [1, { \"b\\u0021\": \"x\" }],\n  \"é\": { \"\": null }, \"a\":\n\n [2, 3]\n}";

#[test]
fn values_are_found_where_they_begin() {
    let places = Places::of(TEXT);
    let check = |path: Path, expect: &str| {
        let found = TEXT.split_at(places.offset(&path.steps())).1;
        assert!(found.starts_with(expect), "{path}: {found}");
    };
    let root = Path::root();
    check(root.clone(), "{ \"a\"");
    check(root.member("a"), "[2, 3]");
    check(root.member("a").element(1), "3]");
    check(root.member("a").element(7), "[2, 3]");
    check(root.member("é").member(""), "null");
    check(
        root.member("é").member("missing").member("more"),
        "{ \"\": null",
    );
    check(root.member("é").element(0), "{ \"\": null");
    assert_eq!(Places::of("nonsense").offset(&[To::Element(0)]), 0);
}

#[test]
fn every_value_of_a_large_document_is_found() {
    let document = crate::tests::everything();
    let text = format!("{document:#}");
    let places = Places::of(&text);
    let mut todo = vec![(Path::root(), &document)];
    while let Some((path, value)) = todo.pop() {
        let rest = text.split_at(places.offset(&path.steps())).1;
        let found = serde_json::Deserializer::from_str(rest)
            .into_iter::<Value>()
            .next()
            .unwrap()
            .unwrap();
        assert_eq!(&found, value, "{path}");
        match value {
            Value::Object(members) => todo.extend(
                members
                    .iter()
                    .map(|(name, value)| (path.member(name), value)),
            ),
            Value::Array(elements) => todo.extend(
                elements
                    .iter()
                    .enumerate()
                    .map(|(index, value)| (path.element(index), value)),
            ),
            _ => {}
        }
    }
}

#[test]
fn lines_and_columns_equal_a_naive_count() {
    let mut ruler = Ruler::new(TEXT);
    for (offset, _) in TEXT.char_indices() {
        let before = TEXT.split_at(offset).0;
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.rsplit('\n').next().unwrap().chars().count();
        assert_eq!(
            ruler.position(offset),
            Position { line, column },
            "{offset}"
        );
    }
}
