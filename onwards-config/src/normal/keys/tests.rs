//! Guesses cost a bounded number of comparisons, however many names and keys there are.

use super::*;

fn thousand() -> Guesses {
    let mut guesses = Guesses::default();
    for i in 0..1000 {
        guesses.learn(&format!("team-{i:03}"));
    }
    guesses
}

#[test]
fn the_nearest_name_is_found() {
    let guesses = thousand();
    for (text, name) in [
        ("team-007", Some("team-007")),
        ("Team_007", Some("team-007")),
        ("taem-007", Some("team-007")),
        ("team-7", Some("team-007")),
        ("sk-abc07", None),
        ("a-much-longer-token-than-any-name", None),
    ] {
        assert_eq!(guesses.nearest(text), name, "{text}");
    }
}

#[test]
fn names_of_another_length_cost_nothing() {
    let guesses = thousand();
    for _ in 0..1000 {
        assert_eq!(guesses.nearest("a-much-longer-token-than-any-name"), None);
    }
    assert_eq!(guesses.left.get(), MOST_COMPARED);
}

#[test]
fn a_file_has_its_share_of_comparisons() {
    let guesses = thousand();
    for _ in 0..MOST_COMPARED / 1000 {
        assert_eq!(guesses.nearest("taem-007"), Some("team-007"));
    }
    assert_eq!(guesses.left.get(), 0);
    assert_eq!(guesses.nearest("taem-007"), None);
}
