use super::*;
use crate::Scanner;

fn check(literal: &str, meaning: &str) {
    let value = Scanner::of(literal).skip().unwrap();
    assert_eq!(value.as_str().unwrap(), meaning, "{literal}");
    assert!(value.as_text().unwrap().is(meaning), "{literal}");
}

#[test]
fn literals_mean() {
    check(r#""""#, "");
    check(r#""plain""#, "plain");
    check(r#""m\u006fdel""#, "model");
    check(r#""a\/b\\c\"d""#, "a/b\\c\"d");
    check(r#""\b\f\n\r\t""#, "\u{8}\u{c}\n\r\t");
    check(r#""\u00e9 \uD83D\ude00!""#, "é 😀!");
    check(r#""\u0000""#, "\0");
    check(r#""日本\n語""#, "日本\n語");
}

#[test]
fn only_a_string_with_escapes_is_copied() {
    let borrowed = |literal: &'static str| {
        matches!(
            Scanner::of(literal).skip().unwrap().as_str(),
            Some(Cow::Borrowed(_))
        )
    };
    assert!(borrowed(r#""plain""#));
    assert!(!borrowed(r#""pl\u0061in""#));
}

#[test]
fn quoting() {
    let check = |text, literal| assert_eq!(quote(text), literal);
    check("", r#""""#);
    check("vendor/model", r#""vendor/model""#);
    check("a\"b\\c", r#""a\"b\\c""#);
    check(
        "\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}",
        "\"\\b\\f\\n\\r\\t\\u0001\\u001f\u{7f}\"",
    );
    check(
        "日本語 and a long tail of plain text",
        "\"日本語 and a long tail of plain text\"",
    );
}

#[test]
fn the_string_at_the_start_is_measured() {
    for (text, len) in [
        (&b"\"\""[..], Some(2)),
        (b"\"a\":1", Some(3)),
        (b"\"\\\"\\u00e9\"x", Some(10)),
        ("\"é😀\"".as_bytes(), Some(8)),
        (b"\"a\"\xff", Some(3)),
        (b"\"\xff\"", None),
        (b"\"\xc3\"\xa9", None),
        (b"\"a\n\"", None),
        (b"\"\\x\"", None),
        (b"\"\\ud800\"", None),
        (b"\"a", None),
        (b" \"a\"", None),
        (b"", None),
        (b"1", None),
    ] {
        assert_eq!(string_len(text), len, "{text:?}");
    }
}
