use super::*;

#[track_caller]
fn check(text: &str, code: &[&str], bare: &[&str]) {
    let lines = lines(text);
    assert_eq!(
        lines
            .iter()
            .map(|line| line.code.as_str())
            .collect::<Vec<_>>(),
        code,
        "code of {text}"
    );
    assert_eq!(
        lines
            .iter()
            .map(|line| line.bare.as_str())
            .collect::<Vec<_>>(),
        bare,
        "bare of {text}"
    );
}

#[test]
fn comments_and_literals_are_told_apart() {
    check("a // b\nc", &["a ", "c"], &["a ", "c"]);
    check("a /* b /* c */ d */ e", &["a  e"], &["a  e"]);
    check("a /* b\nc */ d", &["a ", " d"], &["a ", " d"]);
    check(r#"f("// {", x)"#, &[r#"f("// {", x)"#], &["f(, x)"]);
    check(r#"f("\"{", x)"#, &[r#"f("\"{", x)"#], &["f(, x)"]);
    check("f(\"a\\\nb{\")", &["f(\"a\\", "b{\")"], &["f(", ")"]);
    check("r#\"a\" // {\"# + b", &["r#\"a\" // {\"# + b"], &[" + b"]);
    check("br\"{\" for\"x\"", &["br\"{\" for\"x\""], &["br for"]);
    check(
        "'{' + '\\'' + '\\u{7b}'",
        &["'{' + '\\'' + '\\u{7b}'"],
        &[" +  + "],
    );
    check(
        "fn f<'a>(x: &'a str) {}",
        &["fn f<'a>(x: &'a str) {}"],
        &["fn f<'a>(x: &'a str) {}"],
    );
}

#[track_caller]
fn check_tests(text: &str, expect: &[usize]) {
    let found: Vec<usize> = lines(text)
        .iter()
        .enumerate()
        .filter(|(_, line)| line.test)
        .map(|(at, _)| at + 1)
        .collect();
    assert_eq!(found, expect, "{text}");
}

#[test]
fn test_items_are_marked_to_their_end() {
    check_tests("a\n#[cfg(test)]\nmod tests;\nb", &[2, 3]);
    check_tests(
        "#[cfg(test)]\nmod t {\n  fn f() { \"}\" }\n}\nb",
        &[1, 2, 3, 4],
    );
    check_tests("#[cfg(test)] mod tests;\nb", &[1]);
    check_tests(
        "#[cfg(test)]\n#[path = \"x;\"]\nfn f(\n) {\n}\nb",
        &[1, 2, 3, 4, 5],
    );
    check_tests("a\nb", &[]);
}

#[test]
fn test_files_are_known_by_their_place() {
    for (path, expect) in [
        ("onwards-sse/src/framer.rs", false),
        ("onwards-sse/src/framer/tests.rs", true),
        ("onwards-sse/src/framer/tests/endings.rs", true),
        ("tests/src/lib.rs", true),
        ("onwards-sse/benches/frames.rs", true),
        ("onwards-sse/examples/reframe.rs", true),
    ] {
        assert_eq!(is_test_file(Path::new(path)), expect, "{path}");
    }
}
