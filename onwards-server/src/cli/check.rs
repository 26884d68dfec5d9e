//! `check`: would the gateway start with this file?

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use onwards_config::{Problem, Severity};

use super::args::Check;
use super::run;
use crate::secrets::Process;
use crate::{House, Settings};

pub(super) fn run(
    args: &Check,
    out: &mut impl Write,
    err: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    let file = args
        .named
        .file()
        .context("no configuration file is named")?;
    let text = run::read(file)?;
    // Compiling finds what reading cannot, so the whole way is gone.
    let loaded = match House::dry(Settings::default())?.load(&text) {
        Ok(loaded) => loaded,
        Err(problems) => {
            tell(err, &problems.0)?;
            return Ok(ExitCode::FAILURE);
        }
    };
    tell(err, &loaded.warnings)?;
    if args.print {
        let read = onwards_config::read(&text, &Process)
            .context("the file changed its meaning while it was read")?;
        writeln!(out, "{:#}", onwards_config::redacted(&read.gateway))?;
    } else {
        let targets = match loaded.targets {
            1 => "1 target".to_owned(),
            several => format!("{several} targets"),
        };
        writeln!(out, "{}: good, {targets}", file.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn tell(err: &mut impl Write, problems: &[Problem]) -> std::io::Result<()> {
    for problem in problems {
        let kind = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        writeln!(err, "{kind}: {problem}")?;
    }
    Ok(())
}
