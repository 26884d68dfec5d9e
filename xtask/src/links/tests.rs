use super::*;
use crate::workspace::{files, root};

#[test]
fn every_link_of_the_papers_holds() {
    let root = root().unwrap();
    assert_eq!(
        check(&root, &files(&root).unwrap()).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn links_are_found_in_prose_only() {
    let text = "a [b](c) and [`d`](e#f) [g]\n```\n[h](i)\n```\n| [j](k) |\n`l[](m)` [n](o) `p](q`";
    assert_eq!(
        links(text),
        [("b", "c"), ("`d`", "e#f"), ("j", "k"), ("n", "o")]
    );
}

#[test]
fn a_promise_is_kept_or_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("a.rs"),
        "fn here() {}\nfn generic<T>() {}\n",
    )
    .unwrap();
    for (label, target, expect) in [
        ("x", "https://example.com/a", Ok(())),
        ("x", "#part", Ok(())),
        ("x", "a.rs", Ok(())),
        ("`a.rs`", "a.rs", Ok(())),
        ("`here`", "a.rs", Ok(())),
        ("`generic`", "a.rs#L2", Ok(())),
        (
            "`gone`",
            "a.rs",
            Err("promises a function gone that is not there".to_owned()),
        ),
        ("x", "b.rs", Err("leads nowhere".to_owned())),
    ] {
        assert_eq!(
            follow(folder.path(), label, target),
            expect,
            "{label} {target}"
        );
    }
}
