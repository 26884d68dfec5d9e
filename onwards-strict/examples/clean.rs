//! Cleans event payloads from standard input, one a line, as strict mode would:
//! `cargo run -p onwards-strict --example clean -- chat fast < payloads`
//!
//! Without input from elsewhere, try
//! `echo '{"choices":[{"delta":{"content":"Hi"}}],"cost":1}' | cargo run -p onwards-strict --example clean`.

use std::io::{self, BufRead, Write};

use onwards_strict::{Cleaned, Cleaner, Context, Endpoint};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let endpoint = arguments.next().unwrap_or_else(|| "chat".to_owned());
    let model = arguments.next().unwrap_or_else(|| "fast".to_owned());
    let Some(endpoint) = Endpoint::ALL
        .into_iter()
        .find(|known| known.name() == endpoint)
    else {
        return Err(io::Error::other(
            "endpoints: chat, completions, embeddings, responses, models",
        ));
    };
    let context = Context {
        model: &model,
        unique: "example",
        created: 0,
        trusted: false,
    };
    let cleaner = Cleaner::new(endpoint, &context);
    let mut output = io::stdout().lock();
    let mut text = Vec::new();
    for (sequence, line) in (0..).zip(io::stdin().lock().lines()) {
        let line = line?;
        text.clear();
        match cleaner.clean_chunk(line.as_bytes(), sequence, &mut text) {
            Ok(Cleaned::Answer(_)) => {}
            Ok(Cleaned::Error(error)) => error.write_standard(&mut text),
            Err(malformed) => {
                eprintln!("line {sequence}: {malformed}");
                continue;
            }
        }
        text.push(b'\n');
        output.write_all(&text)?;
    }
    Ok(())
}
