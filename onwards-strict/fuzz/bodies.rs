// The bodies of the fuzz targets, as plain functions: `tests/fuzz.rs` replays the corpus through them.

use onwards_strict::{Cleaned, Cleaner, Context, Endpoint, Stream, check, errors};

/// Cleaning any bytes: no panic, nothing written on failure, valid JSON on success, and the same again.
pub(crate) fn answers(data: &[u8]) {
    let context = Context {
        model: "fast \"one\"",
        unique: "u",
        created: 7,
        trusted: false,
    };
    for endpoint in Endpoint::ALL {
        streams(data, || Cleaner::new(endpoint, &context));
    }
    streams(data, || Cleaner::sanitizer(&context));
    let cleaners = Endpoint::ALL.map(|endpoint| Cleaner::new(endpoint, &context));
    for cleaner in cleaners.iter().chain([&Cleaner::sanitizer(&context)]) {
        for chunk in [false, true] {
            let clean = |text: &[u8]| {
                let mut out = b"before".to_vec();
                let answer = match chunk {
                    false => cleaner.clean(text, &mut out).map(is_answer),
                    true => cleaner.clean_chunk(text, 3, &mut out).map(is_answer),
                };
                let written = out.strip_prefix(b"before").expect("only appended").to_vec();
                assert!(
                    answer == Ok(true) || written.is_empty(),
                    "nothing is left of a failure"
                );
                (answer == Ok(true)).then_some(written)
            };
            if let Some(once) = clean(data) {
                assert!(
                    onwards_json::object(&once).is_ok(),
                    "what is written is JSON"
                );
                assert!(!chunk || !once.contains(&b'\n'), "an event is one line");
                assert_eq!(
                    clean(&once).as_ref(),
                    Some(&once),
                    "cleaning twice changes nothing"
                );
            }
        }
    }
    if let Some(error) = errors::embedded(data) {
        for write in [
            errors::Embedded::write_standard,
            errors::Embedded::write_verbatim,
        ] {
            let mut out = Vec::new();
            write(&error, &mut out);
            assert!(out.starts_with(b"{\"error\":") && onwards_json::object(&out).is_ok());
        }
    }
}

/// A line is a chunk of a stream: it becomes what it becomes alone.
fn streams(data: &[u8], cleaner: impl Fn() -> Cleaner) {
    let (alone, mut stream) = (cleaner(), Stream::new(cleaner()));
    for (sequence, chunk) in (0..).zip(data.split(|byte| *byte == b'\n')) {
        let (mut expect, mut out) = (Vec::new(), Vec::new());
        let expected = alone.clean_chunk(chunk, sequence, &mut expect);
        let cleaned = stream.clean(chunk, sequence, &mut out);
        assert_eq!(format!("{cleaned:?}"), format!("{expected:?}"));
        assert_eq!(out, expect);
    }
}

fn is_answer(cleaned: Cleaned<'_>) -> bool {
    matches!(cleaned, Cleaned::Answer(_))
}

/// Checking any bytes: no panic, and only JSON objects pass.
pub(crate) fn requests(data: &[u8]) {
    for endpoint in Endpoint::ALL {
        match check(endpoint, data) {
            Ok(_) => assert!(onwards_json::object(data).is_ok(), "{}", endpoint.name()),
            Err(defect) => assert!(defect.message().starts_with("Invalid request: ")),
        }
    }
}
