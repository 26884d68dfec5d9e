use onwards_json::{Kind, Value, object};
use proptest::prelude::*;

use super::{MOST_TOKENS, Usage};

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

/// The same by lists of members, each value looked at again.
fn by_members(text: &[u8]) -> Option<Usage> {
    let number = |value: &Value<'_>| value.as_u64().filter(|&number| number <= MOST_TOKENS);
    let detail = |value: &Value<'_>, name: &str| {
        let is_object = value.kind() == Kind::Object;
        let mut named = value.members().filter(|member| member.is(name));
        named
            .find_map(|member| number(&member.value()))
            .filter(|_| is_object)
    };
    let mut usage = Usage::default();
    let mut beside = 0;
    for member in object(text).ok()?.members() {
        let value = member.value();
        let (place, found) = match &*member.name() {
            "prompt_tokens" | "input_tokens" => (&mut usage.prompt, number(&value)),
            "completion_tokens" | "output_tokens" => (&mut usage.completion, number(&value)),
            "prompt_tokens_details" | "input_tokens_details" => {
                (&mut usage.cached, detail(&value, "cached_tokens"))
            }
            "completion_tokens_details" | "output_tokens_details" => {
                (&mut usage.reasoning, detail(&value, "reasoning_tokens"))
            }
            "cache_read_input_tokens" => {
                beside += number(&value).unwrap_or(0);
                (&mut usage.cached, number(&value))
            }
            "cache_creation_input_tokens" => {
                beside += number(&value).unwrap_or(0);
                continue;
            }
            _ => continue,
        };
        *place = found.or(*place);
    }
    usage.prompt = usage.prompt.map(|prompt| prompt + beside);
    (usage != Usage::default()).then_some(usage)
}

/// Objects dense in names that matter, repeated, misspelt and with values of every kind.
fn objects() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "prompt_tokens",
        "prompt\\u005ftokens",
        "input_tokens",
        "completion_tokens",
        "output_tokens",
        "cached_tokens",
        "reasoning_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "prompt_tokens_",
        "",
    ]);
    let number = prop::sample::select(vec![
        "0",
        "1",
        "27",
        "4294967295",
        "4294967296",
        "18446744073709551616",
        "-1",
        "-0",
        "01",
        "1.0",
        "1e2",
        "1e999",
        "null",
        "true",
        "\"4\"",
        "\"}\\\"\"",
        "[1,{\"cached_tokens\":3}]",
        "",
    ]);
    let space = prop::sample::select(vec!["", "", "", " ", "\n\t"]);
    let member = (name, number, space).prop_map(|(name, number, space)| {
        format!("{space}\"{name}\"{space}:{space}{number}{space}")
    });
    let flat = prop::collection::vec(member.clone(), 0..4)
        .prop_map(|members| format!("{{{}}}", members.join(",")));
    let details = prop::sample::select(vec![
        "prompt_tokens_details",
        "input_tokens_details",
        "completion_tokens_details",
        "output_tokens_details",
    ]);
    let detailed = (details, flat).prop_map(|(name, object)| format!("\"{name}\":{object}"));
    prop::collection::vec(prop_oneof![member, detailed], 0..6)
        .prop_map(|members| format!("{{{}}}", members.join(",")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_walk_finds_what_a_list_of_members_has(
        object in objects(), at in any::<prop::sample::Index>(), byte in prop::option::weighted(0.3, any::<u8>()),
    ) {
        let mut text = object.into_bytes();
        if let Some(byte) = byte {
            let at = at.index(text.len());
            text[at] = byte;
        }
        prop_assert_eq!(Usage::of(&text), by_members(&text), "{}", String::from_utf8_lossy(&text));
        let behind = [&text[..], b",\"prompt_tokens\":5}".as_slice()].concat();
        if let Ok(behind) = std::str::from_utf8(&behind)
            && let Some((counted, length)) = Usage::at_start(behind)
        {
            prop_assert_eq!(counted, by_members(&behind.as_bytes()[..length]));
        }
    }
}
