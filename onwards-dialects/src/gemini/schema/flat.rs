//! A node of a schema with everything it says in one place.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use onwards_json::{Kind, Member, Value};

/// Words that stay as they are.
const KEPT: &[&str] = &[
    "format",
    "title",
    "description",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "propertyOrdering",
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
];

/// Those that say nothing of what fits: of several, the outermost counts.
const NOTES: &[&str] = &["title", "description", "example", "default"];

/// Words that limit what fits and that the subset has nothing for.
const BEYOND: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "contains",
    "minContains",
    "maxContains",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "uniqueItems",
    "multipleOf",
    "$dynamicRef",
    "$recursiveRef",
];

/// What a node says.
#[derive(Debug, Default)]
pub(super) struct Flat<'a> {
    /// What there is to write, in the order it was found, by the words of the subset.
    pub(super) order: Vec<&'static str>,
    kept: Vec<(&'static str, Value<'a>)>,
    /// Without `null`.
    pub(super) types: Option<Vec<String>>,
    pub(super) nullable: bool,
    /// The values that fit.
    pub(super) choice: Option<Vec<Value<'a>>>,
    pub(super) items: Option<Value<'a>>,
    /// Schemas of which one fits; never just one.
    pub(super) any_of: Vec<Value<'a>>,
    properties: Vec<Member<'a>>,
    /// The names of `properties`, and what their schemas say.
    known: BTreeMap<Cow<'a, str>, &'a str>,
    required: Vec<Cow<'a, str>>,
    must: BTreeSet<Cow<'a, str>>,
}

impl<'a> Flat<'a> {
    /// The value of a word that stays as it is.
    pub(super) fn kept(&self, word: &str) -> Option<Value<'a>> {
        self.kept
            .iter()
            .find(|(kept, _)| *kept == word)
            .map(|(_, value)| *value)
    }

    /// Members of an object, each name once.
    pub(super) fn properties(&self) -> impl Iterator<Item = &Member<'a>> {
        self.properties.iter()
    }

    /// Whether a member is one of [`properties`](Self::properties).
    pub(super) fn has_property(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// Names of members that must be there, each once.
    pub(super) fn required(&self) -> impl Iterator<Item = &str> {
        self.required.iter().map(|name| &**name)
    }

    fn wrote(&mut self, word: &'static str) {
        if !self.order.contains(&word) {
            self.order.push(word);
        }
    }

    /// A word that stays. Said twice it must say the same, or be a note.
    fn keep(&mut self, word: &'static str, value: Value<'a>) -> Option<()> {
        self.wrote(match word {
            "exclusiveMinimum" => "minimum",
            "exclusiveMaximum" => "maximum",
            word => word,
        });
        match self.kept(word) {
            None => self.kept.push((word, value)),
            Some(first) if NOTES.contains(&word) || first.text() == value.text() => {}
            Some(_) => return None,
        }
        Some(())
    }

    fn types(&mut self, value: &Value<'_>) -> Option<()> {
        self.wrote("type");
        let mut words = match value.kind() {
            Kind::String => vec![value.as_str()?.into_owned()],
            Kind::Array => value
                .elements()
                .map(|word| word.as_str().map(Cow::into_owned))
                .collect::<Option<Vec<_>>>()?,
            _ => return None,
        };
        let all = words.len();
        words.retain(|word| word != "null");
        self.nullable |= words.len() < all;
        match &self.types {
            Some(first) if *first != words => None,
            _ => {
                self.types = Some(words);
                Some(())
            }
        }
    }

    fn choice(&mut self, values: Vec<Value<'a>>) -> Option<()> {
        self.wrote("enum");
        self.choice.is_none().then(|| self.choice = Some(values))
    }

    fn property(&mut self, member: Member<'a>) -> Option<()> {
        let text = member.value().text();
        match self.known.get(&*member.name()) {
            Some(known) if *known != text => return None,
            Some(_) => {}
            None => {
                self.known.insert(member.name(), text);
                self.properties.push(member);
            }
        }
        Some(())
    }
}

/// Lays nodes flat. Knows which references it has followed to where it is.
pub(super) struct Flattener<'a> {
    root: Value<'a>,
    /// Schemas where most references lead, by where they stand and their names.
    definitions: BTreeMap<(&'static str, Cow<'a, str>), Value<'a>>,
    /// Where the schemas begin that references led to.
    followed: Vec<usize>,
    /// Bytes that may still be looked at: references make a schema larger than its text.
    left: usize,
}

/// Steps from a node to what it is made of, one behind the other.
const STEPS: usize = 32;

impl<'a> Flattener<'a> {
    pub(super) fn new(root: Value<'a>) -> Self {
        let left = root.text().len().saturating_mul(128);
        let mut definitions = BTreeMap::new();
        for place in ["$defs", "definitions"] {
            let members = root.members().filter(|member| member.is(place));
            for member in members.flat_map(|member| member.value().members()) {
                definitions.insert((place, member.name()), member.value());
            }
        }
        Self {
            root,
            definitions,
            followed: Vec::new(),
            left: left.saturating_add(1 << 20),
        }
    }

