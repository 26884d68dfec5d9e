//! The configuration reference, written from the schema.

use serde_json::{Map, Value};

/// The configuration reference as Markdown: one section per object, one row per member with its type,
/// default, bounds and meaning.
#[must_use]
pub fn reference() -> String {
    let schema = crate::schema();
    let definitions = schema
        .get("$defs")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut writer = Writer {
        definitions: &definitions,
        done: Vec::new(),
        text: String::from("# Configuration reference\n"),
    };
    writer.section(&schema, "");
    writer.text
}

struct Writer<'a> {
    definitions: &'a Map<String, Value>,
    done: Vec<String>,
    text: String,
}

impl Writer<'_> {
    /// Writes an object, then every object it is the first to name.
    fn section(&mut self, schema: &Value, name: &str) {
        if !name.is_empty() {
            self.text.push_str(&format!("\n## {name}\n"));
        }
        self.text.push_str(&format!("\n{}\n", description(schema)));
        self.alternatives(schema);
        self.members(schema);
        for next in references(schema) {
            if self.done.contains(&next) {
                continue;
            }
            self.done.push(next.clone());
            if let Some(definition) = self.definitions.get(&next) {
                self.section(definition, &next);
            }
        }
    }

    /// The forms or names a value may have.
    fn alternatives(&mut self, schema: &Value) {
        let forms = ["oneOf", "anyOf"]
            .iter()
            .filter_map(|word| schema.get(word))
            .filter_map(Value::as_array)
            .flatten();
        let (needs, forms): (Vec<_>, Vec<_>) = forms.partition(|form| is_need(form));
        let needs = needs
            .into_iter()
            .filter_map(|form| form.pointer("/required/0"));
        let needs: Vec<_> = needs
            .filter_map(Value::as_str)
            .map(crate::problem::quote)
            .collect();
        if !needs.is_empty() {
            self.text.push_str(&format!(
                "\nOne of these is required: {}.\n",
                needs.join(", ")
            ));
        }
        let mut lines: Vec<String> = forms
            .into_iter()
            .map(|form| format!("- {}: {}\n", kind(form), description(form)))
            .collect();
        if let Some(names) = schema.get("enum").and_then(Value::as_array) {
            lines.extend(names.iter().map(|name| format!("- `{name}`\n")));
        }
        if !lines.is_empty() {
            self.text.push('\n');
            self.text.extend(lines);
        }
    }

    fn members(&mut self, schema: &Value) {
        let Some(members) = schema.get("properties").and_then(Value::as_object) else {
            return;
        };
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        self.text
            .push_str("\n| member | type | default | bounds | meaning |\n|---|---|---|---|---|\n");
        let (first, rest): (Vec<_>, Vec<_>) = members
            .iter()
            .partition(|(name, _)| required.iter().any(|known| *known == **name));
        let first = first.into_iter().map(|member| (member, true));
        for ((name, member), required) in
            first.chain(rest.into_iter().map(|member| (member, false)))
        {
            let default = match member.get("default") {
                _ if required => "required".to_owned(),
                Some(default) => format!("`{default}`"),
                None => "none".to_owned(),
            };
            let cells = [
                format!("`{name}`"),
                kind(member),
                default,
                bounds(member),
                description(member),
            ];
            self.text.push_str(&format!(
                "| {} |\n",
                cells.map(|cell| cell.replace('|', "\\|")).join(" | ")
            ));
        }
    }
}

/// A form of an object that says only which member has to be there.
fn is_need(form: &Value) -> bool {
    form.get("required").is_some() && form.get("type").is_none()
}

fn description(schema: &Value) -> String {
    schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// The type in words; objects of the file link to their section.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|path| path.rsplit('/').next())
    {
        return format!("[{name}](#{name})");
    }
    if let Some(name) = schema.get("const") {
        return format!("`{name}`");
    }
    if let Some(forms) = schema.get("anyOf").and_then(Value::as_array) {
        let forms: Vec<_> = forms
            .iter()
            .map(kind)
            .filter(|kind| kind != "null")
            .collect();
        return forms.join(" or ");
    }
    let word = match schema.get("type") {
        Some(Value::String(word)) => word.as_str(),
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(Value::as_str)
            .find(|word| *word != "null")
            .unwrap_or("any"),
        _ => "any",
    };
    match (
        word,
        schema.get("items"),
        schema.get("additionalProperties"),
    ) {
        ("array", Some(items), _) => format!("array of {}", kind(items)),
        ("object", _, Some(values @ Value::Object(_))) => format!("object of {}", kind(values)),
        ("object", ..) => tagged(schema).unwrap_or_else(|| "object".to_owned()),
        _ => word.to_owned(),
    }
}

/// An object told from others by its `type` member.
fn tagged(schema: &Value) -> Option<String> {
    let tag = schema.pointer("/properties/type/const")?;
    let others = schema
        .get("properties")?
        .as_object()?
        .keys()
        .filter(|name| *name != "type");
    let members: Vec<_> = others.map(|name| format!(", \"{name}\": …")).collect();
    Some(format!("`{{\"type\": {tag}{}}}`", members.concat()))
}

fn bounds(schema: &Value) -> String {
    let mut words: Vec<String> = Vec::new();
    let integer = schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.starts_with("uint"));
    let mut push = |word: &str, key: &str| {
        if let Some(value) = schema.get(key) {
            let value = value
                .as_f64()
                .map_or_else(|| value.to_string(), |value| value.to_string());
            words.push(format!("{word} {value}"));
        }
    };
    push("≥", "minimum");
    push(">", "exclusiveMinimum");
    push("≤", "maximum");
    push("<", "exclusiveMaximum");
    if integer && words.iter().any(|word| word == "≤ 4294967295") {
        words.retain(|word| word != "≤ 4294967295");
    }
    for (key, unit) in [
        ("minLength", "character(s)"),
        ("minItems", "element(s)"),
        ("minProperties", "member(s)"),
    ] {
        words.extend(
            schema
                .get(key)
                .map(|least| format!("at least {least} {unit}")),
        );
    }
    words.extend(
        schema
            .get("maxItems")
            .map(|most| format!("at most {most} elements")),
    );
    words.extend(
        schema
            .get("pattern")
            .and_then(Value::as_str)
            .map(|pattern| format!("`{pattern}`")),
    );
    let of_items = schema
        .get("items")
        .or_else(|| schema.get("additionalProperties"))
        .map(bounds)
        .unwrap_or_default();
    if !of_items.is_empty() {
        words.push(format!("each {of_items}"));
    }
    words.join(", ")
}

/// Objects a schema names, in the order of its members.
fn references(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(schema, &mut found);
    found
}

fn collect(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(name) = members
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|path| path.rsplit('/').next())
            {
                found.push(name.to_owned());
            }
            members
                .iter()
                .filter(|(name, _)| *name != "$defs")
                .for_each(|(_, value)| collect(value, found));
        }
        Value::Array(elements) => elements.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}
