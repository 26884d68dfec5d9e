//! Runs the examples. One that lies beside `NAME.args` gets the words in it as arguments, paths from the root of the workspace;
//! one beside `NAME.in` reads it from standard input; one beside `NAME.golden` must print exactly that. `UPDATE_GOLDEN=1` accepts what they print.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::process::{capture, cargo, variable};
use crate::workspace::Metadata;

/// Runs every example of the workspace or of one package.
pub(crate) fn run(root: &Path, metadata: &Metadata, package: Option<&str>) -> Result<()> {
    let mut failures = Vec::new();
    let mut passed = 0_u32;
    for member in metadata
        .packages
        .iter()
        .filter(|member| package.is_none_or(|name| name == member.name))
    {
        for target in member
            .targets
            .iter()
            .filter(|target| target.kind.iter().any(|kind| kind == "example"))
        {
            match run_one(root, &member.name, &target.name, &target.src_path) {
                Ok(()) => passed += 1,
                Err(error) => failures.push(format!(
                    "{} example {}: {error:#}",
                    member.name, target.name
                )),
            }
        }
    }
    for failure in &failures {
        println!("{failure}");
    }
    println!("examples: {passed} passed, {} failed", failures.len());
    if !failures.is_empty() {
        bail!("{} example(s) failed", failures.len());
    }
    Ok(())
}

fn run_one(root: &Path, package: &str, name: &str, source: &Path) -> Result<()> {
    let mut command = cargo(root);
    command.args(["run", "--quiet", "--package", package, "--example", name]);
    let arguments = source.with_extension("args");
    if arguments.is_file() {
        command
            .arg("--")
            .args(std::fs::read_to_string(&arguments)?.split_whitespace());
    }
    let input = source.with_extension("in");
    command.stdin(if input.is_file() {
        Stdio::from(File::open(&input)?)
    } else {
        Stdio::null()
    });
    let printed = capture(&mut command)?;
    let golden = source.with_extension("golden");
    if variable("UPDATE_GOLDEN").is_some() && golden.is_file() {
        return std::fs::write(&golden, printed)
            .with_context(|| format!("writing {}", golden.display()));
    }
    if golden.is_file() {
        let expected = std::fs::read_to_string(&golden)?;
        if printed != expected {
            bail!(
                "printed something else than {}:\n{printed}",
                golden.display()
            );
        }
    }
    Ok(())
}
