use proptest::prelude::*;

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

/// Reads the text as whole objects and in other pieces, where most objects are cut.
fn check_ways(text: &[u8], widths: &[usize]) {
    let mut whole = Tap::default();
    whole.read(text);
    for &width in widths {
        let mut cut = Tap::default();
        for piece in text.chunks(width) {
            cut.read(piece);
        }
        let shown = String::from_utf8_lossy(text);
        assert_eq!(cut.usage(), whole.usage(), "{width}: {shown}");
        // What follows the last byte is read alike, too.
        let mut after = (whole.clone(), cut);
        for piece in [br#"u"}"usage":{"prompt_tokens":77}"#.as_slice(), b"}}}"] {
            after.0.read(piece);
            after.1.read(piece);
            assert_eq!(after.1.usage(), after.0.usage(), "{width}: {shown}");
        }
    }
}

#[test]
fn whole_and_cut_objects_count_the_same() {
    let long = |length: usize| {
        let filler = "x".repeat(length);
        format!(
            r#""usage":{{"prompt_tokens":3,"x":"{filler}","completion_tokens":4}},"usage":{{"prompt_tokens":5}}"#
        )
    };
    let mut texts: Vec<Vec<u8>> = [
        r#""usage":{"prompt_tokens":1,"prompt_tokens":2}"#,
        r#""usage":{"prompt_tokens":1]"usage":{"prompt_tokens":2}"#,
        r#""usage":{"prompt_tokens":1,"x":[}}"usage":{"prompt_tokens":2}"#,
        r#""usage":{"prompt_tokens":1}}}"usage":{"prompt_tokens":2}"#,
        r#""usage":{"prompt_tokens":1,}"usage":{"prompt_tokens":2}"#,
        r#""usage":{"x":"\\","prompt_tokens":1}"usage":{"completion_tokens":2}"#,
        r#""usage":{"x":"\"}","prompt_tokens":1}\"usage":{"completion_tokens":2}"#,
        r#""usage":{"prompt\u005ftokens":1,"é":"é"}é"#,
        r#""usage":{"prompt_tokens":1e999,"completion_tokens":2}"#,
        r#""usage":{"usage":{"prompt_tokens":1}}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    texts.push(
        b"\"usage\":{\"prompt_tokens\":1,\"x\":\"\xff\"},\"usage\":{\"completion_tokens\":2}"
            .to_vec(),
    );
    texts.push(b"\"usage\":{\"prompt_tokens\":1}\xff".to_vec());
    texts.push(
        [
            b"\"usage\":".as_slice(),
            &b"{\"a\":[".repeat(100),
            b"1",
            &b"]}".repeat(100),
        ]
        .concat(),
    );
    texts.extend(
        [400, 440, 460, 461, 462, 480, 3000, 4040, 4055, 4060, 5000]
            .map(|length| long(length).into_bytes()),
    );
    for text in texts {
        check_ways(&text, &[1, 2, 3, 5, 8, 64, 500, 512, 513, 4096]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_objects_count_the_same_whole_and_cut(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(b"\"\\{}[],:1 \n\xc3\xa9u".to_vec())), 0..4),
        filler in 0..600_usize, widths in prop::collection::vec(1..60_usize, 4),
    ) {
        let filler = "é\\\"".repeat(filler / 4);
        let mut text = format!(
            r#"{{"usage":{{"prompt_tokens":3,"prompt_tokens_details":{{"cached_tokens":2}},"x":"{filler}","completion_tokens":4}},"n":1,"usage":{{"prompt_tokens":5}}}}"#
        ).into_bytes();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        check_ways(&text, &widths);
    }
}
