//! Prints the payload of the HTTP/1.x answer on stdin: `printf '…' | cargo run -p onwards-http1 --example dechunk`

use std::error::Error;
use std::io::{Read, Write, stdin, stdout};

use onwards_http1::{Body, head};

fn main() -> Result<(), Box<dyn Error>> {
    let mut received = Vec::new();
    stdin().read_to_end(&mut received)?;
    let (head, length) = head(&received, &http::Method::GET)?.ok_or("the head is cut off")?;
    writeln!(stdout(), "{} {:?}", head.status, head.framing)?;
    let mut body = Body::new(head.framing);
    let mut rest = received.get(length..).unwrap_or_default();
    while let Some(run) = body.next(&mut rest)? {
        stdout().write_all(run)?;
    }
    body.finish()?;
    writeln!(stdout(), "{} bytes behind it", rest.len())?;
    Ok(())
}
