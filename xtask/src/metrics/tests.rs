use super::*;

#[test]
fn each_shape_of_row_is_read() {
    let source = "\ntable! {\n    A = Counter, true, \"a_total\", [\"x\", \"y\"],\n        \"Counts.\";\n    \
                  B = Histogram(&[1.0, 2.0]), false, \"b\", [], \"Measures.\";\n}\n";
    assert_eq!(
        render(source).unwrap(),
        "| metric | type | labels | meaning |\n|---|---|---|---|\n\
         | `PREFIX_a_total` | counter | `x` `y` | Counts. |\n| `b` | histogram |  | Measures. |\n"
    );
}

#[test]
fn what_is_not_understood_is_an_error() {
    for source in [
        "",
        "\ntable! {\n A = Counter, maybe, \"a\", [], \"b\";\n}\n",
        "\ntable! {\n A;\n}\n",
    ] {
        assert!(render(source).is_err(), "{source}");
    }
}

#[test]
fn the_real_table_is_read() {
    let table = markdown(&crate::workspace::root().unwrap()).unwrap();
    assert!(
        table.contains("| `onwards_model_inflight` | gauge | `model` |"),
        "{table}"
    );
}
