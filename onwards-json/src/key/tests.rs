use super::*;
use crate::{ScanError, Scanner};

/// Names of up to 20 letters that differ in the last one.
const NAMES: [&str; 21] = [
    "",
    "a",
    "ab",
    "abc",
    "abcd",
    "abcde",
    "abcdef",
    "abcdefg",
    "abcdefgh",
    "abcdefghi",
    "abcdefghij",
    "abcdefghijk",
    "abcdefghijkl",
    "abcdefghijklm",
    "abcdefghijklmn",
    "abcdefghijklmno",
    "abcdefghijklmnop",
    "abcdefghijklmnopq",
    "abcdefghijklmnopqr",
    "abcdefghijklmnopqrs",
    "abcdefghijklmnopqrst",
];

/// The scanner of an object with one member, and what it says about a key.
#[track_caller]
fn check(name: &str, key: &str, text: &str) -> Result<(), ScanError> {
    let key = Key::new(key.to_owned().leak());
    let same = name == key.text();
    let mut scanner = Scanner::new(text.as_bytes())?;
    scanner.enter_object()?;
    let passed = scanner.clone().pass_key(&key).map(|name| name.span());
    let found = scanner.next_key()?.unwrap();
    assert_eq!(key.is(&found, found.head()), same, "{name} {text}");
    // Passing may miss what is there, but not the other way round.
    let usual = same && name.len() <= 13 && text.len() >= 17;
    assert_eq!(passed, usual.then(|| found.span()), "{name} {text}");
    Ok(())
}

#[test]
fn a_key_is_its_own_name_and_no_other() -> Result<(), ScanError> {
    for name in NAMES {
        for key in NAMES {
            check(name, key, &format!(r#"{{"{name}":1}}"#))?;
            check(
                name,
                key,
                &format!(r#"{{"{name}":1,"more":"than a block"}}"#),
            )?;
            let other = key.to_uppercase();
            check(
                name,
                &other,
                &format!(r#"{{"{name}":1,"more":"than a block"}}"#),
            )?;
        }
    }
    Ok(())
}

#[test]
fn what_is_written_otherwise_is_left_to_the_ordinary_way() -> Result<(), ScanError> {
    let key = Key::new("model");
    for text in [
        r#"{ "model":"of more than a block"}"#,
        r#"{"model" :"of more than a block"}"#,
        r#"{"m\u006fdel":"of more than a block"}"#,
        r#"{"model\n":"of more than a block"}"#,
        r#"{"model}":"of more than a block"}"#,
        r#"{}                              "#,
    ] {
        let mut scanner = Scanner::new(text.as_bytes())?;
        scanner.enter_object()?;
        let before = scanner.position();
        assert!(scanner.pass_key(&key).is_none(), "{text}");
        assert_eq!(scanner.position(), before);
        scanner.next_key()?;
    }
    Ok(())
}

#[test]
fn a_key_is_passed_only_where_a_name_is_due() -> Result<(), ScanError> {
    let key = Key::new("a");
    let mut scanner = Scanner::new(br#"{"a":["a","a"],"a":"of more than a block"}"#)?;
    assert!(scanner.pass_key(&key).is_none());
    scanner.enter_object()?;
    assert!(scanner.pass_key(&key).is_some());
    assert!(scanner.pass_key(&key).is_none(), "a value is due");
    scanner.enter_array()?;
    assert!(scanner.pass_key(&key).is_none(), "in an array");
    while scanner.next_element()? {
        scanner.skip()?;
        assert!(scanner.pass_key(&key).is_none(), "in an array");
    }
    assert!(scanner.pass_key(&key).is_some(), "behind a comma");
    scanner.skip()?;
    assert!(scanner.pass_key(&key).is_none(), "no more");
    assert!(scanner.next_key()?.is_none());
    scanner.finish()
}
