//! Members of a request, taken one by one; what is left over is unknown.

use onwards_json::{Kind, Member, Value};

use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::text::{Json, Str, json};

/// Where a value stands in a request, as a JSON pointer; grown on the way down and only written out for an error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'p> {
    Root,
    Member(&'p At<'p>, &'p str),
    Element(&'p At<'p>, usize),
}

impl At<'_> {
    /// The pointer, empty for the root.
    pub(crate) fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(above, name) => format!("{}/{name}", above.pointer()),
            Self::Element(above, index) => format!("{}/{index}", above.pointer()),
        }
    }

    /// The request is wrong here.
    pub(crate) fn wrong(&self, found: &Value<'_>, expected: &str) -> Rejected {
        self.invalid(&format!("expected {expected}, found {}", found.kind()))
    }

    /// The request is wrong here, for a reason of its own. The message begins with the pointer.
    pub(crate) fn invalid(&self, why: &str) -> Rejected {
        let pointer = self.pointer();
        let place = if pointer.is_empty() {
            "the body"
        } else {
            &pointer
        };
        Rejected::new(
            "invalid_request",
            Some(pointer.clone()),
            format!("{place}: {why}"),
        )
    }

    /// A member that must be there is not.
    pub(crate) fn missing(&self, name: &str, expected: &str) -> Rejected {
        At::Member(self, name).invalid(&format!("missing, expected {expected}"))
    }
}

/// The members of an object that have not been taken yet. `null` counts as absent; of several members with one name the last
/// one counts.
#[derive(Debug)]
pub(crate) struct Fields<'a, 'p> {
    /// Where the object stands.
    pub(crate) at: At<'p>,
    members: Vec<Member<'a>>,
}

impl<'a, 'p> Fields<'a, 'p> {
    /// The members of an object.
    ///
    /// # Errors
    /// For another kind of value.
    pub(crate) fn of(value: &Value<'a>, at: At<'p>) -> Result<Self, Rejected> {
        if value.kind() != Kind::Object {
            return Err(at.wrong(value, "an object"));
        }
        Ok(Self {
            at,
            members: value.members().collect(),
        })
    }

    /// Takes a member; `None` if it is absent or `null`.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let mut found = None;
        self.members.retain(|member| {
            let named = member.is(name);
            if named {
                found = Some(member.value());
            }
            !named
        });
        found.filter(|value| !value.is_null())
    }

    /// The first of several spellings of a name that is there; all are taken.
    pub(crate) fn either(&mut self, names: &[&str]) -> Option<Value<'a>> {
        names.iter().fold(None, |found, name| {
            let taken = self.take(name);
            found.or(taken)
        })
    }

    /// Takes a string.
    pub(crate) fn str(&mut self, name: &str) -> Result<Option<Str<'a>>, Rejected> {
        self.take(name)
            .map(|value| {
                Str::of(&value).ok_or_else(|| At::Member(&self.at, name).wrong(&value, "a string"))
            })
            .transpose()
    }

    /// Takes a string that must be there.
    pub(crate) fn need_str(&mut self, name: &str) -> Result<Str<'a>, Rejected> {
        self.str(name)?
            .ok_or_else(|| self.at.missing(name, "a string"))
    }

    /// Takes a boolean.
    pub(crate) fn bool(&mut self, name: &str) -> Result<Option<bool>, Rejected> {
        self.take(name)
            .map(|value| {
                value
                    .as_bool()
                    .ok_or_else(|| At::Member(&self.at, name).wrong(&value, "true or false"))
            })
            .transpose()
    }

    /// Takes a whole number that is not negative.
    pub(crate) fn u64(&mut self, name: &str) -> Result<Option<u64>, Rejected> {
        self.take(name)
            .map(|value| {
                value.as_u64().ok_or_else(|| {
                    At::Member(&self.at, name).wrong(&value, "a whole number from 0")
                })
            })
            .transpose()
    }

    /// Takes an array.
    pub(crate) fn array(&mut self, name: &str) -> Result<Option<Value<'a>>, Rejected> {
        self.kind(name, Kind::Array, "an array")
    }

    /// Takes an object.
    pub(crate) fn object(&mut self, name: &str) -> Result<Option<Value<'a>>, Rejected> {
        self.kind(name, Kind::Object, "an object")
    }

    fn kind(
        &mut self,
        name: &str,
        kind: Kind,
        expected: &str,
    ) -> Result<Option<Value<'a>>, Rejected> {
        match self.take(name) {
            Some(value) if value.kind() != kind => {
                Err(At::Member(&self.at, name).wrong(&value, expected))
            }
            found => Ok(found),
        }
    }

    /// Takes a value of any kind as text.
    pub(crate) fn json(&mut self, name: &str) -> Option<Json<'a>> {
        self.take(name).map(|value| json(&value))
    }

    /// Takes a value of this kind as text.
    pub(crate) fn json_of(&mut self, name: &str, kind: Kind) -> Result<Option<Json<'a>>, Rejected> {
        let value = self.kind(name, kind, &kind.to_string())?;
        Ok(value.map(|value| json(&value)))
    }

    /// Notes what has not been taken as dropped, but for `known`, which means nothing to a provider.
    pub(crate) fn drop_rest(self, known: &[&str], report: &mut Report) {
        for (name, _) in self.rest() {
            let name = name.decoded();
            if !known.contains(&&*name) {
                report.dropped(&name);
            }
        }
    }

    /// What has not been taken, `null` left out.
    pub(crate) fn rest(self) -> Vec<(Str<'a>, Json<'a>)> {
        self.members
            .into_iter()
            .filter(|member| !member.value().is_null())
            .map(|member| {
                let name = member.name_text();
                (Str::from(name), json(&member.value()))
            })
            .collect()
    }
}
