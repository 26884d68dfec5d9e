//! Counts do not depend on the cuts, and agree with the obvious reading of the whole input.
#![expect(clippy::indexing_slicing, reason = "tests")]

mod support;

use proptest::prelude::*;
use support::{cut, fuzz_tap, oracle, tapped};

/// One count or detail of an object, each name at most once.
fn members() -> impl Strategy<Value = String> {
    let member = prop::sample::subsequence(
        vec![
            r#""prompt_tokens":1"#,
            r#""completion_tokens": 2"#,
            r#""prompt_tokens_details":{"audio_tokens":9,"cached_tokens":3}"#,
            r#""completion_tokens_details":{"reasoning_tokens":4}"#,
            r#""total_tokens":5"#,
            r#""note":"a } \" { \\""#,
            r#""usage":{"prompt_tokens":6}"#,
            r#""list":[{},[]]"#,
        ],
        0..5,
    );
    let other = prop::sample::subsequence(
        vec![
            r#""input_tokens":11"#,
            r#""output_tokens":12"#,
            r#""cache_read_input_tokens":13"#,
            r#""cache_creation_input_tokens":14"#,
            r#""output_tokens_details":{"reasoning_tokens":15}"#,
            r#""input_tokens_details":null"#,
        ],
        0..3,
    );
    prop_oneof![member, other].prop_map(|members| members.join(","))
}

/// Answers of the pieces that matter, dense in names and quotes.
fn answer() -> impl Strategy<Value = Vec<u8>> {
    let bits = prop::sample::select(vec![
        "\"",
        "\\",
        "\\\"",
        "usage",
        "\"usage\"",
        "\"us",
        "age\"",
        ":",
        " ",
        "\n",
        "{",
        "}",
        "[",
        "]",
        ",",
        "null",
        "1",
        "\"usage\":",
        "data: ",
        "\\\"usage\\\":{\\\"prompt_tokens\\\":7}",
        "\"usage\":{\"prompt_tokens\":8",
        "é",
    ]);
    let piece = prop_oneof![
        3 => bits.prop_map(str::to_owned),
        2 => members().prop_map(|members| format!("\"usage\":{{{members}}}")),
        1 => members().prop_map(|members| format!("data: {{\"usage\" : {{ {members} }}}}\n\n")),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat().into_bytes())
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn any_cuts(answer in answer(), widths in prop::collection::vec(0..9usize, 0..30)) {
        let expected = oracle(&answer);
        prop_assert_eq!(tapped(&[&answer]), expected);
        prop_assert_eq!(tapped(&cut(&answer, &widths)), expected);
    }

    #[test]
    fn any_bytes(input in prop::collection::vec(any::<u8>(), 0..60)) {
        fuzz_tap(&input);
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn every_single_cut_and_every_byte_alone(answer in answer()) {
        let expected = oracle(&answer);
        for at in 0..=answer.len() {
            let (head, tail) = answer.split_at(at);
            prop_assert_eq!(tapped(&[head, tail]), expected);
        }
        prop_assert_eq!(tapped(&answer.chunks(1).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn long_objects_are_given_up_at_the_same_byte(padding in 3900..4300usize, width in 1..700usize) {
        let text = format!(
            "\"usage\":{{\"prompt_tokens\":1,\"x\":\"{}\"}},\"usage\":{{\"completion_tokens\":2}}",
            "\\\"".repeat(padding / 2)
        );
        let expected = oracle(text.as_bytes());
        prop_assert_eq!(tapped(&text.as_bytes().chunks(width).collect::<Vec<_>>()), expected);
    }
}
