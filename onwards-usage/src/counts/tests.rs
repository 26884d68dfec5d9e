use super::Usage;

fn check(text: &str, counts: [Option<u64>; 4]) {
    let [prompt, completion, cached, reasoning] = counts;
    let expected = Usage {
        prompt,
        completion,
        cached,
        reasoning,
    };
    assert_eq!(
        Usage::of(text.as_bytes()),
        (counts != [None; 4]).then_some(expected),
        "{text}"
    );
}

#[test]
fn both_vocabularies_are_read() {
    check(
        r#"{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,"prompt_tokens_details":{"audio_tokens":0,"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":7}}"#,
        [Some(9), Some(12), Some(4), Some(7)],
    );
    check(
        r#"{"prompt_tokens":8,"total_tokens":8}"#,
        [Some(8), None, None, None],
    );
    check(
        r#"{"input_tokens":36,"input_tokens_details":{"cached_tokens":0},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":123}"#,
        [Some(36), Some(87), Some(0), Some(64)],
    );
    check(
        r#"{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":100,"output_tokens":1}"#,
        [Some(113), Some(1), Some(100), None],
    );
    check(r#"{"output_tokens":15}"#, [None, Some(15), None, None]);
}

#[test]
fn what_is_no_count_is_nothing() {
    for text in [
        "{}",
        r#"{"total_tokens":3}"#,
        r#"{"prompt_tokens":null,"completion_tokens":"4"}"#,
        r#"{"prompt_tokens":-1,"completion_tokens":1.5}"#,
        r#"{"prompt_tokens":{"type":"integer"}}"#,
        r#"{"prompt_tokens_details":null,"completion_tokens_details":[1]}"#,
        r#"{"prompt_tokens":9,}"#,
        r#"{"prompt_tokens":18446744073709551615,"cache_creation_input_tokens":4294967296}"#,
        r#"{"prompt_tokens_details":{"cached_tokens":9223372036854775808}}"#,
        "[1]",
        "",
    ] {
        check(text, [None; 4]);
    }
    check(
        r#"{"prompt_tokens":0,"completion_tokens":null}"#,
        [Some(0), None, None, None],
    );
    check(
        r#"{"input_tokens":4294967295,"cache_read_input_tokens":4294967295,"output_tokens":4294967296}"#,
        [
            Some(2 * u64::from(u32::MAX)),
            None,
            Some(u32::MAX.into()),
            None,
        ],
    );
}

#[test]
fn later_counts_come_before_earlier_ones() {
    let of = |text: &str| Usage::of(text.as_bytes()).unwrap();
    let earlier = of(r#"{"input_tokens":10,"output_tokens":1}"#);
    let later = of(r#"{"output_tokens":15}"#);
    assert_eq!(
        later.after(earlier),
        of(r#"{"input_tokens":10,"output_tokens":15}"#)
    );
}
