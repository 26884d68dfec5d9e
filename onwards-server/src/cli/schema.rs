//! `schema`: the JSON Schema of the configuration file, for editors and pipelines.

use std::io::Write;
use std::process::ExitCode;

pub(super) fn run(out: &mut impl Write) -> anyhow::Result<ExitCode> {
    writeln!(out, "{:#}", onwards_config::schema())?;
    Ok(ExitCode::SUCCESS)
}
