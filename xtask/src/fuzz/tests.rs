use super::*;

#[test]
fn targets_are_found_by_their_place() {
    let files = [
        "onwards-json/fuzz/fuzz_targets/scan.rs",
        "onwards-json/fuzz/fuzz_targets/notes.md",
        "onwards-json/fuzz/bodies.rs",
        "onwards-json/src/fuzz_targets/scan.rs",
    ];
    let found = targets(&files.map(PathBuf::from));
    let scan = Target {
        stone: "onwards-json".to_owned(),
        name: "scan".to_owned(),
    };
    assert_eq!(found, [scan]);
}
