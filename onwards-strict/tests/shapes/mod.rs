//! Random texts that fit a component of OpenAI's description.
//!
//! `tests/data/openapi.json` holds the components this crate has tables for, cut down to their shapes:
//! types, members, alternatives and words, without prose, examples, ranges and patterns.

use serde_json::Value as Json;

/// A small reproducible source of choices.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

/// Writes texts of one component.
pub(crate) struct Author<'d> {
    description: &'d Json,
    dice: Dice,
    /// Where members that no contract knows are put.
    noise: Option<Dice>,
}

const TEXTS: [&str; 6] = [
    r#""a""#,
    r#""text with \"quotes\" \\ \/""#,
    r#""日本語 😀""#,
    r#""\u0041\ud83d\ude00""#,
    r#""two\nlines""#,
    r#"" ""#,
];
const NUMBERS: [&str; 6] = [
    "-0.50",
    "1e-7",
    "0.1000000000000000055",
    "3",
    "1.7976931348623157E+308",
    "0.0",
];
const INTEGERS: [&str; 4] = ["0", "1", "7", "12345678901234567890"];
const NOISE: &str = r#"{"leak":["x",{"model":1.50}]}"#;

/// Components whose content is the caller's own and kept as it is.
const FREE: [&str; 3] = ["Filters", "CompoundFilter", "EmptyModelParam"];

impl<'d> Author<'d> {
    pub(crate) fn new(description: &'d Json, seed: u64) -> Self {
        Self {
            description,
            dice: Dice::new(seed),
            noise: None,
        }
    }

    /// The same texts, with members no contract knows in objects whose members the description lists.
    pub(crate) fn noisy(description: &'d Json, seed: u64) -> Self {
        Self {
            noise: Some(Dice::new(!seed)),
            ..Self::new(description, seed)
        }
    }

    /// A text that fits the component.
    pub(crate) fn write(&mut self, component: &str) -> String {
        let mut out = String::new();
        self.component(component, 0, &mut out);
        out
    }

    fn component(&mut self, name: &str, depth: usize, out: &mut String) {
        let schema = &self.description[name];
        assert!(!schema.is_null(), "{name} is in the data");
        let noise = if FREE.contains(&name) {
            self.noise.take()
        } else {
            None
        };
        self.schema(schema, depth, out);
        self.noise = noise.or(self.noise.take());
    }

    fn schema(&mut self, schema: &'d Json, depth: usize, out: &mut String) {
        if schema["nullable"] == true && self.dice.roll(4) == 0 {
            out.push_str("null");
        } else if let Some(name) = schema["$ref"].as_str() {
            self.component(name, depth, out);
        } else if let Some(words) = schema["enum"].as_array() {
            out.push_str(&self.dice.pick(words).to_string());
        } else if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
            let choice = self.dice.pick(choices);
            self.schema(choice, depth, out);
        } else if schema["allOf"].is_array() || schema["properties"].is_object() {
            self.object(schema, depth, out);
        } else {
            self.plain(schema, depth, out);
        }
    }

    fn plain(&mut self, schema: &'d Json, depth: usize, out: &mut String) {
        match schema["type"].as_str() {
            Some("string") => out.push_str(self.dice.pick::<&str>(&TEXTS)),
            Some("integer") => out.push_str(self.dice.pick::<&str>(&INTEGERS)),
            Some("number") => out.push_str(self.dice.pick::<&str>(&NUMBERS)),
            Some("boolean") => out.push_str(self.dice.pick::<&str>(&["true", "false"])),
            Some("null") => out.push_str("null"),
            Some("array") => {
                let len = if depth > 6 { 0 } else { self.dice.roll(4) };
                out.push('[');
                for index in 0..len {
                    out.push_str(if index == 0 { "" } else { "," });
                    self.schema(&schema["items"], depth + 1, out);
                }
                out.push(']');
            }
            Some("object") if schema["additionalProperties"].is_object() => {
                out.push_str("{\"free\":");
                self.schema(&schema["additionalProperties"], depth + 1, out);
                out.push('}');
            }
            Some("object") => out.push_str(r#"{"free":[1.0,null]}"#),
            None => out.push_str(
                self.dice
                    .pick::<&str>(&["null", "[1.0]", r#"{"any":"\u0041"}"#]),
            ),
            Some(other) => panic!("an unknown type {other}"),
        }
    }

    fn object(&mut self, schema: &'d Json, depth: usize, out: &mut String) {
        let mut members = Vec::new();
        self.members(schema, &mut members);
        out.push('{');
        let mut first = true;
        for (name, schema, required) in members {
            if required || self.dice.roll(3) > depth / 4 {
                self.noise(&mut first, out);
                out.push_str(if first { "\"" } else { ",\"" });
                first = false;
                out.push_str(&format!("{name}\":"));
                self.schema(schema, depth + 1, out);
            }
        }
        self.noise(&mut first, out);
        out.push('}');
    }

    fn noise(&mut self, first: &mut bool, out: &mut String) {
        if let Some(noise) = &mut self.noise
            && noise.roll(3) == 0
        {
            let comma = if *first { "" } else { "," };
            out.push_str(&format!("{comma}\"x_vendor_{}\":{NOISE}", noise.roll(1000)));
            *first = false;
        }
    }

    /// The members of an object, those of all its parts together; a later part replaces an earlier one.
    fn members(&self, schema: &'d Json, members: &mut Vec<(&'d str, &'d Json, bool)>) {
        if let Some(name) = schema["$ref"].as_str() {
            return self.members(&self.description[name], members);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.members(part, members);
        }
        let required = |name: &str| {
            schema["required"]
                .as_array()
                .is_some_and(|names| names.iter().any(|other| other == name))
        };
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            match members.iter_mut().find(|(other, ..)| other == name) {
                Some(member) => *member = (name, schema, member.2 || required(name)),
                None => members.push((name, schema, required(name))),
            }
        }
    }
}
