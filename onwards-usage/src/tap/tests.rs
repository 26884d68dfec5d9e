use super::{MOST, Tap};

/// The prompt's count after the text was read in one piece.
fn prompt(text: &str) -> Option<u64> {
    let mut tap = Tap::default();
    tap.read(text.as_bytes());
    tap.usage().and_then(|usage| usage.prompt)
}

#[test]
fn only_the_value_of_a_member_counts() {
    for (text, counted) in [
        (r#"{"usage":{"prompt_tokens":1}}"#, Some(1)),
        ("{\"usage\" :\r\n\t {\"prompt_tokens\":1}}", Some(1)),
        (r#"{"response":{"usage":{"input_tokens":1}}}"#, Some(1)),
        (r#"{"usage":null}"#, None),
        (r#"{"usage":3,"x":{"prompt_tokens":1}}"#, None),
        (r#"["usage",{"prompt_tokens":1}]"#, None),
        (r#"{"Usage":{"prompt_tokens":1}}"#, None),
        (r#"{"usages":{"prompt_tokens":1}}"#, None),
        (r#"{"content":"{\"usage\":{\"prompt_tokens\":1}}"}"#, None),
        (r#"{"a \"usage":{"prompt_tokens":1}}"#, None),
        (r#"{"usage":{"prompt_tokens":1"#, None),
        (r#"{"usage":{"prompt_tokens":}}"#, None),
        ("", None),
    ] {
        assert_eq!(prompt(text), counted, "{text}");
    }
}

#[test]
fn an_object_is_read_to_its_own_end() {
    for text in [
        r#""usage":{"a":"}","prompt_tokens":2},"#,
        r#""usage":{"a":"\"}","b":[{},{"c":"\\"}],"prompt_tokens":2}"#,
        r#""usage":{"usage":{"prompt_tokens":9},"prompt_tokens":2}"#,
    ] {
        assert_eq!(prompt(text), Some(2), "{text}");
    }
}

#[test]
fn the_last_counts_win_and_null_is_nothing() {
    let stream = "data: {\"usage\":{\"prompt_tokens\":5}}\n\ndata: {\"usage\":{\"prompt_tokens\":6}}\n\n\
        data: {\"usage\":null}\n\ndata: {\"usage\":{}}\n\ndata: [DONE]\n\n";
    assert_eq!(prompt(stream), Some(6));
}

#[test]
fn what_is_kept_is_bounded() {
    let of = |len: usize| {
        let object = r#"{"prompt_tokens":7,"x":""}"#;
        let padding = "x".repeat(len - object.len());
        format!(r#"{{"usage":{{"prompt_tokens":7,"x":"{padding}"}}}}"#)
    };
    assert_eq!(prompt(&of(MOST)), Some(7));
    assert_eq!(prompt(&of(MOST + 1)), None);
    let mut tap = Tap::default();
    for byte in of(3 * MOST).bytes() {
        tap.read(&[byte]);
        assert!(tap.held.len() <= MOST);
    }
    assert_eq!(tap.held.capacity(), 0);
    tap.read(br#","usage":{"prompt_tokens":8}"#);
    assert_eq!(tap.usage().and_then(|usage| usage.prompt), Some(8));
}
