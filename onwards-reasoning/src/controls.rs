//! What a client's request says about reasoning.

use serde_json::Value;

use crate::{Effort, Refusal, Surface, refusal};

/// The members of one request body that concern reasoning, as raw JSON text.
///
/// The text is borrowed from the body and only looked into when a question needs it: a request without any
/// of them costs a few failed look-ups and no parsing.
#[derive(Clone, Debug)]
pub struct Controls<'a> {
    surface: Surface,
    members: Vec<(&'static str, &'a str)>,
}

/// A valid effort that a client asked for, with the output limit it set beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Where it was asked.
    pub surface: Surface,
    /// What was asked.
    pub effort: Effort,
    /// The limit a token budget must stay below.
    pub limit: Limit,
}

/// The output limit of a request. Only a translation with a budget looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Absent or null.
    Missing,
    /// A number of tokens; integers beyond `u64` count as its maximum.
    Tokens {
        /// The member that held it.
        param: &'static str,
        /// The number.
        tokens: u64,
    },
    /// Present, but not a non-negative integer.
    Invalid {
        /// The member that held it.
        param: &'static str,
    },
}

impl<'a> Controls<'a> {
    /// Picks the members that `surface` cares for ([`Surface::members`]) with `member`, which gives the raw
    /// text of a top-level member's value, valid JSON, or `None` where there is no such member.
    #[must_use]
    pub fn of(surface: Surface, mut member: impl FnMut(&'static str) -> Option<&'a str>) -> Self {
        let members = surface
            .members()
            .iter()
            .filter_map(|&name| Some((name, member(name)?)))
            .collect();
        Self { surface, members }
    }

    /// [`Controls::of`] and [`Controls::ask`] in one, for callers that need nothing else.
    ///
    /// # Errors
    /// Those of [`Controls::ask`].
    pub fn read(
        surface: Surface,
        member: impl FnMut(&'static str) -> Option<&'a str>,
    ) -> Result<Option<Ask>, Refusal> {
        Self::of(surface, member).ask()
    }

    /// The effort the client asks for; `None` where it is absent or null, and always on legacy Completions.
    ///
    /// # Errors
    /// `invalid_type` for an effort that is not a string and for a Responses `reasoning` that is neither an
    /// object nor null, `invalid_value` for an effort outside the seven.
    pub fn ask(&self) -> Result<Option<Ask>, Refusal> {
        let effort = match self.surface {
            Surface::ChatCompletions => self.get("reasoning_effort").map(parse),
            Surface::Responses => match self.get("reasoning").map(parse) {
                None | Some(Value::Null) => None,
                Some(Value::Object(mut reasoning)) => reasoning.remove("effort"),
                Some(_) => return Err(refusal::reasoning_not_an_object()),
            },
            Surface::Completions => None,
        };
        let effort = match effort {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(name)) => {
                Effort::parse(&name).ok_or_else(|| refusal::unknown_effort(self.surface, &name))?
            }
            Some(_) => return Err(refusal::effort_not_a_string(self.surface)),
        };
        Ok(Some(Ask {
            surface: self.surface,
            effort,
            limit: self.limit(),
        }))
    }

    /// Strict mode's rule: no provider-native control may be present, whatever its value, null included.
    ///
    /// # Errors
    /// `unsupported_parameter` naming the first one in the documented order.
    pub fn refuse_native(&self) -> Result<(), Refusal> {
        if self.members.is_empty() {
            return Ok(());
        }
        let native = self
            .surface
            .native_controls()
            .iter()
            .find(|field| self.has(field));
        native.map_or(Ok(()), |field| {
            Err(refusal::native_control(self.surface, field))
        })
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.members
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, raw)| *raw)
    }

    /// Whether a control is present: `name`, or `outer.inner` for a member of an object.
    fn has(&self, field: &str) -> bool {
        match field.split_once('.') {
            None => self.get(field).is_some(),
            Some((outer, inner)) => self
                .get(outer)
                .is_some_and(|raw| matches!(parse(raw), Value::Object(o) if o.contains_key(inner))),
        }
    }

    fn limit(&self) -> Limit {
        let set = self.surface.limit_params().iter().find_map(|&param| {
            let raw = self
                .get(param)
                .map(str::trim)
                .filter(|raw| *raw != "null")?;
            Some((param, raw))
        });
        match set {
            None => Limit::Missing,
            Some((param, raw)) => count(raw).map_or(Limit::Invalid { param }, |tokens| {
                Limit::Tokens { param, tokens }
            }),
        }
    }
}

/// A JSON number that is written as a plain non-negative integer; others, `1.0` and `1e3` included, are not.
fn count(raw: &str) -> Option<u64> {
    let digits = !raw.is_empty() && raw.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| raw.parse().unwrap_or(u64::MAX))
}

/// The value of a member. The text is valid JSON by contract; if it is not, it counts as a value of no
/// expected type, so the request is refused rather than let through.
fn parse(raw: &str) -> Value {
    serde_json::from_str(raw).unwrap_or(Value::Bool(false))
}

#[cfg(test)]
mod tests;
