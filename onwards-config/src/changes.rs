//! What one configuration changes in another, told by names: for the log of a reload, and before it.
//!
//! Providers are the same one if they have the same name in their pool, or, without names, the same URL and model; of a shared
//! provider that serves several models each is one. A key is known by the name of its definition; keys without one are only
//! counted. No secret and no header value is repeated.

mod pools;
mod settings;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{self, Display};

use crate::gateway::{Auth, Gateway, KeyDefinition, RateLimit, Target};
use crate::secret::Secret;

/// A part of a configuration that can change by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A member of the whole, by its name in the file.
    Setting,
    /// The definition of a key, by its name; or `global_keys`.
    Key,
    /// An alias. It has changed if one of its pools has.
    Alias,
    /// `ALIAS/POOL`
    Pool,
    /// `ALIAS/POOL/NAME`, or its number and URL where it has no name.
    Provider,
    /// A rate, or a number of requests at a time, of a key, a pool or a provider.
    Limit,
}

impl Part {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] = [
        Self::Setting,
        Self::Key,
        Self::Alias,
        Self::Pool,
        Self::Provider,
        Self::Limit,
    ];

    /// One word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::Key => "key",
            Self::Alias => "alias",
            Self::Pool => "pool",
            Self::Provider => "provider",
            Self::Limit => "limit",
        }
    }
}

/// What has become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is new. Its own parts are not told one by one.
    Added,
    /// It was there and is different.
    Changed,
    /// It is gone, with its parts.
    Removed,
}

impl Kind {
    /// `+`, `~` or `-`.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Self::Added => '+',
            Self::Changed => '~',
            Self::Removed => '-',
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Of what kind the part is.
    pub part: Part,
    /// What has become of it.
    pub kind: Kind,
    /// The name of the part.
    pub name: String,
    /// The members that differ, or the old and the new value; empty where there is nothing more to say.
    pub detail: String,
}

impl Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.kind.sign(), self.part.word(), self.name)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// All differences: of the whole, of keys, and then alias by alias.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes(pub Vec<Change>);

impl Changes {
    /// The names of the changed parts of a kind, each behind its sign, at most so many; `None` if there are none.
    #[must_use]
    pub fn summary(&self, part: Part, most: usize) -> Option<String> {
        let mut changes = self.0.iter().filter(|change| change.part == part);
        let mut names: Vec<String> = changes
            .by_ref()
            .take(most)
            .map(|change| format!("{}{}", change.kind.sign(), change.name))
            .collect();
        match changes.count() {
            0 => {}
            more => names.push(format!("and {more} more")),
        }
        (!names.is_empty()).then(|| names.join(" "))
    }

    fn push(&mut self, part: Part, kind: Kind, name: impl Into<String>, detail: impl Into<String>) {
        self.0.push(Change {
            part,
            kind,
            name: name.into(),
            detail: detail.into(),
        });
    }

    /// A part that has changed if members of it differ.
    fn differing(&mut self, part: Part, name: &str, members: &[String]) {
        if !members.is_empty() {
            self.push(part, Kind::Changed, name, members.join(", "));
        }
    }

    /// A limit: added, removed, or another one.
    fn limit<T: PartialEq>(
        &mut self,
        owner: &str,
        member: &str,
        old: Option<&T>,
        new: Option<&T>,
        text: impl Fn(&T) -> String,
    ) {
        let name = format!("{owner} {member}");
        match (old, new) {
            (None, Some(new)) => self.push(Part::Limit, Kind::Added, name, text(new)),
            (Some(old), None) => self.push(Part::Limit, Kind::Removed, name, text(old)),
            (Some(old), Some(new)) if old != new => {
                let detail = format!("{} -> {}", text(old), text(new));
                self.push(Part::Limit, Kind::Changed, name, detail);
            }
            _ => {}
        }
    }
}

impl Display for Changes {
    /// A line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|change| writeln!(f, "{change}"))
    }
}

