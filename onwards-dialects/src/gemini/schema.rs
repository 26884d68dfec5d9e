//! JSON Schema in the subset of OpenAPI that Gemini takes (spec providers 3.4), and back ([`back`]).
//!
//! Schemas are text: names, numbers, values and the order of members stay as they were written. What a node says in several places
//! (`$ref`, `allOf`, a choice between one thing and `null`) is laid flat first ([`flat`]), then written.

mod back;
mod flat;

use onwards_json::{Kind, Value};

use crate::text::value;
use crate::write::{Arr, Obj, array, object};

use flat::{Flat, Flattener};

pub(super) use back::json_schema;

/// Levels of a schema, references followed. Gemini takes fewer.
const DEPTH: usize = 64;

/// Bytes of a schema, before and after.
const LONGEST: usize = 1 << 20;

/// What all schemas of one request may become, in bytes; beyond that they go as they are.
pub(super) const ROOM: usize = 4 << 20;

/// A schema in the subset.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Converted {
    pub(super) text: String,
    /// Numbers that were to be chosen from are strings now.
    pub(super) lossy: bool,
}

/// A schema in the subset of OpenAPI. `None` for one that cannot be said there: recursion, conditions, tuples, anything at all,
/// and what grows beyond bounds when its references are followed. `room` is how many bytes all schemas of the request may still
/// become; what this one takes is taken off, also where it comes to nothing.
pub(super) fn open_api(schema: &str, room: &mut usize) -> Option<Converted> {
    let root = value(schema).filter(|_| schema.len() <= LONGEST)?;
    let mut converter = Converter {
        flattener: Flattener::new(root),
        lossy: false,
        longest: LONGEST.min(*room),
    };
    let mut text = String::new();
    let written = converter.node(&root, 0, &mut text);
    *room = room.saturating_sub(text.len());
    written?;
    Some(Converted {
        text,
        lossy: converter.lossy,
    })
}

/// True for the schema of an object that is said to have no members: a function without arguments.
pub(super) fn says_nothing(schema: &str) -> bool {
    const SHAPING: &[&str] = &["$ref", "allOf", "anyOf", "oneOf", "items", "enum", "const"];
    let Some(schema) = value(schema) else {
        return false;
    };
    schema.kind() == Kind::Object
        && schema.members().all(|member| {
            let value = member.value();
            if member.is("properties") {
                value.members().next().is_none()
            } else if member.is("type") {
                value
                    .as_str()
                    .is_some_and(|word| word.eq_ignore_ascii_case("object"))
            } else {
                !SHAPING.iter().any(|word| member.is(word))
            }
        })
}

struct Converter<'a> {
    flattener: Flattener<'a>,
    lossy: bool,
    longest: usize,
}

/// What the values of a choice are written as.
struct Choice {
    words: Vec<String>,
    nullable: bool,
    numbers: bool,
}

impl<'a> Converter<'a> {
    /// Appends a node.
    fn node(&mut self, node: &Value<'a>, depth: usize, out: &mut String) -> Option<()> {
        if depth > DEPTH || out.len() > self.longest {
            return None;
        }
        let entered = self.flattener.entered();
        let flat = self.flattener.flat(node)?;
        let written = object(out, |o| self.members(&flat, depth, o));
        self.flattener.leave(entered);
        written
    }

    fn members(&mut self, flat: &Flat<'a>, depth: usize, o: &mut Obj<'_>) -> Option<()> {
        let choice = match &flat.choice {
            Some(values) => Some(choice(values)?),
            None => None,
        };
        let numbers = choice.as_ref().is_some_and(|choice| choice.numbers);
        self.lossy |= numbers;
        let nullable = flat.nullable || choice.as_ref().is_some_and(|choice| choice.nullable);
        let kind = kind(flat, numbers)?;
        if !flat.order.contains(&"type") {
            write_kind(&kind, o);
        }
        for word in &flat.order {
            match *word {
                "type" => write_kind(&kind, o),
                "enum" => {
                    let words = choice.iter().flat_map(|choice| &choice.words);
                    array(o.key(word), |list| {
                        words.for_each(|word| list.raw(word));
                    });
                }
                "properties" => object(o.key(word), |o| {
                    flat.properties().try_for_each(|member| {
                        let out = o.name(&member.name_text().into());
                        self.node(&member.value(), depth + 1, out)
                    })
                })?,
                "required" => array(o.key(word), |list| required(flat, list))?,
                "items" => self.node(flat.items.as_ref()?, depth + 1, o.key(word))?,
                "anyOf" => array(o.key(word), |list| {
                    flat.any_of
                        .iter()
                        .try_for_each(|option| self.node(option, depth + 1, list.item()))
                })?,
                "minimum" | "maximum" => o.raw(word, &bound(flat, word, &kind)?),
                word => o.raw(word, flat.kept(word)?.text()),
            }
        }
        if nullable {
            o.bool("nullable", true);
        }
        Some(())
    }
}

