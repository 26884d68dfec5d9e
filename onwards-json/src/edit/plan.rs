//! The outcome of edits as a sparse tree over the text: only what an edit names has a node.

use std::{borrow::Cow, collections::BTreeMap};

use super::{Edit, EditError, Splice, apply};
use crate::{Kind, MAX_DEPTH, Member, Object, ScanError, Scanner, Value, object, quote_into};

/// An object that some edit looks into.
#[derive(Debug)]
pub(super) struct Level<'d> {
    members: Cow<'d, [Member<'d>]>,
    opens_at: usize,
    nodes: BTreeMap<&'d str, Node<'d>>,
}

/// A member that some edit names.
#[derive(Debug)]
struct Node<'d> {
    /// Its index among the members of its object's text, if it was there.
    place: Option<usize>,
    /// How many nodes the object had before: new members are written in the order of the edits.
    order: usize,
    now: Now<'d>,
    /// Changes inside the value.
    inside: Option<Level<'d>>,
}

/// What a member is after the edits so far.
#[derive(Debug, Clone, Copy)]
enum Now<'d> {
    Gone,
    /// What the object's text says.
    Kept(Value<'d>),
    /// Another text.
    Set(Value<'d>),
}

pub(super) fn root<'d>(doc: &'d Object<'d>) -> Level<'d> {
    let opens_at = doc
        .text()
        .iter()
        .position(|&byte| byte == b'{')
        .unwrap_or_default();
    Level {
        members: Cow::Borrowed(doc.members()),
        opens_at,
        nodes: BTreeMap::new(),
    }
}

/// The splice of the commonest list of edits, a member of the outermost object that gets another value, without a tree. `None`
/// for any other list, and where something is wrong with it.
pub(super) fn replacement<P: AsRef<str>>(
    doc: &Object<'_>,
    edits: &[Edit<'_, P>],
) -> Option<Splice> {
    let [
        Edit::Set {
            path: [name],
            value,
        },
    ] = edits
    else {
        return None;
    };
    let member = doc.get(name.as_ref()).ok()??;
    Some(Splice {
        at: member.value_span(),
        with: parse(value).ok()?.text().to_owned(),
    })
}

/// Makes one edit on top of the earlier ones.
pub(super) fn make<'d, P: AsRef<str>>(
    root: &mut Level<'d>,
    index: usize,
    edit: &Edit<'d, P>,
) -> Result<(), EditError> {
    let (Edit::Set { path, .. } | Edit::Remove { path } | Edit::Prune { path }) = *edit;
    let (Some((last, way)), true) = (path.split_last(), path.len() <= MAX_DEPTH as usize) else {
        return Err(EditError::PathLength {
            edit: index,
            len: path.len(),
        });
    };
    match *edit {
        Edit::Set { value, .. } => {
            let value =
                parse(value).map_err(|error| EditError::Unreadable { edit: index, error })?;
            let mut level = root;
            for (depth, name) in way.iter().enumerate() {
                level = level
                    .node(index, name.as_ref())?
                    .make_object()
                    .enter(index)?
                    .ok_or(EditError::CrossesNonObject {
                        edit: index,
                        depth: depth + 1,
                    })?;
            }
            level.node(index, last.as_ref())?.replace(Now::Set(value));
        }
        Edit::Remove { .. } => {
            remove(root, index, way, last.as_ref())?;
        }
        Edit::Prune { .. } => {
            let emptied = remove(root, index, way, last.as_ref())?;
            if let (true, Some((parent, way))) = (emptied, way.split_last()) {
                remove(root, index, way, parent.as_ref())?;
            }
        }
    }
    Ok(())
}

/// Removes a member if it is there; whether that left its object empty.
fn remove<'d, P: AsRef<str>>(
    root: &mut Level<'d>,
    index: usize,
    way: &'d [P],
    last: &'d str,
) -> Result<bool, EditError> {
    let mut level = root;
    for name in way {
        match level.node(index, name.as_ref())?.enter(index)? {
            Some(inside) => level = inside,
            None => return Ok(false),
        }
    }
    let node = level.node(index, last)?;
    let was_there = !matches!(node.now, Now::Gone);
    node.replace(Now::Gone);
    Ok(was_there && level.is_empty())
}

/// A value to set, without white space around it.
fn parse(text: &str) -> Result<Value<'_>, ScanError> {
    let mut scanner = Scanner::of(text.trim_matches([' ', '\t', '\r', '\n']));
    let value = scanner.skip()?;
    scanner.finish()?;
    Ok(value)
}

