mod answer;
mod read;
mod stream;

use crate::options::{Context, Expose};

/// What a writer is told; the echo is kept short.
fn context() -> Context {
    Context {
        model: "fast".to_owned(),
        unique: "u1".to_owned(),
        request_id: "r1".to_owned(),
        created: 1_700_000_000,
        strict: false,
        expose: Expose::Full,
        echo: r#""store":false"#.to_owned(),
        array: false,
        sequential: true,
        signed: false,
    }
}
