use super::{Secret, Written, without_line_end, written};

#[test]
fn references_and_literals() {
    let check = |text: &str, expect: &str| {
        let found = match written(text) {
            Written::Literal(text) => format!("literal {text}"),
            Written::Env(name) => format!("env {name}"),
            Written::File(path) => format!("file {path}"),
            Written::Broken(what) => what.to_owned(),
        };
        assert_eq!(found, expect, "{text}");
    };
    check("sk-1", "literal sk-1");
    check("$HOME", "literal $HOME");
    check("a${B}", "literal a${B}");
    check("${A_1}", "env A_1");
    check("${_x}", "env _x");
    check("${file:/run/secrets/a b}", "file /run/secrets/a b");
    check("${file:}", "a reference to a file without a path");
    check("${1A}", "a reference to an impossible variable name");
    check("${}", "a reference to an impossible variable name");
    check("${A", "a reference without a closing brace");
    check("${A}${B}", "a reference with text behind it");
}

#[test]
fn one_line_end_goes() {
    let check = |text: &str, expect: &str| assert_eq!(without_line_end(text.to_owned()), expect);
    check("a", "a");
    check("a\n", "a");
    check("a\r\n", "a");
    check("a\n\n", "a\n");
    check("a\r", "a\r");
    check("\n", "");
}

#[test]
fn nothing_shows() {
    let secret = Secret::new("hunter2");
    assert_eq!(
        format!("{secret:?} {:?}", Some(&secret)),
        "Secret(***) Some(Secret(***))"
    );
    assert_eq!(secret.expose(), "hunter2");
}
