use super::*;
use crate::workspace::{files, root};

#[test]
fn the_repository_is_clean() {
    let root = root().unwrap();
    assert_eq!(
        check(&root, &files(&root).unwrap()).unwrap(),
        Vec::<String>::new()
    );
}

#[track_caller]
fn check_text(path: &str, text: &str, expect: &[&str]) {
    let mut problems = Vec::new();
    check_file(Path::new(path), text, &mut problems);
    assert_eq!(problems, expect);
}

#[test]
fn unfinished_work_is_found_in_any_text() {
    let mark = concat!("TO", "DO");
    check_text(
        "a.md",
        &format!("x\n{mark} later"),
        &[&format!("a.md:2: unfinished work: {mark}")],
    );
    let mark = concat!("#[ig", "nore");
    let what = "a test that does not run or does not say what it expects";
    check_text(
        "tests/src/a.rs",
        &format!("{mark}]"),
        &[&format!("tests/src/a.rs:1: {what}: {mark}")],
    );
    check_text("a.md", &format!("{mark}]"), &[]);
    let path = concat!("/ro", "ot/");
    check_text(
        "a.sh",
        &format!("cd {path}x"),
        &[&format!("a.sh:1: path of one machine: {path}")],
    );
}

#[test]
fn providers_are_named_in_comments_and_configuration_only() {
    let found = "provider name in code: vllm";
    check_text(
        "onwards-server/src/a.rs",
        "if x == \"vLLM\" {}",
        &[&format!("onwards-server/src/a.rs:1: {found}")],
    );
    check_text("onwards-server/src/a.rs", "x // as vllm does", &[]);
    check_text("onwards-server/src/a/tests.rs", "\"vllm\"", &[]);
    check_text(
        "onwards-server/src/a.rs",
        "#[cfg(test)]\nmod t { \"vllm\" }",
        &[],
    );
    check_text("onwards-config/src/a.rs", "\"vllm\"", &[]);
}

#[test]
fn a_stone_reads_no_clock() {
    let found = "a crate below the door reaches outside";
    check_text(
        "onwards-limits/src/a.rs",
        "let now = Instant::now();",
        &[&format!("onwards-limits/src/a.rs:1: {found}: Instant::now")],
    );
    check_text("onwards-limits/src/a.rs", "\"Instant::now\"", &[]);
    check_text("onwards-server/src/a.rs", "let now = Instant::now();", &[]);
}

#[test]
fn exemptions_are_expectations() {
    let found = "an exemption that outlives its cause; write expect: #[allow(";
    check_text(
        "onwards-server/src/a.rs",
        "#[allow(dead_code)]",
        &[&format!("onwards-server/src/a.rs:1: {found}")],
    );
    check_text(
        "onwards-server/src/a.rs",
        "#[expect(dead_code, reason = \"x\")]",
        &[],
    );
}

#[test]
fn audited_uses_stay_in_their_places() {
    let found = "not on the audit list of xtask/src/hygiene.rs: SystemTime::now";
    check_text(
        "onwards-server/src/a.rs",
        "SystemTime::now()",
        &[&format!("onwards-server/src/a.rs:1: {found}")],
    );
    check_text("onwards-server/src/house.rs", "SystemTime::now()", &[]);
    check_text("onwards-server/src/a.rs", "// SystemTime::now", &[]);
}
