//! The dashboard and the alerts ask for series and labels that exist.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{read, tool, yaml};

/// Labels that Prometheus adds to whatever it scrapes.
const TARGET: &[&str] = &["job", "instance"];

/// The labels of each series, by name; those of histograms by the names of their three parts.
fn table() -> BTreeMap<String, Vec<String>> {
    let guide = read("../docs/operations.md");
    let (_, rest) = guide.split_once("<!-- metrics:begin -->").unwrap();
    let (rows, _) = rest.split_once("<!-- metrics:end -->").unwrap();
    let mut table = BTreeMap::from([("up".to_owned(), Vec::new())]);
    for row in rows.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`').replace("PREFIX", "onwards");
        let mut labels: Vec<String> = cells[3]
            .split_whitespace()
            .map(|label| label.trim_matches('`').to_owned())
            .collect();
        if cells[2] == "histogram" {
            table.insert(format!("{name}_sum"), labels.clone());
            table.insert(format!("{name}_count"), labels.clone());
            labels.push("le".to_owned());
            table.insert(format!("{name}_bucket"), labels);
        } else {
            table.insert(name, labels);
        }
    }
    table
}

/// What an expression names.
#[derive(Debug, Default, PartialEq)]
struct Names {
    /// Each series with the labels of its selector.
    series: Vec<(String, Vec<String>)>,
    /// The labels of `by`, `on` and their like.
    groups: Vec<String>,
}

/// Words that stand where a series could.
const WORDS: &[&str] = &[
    "and", "or", "unless", "offset", "bool", "sum", "min", "max", "avg", "count", "topk",
    "bottomk", "quantile",
];

/// A scanner, not a parser: the grammar is promtool's business.
fn names(expression: &str) -> Names {
    let mut names = Names::default();
    let mut rest = expression;
    while let Some(c) = rest.chars().next() {
        let word_end = rest
            .find(|c: char| !(c.is_alphanumeric() || "_:".contains(c)))
            .unwrap_or(rest.len());
        match c {
            '"' => rest = after(&rest[1..], '"').1,
            '[' => rest = after(&rest[1..], ']').1,
            '{' => {
                let (selector, tail) = after(&rest[1..], '}');
                if let Some((_, labels)) = names.series.last_mut() {
                    labels.extend(matched(selector));
                }
                rest = tail;
            }
            _ if word_end == 0 => rest = &rest[c.len_utf8()..],
            _ => {
                let (word, tail) = rest.split_at(word_end);
                rest = tail;
                let called = tail.trim_start().strip_prefix('(');
                match called {
                    Some(list)
                        if ["by", "without", "on", "ignoring", "group_left"].contains(&word) =>
                    {
                        let (labels, tail) = after(list, ')');
                        names
                            .groups
                            .extend(labels.split(',').map(|label| label.trim().to_owned()));
                        rest = tail;
                    }
                    Some(_) => {}
                    None if WORDS.contains(&word) || c.is_ascii_digit() => {}
                    None => names.series.push((word.to_owned(), Vec::new())),
                }
            }
        }
    }
    names
}

/// What stands before and after the first such character.
fn after(text: &str, end: char) -> (&str, &str) {
    text.split_once(end).unwrap_or((text, ""))
}

/// The labels of a selector: the words in front of `=`, `!=`, `=~` and `!~`, outside of quotes.
fn matched(selector: &str) -> Vec<String> {
    let outside: String = selector.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let pairs = outside
        .split(',')
        .map(|pair| pair.trim().trim_end_matches(['=', '~', '!', ' ']));
    pairs
        .filter(|label| !label.is_empty())
        .map(str::to_owned)
        .collect()
}

/// One line per name that does not exist.
fn problems(expression: &str) -> Vec<String> {
    let table = table();
    let names = names(expression);
    let mut problems = Vec::new();
    let mut known: Vec<&str> = TARGET.to_vec();
    if names.series.is_empty() {
        problems.push(format!("no series: {expression}"));
    }
    for (series, labels) in &names.series {
        let Some(has) = table.get(series) else {
            problems.push(format!("no such series: {series}"));
            continue;
        };
        known.extend(has.iter().map(String::as_str));
        for label in labels
            .iter()
            .filter(|label| !has.contains(label) && !TARGET.contains(&label.as_str()))
        {
            problems.push(format!("{series} has no label {label}"));
        }
    }
    for group in names
        .groups
        .iter()
        .filter(|group| !known.contains(&group.as_str()))
    {
        problems.push(format!("no series with a label {group}: {expression}"));
    }
    problems
}

