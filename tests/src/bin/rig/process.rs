//! What the system lets this process do, and callgrind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The most files that this process may have open.
pub(crate) fn open_files() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").expect("a list of limits");
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    soft.and_then(|soft| soft.parse().ok()).unwrap_or(1024)
}

/// Whether a program can be started.
pub(crate) fn present(program: &str) -> bool {
    let mut command = Command::new(program);
    let command = command.arg("--version").stdin(Stdio::null());
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Keeps this process on a core.
pub(crate) fn stay_on(core: usize) {
    let (core, this) = (core.to_string(), std::process::id().to_string());
    let output = Command::new("taskset")
        .args(["-a", "-c", "-p", &core, &this])
        .output();
    assert!(output.expect("taskset").status.success(), "taskset");
}

/// A gateway under callgrind, which counts and writes its counts into files of this name and a number.
#[derive(Debug)]
pub(crate) struct Counter {
    process: u32,
    file: PathBuf,
    files: usize,
}

impl Counter {
    /// What starts the gateway so that it is counted.
    pub(crate) fn program(file: &Path) -> Vec<String> {
        let file = file.display();
        vec![
            "valgrind".to_owned(),
            "--tool=callgrind".to_owned(),
            format!("--callgrind-out-file={file}"),
            format!("--vgdb-prefix={file}-vgdb"),
            "--instr-atstart=no".to_owned(),
        ]
    }

    /// Begins to count. What came before was quicker.
    pub(crate) fn begin(process: u32, file: &Path) -> Self {
        let counter = Self {
            process,
            file: file.to_owned(),
            files: 0,
        };
        counter.tell(&["instrumentation", "on"]);
        counter
    }

    /// The instructions since the last call.
    pub(crate) fn instructions(&mut self) -> u64 {
        self.tell(&["dump"]);
        self.files += 1;
        let file = format!("{}.{}", self.file.display(), self.files);
        let text = fs::read_to_string(&file).expect("callgrind's counts");
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        let total = total.and_then(|total| total.trim().parse().ok());
        total.expect("a total")
    }

    fn tell(&self, words: &[&str]) {
        let output = Command::new("vgdb")
            .arg(format!("--vgdb-prefix={}-vgdb", self.file.display()))
            .arg(format!("--pid={}", self.process))
            .args(words)
            .output()
            .expect("vgdb, which is a part of valgrind");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "vgdb {words:?}: {said}");
    }
}
