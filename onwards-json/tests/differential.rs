//! What is accepted is what `serde_json` accepts, and means the same.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

#[path = "support/scan.rs"]
mod scan;

use onwards_json::{Scanner, object};
use proptest::prelude::*;
use scan::{check, drain};
use serde_json::Value as Tree;

#[test]
fn table() {
    for text in [
        "",
        " ",
        "{}",
        " { } ",
        "{} x",
        "{}{}",
        "[]",
        "null",
        "\u{feff}{}",
        "{\"a\":}",
        "{\"a\"}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\" 1}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":[1,]}",
        "{\"a\":[,1]}",
        "{\"a\":[1}",
        "{\"a\":1]",
        "{\"a\":\u{b}1}",
        "{\"a\":\u{a0}1}",
        "{\"a\"\n:\r\t1}",
        "{\"a\":1}\0",
        "{\"a\":tru}",
        "{\"a\":truee}",
        "{\"a\":True}",
        "{\"a\":nul",
        "{\"a\":NaN}",
        "{\"a\":Infinity}",
        "{\"a\":1,\"a\":2}",
        "{\"\":0}",
        "// c\n{}",
        "{\"a\":1/**/}",
    ] {
        check(text.as_bytes());
    }
}

#[test]
fn numbers() {
    let long = "1".repeat(309);
    let longer = "1".repeat(320);
    let small = format!("0.{}1", "0".repeat(400));
    for number in [
        "0",
        "-0",
        "00",
        "01",
        "-01",
        "-",
        "+1",
        "1.",
        ".5",
        "1.5",
        "-1.5",
        "1e5",
        "1E+5",
        "1e-5",
        "1e",
        "1e+",
        "1.e5",
        "1.5e5",
        "0e0",
        "0e999",
        "1e308",
        "1e309",
        "-1e309",
        "1e400",
        "1e-400",
        "0x10",
        "1_000",
        "1234567890",
        "12345678901",
        "18446744073709551615",
        "18446744073709551616",
        "12345678901234567890123",
        "1.7976931348623157e308",
        "1.8e308",
        "--1",
        "1-",
        "1e5.5",
        "123456789.123456789123456789e-3",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999999999999999999",
        "1 2",
        "1\n",
        &long,
        &longer,
        &small,
    ] {
        check(format!("{{\"a\":{number}}}").as_bytes());
        check(format!("{{\"a\":{number},\"b\":{number} }}").as_bytes());
        check(format!("{{\"a\":[{number},{number}]}}").as_bytes());
        check(format!("{{\"a\":[{number} , {number} ]}}").as_bytes());
        check(number.as_bytes());
    }
}

#[test]
fn strings() {
    for inner in [
        "",
        "a",
        "\\",
        "\\\"",
        "\\a",
        "\\u",
        "\\u12",
        "\\u12g4",
        "\\u0041",
        "\\uD83D\\uDE00",
        "\\ud800",
        "\\ud800x",
        "\\ud800\\n",
        "\\ud800\\u0041",
        "\\ud800\\ud800",
        "\\udc00",
        "\\ud83d\\ude0",
        "\\ud83d\\",
        "\\ud83d\\u",
        "\\U0041",
        "\\u+041",
        "\\'",
        "\\/",
        "\\b\\f\\n\\r\\t",
        "\n",
        "\t",
        "\0",
        "\u{1f}",
        "\u{7f}",
        "\u{80}",
        "é",
        "😀",
        "\\\u{e9}",
    ] {
        for pad in [0, 1, 7, 14, 15, 16, 17, 31, 63, 64, 65, 130] {
            let text = format!("{{\"{0}{inner}\":\"{0}{inner}{0}\"}}", "p".repeat(pad));
            check(text.as_bytes());
        }
    }
    for bytes in [
        &b"\x80"[..],
        b"\xc3",
        b"\xc3(",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xff",
    ] {
        check(&[b"{\"a\":\"", bytes, b"\"}"].concat());
    }
}

