//! Prints the messages of an event stream from standard input, a line each:
//! `cargo run -p onwards-aws --example messages < body.bin`

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::io::{Read, stdin};

use onwards_aws::EventStream;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut stream = EventStream::new(EventStream::MOST);
    let mut input = stdin().lock();
    let mut piece = [0; 4096];
    loop {
        match input.read(&mut piece)? {
            0 => stream.finish(),
            count => stream.push(piece.get(..count).unwrap_or_default()),
        }
        for message in &mut stream {
            let message = message?;
            let payload = String::from_utf8_lossy(message.payload());
            println!("{:?} {payload}", message.kind());
        }
        if stream.is_finished() {
            return Ok(());
        }
    }
}
