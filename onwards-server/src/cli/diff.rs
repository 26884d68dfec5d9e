//! `diff`: what would a reload change?

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use onwards_config::Gateway;

use super::args::Diff;
use super::{check, run};
use crate::secrets::Process;

/// For files with problems, as `diff` and `cmp` have it.
const TROUBLE: u8 = 2;

pub(super) fn run(
    args: &Diff,
    out: &mut impl Write,
    err: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    // Both are read, so that the problems of both are told.
    let (old, new) = (read(&args.old, err)?, read(&args.new, err)?);
    let (Some(old), Some(new)) = (old, new) else {
        return Ok(ExitCode::from(TROUBLE));
    };
    let changes = onwards_config::compare(&old, &new);
    write!(out, "{changes}")?;
    Ok(if changes.0.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What a file means; `None` if that has been told to be nothing.
fn read(path: &Path, err: &mut impl Write) -> std::io::Result<Option<Gateway>> {
    let text = match run::read(path) {
        Ok(text) => text,
        Err(error) => {
            writeln!(err, "error: {error:#}")?;
            return Ok(None);
        }
    };
    match onwards_config::read(&text, &Process) {
        Ok(read) => Ok(Some(read.gateway)),
        Err(problems) => {
            writeln!(err, "{}:", path.display())?;
            check::tell(err, &problems.0)?;
            Ok(None)
        }
    }
}
