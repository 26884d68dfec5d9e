//! Frames the event stream on stdin and prints one line per event, as soon as each is complete:
//! `curl -N … | cargo run -p onwards-sse --example reframe`

use std::{
    error::Error,
    io::{Read, Write, stdin, stdout},
};

use bytes::Bytes;
use onwards_sse::{Event, Framer};

fn main() -> Result<(), Box<dyn Error>> {
    let mut framer = Framer::new(65_536);
    let mut buffer = vec![0; 16_384];
    loop {
        let count = stdin().read(&mut buffer)?;
        match buffer.get(..count) {
            Some(chunk) if count > 0 => framer.push(Bytes::copy_from_slice(chunk)),
            _ => framer.finish(),
        }
        for event in &mut framer {
            show(&event?)?;
        }
        if framer.is_finished() {
            return Ok(());
        }
    }
}

fn show(event: &Event) -> std::io::Result<()> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut out = stdout().lock();
    let kind = event.event().map_or("message".to_owned(), text);
    let cut = if event.is_terminated() {
        ""
    } else {
        " (cut short)"
    };
    match event.data() {
        Some(data) => writeln!(out, "{kind}{cut}: {:?}", text(&data)),
        None if event.is_comment() => writeln!(out, "comment{cut}"),
        None => writeln!(out, "no data{cut}"),
    }
}
