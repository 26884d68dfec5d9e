//! Prints the token counts of the answer or stream on stdin, which passes to nobody else:
//! `curl -N … | cargo run -p onwards-usage --example count`

use std::error::Error;
use std::io::{Read, Write, stdin, stdout};

use onwards_usage::Tap;

fn main() -> Result<(), Box<dyn Error>> {
    let mut tap = Tap::default();
    let mut buffer = vec![0; 16_384];
    loop {
        let count = stdin().read(&mut buffer)?;
        match buffer.get(..count) {
            Some(piece) if count > 0 => tap.read(piece),
            _ => break,
        }
    }
    let Some(usage) = tap.usage() else {
        return Ok(writeln!(stdout(), "no counts")?);
    };
    for (name, count) in [
        ("prompt", usage.prompt),
        ("completion", usage.completion),
        ("cached", usage.cached),
        ("reasoning", usage.reasoning),
    ] {
        if let Some(count) = count {
            writeln!(stdout(), "{name} {count}")?;
        }
    }
    Ok(())
}
