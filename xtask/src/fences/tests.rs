use super::*;
use crate::workspace::{files, root};

#[test]
fn every_example_of_the_papers_loads() {
    let root = root().unwrap();
    assert_eq!(
        check(&root, &files(&root).unwrap()).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn configurations_are_told_from_other_code() {
    let text = "```json\n{\"targets\": {}}\n```\n```sh\n\"targets\"\n```\n```json\n{}\n```\n";
    assert_eq!(
        configurations(text),
        [(1, "{\"targets\": {}}\n".to_owned())]
    );
}

#[test]
fn a_warning_counts_as_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("a.md"),
        "\n```json\n{\"targets\": {}, \"extra\": 1}\n```\n",
    )
    .unwrap();
    let problems = check(folder.path(), &[PathBuf::from("a.md")]).unwrap();
    assert!(
        problems.len() == 1 && problems[0].starts_with("a.md:2: "),
        "{problems:?}"
    );
}
