use super::*;
use crate::workspace::{metadata, root};

#[test]
fn the_papers_match_the_code() {
    let root = root().unwrap();
    assert_eq!(
        check(&root, &metadata(&root).unwrap()).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn a_block_is_replaced_and_nothing_else() {
    let text = "a\n<!-- t:begin -->\nold\n<!-- t:end -->\nb\n";
    let new = with_block(text, "t", "new\n").unwrap();
    assert_eq!(new, "a\n<!-- t:begin -->\nnew\n<!-- t:end -->\nb\n");
    assert_eq!(with_block(&new, "t", "new\n").unwrap(), new);
    assert!(with_block("a\n", "t", "new\n").is_err());
}

#[test]
fn a_version_of_its_own_is_found() {
    let good = "[dependencies]\na.workspace = true\nb = { workspace = true, features = [\"x\"] }\n[lints]\nworkspace = true\n";
    assert_eq!(manifest_problems("m", good), Vec::<String>::new());
    assert_eq!(
        manifest_problems("m", "[dev-dependencies]\na = \"1\"\n"),
        [
            "m: `a = \"1\"` does not come from [workspace.dependencies]",
            "m: [lints] workspace = true is missing"
        ]
    );
}

#[test]
fn flags_are_read_from_their_struct() {
    let source = "struct Serve {\n    #[arg(long)]\n    pub(super) log_format: Format,\n}\nstruct Demo {\n    pub(super) once: bool,\n}\n";
    assert_eq!(flags(source), ["--log-format"]);
    let real = crate::workspace::root().unwrap().join(FLAGS);
    assert!(flags(&std::fs::read_to_string(real).unwrap()).len() > 10);
}
