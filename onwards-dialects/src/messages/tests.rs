mod answers;
mod captures;
mod clients;
mod decoder;
mod encoder;
mod properties;
mod requests;
mod wishes;

use crate::options::{Context, Expose};

fn context() -> Context {
    Context {
        model: "fast".to_owned(),
        unique: "u1".to_owned(),
        request_id: "r-1".to_owned(),
        created: 1_700_000_000,
        strict: false,
        expose: Expose::Full,
        echo: String::new(),
        array: false,
        sequential: true,
        signed: true,
    }
}
