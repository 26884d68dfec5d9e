use proptest::prelude::*;

use crate::options::Reading;
use crate::testing::options;
use crate::{Decoder, Kind, Step};

/// The events of payloads by one reader, a line each, and how it went.
fn told<'p>(kind: Kind, payloads: impl IntoIterator<Item = (&'p str, &'p str)>) -> Vec<String> {
    let mut decoder = kind.decoder(Reading::default(), &options());
    let mut out = Vec::new();
    for (event, payload) in payloads {
        let step = decoder.payload(event, payload, &mut |event| out.push(format!("{event:?}")));
        if step != Ok(Step::Open) {
            out.push(format!("{step:?}"));
        }
    }
    out
}

fn chat(text: &str) -> String {
    format!(r#"{{"id":"a","choices":[{{"index":0,"delta":{{"content":{text}}}}}]}}"#)
}

fn remembers(decoder: &Decoder) -> bool {
    format!("{decoder:?}").contains("known: true")
}

#[test]
fn a_text_like_the_one_before_is_recalled() {
    let mut decoder = Kind::OpenAi.decoder(Reading::default(), &options());
    let mut out = String::new();
    for (payload, known) in [
        (chat("\"a\""), false),
        (chat("\"b\""), true),
        (chat("\"c\\n\""), true),
        (chat("\"\""), false),
        (chat("\"d\""), true),
        (chat("[]"), false),
    ] {
        decoder
            .payload("", &payload, &mut |event| out += &format!("{event:?}\n"))
            .unwrap();
        assert_eq!(remembers(&decoder), known, "{payload}");
    }
    assert_eq!(
        out,
        "Start { id: Some(\"a\") }\n\
         Text { choice: 0, text: \"a\" }\n\
         Text { choice: 0, text: \"b\" }\n\
         Text { choice: 0, text: \"c\\n\" }\n\
         Text { choice: 0, text: \"d\" }\n"
    );
}

#[test]
fn arguments_like_the_ones_before_are_recalled() {
    let begin = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}},{"index":1,"id":"d","function":{"name":"g","arguments":"{"}}]}}]}"#;
    let piece = |number: u64, text: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{number},"function":{{"arguments":"{text}"}}}}]}}}}]}}"#
        )
    };
    let mut decoder = Kind::OpenAi.decoder(Reading::default(), &options());
    let (mut out, mut lines) = (String::new(), Vec::new());
    for (payload, known) in [
        (begin.to_owned(), false),
        (piece(0, "a"), true),
        (piece(0, "\\\"b"), true),
        (piece(1, "c"), true),
        (piece(1, "d"), true),
        (piece(1, ""), false),
        (piece(1, "e"), true),
    ] {
        out.clear();
        let said = decoder
            .payload("", &payload, &mut |event| out += &format!("{event:?}"))
            .map(|step| format!("{step:?} {out}"));
        assert_eq!(remembers(&decoder), known, "{payload}");
        lines.push(said.unwrap());
    }
    assert_eq!(
        lines[1..],
        [
            r#"Open ToolArguments { choice: 0, call: 0, text: "a" }"#,
            r#"Open ToolArguments { choice: 0, call: 0, text: "\"b" }"#,
            r#"Open ToolArguments { choice: 0, call: 1, text: "c" }"#,
            r#"Open ToolArguments { choice: 0, call: 1, text: "d" }"#,
            "Open ",
            r#"Open ToolArguments { choice: 0, call: 1, text: "e" }"#,
        ]
    );
}

#[test]
fn what_is_remembered_for_nothing_is_not_for_a_while() {
    let mut decoder = Kind::OpenAi.decoder(Reading::default(), &options());
    let mut known = String::new();
    let mut said = 0;
    for at in 0..140 {
        let padding = if at == 133 { 132 } else { at };
        let payload = format!(r#"{{"choices":[{{"delta":{{"content":"a"}}}}],"p":{padding}}}"#);
        decoder.payload("", &payload, &mut |_| said += 1).unwrap();
        known.push(if remembers(&decoder) { '+' } else { '-' });
    }
    assert_eq!(said, 141);
    let pause = "-".repeat(61);
    assert_eq!(known, format!("-++++{pause}++++{pause}++++++---"));
}

/// A payload of each dialect that has one more member that varies: text and that member, both as JSON.
fn varying(kind: Kind, text: &str, other: &str) -> String {
    match kind {
        Kind::Gemini => format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":{text}}}]}}}}],"usageMetadata":{other},"responseId":"r"}}"#
        ),
        Kind::Bedrock => {
            format!(r#"{{"contentBlockIndex":0,"delta":{{"text":{text}}},"p":{other}}}"#)
        }
        _ => format!(
            r#"{{"id":"a","choices":[{{"delta":{{"content":{text}}}}}],"obfuscation":{other}}}"#
        ),
    }
}

/// What kinds of these payloads vary in, as a pattern.
fn others(kind: Kind) -> [&'static str; 7] {
    match kind {
        Kind::Gemini => [
            r#"{"promptTokenCount":5,"candidatesTokenCount":1}"#,
            r#"{"promptTokenCount":5,"candidatesTokenCount":2}"#,
            r#"{"candidatesTokenCount":3,"promptTokensDetails":[{"modality":"TEXT"}]}"#,
            "{}",
            "null",
            "{1}",
            r#"{"totalTokenCount":9},"usageMetadata":{}"#,
        ],
        _ => [
            r#""abc""#,
            r#""""#,
            r#""\n\u00e4""#,
            "null",
            r#""\ud800""#,
            r#""a"b"#,
            r#""a","choices":[]"#,
        ],
    }
}

/// The name that payloads come with; those of the others are not read.
fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Bedrock => "contentBlockDelta",
        _ => "",
    }
}

