//! The subset of OpenAPI that Gemini's clients write, as JSON Schema.

use std::borrow::Cow;

use onwards_json::{Kind, Value};

use crate::text::Str;
use crate::write::{Obj, array, object};

/// Words that clients also write with underscores.
const SPELLINGS: &[(&str, &str)] = &[
    ("any_of", "anyOf"),
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
    ("min_properties", "minProperties"),
    ("max_properties", "maxProperties"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("property_ordering", "propertyOrdering"),
    ("additional_properties", "additionalProperties"),
    ("prefix_items", "prefixItems"),
];

/// A schema as JSON Schema: types in lower case, `nullable` as one more type, counts as numbers. What JSON Schema it has already
/// stays.
pub(in crate::gemini) fn json_schema(schema: &Value<'_>) -> String {
    let mut out = String::new();
    write(schema, &mut out);
    out
}

fn write(schema: &Value<'_>, out: &mut String) {
    if schema.kind() != Kind::Object {
        out.push_str(schema.text());
        return;
    }
    let is = |name: &str| schema.members().any(|member| member.is(name));
    let nullable = schema
        .members()
        .filter(|member| member.is("nullable"))
        .any(|member| member.value().as_bool() == Some(true));
    let untyped = nullable && !is("type");
    object(out, |o| {
        for member in schema.members() {
            let name = member.name();
            let name = SPELLINGS
                .iter()
                .find(|(other, _)| *other == name)
                .map_or(&*name, |(_, word)| word);
            let value = member.value();
            match name {
                "nullable" => {}
                "type" => kind(&value, nullable, o),
                "enum" if nullable => array(o.key("enum"), |list| {
                    value.elements().for_each(|value| list.raw(value.text()));
                    if !value.elements().any(|value| value.is_null()) {
                        list.raw("null");
                    }
                }),
                "anyOf" | "any_of" => array(o.key("anyOf"), |list| {
                    value
                        .elements()
                        .for_each(|option| write(&option, list.item()));
                    if untyped {
                        list.raw(r#"{"type":"null"}"#);
                    }
                }),
                "items" | "additionalProperties" => write(&value, o.key(name)),
                "properties" | "$defs" | "definitions" => object(o.key(name), |o| {
                    for member in value.members() {
                        write(&member.value(), o.name(&member.name_text().into()));
                    }
                }),
                "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minLength"
                | "maxLength" => o.raw(name, &count(&value)),
                name => o.name(&Str::plain(name)).push_str(value.text()),
            }
        }
    });
}

fn kind(value: &Value<'_>, nullable: bool, o: &mut Obj<'_>) {
    let Some(word) = value.as_str() else {
        o.raw("type", value.text());
        return;
    };
    let word = word.to_ascii_lowercase();
    match (&*word, nullable) {
        ("type_unspecified", _) => {}
        (word, false) => o.text("type", word),
        (word, true) => o.array("type", |list| {
            list.str(&Str::plain(word));
            list.raw("\"null\"");
        }),
    }
}

/// A count, which may be written as a string.
fn count<'a>(value: &Value<'a>) -> Cow<'a, str> {
    match value.as_str() {
        Some(digits)
            if !digits.is_empty()
                && digits.len() < 19
                && digits.bytes().all(|b| b.is_ascii_digit())
                && (digits.len() == 1 || !digits.starts_with('0')) =>
        {
            digits
        }
        _ => Cow::Borrowed(value.text()),
    }
}
