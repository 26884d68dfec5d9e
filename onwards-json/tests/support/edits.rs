//! What edits mean, on a tree: the comparison that tests and the fuzz target `edits` share.

use onwards_json::{Edit, EditError, MAX_DEPTH, Object, ScanError, apply, object, splices};
use serde_json::{Deserializer, value::RawValue};

/// An edit that owns its parts.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Set(Vec<String>, String),
    Remove(Vec<String>),
    Prune(Vec<String>),
}

/// The oracle's view of a value: objects as members in order, names decoded; anything else as its text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tree {
    Object(Vec<(String, Tree)>),
    Other(String),
}

/// Why the oracle refuses a step.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    Repeated,
    Crosses(usize),
    Path,
    Value,
}

impl Tree {
    fn read(text: &[u8]) -> Option<Self> {
        let raw: &RawValue = serde_json::from_slice(text).ok()?;
        let Some(mut rest) = raw.get().strip_prefix('{') else {
            return Some(Self::Other(raw.get().to_owned()));
        };
        let mut members = Vec::new();
        while !rest.trim_start().starts_with('}') {
            let mut names = Deserializer::from_str(rest).into_iter::<String>();
            let name = names.next()?.ok()?;
            rest = rest
                .get(names.byte_offset()..)?
                .trim_start()
                .strip_prefix(':')?;
            let mut values = Deserializer::from_str(rest).into_iter::<&RawValue>();
            let value = values.next()?.ok()?.get();
            rest = rest.get(values.byte_offset()..)?.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest);
            members.push((name, Self::read(value.as_bytes())?));
        }
        Some(Self::Object(members))
    }

    /// The members, if it is an object.
    fn members(&mut self) -> Option<&mut Vec<(String, Tree)>> {
        match self {
            Self::Object(members) => Some(members),
            Self::Other(_) => None,
        }
    }

    /// The same with the members of every object sorted by name. Of equal names the first stays first.
    fn sorted(mut self) -> Self {
        if let Self::Object(members) = &mut self {
            members.sort_by(|a, b| a.0.cmp(&b.0));
            let taken = std::mem::take(members).into_iter();
            *members = taken.map(|(name, value)| (name, value.sorted())).collect();
        }
        self
    }
}

/// The place of the only member of that name.
fn find(members: &[(String, Tree)], name: &str) -> Result<Option<usize>, Refused> {
    let mut places = (0..members.len()).filter(|&place| members[place].0 == name);
    match (places.next(), places.next()) {
        (place, None) => Ok(place),
        _ => Err(Refused::Repeated),
    }
}

/// Makes a step on the tree.
fn take(tree: &mut Tree, step: &Step) -> Result<(), Refused> {
    let (Step::Set(path, _) | Step::Remove(path) | Step::Prune(path)) = step;
    if path.is_empty() || path.len() > MAX_DEPTH as usize {
        return Err(Refused::Path);
    }
    match step {
        Step::Set(path, value) => set(tree, path, value),
        Step::Remove(path) => remove(tree, path).map(drop),
        Step::Prune(path) => match (remove(tree, path)?, path.split_last()) {
            (true, Some((_, parent))) if !parent.is_empty() => remove(tree, parent).map(drop),
            _ => Ok(()),
        },
    }
}

fn set(tree: &mut Tree, path: &[String], value: &str) -> Result<(), Refused> {
    if serde_json::from_str::<serde_json::Value>(value).is_err() {
        return Err(Refused::Value);
    }
    let mut here = tree;
    for (depth, name) in path.iter().enumerate() {
        let members = here.members().ok_or(Refused::Crosses(depth))?;
        let place = find(members, name)?.unwrap_or(members.len());
        if place == members.len() {
            members.push((name.clone(), Tree::Object(Vec::new())));
        }
        here = &mut members[place].1;
    }
    *here = Tree::read(value.as_bytes()).ok_or(Refused::Value)?;
    Ok(())
}

