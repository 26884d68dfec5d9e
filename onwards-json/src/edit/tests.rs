use super::*;
use crate::object;

type Edits<'e> = [Edit<'e, &'e str>];

fn set<'e>(path: &'e [&'e str], value: &'e str) -> Edit<'e, &'e str> {
    Edit::Set { path, value }
}

fn remove<'e>(path: &'e [&'e str]) -> Edit<'e, &'e str> {
    Edit::Remove { path }
}

fn prune<'e>(path: &'e [&'e str]) -> Edit<'e, &'e str> {
    Edit::Prune { path }
}

#[track_caller]
fn check(text: &str, edits: &Edits<'_>, expect: &str) {
    let splices = splices(&object(text.as_bytes()).unwrap(), edits).unwrap();
    let changed = apply(text.as_bytes(), &splices);
    assert_eq!(String::from_utf8(changed).unwrap(), expect);
    assert!(
        splices
            .windows(2)
            .all(|pair| pair[0].at.end <= pair[1].at.start),
        "{splices:?}"
    );
    assert!(object(expect.as_bytes()).is_ok());
}

#[test]
fn set_replaces_in_place() {
    check(
        r#"{ "a" : 1e2 , "b":[ 1 ] }"#,
        &[set(&["b"], "2")],
        r#"{ "a" : 1e2 , "b":2 }"#,
    );
    check(
        r#"{"m\u006fdel":"x"}"#,
        &[set(&["model"], r#""y""#)],
        r#"{"m\u006fdel":"y"}"#,
    );
    check(
        r#"{"a":{"b":{"c":1, "d":2}}}"#,
        &[set(&["a", "b", "c"], "[]")],
        r#"{"a":{"b":{"c":[], "d":2}}}"#,
    );
    check(r#" {"a":null}"#, &[set(&["a"], " 1 ")], r#" {"a":1}"#);
}

#[test]
fn set_creates() {
    check("{}", &[set(&["a"], "1")], r#"{"a":1}"#);
    check(" { } ", &[set(&["a"], "1")], r#" {"a":1 } "#);
    check(r#"{"x":0 }"#, &[set(&["a\n"], "1")], r#"{"x":0,"a\n":1 }"#);
    check(
        r#"{"x":0}"#,
        &[set(&["a", "b", "c"], "1")],
        r#"{"x":0,"a":{"b":{"c":1}}}"#,
    );
    check(
        r#"{"a":{"z":0}}"#,
        &[set(&["a", "b"], "1")],
        r#"{"a":{"z":0,"b":1}}"#,
    );
}

#[test]
fn several_edits_meet_in_one_object() {
    let both = [
        set(&["t", "type"], "1"),
        set(&["t", "budget"], "2"),
        set(&["a"], "3"),
    ];
    check("{}", &both, r#"{"t":{"type":1,"budget":2},"a":3}"#);
    check(
        r#"{"t":{"k":0}}"#,
        &both,
        r#"{"t":{"k":0,"type":1,"budget":2},"a":3}"#,
    );
    check(
        r#"{"a":1}"#,
        &[set(&["a"], "2"), set(&["b"], "3")],
        r#"{"a":2,"b":3}"#,
    );
    check(
        r#"{"a":1}"#,
        &[set(&["a"], "2"), set(&["a"], "3")],
        r#"{"a":3}"#,
    );
    check(
        r#"{"a":1}"#,
        &[set(&["a"], r#"{"x":1}"#), set(&["a", "y"], "3")],
        r#"{"a":{"x":1,"y":3}}"#,
    );
    check(
        r#"{"a":1,"b":2}"#,
        &[remove(&["a"]), set(&["a"], "3")],
        r#"{"a":3,"b":2}"#,
    );
    check(
        r#"{"a":1,"b":2}"#,
        &[set(&["c", "d"], "3"), remove(&["c"])],
        r#"{"a":1,"b":2}"#,
    );
    check(
        r#"{"a":1}"#,
        &[set(&["c", "d"], "3"), remove(&["c", "d"])],
        r#"{"a":1,"c":{}}"#,
    );
    check(
        r#"{"a":{"b":1}}"#,
        &[remove(&["a"]), set(&["a", "c"], "3")],
        r#"{"a":{"c":3}}"#,
    );
}

#[test]
fn remove_takes_one_comma() {
    let text = r#"{ "a": 1, "b": 2 , "c": 3 }"#;
    check(text, &[remove(&["a"])], r#"{ "b": 2 , "c": 3 }"#);
    check(text, &[remove(&["b"])], r#"{ "a": 1 , "c": 3 }"#);
    check(text, &[remove(&["c"])], r#"{ "a": 1, "b": 2 }"#);
    check(text, &[remove(&["a"]), remove(&["b"])], r#"{ "c": 3 }"#);
    check(text, &[remove(&["c"]), remove(&["a"])], r#"{ "b": 2 }"#);
    check(text, &[remove(&["c"]), remove(&["b"])], r#"{ "a": 1 }"#);
    check(
        text,
        &[remove(&["c"]), remove(&["a"]), remove(&["b"])],
        "{  }",
    );
    check(
        text,
        &[remove(&["c"]), set(&["d"], "4")],
        r#"{ "a": 1, "b": 2,"d":4 }"#,
    );
    check(
        r#"{"a":1}"#,
        &[remove(&["a"]), set(&["b"], "2")],
        r#"{"b":2}"#,
    );
    check(
        text,
        &[set(&["a"], "0"), remove(&["b"]), set(&["c"], "5")],
        r#"{ "a": 0 , "c": 5 }"#,
    );
}

#[test]
fn removing_what_is_not_there_changes_nothing() {
    for text in [
        "{}",
        r#"{"a":1}"#,
        r#"{"a":null}"#,
        r#"{"a":{}}"#,
        r#"{"a":{"c":1}}"#,
    ] {
        check(
            text,
            &[remove(&["a", "b"]), prune(&["a", "b"]), prune(&["x"])],
            text,
        );
    }
}

#[test]
fn prune_drops_the_object_it_empties() {
    let edit = [prune(&["r", "effort"])];
    check(r#"{"r":{"effort":"low"},"i":1}"#, &edit, r#"{"i":1}"#);
    check(r#"{"r":{"effort":"low"}}"#, &edit, "{}");
    check(r#"{"r":{"effort":"low","s":1}}"#, &edit, r#"{"r":{"s":1}}"#);
    check(r#"{"effort":"low"}"#, &[prune(&["effort"])], "{}");
    check(
        r#"{"o":{"r":{"effort":1}}}"#,
        &[prune(&["o", "r", "effort"])],
        r#"{"o":{}}"#,
    );
    let again = [prune(&["r", "effort"]), set(&["r", "budget"], "5")];
    check(
        r#"{"r":{"effort":"low"},"i":1}"#,
        &again,
        r#"{"r":{"budget":5},"i":1}"#,
    );
}

#[test]
fn edits_that_cannot_be_made() {
    #[track_caller]
    fn check(text: &str, edits: &Edits<'_>, error: EditError) {
        assert_eq!(
            splices(&object(text.as_bytes()).unwrap(), edits),
            Err(error)
        );
    }
    let crosses = |edit, depth| EditError::CrossesNonObject { edit, depth };
    check(r#"{"a":1}"#, &[set(&["a", "b"], "1")], crosses(0, 1));
    check(r#"{"a":null}"#, &[set(&["a", "b"], "1")], crosses(0, 1));
    check(
        r#"{"a":{"b":[]}}"#,
        &[set(&["x"], "1"), set(&["a", "b", "c"], "1")],
        crosses(1, 2),
    );
    check(
        "{}",
        &[set(&["a"], "1"), set(&["a", "b"], "1")],
        crosses(1, 1),
    );
    check(
        "{}",
        &[set(&[], "1")],
        EditError::PathLength { edit: 0, len: 0 },
    );
    check(
        "{}",
        &[set(&["a"; 128], "1")],
        EditError::PathLength { edit: 0, len: 128 },
    );
    let repeated = EditError::Repeated {
        edit: 0,
        duplicate: Duplicate { at: 7 },
    };
    check(r#"{"a":1,"a":2}"#, &[remove(&["a"])], repeated);
    for value in ["", "1 2", "{", "nul", "\"\\ud800\""] {
        let result = splices(&object(b"{}").unwrap(), &[set(&["a"], value)]);
        assert!(
            matches!(result, Err(EditError::Unreadable { edit: 0, .. })),
            "{value}"
        );
    }
}

#[test]
fn splices_out_of_order_are_left_out() {
    let splice = |at, with: &str| Splice {
        at,
        with: with.into(),
    };
    let list = [
        splice(2..3, "X"),
        splice(0..1, "Y"),
        splice(9..12, "Z"),
        splice(4..4, "W"),
    ];
    assert_eq!(apply(b"abcdef", &list), b"abXdWef");
}

#[test]
fn a_value_may_nest_deeper_than_a_scan_reads() {
    let value = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let text = r#"{"a":{"b":1}}"#;
    let splices = splices(
        &object(text.as_bytes()).unwrap(),
        &[set(&["a", "b"], &value)],
    )
    .unwrap();
    let changed = apply(text.as_bytes(), &splices);
    assert_eq!(changed, format!(r#"{{"a":{{"b":{value}}}}}"#).as_bytes());
    assert_eq!(
        object(&changed).unwrap_err(),
        crate::ScanError::TooDeep { at: 135 }
    );
}

#[test]
fn a_single_value_is_put_in_as_a_list_of_edits_puts_it_in() {
    for text in [
        r#"{"model":"a"}"#,
        r#" { "x" : 1 , "model" : {"deep": [1]} , "y" : 2 } "#,
        r#"{"mod\u0065l":"a"}"#,
        r#"{"model":"a","model":"b"}"#,
        r#"{"x":1}"#,
        "{}",
    ] {
        for value in [r#""b""#, " 1 ", "", "1 2"] {
            let doc = object(text.as_bytes()).unwrap();
            let once = set(&["model"], value);
            let alone = splices(&doc, &[once]);
            assert_eq!(alone, splices(&doc, &[once, once]), "{text} with {value:?}");
        }
    }
}
