//! Reads a provider's whole answer from stdin and prints it as clients of each protocol would get it:
//! `cargo run -p onwards-dialects --example answer -- anthropic < onwards-dialects/examples/answer.in`

use std::{
    error::Error,
    io::{Write, read_to_string, stdin, stdout},
};

use onwards_dialects::options::{Expose, Reading};
use onwards_dialects::{Context, Kind, Protocol};

fn main() -> Result<(), Box<dyn Error>> {
    let kind = match std::env::args().nth(1).as_deref() {
        Some("openai") => Kind::OpenAi,
        Some("anthropic") => Kind::Anthropic,
        Some("gemini") => Kind::Gemini,
        Some("bedrock") => Kind::Bedrock,
        _ => return Err("expected openai, anthropic, gemini or bedrock".into()),
    };
    let context = Context {
        model: "fast".to_owned(),
        unique: "2f9c7a4e".to_owned(),
        request_id: "r-1".to_owned(),
        created: 1_700_000_000,
        strict: false,
        expose: Expose::Full,
        echo: String::new(),
        array: false,
        sequential: true,
        signed: false,
    };
    let body = read_to_string(stdin())?;
    let answer = kind.read_answer(&body, &Reading::default())?;
    let mut out = String::new();
    for protocol in [
        Protocol::Chat,
        Protocol::Responses,
        Protocol::Messages,
        Protocol::GenerateContent,
    ] {
        protocol.write_answer(&answer, &context, &mut out);
        out.push('\n');
    }
    stdout().write_all(out.as_bytes())?;
    Ok(())
}
