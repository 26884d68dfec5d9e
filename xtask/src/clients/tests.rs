use super::*;

#[test]
fn the_closing_line_is_read() {
    for (line, expect) in [
        (
            "python: 12 passed, 3 failed",
            Some(Count {
                passed: 12,
                failed: 3,
            }),
        ),
        (
            "node: 0 passed, 0 failed",
            Some(Count {
                passed: 0,
                failed: 0,
            }),
        ),
        ("12 passed, 3 failed", None),
        ("python: many passed, 3 failed", None),
        ("python: 12 passed, 3 failed, 1 skipped", None),
    ] {
        assert_eq!(Count::read(line), expect, "{line}");
    }
}

#[test]
fn packages_are_installed_again_when_their_list_changes() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    std::fs::write(&list, "a").unwrap();
    assert!(!prepared(&list, folder.path()).unwrap());
    finished(&list, folder.path()).unwrap();
    assert!(prepared(&list, folder.path()).unwrap());
    std::fs::write(&list, "b").unwrap();
    assert!(!prepared(&list, folder.path()).unwrap());
}