/// What type a node has.
enum Type<'a> {
    /// That of its options.
    Options,
    One(&'a str),
    /// One of several, which is a choice as well.
    Several(&'a [String]),
}

fn write_kind(kind: &Type<'_>, o: &mut Obj<'_>) {
    match kind {
        Type::Options => {}
        Type::One(word) => o.text("type", word),
        Type::Several(words) => o.array("anyOf", |list| {
            for word in *words {
                list.object(|o| o.text("type", word));
            }
        }),
    }
}

fn kind<'f>(flat: &'f Flat<'_>, numbers: bool) -> Option<Type<'f>> {
    let says = |words: &[&str]| flat.order.iter().any(|word| words.contains(word));
    if flat.choice.is_some() {
        // Only strings can be chosen from, so that is what it is whatever it was called.
        let others = numbers && says(&["minimum", "maximum"]);
        return (!others && !says(&["items", "properties", "required", "anyOf"]))
            .then_some(Type::One("string"));
    }
    match flat.types.as_deref() {
        Some([]) => None,
        Some([word]) if word == "array" && flat.items.is_none() => None,
        Some([word]) => Some(Type::One(word)),
        Some(words) => (!says(SHAPING)).then_some(Type::Several(words)),
        None if says(&["properties"]) => Some(Type::One("object")),
        None if says(&["items"]) => Some(Type::One("array")),
        None if says(&["anyOf"]) => Some(Type::Options),
        None => None,
    }
}

/// Words that say more than a type and what it is for.
const SHAPING: &[&str] = &[
    "anyOf",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
];

/// The values of a choice, as strings. `None` if there are others than strings, numbers and `null`.
fn choice(values: &[Value<'_>]) -> Option<Choice> {
    let mut choice = Choice {
        words: Vec::new(),
        nullable: false,
        numbers: false,
    };
    for value in values {
        match value.kind() {
            Kind::String => choice.words.push(value.text().to_owned()),
            Kind::Number => {
                choice.numbers = true;
                choice.words.push(format!("\"{}\"", value.text()));
            }
            Kind::Null => choice.nullable = true,
            Kind::Bool | Kind::Array | Kind::Object => return None,
        }
    }
    (!choice.words.is_empty()).then_some(choice)
}

/// Names that must be there; they must be those of members.
fn required(flat: &Flat<'_>, list: &mut Arr<'_>) -> Option<()> {
    flat.required().try_for_each(|name| {
        onwards_json::quote_into(name, list.item());
        flat.has_property(name).then_some(())
    })
}

/// A bound of numbers. One that is not itself allowed is moved by one, which is right for whole numbers alone.
fn bound(flat: &Flat<'_>, word: &str, kind: &Type<'_>) -> Option<String> {
    let lower = word == "minimum";
    let (outside, step) = match lower {
        true => ("exclusiveMinimum", 1),
        false => ("exclusiveMaximum", -1),
    };
    let inside = flat.kept(word);
    let Some(outside) = flat.kept(outside) else {
        return Some(inside?.text().to_owned());
    };
    if !matches!(kind, Type::One("integer")) {
        return None;
    }
    let outside = outside.as_i64()?.checked_add(step)?;
    let bound = match inside.map(|inside| inside.as_i64()) {
        None => outside,
        Some(inside) if lower => inside?.max(outside),
        Some(inside) => inside?.min(outside),
    };
    Some(bound.to_string())
}

#[cfg(test)]
mod tests;
