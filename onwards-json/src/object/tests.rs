use super::*;
use crate::Expected;

#[test]
fn members_by_name() {
    let body = object(br#"{"a": 1, "m\u006fdel": "x", "c": null}"#).unwrap();
    let names: Vec<_> = body.members().iter().map(Member::name).collect();
    assert_eq!(names, ["a", "model", "c"]);
    assert_eq!(body.get("model").unwrap().unwrap().value().text(), "\"x\"");
    assert_eq!(body.get("m").map(|found| found.is_some()), Ok(false));
    assert_eq!(
        body.text()
            .get(body.get("c").unwrap().unwrap().value_span())
            .unwrap(),
        b"null"
    );
}

#[test]
fn a_repeated_name_has_no_member() {
    let body = object(br#"{"model": "a", "x": 1, "m\u006fdel": "b"}"#).unwrap();
    assert_eq!(body.get("model").map(|_| ()), Err(Duplicate { at: 23 }));
    assert!(body.get("x").unwrap().is_some());
    assert_eq!(body.members().len(), 3);
}

#[test]
fn texts_that_are_no_object() {
    let check = |text: &[u8], error| assert_eq!(object(text).map(|_| ()), Err(error), "{text:?}");
    let malformed = |at, expected| ScanError::Malformed { at, expected };
    check(b"", malformed(0, Expected::Value));
    check(
        b" [\"m\"] ",
        ScanError::NotAnObject {
            at: 1,
            found: Kind::Array,
        },
    );
    check(
        b"null",
        ScanError::NotAnObject {
            at: 0,
            found: Kind::Null,
        },
    );
    check(b"[\"m\"", malformed(4, Expected::CommaOrEnd));
    check(b"\"m\"x", malformed(3, Expected::End));
    check(b"{} {}", malformed(3, Expected::End));
    check(b"\xef\xbb\xbf{}", malformed(0, Expected::Value));
    check(b"{\"a\":\"\n\"}", malformed(6, Expected::NoControl));
    check(b"{\"a\":01}", malformed(6, Expected::CommaOrEnd));
    check(b"{\"a\":1e999}", ScanError::OutOfRange { at: 5 });
    check(b"{\"a\":\"\x80\"}", ScanError::NotUtf8 { at: 6 });
}

#[test]
fn nesting_is_limited_and_needs_no_stack() {
    let nested = |levels: usize| {
        format!(
            "{{\"a\":{}{}}}",
            "[".repeat(levels - 1),
            "]".repeat(levels - 1)
        )
    };
    assert!(object(nested(127).as_bytes()).is_ok());
    assert_eq!(
        object(nested(128).as_bytes()).map(|_| ()),
        Err(ScanError::TooDeep { at: 131 })
    );
    assert!(object(nested(4_000_000).as_bytes()).is_err());
}

#[test]
fn the_list_of_members_is_limited() {
    let wide = |members: usize| format!("{{{}}}", vec!["\"\":0"; members].join(","));
    assert_eq!(
        object(wide(MAX_MEMBERS).as_bytes())
            .unwrap()
            .members()
            .len(),
        MAX_MEMBERS
    );
    let at = 1 + MAX_MEMBERS * 5;
    let error = object(wide(MAX_MEMBERS + 1).as_bytes()).map(|_| ());
    assert_eq!(error, Err(ScanError::TooManyMembers { at }));
    assert!(object(format!("{{\"a\":{}}}", wide(MAX_MEMBERS + 1)).as_bytes()).is_ok());
}