    /// How many references lead to where the flattener is; to be given back to [`leave`](Self::leave).
    pub(super) fn entered(&self) -> usize {
        self.followed.len()
    }

    /// Goes back out of references.
    pub(super) fn leave(&mut self, entered: usize) {
        self.followed.truncate(entered);
    }

    /// A node. The references it consists of stay entered.
    pub(super) fn flat(&mut self, node: &Value<'a>) -> Option<Flat<'a>> {
        let mut flat = Flat::default();
        self.add(node, 0, &mut flat)?;
        Some(flat)
    }

    fn add(&mut self, node: &Value<'a>, step: usize, flat: &mut Flat<'a>) -> Option<()> {
        self.left = self.left.checked_sub(node.text().len())?;
        if node.kind() != Kind::Object || step > STEPS {
            return None;
        }
        // What the node says itself comes before what it refers to: its notes count.
        for member in node.members() {
            self.own(&member, flat)?;
        }
        for member in node.members() {
            let value = member.value();
            if member.is("$ref") {
                let target = self.target(&value.as_str()?)?;
                let start = target.span().start;
                if self.followed.contains(&start) {
                    return None;
                }
                self.followed.push(start);
                self.add(&target, step + 1, flat)?;
            } else if member.is("allOf") {
                for part in value.elements() {
                    self.add(&part, step + 1, flat)?;
                }
            } else if member.is("anyOf") || member.is("oneOf") {
                self.options(&value, step, flat)?;
            }
        }
        Some(())
    }

    /// What a node says itself.
    fn own(&mut self, member: &Member<'a>, flat: &mut Flat<'a>) -> Option<()> {
        let name = member.name();
        let value = member.value();
        if let Some(word) = KEPT.iter().find(|word| **word == name) {
            return flat.keep(word, value);
        }
        match &*name {
            "type" => flat.types(&value)?,
            "nullable" => flat.nullable |= value.as_bool()?,
            "enum" => flat.choice(value.elements().collect())?,
            "const" => flat.choice(vec![value])?,
            "items" => {
                flat.wrote("items");
                let again = flat.items.replace(value);
                if again.is_some_and(|first| first.text() != value.text()) {
                    return None;
                }
            }
            "properties" => {
                flat.wrote("properties");
                for member in value.members() {
                    flat.property(member)?;
                }
            }
            "required" if value.kind() == Kind::Array => {
                if value.elements().next().is_some() {
                    flat.wrote("required");
                }
                for name in value.elements() {
                    let name = name.as_str()?;
                    if flat.must.insert(name.clone()) {
                        flat.required.push(name);
                    }
                }
            }
            name if BEYOND.contains(&name) => return None,
            // Definitions, marks and notes of other vocabularies.
            _ => {}
        }
        Some(())
    }

    fn options(&mut self, options: &Value<'a>, step: usize, flat: &mut Flat<'a>) -> Option<()> {
        let all: Vec<_> = options.elements().collect();
        let mut rest = all.clone();
        rest.retain(|option| !is_null(option));
        match rest.as_slice() {
            [] => return None,
            [one] => self.add(one, step + 1, flat)?,
            _ if !flat.any_of.is_empty() => return None,
            _ => {
                flat.wrote("anyOf");
                flat.any_of.clone_from(&rest);
            }
        }
        flat.nullable |= rest.len() < all.len();
        Some(())
    }

    /// What a reference of this text leads to.
    fn target(&mut self, reference: &str) -> Option<Value<'a>> {
        let pointer = percent_decoded(reference.strip_prefix('#')?)?;
        if pointer.is_empty() {
            return Some(self.root);
        }
        let names = pointer.strip_prefix('/')?.split('/');
        let names: Vec<_> = names
            .map(|name| name.replace("~1", "/").replace("~0", "~"))
            .collect();
        if let [place, name] = names.as_slice()
            && let Some(place) = ["$defs", "definitions"].into_iter().find(|p| p == place)
        {
            let found = self.definitions.get(&(place, Cow::Borrowed(&**name)));
            return found.copied();
        }
        self.left = self.left.checked_sub(self.root.text().len())?;
        names
            .iter()
            .try_fold(self.root, |at, name| match at.kind() {
                Kind::Array => at.elements().nth(name.parse().ok()?),
                _ => {
                    let named = at.members().filter(|member| member.is(name)).last();
                    named.map(|member| member.value())
                }
            })
    }
}

/// True for the schema that only `null` fits.
fn is_null(schema: &Value<'_>) -> bool {
    schema.kind() == Kind::Object
        && schema.members().any(|member| {
            let value = member.value();
            let word = value.as_str();
            (member.is("type") && word.is_some_and(|word| word.eq_ignore_ascii_case("null")))
                || (member.is("const") && value.is_null())
        })
}

fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            u8::try_from(digit()? << 4 | digit()?).ok()?
        } else {
            byte
        });
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}