/// Whether something was removed and left its object empty.
fn remove(tree: &mut Tree, path: &[String]) -> Result<bool, Refused> {
    let (last, way) = path.split_last().ok_or(Refused::Path)?;
    let mut here = tree.members();
    for name in way {
        let Some(members) = here else {
            return Ok(false);
        };
        here = match find(members, name)? {
            Some(place) => members[place].1.members(),
            None => None,
        };
    }
    let Some(members) = here else {
        return Ok(false);
    };
    let place = find(members, last)?;
    if let Some(place) = place {
        members.remove(place);
    }
    Ok(place.is_some() && members.is_empty())
}

/// Makes the steps on the text and on the tree and compares; the text must be one object.
#[track_caller]
pub(crate) fn check(text: &[u8], steps: &[Step]) {
    let edits: Vec<Edit<'_>> = steps
        .iter()
        .map(|step| match step {
            Step::Set(path, value) => Edit::Set { path, value },
            Step::Remove(path) => Edit::Remove { path },
            Step::Prune(path) => Edit::Prune { path },
        })
        .collect();
    let mut expect = Tree::read(text).unwrap();
    let refused = steps.iter().enumerate().find_map(|(edit, step)| {
        let refusal = take(&mut expect, step).err()?;
        Some((edit, refusal))
    });
    let before = object(text).unwrap();
    let shown = String::from_utf8_lossy(text);
    let splices = match splices(&before, &edits) {
        Ok(splices) => splices,
        Err(error) => return assert_eq!(Some(refusal(error)), refused, "{shown} {steps:?}"),
    };
    assert_eq!(refused, None, "{shown} {steps:?}");
    for pair in splices.windows(2) {
        assert!(pair[0].at.end <= pair[1].at.start, "{splices:?}");
    }
    let changed = apply(text, &splices);
    let result = Tree::read(&changed).unwrap();
    assert_eq!(result.sorted(), expect.sorted(), "{shown} {steps:?}");
    match object(&changed) {
        Ok(after) => check_kept(&before, &after, steps),
        Err(error) => assert!(
            matches!(error, ScanError::TooDeep { .. }),
            "{error:?} {shown}"
        ),
    }
}

fn refusal(error: EditError) -> (usize, Refused) {
    match error {
        EditError::CrossesNonObject { edit, depth } => (edit, Refused::Crosses(depth)),
        EditError::Repeated { edit, .. } => (edit, Refused::Repeated),
        EditError::PathLength { edit, .. } => (edit, Refused::Path),
        EditError::Unreadable { edit, .. } => (edit, Refused::Value),
        other => panic!("{other:?}"),
    }
}

/// Members that no step names are the same texts in the same order.
fn check_kept(before: &Object<'_>, after: &Object<'_>, steps: &[Step]) {
    let named = |name: &str| {
        steps.iter().any(|step| {
            let (Step::Set(path, _) | Step::Remove(path) | Step::Prune(path)) = step;
            path.first().is_some_and(|first| first == name)
        })
    };
    let texts = |object: &Object<'_>| -> Vec<_> {
        let members = object.members().iter();
        members
            .filter(|member| !named(&member.name()))
            .map(|member| object.text()[member.span()].to_vec())
            .collect()
    };
    assert_eq!(texts(before), texts(after));
}

/// The body of the fuzz target: a line for each step, an empty line, and the text to edit. A step is its
/// first letter, the names on the way parted by dots, and after a space the value to set.
pub(crate) fn fuzz(input: &[u8]) {
    let Some(end) = input.windows(2).position(|pair| pair == b"\n\n") else {
        return;
    };
    let (script, text) = (&input[..end], &input[end + 2..]);
    let steps = std::str::from_utf8(script)
        .ok()
        .and_then(|script| script.lines().map(step).collect::<Option<Vec<_>>>());
    if let (Some(steps), Ok(_)) = (steps, object(text)) {
        check(text, &steps);
    }
}

fn step(line: &str) -> Option<Step> {
    let (path, value) = line.split_once(' ').unwrap_or((line, ""));
    let mut names = path.chars();
    let kind = names.next()?;
    let path = match names.as_str() {
        "" => Vec::new(),
        names => names.split('.').map(str::to_owned).collect(),
    };
    match kind {
        's' => Some(Step::Set(path, value.to_owned())),
        'r' => Some(Step::Remove(path)),
        'p' => Some(Step::Prune(path)),
        _ => None,
    }
}