/// The names of the members that differ. Every member of the type has to stand there, compared or passed over, so that one
/// that is added to the type cannot be forgotten here.
macro_rules! differing {
    ($old:expr, $new:expr, $type:ident {
        $($field:ident as $name:literal $(by $equal:expr)?),* ; $($passed:ident),*
    }) => {{
        let $type { $($field: _,)* $($passed: _,)* } = $old;
        let mut names: Vec<String> = Vec::new();
        $(
            if !differing!(@ &$old.$field, &$new.$field $(, $equal)?) {
                names.push($name.to_owned());
            }
        )*
        names
    }};
    (@ $old:expr, $new:expr) => { $old == $new };
    (@ $old:expr, $new:expr, $equal:expr) => { $equal($old, $new) };
}
use differing;

/// What `new` changes in `old`.
#[must_use]
pub fn compare(old: &Gateway, new: &Gateway) -> Changes {
    let mut changes = Changes::default();
    settings::compare(&mut changes, old, new);
    let rosters = (Roster::of(&old.auth), Roster::of(&new.auth));
    keys(&mut changes, &old.auth, &new.auth, &rosters);
    let (old_roster, new_roster) = &rosters;
    let names = union(&old.targets, &new.targets);
    for (name, old_target, new_target) in names {
        match (old_target, new_target) {
            (None, _) => changes.push(Part::Alias, Kind::Added, name, ""),
            (_, None) => changes.push(Part::Alias, Kind::Removed, name, ""),
            (Some(old_target), Some(new_target)) => {
                let mut inner = Changes::default();
                target(
                    &mut inner,
                    name,
                    (old_roster, old_target),
                    (new_roster, new_target),
                );
                if !inner.0.is_empty() {
                    changes.push(Part::Alias, Kind::Changed, name, "");
                    changes.0.append(&mut inner.0);
                }
            }
        }
    }
    changes
}

fn keys(
    changes: &mut Changes,
    old: &Auth,
    new: &Auth,
    (old_roster, new_roster): &(Roster<'_>, Roster<'_>),
) {
    let Auth {
        global_keys: _,
        key_definitions: _,
    } = old;
    let global = crowd(
        &old_roster.holders(&old.global_keys),
        &new_roster.holders(&new.global_keys),
    );
    if let Some(detail) = global {
        changes.push(Part::Key, Kind::Changed, "global_keys", detail);
    }
    for (name, old, new) in union(&old.key_definitions, &new.key_definitions) {
        match (old, new) {
            (None, _) => changes.push(Part::Key, Kind::Added, name, ""),
            (_, None) => changes.push(Part::Key, Kind::Removed, name, ""),
            (Some(old), Some(new)) => {
                let members = differing!(old, new, KeyDefinition {
                    key as "key" by same_secret,
                    labels as "labels";
                    rate_limit, concurrency_limit
                });
                changes.differing(Part::Key, name, &members);
                let owner = format!("key {name}");
                limits(
                    changes,
                    &owner,
                    (old.rate_limit, old.concurrency_limit),
                    (new.rate_limit, new.concurrency_limit),
                );
            }
        }
    }
}

