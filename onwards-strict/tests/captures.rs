//! Real answers: bodies and payloads of servers this project did not write, and what is left of them.
//!
//! `tests/data/captures/<endpoint>.<kind>.<server>.<case>.in` holds one body, or one event payload a line.
//! Run with `UPDATE_GOLDEN=1` to write the `.golden` files anew, and read the difference.
#![allow(clippy::expect_used, reason = "tests")]

use std::{fs, path::Path};

use onwards_strict::{Cleaned, Cleaner, Context, Endpoint};

const CONTEXT: Context<'static> = Context {
    model: "fast",
    unique: "u",
    created: 0,
    trusted: false,
};

fn clean(name: &str, line: &str, sequence: u64) -> String {
    let mut parts = name.split('.');
    let endpoint = parts.next();
    let endpoint = Endpoint::ALL
        .into_iter()
        .find(|known| Some(known.name()) == endpoint);
    let cleaner = Cleaner::new(endpoint.expect("an endpoint"), &CONTEXT);
    let mut out = Vec::new();
    let cleaned = match parts.next() {
        Some("chunk") => cleaner.clean_chunk(line.as_bytes(), sequence, &mut out),
        _ => cleaner.clean(line.as_bytes(), &mut out),
    };
    match cleaned {
        Ok(Cleaned::Answer(_)) => String::from_utf8(out).expect("UTF-8"),
        Ok(Cleaned::Error(error)) => format!("error {}", error.status()),
        Err(malformed) => format!("malformed: {malformed}"),
    }
}

#[test]
fn what_is_left_of_real_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures");
    let mut seen = 0;
    for entry in fs::read_dir(&folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name")
            .to_owned();
        let Some(case) = name.strip_suffix(".in") else {
            continue;
        };
        let text = fs::read_to_string(&path).expect("a text");
        let lines = text.lines().zip(0..);
        let got: String = lines
            .map(|(line, sequence)| clean(case, line, sequence) + "\n")
            .collect();
        for (line, sequence) in got.lines().zip(0..) {
            if line.starts_with('{') {
                assert_eq!(clean(case, line, sequence), line, "twice: {case}");
            }
        }
        let golden = path.with_extension("golden");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&golden, &got).expect("written");
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(got, expected, "{case}; UPDATE_GOLDEN=1 writes it anew");
        seen += 1;
    }
    assert!(seen >= 39, "{seen} captures");
}
