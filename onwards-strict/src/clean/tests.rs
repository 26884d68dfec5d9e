use super::*;

mod chat;
mod others;
mod responses;

pub(super) fn context(trusted: bool) -> Context<'static> {
    Context {
        model: "fast",
        unique: "u-1",
        created: 0,
        trusted,
    }
}

/// The clean text, or why there is none.
pub(super) fn cleaned(cleaner: &Cleaner, chunk: bool, text: &str) -> String {
    let mut out = b"before".to_vec();
    let result = match chunk {
        true => cleaner.clean_chunk(text.as_bytes(), 7, &mut out),
        false => cleaner.clean(text.as_bytes(), &mut out),
    };
    let out = String::from_utf8(out).expect("UTF-8 stays UTF-8");
    let rest = out
        .strip_prefix("before")
        .expect("what was there stays")
        .to_owned();
    match result {
        Ok(Cleaned::Answer(_)) => rest,
        Ok(Cleaned::Error(error)) => {
            assert_eq!(rest, "");
            format!("error {}", error.status())
        }
        Err(malformed) => {
            assert_eq!(rest, "");
            malformed.to_string()
        }
    }
}

/// Cleans, compares, and cleans again.
#[track_caller]
pub(super) fn check(cleaner: &Cleaner, chunk: bool, text: &str, expected: &str) {
    let once = cleaned(cleaner, chunk, text);
    assert_eq!(once, expected, "from {text}");
    if once.starts_with('{') {
        assert_eq!(
            cleaned(cleaner, chunk, &once),
            once,
            "cleaning twice changes nothing"
        );
    }
}
