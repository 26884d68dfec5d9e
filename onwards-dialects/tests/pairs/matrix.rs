//! Which feature is there for which pair: a table for the documents, made of what the fixtures become.

use std::fmt::Write as _;

use expect_test::expect_file;

use crate::common::{
    KINDS, PROTOCOLS, Written, context, events, fixtures, kind, protocol, reading, translated,
    write,
};
use onwards_dialects::options::Expose;
use onwards_dialects::{Kind, Protocol};

/// Columns of requests: what they are called, and their fixtures.
const REQUESTS: [(&str, &str); 8] = [
    ("text", "text"),
    ("tools", "tools"),
    ("parallel tools", "parallel_tools"),
    ("tool results", "tool_results"),
    ("images", "images"),
    ("structured output", "structured"),
    ("reasoning", "reasoning"),
    ("system in the middle", "system_middle"),
];

#[test]
fn the_table_of_pairs_is_that_of_the_fixtures() {
    let mut out = String::from("| client | provider |");
    for (column, _) in REQUESTS {
        write!(out, " {column} |").unwrap();
    }
    out.push_str(" answer | stream | errors |\n|---|---|");
    out.push_str(&"---|".repeat(REQUESTS.len() + 3));
    out.push('\n');
    for (protocol_name, protocol) in PROTOCOLS {
        for (kind_name, kind) in KINDS {
            write!(out, "| {protocol_name} | {kind_name} |").unwrap();
            for (_, feature) in REQUESTS {
                write!(out, " {} |", request(feature, protocol_name, kind)).unwrap();
            }
            let answers = answers(protocol, kind_name);
            let (streams, failed) = streams(protocol, kind_name);
            writeln!(out, " {answers} | {streams} | {failed} |").unwrap();
        }
    }
    expect_file!["../data/pairs/matrix.md"].assert_eq(&out);
}

/// `yes`, what is lost, or why not.
fn request(feature: &str, protocol_name: &str, kind: Kind) -> String {
    let (_, _, body) = fixtures("requests", "json")
        .into_iter()
        .find(|(folder, name, _)| folder.ends_with(&format!("/{feature}")) && name == protocol_name)
        .unwrap();
    let request = match protocol(protocol_name).read_request(body.as_bytes()) {
        Ok(request) => request,
        Err(rejected) => return format!("no: `{}`", rejected.code),
    };
    match write(kind, &request) {
        Written::Refused(rejected) => format!("no: `{}`", rejected.code),
        Written::Sent(_, report, _) => {
            let losses: Vec<_> = report
                .lines()
                .filter(|line| !line.starts_with("renamed=") && !line.starts_with("added="))
                .filter_map(|line| line.split_once('='))
                .map(|(_, name)| format!("`{name}`"))
                .collect();
            match losses.is_empty() {
                true => "yes".to_owned(),
                false => format!("yes, without {}", losses.join(" ")),
            }
        }
    }
}

/// How many answers are read and written.
fn answers(protocol: Protocol, kind_name: &str) -> usize {
    let all = fixtures("answers", "json").into_iter();
    all.filter(|(folder, name, body)| {
        name == like(kind_name) && {
            let mut out = String::new();
            let reading = reading(folder);
            let answer = kind(kind_name).read_answer(body, &reading).unwrap();
            protocol.write_answer(&answer, &context(Expose::Full), &mut out);
            !out.is_empty()
        }
    })
    .count()
}

/// How many streams end as they should, and how many are told to have failed.
fn streams(protocol: Protocol, kind_name: &str) -> (usize, usize) {
    let all = fixtures("streams", "sse").into_iter();
    let all = all.filter(|(_, name, _)| name == like(kind_name));
    let told = all.map(|(folder, _, stream)| {
        let out = translated(kind(kind_name), protocol, &folder, &events(&stream));
        let failed = out.contains("\"error\":{") || out.contains("response.failed");
        let bad = folder.ends_with("/error") || folder.ends_with("/aborted");
        assert_eq!(failed, bad, "{folder} {out}");
        failed
    });
    let (failed, good): (Vec<_>, Vec<_>) = told.partition(|failed| *failed);
    (good.len(), failed.len())
}

/// Azure speaks as OpenAI does.
fn like(kind_name: &str) -> &str {
    match kind_name {
        "azure" => "openai",
        other => other,
    }
}