#[test]
fn names_are_found() {
    let series = |name: &str, labels: &[&str]| {
        (
            name.to_owned(),
            labels.iter().map(|label| (*label).to_owned()).collect(),
        )
    };
    let found = names(
        r#"sum by (le, model) (rate(a_total{b="x, y{", c=~"$d"}[5m])) > 0.5 and on (job) e offset 15m or absent(f) * 1e3"#,
    );
    let expect = Names {
        series: vec![
            series("a_total", &["b", "c"]),
            series("e", &[]),
            series("f", &[]),
        ],
        groups: ["le", "model", "job"].map(str::to_owned).to_vec(),
    };
    assert_eq!(found, expect);
}

#[test]
fn names_that_do_not_exist_are_reported() {
    for (expression, expect) in [
        (r#"up{job="a"} == 0"#, vec![]),
        (
            "sum by (le) (rate(onwards_first_token_seconds_bucket[5m]))",
            vec![],
        ),
        (
            "rate(onwards_first_token_seconds[5m])",
            vec!["no such series: onwards_first_token_seconds"],
        ),
        (
            r#"onwards_model_inflight{pool="a"}"#,
            vec!["onwards_model_inflight has no label pool"],
        ),
        (
            "sum by (pool) (up)",
            vec!["no series with a label pool: sum by (pool) (up)"],
        ),
        ("vector(1)", vec!["no series: vector(1)"]),
    ] {
        assert_eq!(problems(expression), expect, "{expression}");
    }
}

#[test]
fn every_series_of_the_alerts_exists() {
    let rules = yaml("prometheus/alerts.yml");
    let rules = rules["groups"][0]["rules"].as_array().unwrap();
    assert!(!rules.is_empty());
    for rule in rules {
        let text = |value: &Value| {
            value
                .as_str()
                .unwrap_or_else(|| panic!("not a text in {rule}"))
                .to_owned()
        };
        let expression = text(&rule["expr"]);
        assert_eq!(
            problems(&expression),
            Vec::<String>::new(),
            "{}",
            rule["alert"]
        );
        text(&rule["labels"]["severity"]);
        text(&rule["annotations"]["summary"]);
        text(&rule["annotations"]["description"]);
    }
}

#[test]
fn every_series_of_the_dashboard_exists() {
    let dashboard: Value = serde_json::from_str(&read("grafana/onwards.json")).unwrap();
    let mut expressions = Vec::new();
    collect(&dashboard, &mut expressions);
    assert!(expressions.len() > 20, "{expressions:?}");
    for expression in expressions {
        // `label_values(series, label)` of a variable.
        let (query, label) = match expression
            .strip_prefix("label_values(")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            Some(inner) => inner.rsplit_once(", ").unwrap(),
            None => (expression, "job"),
        };
        assert_eq!(
            problems(&format!("sum by ({label}) ({query})")),
            Vec::<String>::new()
        );
    }
    let rows = dashboard["panels"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|panel| panel["type"] == "row");
    let rows: Vec<&str> = rows.filter_map(|row| row["title"].as_str()).collect();
    assert_eq!(
        rows,
        [
            "Overview",
            "Per model",
            "Failover and share",
            "Limits",
            "Streams"
        ]
    );
}

/// Every query, wherever it stands.
fn collect<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str() {
                    Some(text) if name == "expr" || name == "definition" => found.push(text),
                    _ => collect(value, found),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, found)),
        _ => {}
    }
}

#[test]
fn promtool_agrees() {
    for args in [
        ["check", "rules", "prometheus/alerts.yml"],
        ["test", "rules", "prometheus/alerts.test.yml"],
    ] {
        tool("promtool", &args, true);
    }
}
