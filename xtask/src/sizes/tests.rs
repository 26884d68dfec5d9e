use super::*;
use crate::workspace::{files, root};

#[test]
fn no_file_is_too_long() {
    let root = root().unwrap();
    let sizes = check(&root, &files(&root).unwrap()).unwrap();
    assert_eq!(sizes.problems, Vec::<String>::new());
}

#[track_caller]
fn check_text(first: &str, lines: usize, tests: usize, expect: (usize, usize)) {
    let text = format!(
        "{first}\n{}#[cfg(test)]\nmod t {{\n{}}}\n",
        "x;\n".repeat(lines - 1),
        "y;\n".repeat(tests)
    );
    let mut sizes = Sizes::default();
    weigh(Path::new("a.rs"), &text, &mut sizes);
    assert_eq!(
        (sizes.notes.len(), sizes.problems.len()),
        expect,
        "{first} {lines} {tests}"
    );
}

#[test]
fn the_limits_are_exact_and_tests_do_not_count() {
    check_text("//! A.", 400, 0, (0, 0));
    check_text("//! A.", 400, 900, (0, 0));
    check_text("//! A.", 401, 0, (1, 0));
    check_text("//! A.", 600, 0, (1, 0));
    check_text("//! A.", 601, 0, (0, 1));
    check_text("//! A (long: one flat table).", 601, 0, (1, 0));
}
