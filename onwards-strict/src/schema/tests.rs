use std::collections::HashSet;

use super::*;
use crate::Endpoint;

/// Visits every node reachable from the tables.
fn visit(node: &'static Node, seen: &mut HashSet<*const Shape>, check: &mut dyn FnMut(&Node)) {
    check(node);
    let mut shape = |shape: &'static Shape, check: &mut dyn FnMut(&Node)| {
        if seen.insert(shape) {
            for row in shape.members {
                visit(row.node, seen, check);
            }
        }
    };
    match node {
        Node::Object(inner) => shape(inner, check),
        Node::Tagged(tagged) => {
            let variants = tagged
                .variants
                .iter()
                .chain(tagged.untagged)
                .map(|(_, shape)| *shape);
            variants
                .chain(tagged.other)
                .for_each(|inner| shape(inner, check));
        }
        Node::Nullable(inner) | Node::List(inner) | Node::Map(inner) => visit(inner, seen, check),
        Node::Choice(nodes) => nodes.iter().for_each(|node| visit(node, seen, check)),
        _ => {}
    }
}

fn visit_all(check: &mut dyn FnMut(&Node)) {
    let mut seen = HashSet::new();
    let (answer, chunk) = sanitized();
    let mut roots = vec![answer, chunk];
    for endpoint in Endpoint::ALL {
        let (answer, chunk) = endpoint.answers();
        roots.extend([answer, chunk]);
        roots.extend(endpoint.request());
    }
    for root in roots {
        visit(root, &mut seen, check);
    }
    assert!(seen.len() > 200, "{} shapes", seen.len());
}

#[test]
fn kinds_are_sorted() {
    visit_all(&mut |node| {
        if let Node::Tagged(tagged) = node {
            let kinds: Vec<_> = tagged.variants.iter().map(|(kind, _)| kind).collect();
            assert!(kinds.is_sorted(), "{kinds:?}");
        }
    });
}

#[test]
fn members_are_named_once_and_moved_ones_have_a_place() {
    visit_all(&mut |node| {
        let Node::Object(shape) = node else { return };
        let names: HashSet<_> = shape.members.iter().map(|row| row.name.text()).collect();
        assert_eq!(names.len(), shape.members.len(), "{names:?}");
        for row in shape.members {
            if let Node::Alias(target) = row.node {
                assert!(names.contains(target), "{target}");
            }
            if let Absent::RefuseUnless(other) = row.absent {
                assert!(names.contains(other), "{other}");
            }
        }
    });
}

#[test]
fn requests_are_never_edited() {
    let mut seen = HashSet::new();
    for request in Endpoint::ALL
        .iter()
        .filter_map(|endpoint| endpoint.request())
    {
        visit(request, &mut seen, &mut |node| {
            let shapes: Vec<&Shape> = match node {
                Node::Object(shape) => vec![shape],
                Node::Tagged(tagged) => tagged.variants.iter().map(|(_, shape)| *shape).collect(),
                Node::Model | Node::Fixed(_) | Node::Arguments | Node::Dropped | Node::Alias(_) => {
                    panic!("{node:?} edits")
                }
                _ => Vec::new(),
            };
            for row in shapes.iter().flat_map(|shape| shape.members) {
                assert!(
                    !matches!(row.absent, Absent::Write(_)) && row.null != Null::Drop && !row.soft
                );
            }
            assert!(shapes.iter().all(|shape| shape.open));
        });
    }
}
