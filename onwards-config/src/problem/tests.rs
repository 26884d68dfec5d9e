use super::nearest;

#[test]
fn misspelt_names() {
    let known = [
        "url",
        "keys",
        "onwards_key",
        "on_status",
        "max_attempts",
        "weight",
    ];
    let check =
        |name: &str, expect: Option<&str>| assert_eq!(nearest(name, known), expect, "{name}");
    check("url", Some("url"));
    check("ulr", Some("url"));
    check("uri", Some("url"));
    check("u", None);
    check("", None);
    check("key", Some("keys"));
    check("onwardskey", Some("onwards_key"));
    check("Onwards-Keys", Some("onwards_key"));
    check("onwards_secret", None);
    check("max_atempt", Some("max_attempts"));
    check("wieghts", Some("weight"));
    check("completely else", None);
    check(&"x".repeat(10_000), None);
}

#[test]
fn distances_are_symmetric_and_count_slips() {
    let check = |a: &str, b: &str, expect: usize| {
        let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
        assert_eq!(
            (super::distance(&a, &b), super::distance(&b, &a)),
            (expect, expect)
        );
    };
    check("", "", 0);
    check("", "abc", 3);
    check("abc", "abc", 0);
    check("abc", "acb", 1);
    check("abcd", "badc", 2);
    check("abc", "xabc", 1);
    check("kitten", "sitting", 3);
    check("ca", "abc", 3);
}