impl<'d> Level<'d> {
    fn node(&mut self, edit: usize, name: &'d str) -> Result<&mut Node<'d>, EditError> {
        let order = self.nodes.len();
        match self.nodes.entry(name) {
            std::collections::btree_map::Entry::Occupied(node) => Ok(node.into_mut()),
            std::collections::btree_map::Entry::Vacant(node) => {
                let place = object::find(&self.members, name)
                    .map_err(|duplicate| EditError::Repeated { edit, duplicate })?;
                let member = place.and_then(|place| self.members.get(place));
                let now = member.map_or(Now::Gone, |member| Now::Kept(member.value()));
                Ok(node.insert(Node {
                    place,
                    order,
                    now,
                    inside: None,
                }))
            }
        }
    }

    fn is_empty(&self) -> bool {
        let mut count = self.members.len();
        for node in self.nodes.values() {
            match (node.place, node.now) {
                (Some(_), Now::Gone) => count -= 1,
                (None, Now::Kept(_) | Now::Set(_)) => count += 1,
                _ => {}
            }
        }
        count == 0
    }

    /// The members edits have created, as text, in the order of the edits.
    fn created(&self) -> String {
        let is_new = |node: &Node<'_>| node.place.is_none() && !matches!(node.now, Now::Gone);
        let mut created: Vec<_> = self.nodes.iter().filter(|(_, node)| is_new(node)).collect();
        created.sort_by_key(|(_, node)| node.order);
        let mut out = String::new();
        for (name, node) in created {
            if !out.is_empty() {
                out.push(',');
            }
            quote_into(name, &mut out);
            out.push(':');
            out.push_str(&node.text());
        }
        out
    }
}

impl<'d> Node<'d> {
    fn replace(&mut self, now: Now<'d>) {
        self.now = now;
        self.inside = None;
    }

    /// Puts an empty object where nothing is.
    fn make_object(&mut self) -> &mut Self {
        if matches!(self.now, Now::Gone) {
            self.now = Now::Set(Value::new("{}", 0..2, Kind::Object, false));
        }
        self
    }

    /// The object this member is; `None` if it is something else or not there.
    fn enter(&mut self, edit: usize) -> Result<Option<&mut Level<'d>>, EditError> {
        let value = match self.now {
            Now::Kept(value) | Now::Set(value) if value.kind() == Kind::Object => value,
            _ => return Ok(None),
        };
        if self.inside.is_none() {
            let members = object::members(&mut value.scan())
                .map_err(|error| EditError::Unreadable { edit, error })?;
            self.inside = Some(Level {
                members: Cow::Owned(members),
                opens_at: value.span().start,
                nodes: BTreeMap::new(),
            });
        }
        Ok(self.inside.as_mut())
    }

    /// The value as text, changes inside made. Only for a value that was set: its text starts at 0.
    fn text(&self) -> Cow<'d, str> {
        let (Now::Set(value) | Now::Kept(value)) = self.now else {
            return Cow::Borrowed("null");
        };
        let Some(inside) = &self.inside else {
            return Cow::Borrowed(value.text());
        };
        let mut changes = Vec::new();
        splices(inside, &mut changes);
        let changed = apply(value.text().as_bytes(), &changes);
        Cow::Owned(String::from_utf8(changed).unwrap_or_default())
    }
}

/// Appends the splices of an object, in the coordinates of its text. Calls itself once per name of the
/// longest path, which [`MAX_DEPTH`] bounds.
pub(super) fn splices(level: &Level<'_>, out: &mut Vec<Splice>) {
    let from = out.len();
    let mut nodes: Vec<_> = level
        .nodes
        .values()
        .filter_map(|node| Some((node.place?, node)))
        .collect();
    nodes.sort_by_key(|(place, _)| *place);

    let mut nodes = nodes.into_iter().peekable();
    while let Some((place, node)) = nodes.next() {
        match (node.now, &node.inside) {
            (Now::Gone, _) => {
                let mut last = place;
                while let Some((next, _)) =
                    nodes.next_if(|(next, node)| *next == last + 1 && matches!(node.now, Now::Gone))
                {
                    last = next;
                }
                out.extend(removal(&level.members, place, last));
            }
            (Now::Set(_), _) => {
                let span = level.members.get(place).map(Member::value_span);
                out.extend(span.map(|at| Splice {
                    at,
                    with: node.text().into_owned(),
                }));
            }
            (Now::Kept(_), Some(inside)) => splices(inside, out),
            (Now::Kept(_), None) => {}
        }
    }

    let created = level.created();
    if created.is_empty() {
        return;
    }
    let gone = |node: &&Node<'_>| node.place.is_some() && matches!(node.now, Now::Gone);
    let comma = level.members.len() > level.nodes.values().filter(gone).count();
    let with = if comma {
        format!(",{created}")
    } else {
        created
    };
    let end = level
        .members
        .last()
        .map_or(level.opens_at + 1, |member| member.span().end);
    match out.get_mut(from..).and_then(<[Splice]>::last_mut) {
        Some(splice) if splice.at.end == end => splice.with.push_str(&with),
        _ => out.push(Splice { at: end..end, with }),
    }
}

/// Leaves out the members `first..=last`, all neighbours of theirs being kept, and one comma.
fn removal(members: &[Member<'_>], first: usize, last: usize) -> Option<Splice> {
    let start = members.get(first)?.span().start;
    let end = members.get(last)?.span().end;
    let before = first.checked_sub(1).and_then(|before| members.get(before));
    let at = match (before, members.get(last + 1)) {
        (Some(before), _) => before.span().end..end,
        (None, Some(after)) => start..after.span().start,
        (None, None) => start..end,
    };
    Some(Splice {
        at,
        with: String::new(),
    })
}
