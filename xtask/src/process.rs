//! Child processes: started with a clean environment, and never left behind.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// A command that runs in `dir` without the variables that `cargo run` adds for this process. Left in place they would
/// look like a changed environment to build scripts and make a nested cargo rebuild their crates.
pub(crate) fn command(dir: &Path, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name.as_ref());
        }
    }
    command
}

/// The cargo that runs this task.
pub(crate) fn cargo(dir: &Path) -> Command {
    command(dir, variable("CARGO").unwrap_or_else(|| "cargo".to_owned()))
}

/// An environment variable, if set, not empty, and UTF-8.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Says what runs, runs it with inherited output, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = describe(command);
    println!("$ {line}");
    let status = command
        .status()
        .with_context(|| format!("starting `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Runs it quietly and returns its standard output; its standard error is in the error.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let line = describe(command);
    let output = command
        .output()
        .with_context(|| format!("starting `{line}`"))?;
    if !output.status.success() {
        bail!(
            "`{line}` failed: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{line}` printed text that is not UTF-8"))
}

/// Whether a program answers to the arguments given with success.
pub(crate) fn present(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn describe(command: &Command) -> String {
    let mut line = Path::new(command.get_program())
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}

/// A process that ends with the value that owns it.
#[derive(Debug)]
pub(crate) struct Owned(Child);

impl Owned {
    /// Starts the command.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let line = describe(command);
        Ok(Self(
            command
                .spawn()
                .with_context(|| format!("starting `{line}`"))?,
        ))
    }

    /// The child, to take its pipes or to ask whether it has ended.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // Both fail only when the process has already ended and been reaped, which is what is wanted.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
