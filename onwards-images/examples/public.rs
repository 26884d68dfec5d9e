//! Says of each address from standard input whether it belongs to the public internet:
//! `cargo run -p onwards-images --example public < addresses`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::io::{BufRead, stdin};
use std::net::IpAddr;

use onwards_images::is_public;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in stdin().lock().lines() {
        let address: IpAddr = line?.trim().parse()?;
        let word = if is_public(address) {
            "public"
        } else {
            "blocked"
        };
        println!("{word} {address}");
    }
    Ok(())
}