#[test]
fn nesting() {
    for levels in [1, 2, 126, 127, 128, 129, 200] {
        check(format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels)).as_bytes());
        check(format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels)).as_bytes());
        check(format!("{}{}", "[{\"a\":".repeat(levels), "1}]".repeat(levels)).as_bytes());
    }
}

/// Any tree, as text, with names that repeat and spread-out spelling now and then.
fn json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        prop::sample::select(vec![
            "null", "true", "false", "0", "-0", "1e2", "\"\"", "[]", "{}", "{ }"
        ])
        .prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|n| format!("{n:e}")),
        "\\PC{0,40}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        prop::sample::select(vec![r#""\u0061\ud83d\ude00""#, r#""\/\\\"""#, r#""日本""#])
            .prop_map(str::to_owned),
    ];
    let space = || prop::sample::select(vec!["", "", "", " ", "\n  ", "\t\r\n"]);
    scalar.prop_recursive(5, 60, 6, move |inner| {
        let member = ("[ab]{0,2}|\\\\u0061|model", space(), inner.clone())
            .prop_map(|(name, space, value)| format!("\"{name}\"{space}:{space}{value}"));
        let join = |parts: Vec<String>, space: &str| parts.join(&format!("{space},{space}"));
        prop_oneof![
            (prop::collection::vec(inner, 0..6), space())
                .prop_map(move |(parts, space)| format!("[{space}{}{space}]", join(parts, space))),
            (prop::collection::vec(member, 0..6), space()).prop_map(move |(parts, space)| format!(
                "{{{space}{}{space}}}",
                join(parts, space)
            )),
        ]
    })
}

fn whole_object() -> impl Strategy<Value = String> {
    (json(), json()).prop_map(|(a, b)| format!(" {{\"x\": {a}, \"y\":{b}}}\n"))
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn valid_texts(text in json()) {
        prop_assert!(serde_json::from_str::<Tree>(&text).is_ok());
        check(text.as_bytes());
    }

    #[test]
    fn damaged_texts(
        text in whole_object(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, any::<prop::sample::Index>()), 1..4),
    ) {
        const BYTES: &[u8] = b"{}[]:,\"\\ \n0123456789-+.eEtrufalsn\x00\x1f\x7f\x80\xc3\xed\xf0";
        let mut text = text.into_bytes();
        for (place, kind, byte) in damage {
            if text.is_empty() {
                break;
            }
            let at = place.index(text.len());
            let byte = *byte.get(BYTES);
            match kind {
                0 => { text.remove(at); }
                1 => text.insert(at, byte),
                2 => text[at] = byte,
                _ => text.truncate(at.max(1)),
            }
        }
        check(&text);
    }

    #[test]
    fn token_soup(tokens in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ":", ",", "\"a\"", "\"", "1", "-", "0", ".", "e", "true", "null", " ", "\\u",
        "{\"a\":", "\"b\":1", ",\"c\":[", "d800", "\\n",
    ]), 0..12)) {
        check(tokens.concat().as_bytes());
    }

    #[test]
    fn any_bytes(text in prop::collection::vec(any::<u8>(), 0..60)) {
        check(&text);
    }

    #[test]
    fn quoting_is_read_back(text in any::<String>()) {
        let quoted = onwards_json::quote(&text);
        prop_assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text.clone());
        let mut scanner = Scanner::of(&quoted);
        prop_assert_eq!(scanner.skip().unwrap().as_str().unwrap(), text);
        prop_assert!(scanner.finish().is_ok());
    }
}

proptest! {
    #![proptest_config(cases(60))]

    /// A text cut short is refused at its end, whatever stands there.
    #[test]
    fn every_prefix_is_refused(text in whole_object()) {
        let text = text.trim_end();
        for cut in 0..text.len() {
            prop_assert!(object(&text.as_bytes()[..cut]).is_err());
            prop_assert!(drain(&text.as_bytes()[..cut]).is_err());
        }
    }
}
