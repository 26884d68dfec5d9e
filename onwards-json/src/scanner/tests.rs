use super::*;

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
