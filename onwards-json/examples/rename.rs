//! Gives the JSON object on stdin another `model` and leaves every other byte alone:
//! `cargo run -p onwards-json --example rename -- fast-1 < body.json`

use std::{
    error::Error,
    io::{Read, Write, stdin, stdout},
};

use onwards_json::{Edit, apply, object, quote, splices};

fn main() -> Result<(), Box<dyn Error>> {
    let model = std::env::args()
        .nth(1)
        .ok_or("usage: rename MODEL < body.json")?;
    let mut text = Vec::new();
    stdin().read_to_end(&mut text)?;

    let body = object(&text)?;
    let edit = Edit::Set {
        path: &["model"],
        value: &quote(&model),
    };
    stdout().write_all(&apply(&text, &splices(&body, &[edit])?))?;
    Ok(())
}
