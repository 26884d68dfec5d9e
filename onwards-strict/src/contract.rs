//! The tables as text for people: what is kept of an answer.

use crate::{
    Endpoint,
    fault::describe,
    schema::{Absent, Fill, Member, Node, Null, Shape, Tagged},
};

/// All members kept of answers and chunks, endpoint by endpoint, as Markdown tables made from the same
/// rows that clean them. `[]` is an element, `{}` a member with a free name, `(kind)` an object of that
/// type; what is not listed is dropped.
#[must_use]
pub fn contract_table() -> String {
    let mut out = String::new();
    for endpoint in Endpoint::ALL {
        let (answer, chunk) = endpoint.answers();
        section(&format!("{}, answer", endpoint.name()), answer, &mut out);
        if !std::ptr::eq(answer, chunk) {
            section(&format!("{}, chunk", endpoint.name()), chunk, &mut out);
        }
    }
    let (answer, chunk) = crate::schema::sanitized();
    section("chat without strict mode, answer", answer, &mut out);
    section("chat without strict mode, chunk", chunk, &mut out);
    out
}

fn section(title: &str, node: &'static Node, out: &mut String) {
    out.push_str(&format!(
        "## {title}\n\n| member | value | if missing | null |\n|---|---|---|---|\n"
    ));
    rows(node, "", out);
    out.push('\n');
}

fn rows(node: &'static Node, path: &str, out: &mut String) {
    match node {
        Node::Object(shape) => members(shape, path, out),
        Node::List(item) => rows(item, &format!("{path}[]"), out),
        Node::Map(item) => rows(item, &format!("{path}{{}}"), out),
        Node::Nullable(inner) => rows(inner, path, out),
        Node::Choice(nodes) => nodes.iter().for_each(|node| rows(node, path, out)),
        Node::Tagged(tagged) => kinds(tagged, path, out),
        _ => {}
    }
}

fn kinds(tagged: &'static Tagged, path: &str, out: &mut String) {
    for (kind, shape) in tagged.variants {
        members(shape, &format!("{path}({kind})"), out);
    }
    let path = format!("{path}(other)");
    match tagged.other {
        Some(shape) => members(shape, &path, out),
        None => out.push_str(&format!("| `{path}` | kept whole | | |\n")),
    }
}

fn members(shape: &'static Shape, path: &str, out: &mut String) {
    let dot = if path.is_empty() { "" } else { "." };
    for row in shape.members {
        if let Node::Dropped | Node::Alias(_) = row.node {
            continue;
        }
        let path = format!("{path}{dot}{}", row.name);
        let (value, missing, null) = (value(row), missing(row), null(row));
        out.push_str(&format!("| `{path}` | {value} | {missing} | {null} |\n"));
        rows(row.node, &path, out);
    }
    if shape.open {
        out.push_str(&format!("| `{path}{dot}*` | kept whole | | |\n"));
    }
}

fn value(row: &Member) -> String {
    let value = match row.node {
        Node::Model => "the caller's model name".to_owned(),
        Node::Fixed(json) => format!("`{json}`"),
        Node::Private(json) => format!("a string, {json} unless trusted"),
        Node::FailureCode => "a string, \"server_error\" unless known or trusted".to_owned(),
        Node::Arguments => "a string, \"{}\" if empty".to_owned(),
        node => describe(node),
    };
    if row.soft {
        format!("{value}, else dropped")
    } else {
        value
    }
}

fn missing(row: &Member) -> String {
    match row.absent {
        Absent::Leave => String::new(),
        Absent::Refuse => "fails".to_owned(),
        Absent::RefuseUnless(other) => format!("fails unless `{other}`"),
        Absent::Write(fill) => match fill {
            Fill::Json(json) => format!("`{json}`"),
            Fill::Id | Fill::CallId => "a generated id".to_owned(),
            Fill::Created => "the given time".to_owned(),
            Fill::Model => "the caller's model name".to_owned(),
            Fill::Position => "its place".to_owned(),
            Fill::Sequence => "its number".to_owned(),
        },
    }
}

fn null(row: &Member) -> &'static str {
    match row.null {
        Null::Keep => "kept",
        Null::Drop => "as missing",
        Null::Value => match row.node {
            node if node.takes(onwards_json::Kind::Null) => "kept",
            _ => "fails",
        },
    }
}

#[cfg(test)]
mod tests;
