//! The command line: what the user typed becomes a running gateway, a verdict on a file, or text on standard output.
//!
//! | exit code | when |
//! |---|---|
//! | 0 | drained after a signal; a checked file is good; compared files are the same; help, version, schema |
//! | 1 | compared files differ; the targets cannot be built, an address cannot be listened on, the drain deadline passed |
//! | 2 | the command line is wrong; files to be compared cannot be read |
//!
//! Answers go to standard output, everything else to standard error. Errors are told in one message without a
//! backtrace. A reader that goes away in the middle of an answer (`| head`) is no error.

mod args;
mod check;
mod demo;
mod diff;
mod doors;
mod run;
mod schema;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    match Args::try_parse() {
        Ok(args) => told(dispatch(args)),
        Err(usage) => {
            usage.print().ok(); // nobody is left to be told
            ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
        }
    }
}

fn dispatch(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        None => run::run(&args.serve),
        Some(Command::Check(check)) => {
            check::run(&check, &mut io::stdout().lock(), &mut io::stderr().lock())
        }
        Some(Command::Diff(files)) => {
            diff::run(&files, &mut io::stdout().lock(), &mut io::stderr().lock())
        }
        Some(Command::Schema) => schema::run(&mut io::stdout().lock()),
        Some(Command::Demo(demo)) => demo::run(&demo),
    }
}

/// Tells of an error, if there is one.
fn told(result: anyhow::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if is_gone_reader(&error) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(io::stderr().lock(), "error: {error:#}").ok(); // nobody is left to be told
            ExitCode::FAILURE
        }
    }
}

/// Whether writing an answer failed because its reader has gone.
fn is_gone_reader(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests;
