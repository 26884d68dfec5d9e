//! Reads a configuration file and prints its problems, or what it means.
//!
//! `cargo run -p onwards-config --example explain -- config.json`

use std::io::{self, Write};
use std::process::ExitCode;
use std::{env, fs};

/// The process's own environment and disk.
struct Own;

impl onwards_config::Surroundings for Own {
    fn env(&self, name: &str) -> Option<String> {
        env::var(name).ok()
    }

    fn file(&self, path: &str) -> io::Result<String> {
        fs::read_to_string(path)
    }
}

fn main() -> io::Result<ExitCode> {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: explain FILE");
        return Ok(ExitCode::from(2));
    };
    let text = fs::read(path)?;
    match onwards_config::read(&text, &Own) {
        Ok(loaded) => {
            for warning in &loaded.warnings {
                eprintln!("warning: {warning}");
            }
            writeln!(
                io::stdout(),
                "{:#}",
                onwards_config::redacted(&loaded.gateway)
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            eprintln!("{problems}");
            Ok(ExitCode::FAILURE)
        }
    }
}