fn target(
    changes: &mut Changes,
    alias: &str,
    (old_roster, old): (&Roster<'_>, &Target),
    (new_roster, new): (&Roster<'_>, &Target),
) {
    let Target {
        default: _,
        completions: _,
    } = old;
    let name = format!("{alias}/default");
    pools::compare(
        changes,
        &name,
        (old_roster, &old.default),
        (new_roster, &new.default),
    );
    pools::in_flight(changes, &name, &old.default, &new.default);
    let name = format!("{alias}/completions");
    match (&old.completions, &new.completions) {
        (None, None) => {}
        (None, Some(_)) => changes.push(Part::Pool, Kind::Added, name, ""),
        (Some(_), None) => changes.push(Part::Pool, Kind::Removed, name, ""),
        (Some(old), Some(new)) => {
            pools::compare(changes, &name, (old_roster, old), (new_roster, new));
        }
    }
}

/// The two limits that keys, pools and providers have.
fn limits(
    changes: &mut Changes,
    owner: &str,
    (old_rate, old_slots): (Option<RateLimit>, Option<u32>),
    (new_rate, new_slots): (Option<RateLimit>, Option<u32>),
) {
    changes.limit(
        owner,
        "rate_limit",
        old_rate.as_ref(),
        new_rate.as_ref(),
        |rate| format!("{}/s burst {}", rate.per_second, rate.burst),
    );
    changes.limit(
        owner,
        "concurrency_limit",
        old_slots.as_ref(),
        new_slots.as_ref(),
        u32::to_string,
    );
}

/// Everything that is in one of the two or in both, in order.
fn union<'a, T>(
    old: &'a BTreeMap<String, T>,
    new: &'a BTreeMap<String, T>,
) -> impl Iterator<Item = (&'a String, Option<&'a T>, Option<&'a T>)> {
    let mut all: BTreeMap<&String, (Option<&T>, Option<&T>)> = BTreeMap::new();
    for (name, value) in old {
        all.entry(name).or_default().0 = Some(value);
    }
    for (name, value) in new {
        all.entry(name).or_default().1 = Some(value);
    }
    all.into_iter().map(|(name, (old, new))| (name, old, new))
}

/// Who holds a key: the definition it belongs to, or nobody but the key itself.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Holder<'a> {
    Named(&'a str),
    Unnamed(&'a str),
}

/// Whose keys a configuration knows; made once, since every pool asks.
struct Roster<'a> {
    /// The names of definitions by their keys.
    names: HashMap<&'a str, &'a str>,
    globals: HashSet<&'a str>,
}

impl<'a> Roster<'a> {
    fn of(auth: &'a Auth) -> Self {
        let definitions = auth.key_definitions.iter();
        Self {
            names: definitions
                .map(|(name, definition)| (definition.key.expose(), name.as_str()))
                .collect(),
            globals: auth.global_keys.iter().map(Secret::expose).collect(),
        }
    }

    fn holder(&self, key: &'a str) -> Holder<'a> {
        self.names
            .get(key)
            .map_or(Holder::Unnamed(key), |name| Holder::Named(name))
    }

    /// The holders of keys, in order.
    fn holders(&self, keys: &'a [Secret]) -> Vec<Holder<'a>> {
        in_order(keys.iter().map(|key| self.holder(key.expose())).collect())
    }

    /// The same without those of global keys.
    fn own_holders(&self, keys: &'a [Secret]) -> Vec<Holder<'a>> {
        let keys = keys.iter().map(Secret::expose);
        let own = keys.filter(|key| !self.globals.contains(key));
        in_order(own.map(|key| self.holder(key)).collect())
    }
}

fn in_order(mut holders: Vec<Holder<'_>>) -> Vec<Holder<'_>> {
    holders.sort_unstable();
    holders.dedup();
    holders
}

/// Who came and who went, of two lists in order: names, and the number of those without one; `None` if nobody did.
fn crowd(old: &[Holder<'_>], new: &[Holder<'_>]) -> Option<String> {
    let tell = |sign: char, some: &[Holder<'_>], others: &[Holder<'_>]| {
        let mut told = Vec::new();
        let mut unnamed = 0;
        for holder in some
            .iter()
            .filter(|holder| others.binary_search(holder).is_err())
        {
            match holder {
                Holder::Named(name) => told.push(format!("{sign}{name}")),
                Holder::Unnamed(_) => unnamed += 1,
            }
        }
        if unnamed > 0 {
            told.push(format!("{sign}{unnamed} unnamed"));
        }
        told
    };
    let mut told = tell('+', new, old);
    told.extend(tell('-', old, new));
    (!told.is_empty()).then(|| told.join(" "))
}

fn same_secret(old: &Secret, new: &Secret) -> bool {
    old.expose() == new.expose()
}

fn same_secrets(old: &Option<Secret>, new: &Option<Secret>) -> bool {
    old.as_ref().map(Secret::expose) == new.as_ref().map(Secret::expose)
}

#[cfg(test)]
mod tests;
