use super::*;
use crate::MAX_DEPTH;

#[test]
fn a_value_left_alone_is_skipped() {
    let mut scanner = Scanner::of(r#"[{"a": [1, 2], "b": 3}, 4, []]"#);
    scanner.enter_array().unwrap();
    assert!(scanner.next_element().unwrap());
    scanner.enter_object().unwrap();
    let mut names = Vec::new();
    while let Some(name) = scanner.next_key().unwrap() {
        names.push(name.raw());
    }
    assert_eq!(names, ["a", "b"]);
    assert!(scanner.next_element().unwrap());
    assert!(scanner.next_element().unwrap());
    assert!(!scanner.next_element().unwrap());
    scanner.finish().unwrap();
}

#[test]
fn steps_that_do_not_fit_the_place_are_refused() {
    let out = |at| Err(ScanError::OutOfStep { at });
    let mut scanner = Scanner::of("[1]");
    assert_eq!(scanner.next_element(), out(0));
    assert_eq!(
        scanner.next_key().map(|_| ()),
        Err(ScanError::OutOfStep { at: 0 })
    );
    assert_eq!(
        scanner.enter_object(),
        Err(ScanError::NotAnObject {
            at: 0,
            found: Kind::Array
        })
    );
    scanner.enter_array().unwrap();
    assert_eq!(
        scanner.next_key().map(|_| ()),
        Err(ScanError::OutOfStep { at: 1 })
    );
    assert_eq!(
        scanner.skip().map(|_| ()),
        Err(ScanError::OutOfStep { at: 1 })
    );
    assert_eq!(
        scanner.clone().finish(),
        Err(ScanError::OutOfStep { at: 1 })
    );
    assert!(scanner.next_element().unwrap());
    assert_eq!(
        scanner.enter_array(),
        Err(ScanError::NotAnArray {
            at: 1,
            found: Kind::Number
        })
    );
    assert_eq!(scanner.skip().unwrap().as_u64(), Some(1));
    assert_eq!(
        scanner.clone().finish(),
        Err(ScanError::OutOfStep { at: 2 })
    );
    assert!(!scanner.next_element().unwrap());
    assert_eq!(scanner.position(), 3);
    assert_eq!(scanner.depth(), 0);
    assert_eq!(scanner.peek(), Err(ScanError::OutOfStep { at: 3 }));
    scanner.finish().unwrap();
}

#[test]
fn faults_in_a_part_are_placed_in_the_whole_text() {
    let value = Scanner::of("[ 0, [1] ]").skip().unwrap();
    let part = value.elements().nth(1).unwrap();
    let mut scanner = part.scan();
    assert_eq!(
        scanner.enter_object(),
        Err(ScanError::NotAnObject {
            at: 5,
            found: Kind::Array
        })
    );
    assert_eq!(scanner.position(), 5);
}

/// Entering by hand refuses what skipping refuses.
#[test]
fn separators() {
    fn drain(text: &str) -> Result<usize, ScanError> {
        let mut scanner = Scanner::of(text);
        let mut count = 0;
        if scanner.peek()? == Kind::Object {
            scanner.enter_object()?;
            while scanner.next_member()?.is_some() {
                count += 1;
            }
        } else {
            scanner.enter_array()?;
            while scanner.next_element()? {
                count += 1;
            }
        }
        scanner.finish().map(|()| count)
    }
    assert_eq!(drain("[]"), Ok(0));
    assert_eq!(drain(" [ 1 , 2 ] "), Ok(2));
    assert_eq!(drain("{\"a\" : 1 , \"b\" : 2}"), Ok(2));
    for (text, at, expected) in [
        ("[,1]", 1, Expected::Value),
        ("[1,]", 3, Expected::Value),
        ("[1 2]", 3, Expected::CommaOrEnd),
        ("[1", 2, Expected::CommaOrEnd),
        ("[", 1, Expected::Value),
        ("[1}", 2, Expected::CommaOrEnd),
        ("{\"a\":1,}", 7, Expected::Name),
        ("{,}", 1, Expected::Name),
        ("{\"a\" 1}", 5, Expected::Colon),
        ("{\"a\":}", 5, Expected::Value),
        ("[1] x", 4, Expected::End),
    ] {
        assert_eq!(
            drain(text),
            Err(ScanError::Malformed { at, expected }),
            "{text}"
        );
        assert!(
            Scanner::of(text).skip().is_err() || text == "[1] x",
            "{text}"
        );
    }
}

#[test]
fn bytes_must_be_utf8() {
    assert_eq!(
        Scanner::new(b"\"\xff\"").map(|_| ()),
        Err(ScanError::NotUtf8 { at: 1 })
    );
}

/// What `skip_numbers` gives, and where the scanner then stands.
#[track_caller]
fn check_numbers(text: &str, expect: Option<&str>) {
    let mut scanner = Scanner::of(text);
    assert_eq!(scanner.skip_numbers(), Ok(expect), "{text}");
    assert_eq!(scanner.position(), expect.map_or(0, str::len), "{text}");
    let skipped = scanner.position() == 0 && scanner.skip().is_err();
    assert_eq!(scanner.finish().is_ok(), !skipped, "{text}");
}

#[test]
fn lists_of_numbers_are_passed_and_nothing_else() {
    let long = format!("[{}0.5e-3]", "-0.25,17, 3e5, ".repeat(40));
    for text in ["[]", "[ ]", "[1]", "[ 1 ,\n-2.5e3\t]", "[0]", &long] {
        check_numbers(text, Some(text));
    }
    let long = long.replace("0.5e-3", "null");
    let deep = format!("{}1{}", "[".repeat(3), "]".repeat(3));
    for text in [
        "1",
        "{}",
        "\"a\"",
        "[null]",
        "[1,\"2\"]",
        "[[1]]",
        "[1,]",
        "[,1]",
        "[01]",
        "[1 2]",
        "[1",
        "[1e999]",
        "[",
        &long,
        &deep,
    ] {
        check_numbers(text, None);
    }
    let mut scanner = Scanner::of("[1]");
    assert_eq!(scanner.skip_numbers(), Ok(Some("[1]")));
    assert_eq!(scanner.skip_numbers(), Err(ScanError::OutOfStep { at: 3 }));
}

#[test]
fn a_list_of_numbers_counts_as_a_level() -> Result<(), ScanError> {
    let text = format!("{}1", "[".repeat(MAX_DEPTH as usize + 1));
    let mut scanner = Scanner::of(&text);
    for _ in 0..MAX_DEPTH {
        scanner.enter_array()?;
        assert!(scanner.next_element()?);
    }
    assert_eq!(scanner.skip_numbers(), Ok(None));
    let at = MAX_DEPTH as usize;
    assert_eq!(scanner.skip().unwrap_err(), ScanError::TooDeep { at });
    Ok(())
}

#[test]
fn white_space_between_tokens_is_noted() {
    for (text, spaced) in [
        (r#"{"a b":[1,"\n c",{"d":null}]}"#, false),
        (r#"{"a":[1, 2]}"#, true),
        (r#"{"a":{"b":{} }}"#, true),
        (" 1", true),
        ("{\n}", true),
    ] {
        let mut scanner = Scanner::of(text);
        scanner.skip().unwrap();
        assert_eq!(scanner.spaced(), spaced, "{text}");
    }
}

#[test]
fn counts_are_passed_as_other_values_are() {
    for (text, number) in [
        ("7,", Some(7)),
        ("0}", Some(0)),
        ("1234567890,", Some(1_234_567_890)),
        (" 9 }", Some(9)),
        ("42", Some(42)),
        ("18446744073709551615,", Some(u64::MAX)),
        ("18446744073709551616,", None),
        ("1.0,", None),
        ("1e3,", None),
        ("-1,", None),
        ("null,", None),
        ("\"7\",", None),
        ("{\"a\":7}", None),
    ] {
        let mut scanner = Scanner::of(text);
        let mut other = scanner.clone();
        assert_eq!(scanner.skip_u64(), Ok(number), "{text}");
        other.skip().unwrap();
        assert_eq!(scanner.position(), other.position(), "{text}");
        let at = scanner.position();
        assert_eq!(scanner.skip_u64(), Err(ScanError::OutOfStep { at }));
    }
    for text in ["01,", "00}", ",", "}", "1x,", "-,"] {
        let mut scanner = Scanner::of(text);
        let mut other = scanner.clone();
        let quick = scanner.skip_u64().and_then(|_| scanner.finish());
        let slow = other.skip().and_then(|_| other.finish());
        assert_eq!((quick, quick.is_err()), (slow, true), "{text}");
    }
}
