//! The tables as text for people: what is kept of an answer.

use std::collections::HashMap;

use crate::{
    Endpoint,
    fault::describe,
    schema::{Absent, Fill, Member, Node, Null, Shape, Tagged},
};

/// All members kept of answers and chunks, endpoint by endpoint, as Markdown tables made from the same
/// rows that clean them. `[]` is an element, `{}` a member with a free name, `(kind)` an object of that
/// type; what is not listed is dropped. An object that an endpoint has in several places is listed at the
/// first and named at the others.
#[must_use]
pub fn contract_table() -> String {
    let mut out = String::new();
    for endpoint in Endpoint::ALL {
        let (answer, chunk) = endpoint.answers();
        let mut table = Table::default();
        table.section(&format!("{}, answer", endpoint.name()), answer);
        if !std::ptr::eq(answer, chunk) {
            table.section(&format!("{}, chunk", endpoint.name()), chunk);
        }
        out.push_str(&table.out);
    }
    let (answer, chunk) = crate::schema::sanitized();
    let mut table = Table::default();
    table.section("chat without strict mode, answer", answer);
    table.section("chat without strict mode, chunk", chunk);
    out + &table.out
}

/// The tables of one endpoint, and where each of its objects was listed.
#[derive(Default)]
struct Table {
    out: String,
    listed: HashMap<(usize, &'static str), String>,
}

impl Table {
    fn section(&mut self, title: &str, node: &'static Node) {
        self.out.push_str(&format!(
            "## {title}\n\n| member | value | if missing | null |\n|---|---|---|---|\n"
        ));
        self.rows(node, "", title);
        self.out.push('\n');
    }

    fn rows(&mut self, node: &'static Node, path: &str, title: &str) {
        match node {
            Node::Object(shape) => self.members(shape, path, title),
            Node::List(item) => self.rows(item, &format!("{path}[]"), title),
            Node::Map(item) => self.rows(item, &format!("{path}{{}}"), title),
            Node::Nullable(inner) => self.rows(inner, path, title),
            Node::Choice(nodes) => nodes.iter().for_each(|node| self.rows(node, path, title)),
            Node::Tagged(tagged) => self.kinds(tagged, path, title),
            _ => {}
        }
    }

    /// True when an object stands in the tables already; then only its place is named.
    fn repeats<T>(&mut self, object: &'static T, members: usize, path: &str, title: &str) -> bool {
        let place = if path.is_empty() {
            "the whole".to_owned()
        } else {
            format!("`{path}`")
        };
        // An object and its first part share an address, not a type.
        let identity = (
            std::ptr::from_ref(object).addr(),
            std::any::type_name::<T>(),
        );
        if let Some(first) = self.listed.get(&identity) {
            let row = format!("| `{path}.*` | the members of {first} | | |\n");
            self.out.push_str(&row);
            return true;
        }
        // What is as short as its mention is listed again.
        if members > 1 {
            self.listed
                .insert(identity, format!("{place} in \"{title}\""));
        }
        false
    }

    fn kinds(&mut self, tagged: &'static Tagged, path: &str, title: &str) {
        if self.repeats(tagged, tagged.variants.len(), path, title) {
            return;
        }
        for (kind, shape) in tagged.variants {
            self.members(shape, &format!("{path}({kind})"), title);
        }
        let path = format!("{path}(other)");
        match tagged.other {
            Some(shape) => self.members(shape, &path, title),
            None => self
                .out
                .push_str(&format!("| `{path}` | kept whole | | |\n")),
        }
    }

    fn members(&mut self, shape: &'static Shape, path: &str, title: &str) {
        if self.repeats(shape, shape.members.len(), path, title) {
            return;
        }
        let dot = if path.is_empty() { "" } else { "." };
        for row in shape.members {
            if let Node::Dropped | Node::Alias(_) = row.node {
                continue;
            }
            let path = format!("{path}{dot}{}", row.name.text());
            let (value, missing, null) = (value(row), missing(row), null(row));
            self.out
                .push_str(&format!("| `{path}` | {value} | {missing} | {null} |\n"));
            self.rows(row.node, &path, title);
        }
        if shape.open {
            self.out
                .push_str(&format!("| `{path}{dot}*` | kept whole | | |\n"));
        }
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