#[test]
fn padding_and_counts_may_differ_too() {
    for kind in [Kind::OpenAi, Kind::Azure, Kind::Gemini, Kind::Bedrock] {
        let mut decoder = kind.decoder(Reading::default(), &options());
        let [a, b, c, ..] = others(kind);
        let mut known = String::new();
        for other in [a, b, c, a, b, c, a, b] {
            let payload = varying(kind, "\"x\"", other);
            decoder.payload(name(kind), &payload, &mut |_| {}).unwrap();
            known.push(if remembers(&decoder) { '+' } else { '-' });
        }
        assert_eq!(known, "-+++++++", "{kind:?}");
        assert!(
            format!("{decoder:?}").contains("misses: 0"),
            "{kind:?}: each but the first was recalled"
        );
    }
}

#[test]
fn what_only_looks_alike_is_read() {
    for bad in [
        "\"b",
        "\"b\",\"x\":\"c\"",
        "\"b\\",
        "\"\\ud800\"",
        "\"\t\"",
        "1",
    ] {
        let payloads = [chat("\"a\""), chat("\"a\""), chat(bad)];
        let together = told(
            Kind::OpenAi,
            payloads.iter().map(|payload| ("", payload.as_str())),
        );
        let alone = told(Kind::OpenAi, [("", payloads[2].as_str())]);
        let alone = alone.into_iter().filter(|line| !line.starts_with("Start"));
        assert_eq!(together[3..], alone.collect::<Vec<_>>(), "{bad}");
    }
}

#[test]
fn another_name_of_the_event_or_another_end_is_another_payload() {
    let first = r#"{"contentBlockIndex":0,"delta":{"text":"a"}}"#;
    let names = ["contentBlockDelta", "contentBlockDelta", "unheard"];
    let lines = told(Kind::Bedrock, names.map(|name| (name, first)));
    let texts = lines.iter().filter(|line| line.starts_with("Text"));
    assert_eq!(texts.count(), 2);
}

proptest! {
    /// A reader that remembers says what one says that reads every payload, also where more than the text varies.
    #[test]
    fn remembering_what_varies_changes_nothing(
        kind in proptest::sample::select(vec![Kind::OpenAi, Kind::Gemini]),
        payloads in proptest::collection::vec(("[a-z\"\\\\nu0-9\n]{0,3}", 0..7_usize), 1..8),
    ) {
        let payloads: Vec<_> = payloads
            .iter()
            .map(|(text, other)| varying(kind, &format!("\"{text}\""), others(kind)[*other]))
            .collect();
        let together = told(kind, payloads.iter().map(|payload| ("", payload.as_str())));
        // Another name each time: nothing is like the one before.
        let names = ["a", "b"].into_iter().cycle();
        let apart = told(kind, names.zip(payloads.iter().map(String::as_str)));
        prop_assert_eq!(together, apart);
    }

    /// A reader that remembers says what one says that has just begun.
    #[test]
    fn remembering_changes_nothing(texts in proptest::collection::vec("[a-z\"\\\\nu0-9\n\u{2028}]{0,4}", 1..8)) {
        let payloads: Vec<_> = texts.iter().map(|text| chat(&format!("\"{text}\""))).collect();
        let together = told(Kind::OpenAi, payloads.iter().map(|payload| ("", payload.as_str())));
        let alone = payloads.iter().flat_map(|payload| told(Kind::OpenAi, [("", payload.as_str())]));
        let started = |line: &String| line.starts_with("Start");
        let alone: Vec<_> = alone.filter(|line| !started(line)).collect();
        let together: Vec<_> = together.into_iter().filter(|line| !started(line)).collect();
        prop_assert_eq!(together, alone);
    }
}
