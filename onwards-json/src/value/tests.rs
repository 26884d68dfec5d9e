use super::*;

fn value(text: &str) -> Value<'_> {
    let mut scanner = Scanner::of(text);
    let value = scanner.skip().unwrap();
    scanner.finish().unwrap();
    value
}

#[test]
fn kinds_text_and_spans() {
    for (text, kind) in [
        ("null", Kind::Null),
        ("true", Kind::Bool),
        ("-1.5e3", Kind::Number),
        ("\"s\"", Kind::String),
        ("[1, 2]", Kind::Array),
        ("{\"a\": 1}", Kind::Object),
    ] {
        let padded = format!(" \n{text}\t ");
        let value = value(&padded);
        assert_eq!(
            (value.kind(), value.text(), value.span()),
            (kind, text, 2..2 + text.len())
        );
    }
}

#[test]
fn numbers() {
    let check = |text, unsigned, signed, double| {
        let value = value(text);
        assert_eq!(
            (value.as_u64(), value.as_i64(), value.as_f64()),
            (unsigned, signed, double)
        );
    };
    check("0", Some(0), Some(0), Some(0.0));
    check("-0", None, None, Some(-0.0));
    check("-7", None, Some(-7), Some(-7.0));
    check("1.0", None, None, Some(1.0));
    check("1e3", None, None, Some(1000.0));
    check(
        "18446744073709551615",
        Some(u64::MAX),
        None,
        Some(18446744073709551615.0),
    );
    check(
        "18446744073709551616",
        None,
        None,
        Some(18446744073709551616.0),
    );
    check("\"1\"", None, None, None);
    check("[1]", None, None, None);
}

#[test]
fn booleans_null_and_strings() {
    assert_eq!(value("true").as_bool(), Some(true));
    assert_eq!(value("false").as_bool(), Some(false));
    assert_eq!(value("\"true\"").as_bool(), None);
    assert!(value("null").is_null());
    assert!(!value("0").is_null());
    assert_eq!(value("\"null\"").as_str().as_deref(), Some("null"));
    assert_eq!(value("null").as_str(), None);
}

#[test]
fn parts_have_spans_in_the_whole_text() {
    let text = r#" {"a": [1, {"b\n": "c"}], "a": {}} "#;
    let whole = value(text);
    let members: Vec<_> = whole.members().collect();
    assert_eq!(
        members
            .iter()
            .map(|m| text.get(m.span()).unwrap())
            .collect::<Vec<_>>(),
        [r#""a": [1, {"b\n": "c"}]"#, r#""a": {}"#,]
    );
    let inner: Vec<_> = members[0].value().elements().collect();
    assert_eq!(text.get(inner[1].span()).unwrap(), r#"{"b\n": "c"}"#);
    let innermost = inner[1].members().next().unwrap();
    assert_eq!(innermost.name(), "b\n");
    assert_eq!(text.get(innermost.name_text().span()).unwrap(), r#""b\n""#);
    assert_eq!(text.get(innermost.value_span()).unwrap(), r#""c""#);
}

#[test]
fn a_scalar_has_no_parts() {
    assert_eq!(
        value("1").elements().count() + value("1").members().count(),
        0
    );
    assert_eq!(
        value("[1]").members().count() + value("{\"a\":1}").elements().count(),
        0
    );
    assert_eq!(
        value("[]").elements().count() + value("{}").members().count(),
        0
    );
}

#[test]
fn whole_numbers_are_those_written_without_fraction_and_exponent() {
    for (text, whole) in [
        ("0", true),
        ("-0", true),
        ("123456789012345678901234567890", true),
        ("1.0", false),
        ("1e3", false),
        ("-2E+5", false),
        ("\"1\"", false),
        ("null", false),
    ] {
        let value = Scanner::of(text).skip().unwrap();
        assert_eq!(value.is_whole(), whole, "{text}");
    }
}
