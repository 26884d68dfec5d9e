//! `cargo xtask lint`: the compiler's opinion, then the house's.

use std::path::Path;

use anyhow::{Result, bail};

use crate::process::{cargo, present, run as execute};
use crate::{fences, hygiene, layers, links, papers, sizes, workspace};

/// Runs every check, reports all findings, and fails if there is one.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut problems = house(root)?;
    let mut cargo_step = |args: &[&str], flags: Option<(&str, &str)>| {
        let mut command = cargo(root);
        command.args(args);
        if let Some((name, value)) = flags {
            command.env(name, value);
        }
        if let Err(error) = execute(&mut command) {
            problems.push(format!("{error:#}"));
        }
    };
    cargo_step(&["fmt", "--all", "--check"], None);
    cargo_step(
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        None,
    );
    let docs = [
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ];
    cargo_step(&docs, Some(("RUSTDOCFLAGS", "-D warnings")));
    if present("cargo", &["deny", "--version"]) {
        cargo_step(&["deny", "check", "licenses", "bans", "sources"], None);
    } else {
        println!("cargo-deny is not installed: licences and duplicate versions were not checked");
    }
    for problem in &problems {
        println!("lint: {problem}");
    }
    if !problems.is_empty() {
        bail!("lint: {} problem(s)", problems.len());
    }
    println!("lint: no problems");
    Ok(())
}

/// The checks that need no build.
fn house(root: &Path) -> Result<Vec<String>> {
    let files = workspace::files(root)?;
    let metadata = workspace::metadata(root)?;
    let sizes = sizes::check(root, &files)?;
    for note in &sizes.notes {
        println!("note: {note}");
    }
    let mut problems = sizes.problems;
    problems.extend(layers::check(&metadata));
    problems.extend(hygiene::check(root, &files)?);
    problems.extend(papers::check(root, &metadata)?);
    problems.extend(links::check(root, &files)?);
    problems.extend(fences::check(root, &files)?);
    Ok(problems)
}
