//! The comparison with `serde_json` that tests and the fuzz target `scan` share.

use onwards_json::{Kind, Member, Object, ScanError, Scanner, Value, object};
use serde_json::{Map, Value as Tree};

/// The oracle: the tree, with the members of a name that repeats kept from the last one.
fn oracle(text: &[u8]) -> Option<Map<String, Tree>> {
    match serde_json::from_slice(text) {
        Ok(Tree::Object(map)) => Some(map),
        _ => None,
    }
}

/// Builds the tree through the public readers.
fn tree(value: Value<'_>) -> Tree {
    match value.kind() {
        Kind::Null => Tree::Null,
        Kind::Bool => value.as_bool().unwrap().into(),
        Kind::Number => match (value.as_u64(), value.as_i64(), value.as_f64()) {
            (Some(number), _, _) => number.into(),
            (_, Some(number), _) => number.into(),
            (_, _, number) => number.unwrap().into(),
        },
        Kind::String => value.as_str().unwrap().into_owned().into(),
        Kind::Array => value.elements().map(tree).collect(),
        Kind::Object => Tree::Object(
            value
                .members()
                .map(|m| (m.name().into_owned(), tree(m.value())))
                .collect(),
        ),
    }
}

/// Enters everything there is to enter, one step at a time, on an explicit stack.
pub(crate) fn drain(text: &[u8]) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(text)?;
    let mut open = Vec::new();
    loop {
        match scanner.peek()? {
            Kind::Object => {
                scanner.enter_object()?;
                open.push(true);
            }
            Kind::Array => {
                scanner.enter_array()?;
                open.push(false);
            }
            _ => {
                // The quick way through counts says and leaves the same.
                let mut quick = scanner.clone();
                let number = quick.skip_u64();
                assert_eq!(number, scanner.skip().map(|value| value.as_u64()));
                number?;
                assert_eq!(quick.position(), scanner.position());
                scanner = quick;
            }
        }
        loop {
            match open.last() {
                None => return scanner.finish(),
                Some(true) if scanner.next_key()?.is_some() => break,
                Some(false) if scanner.next_element()? => break,
                Some(_) => open.pop(),
            };
        }
    }
}

/// A member whose name `serde_json` takes for a token of its own: it refuses the text, or reads another value.
fn is_beyond_the_oracle(text: &[u8]) -> bool {
    let token = b"private::";
    text.windows(token.len()).any(|bytes| bytes == token)
}

/// Compares what is accepted, what it means and where it stands.
#[track_caller]
pub(crate) fn check(text: &[u8]) {
    if is_beyond_the_oracle(text) {
        drain(text).ok();
        return;
    }
    let shown = String::from_utf8_lossy(text);
    let ours = object(text);
    let theirs = oracle(text);
    assert_eq!(ours.is_ok(), theirs.is_some(), "{ours:?} {shown}");
    let whole: Result<Tree, _> = serde_json::from_slice(text);
    assert_eq!(drain(text).is_ok(), whole.is_ok(), "{shown}");
    if let (Err(ours), Err(drained)) = (&ours, drain(text)) {
        assert_eq!(*ours, drained, "{shown}");
    }
    if let (Ok(ours), Some(theirs)) = (ours, theirs) {
        let members = ours.members();
        check_spans(text, members);
        for member in members {
            check_found(&ours, &member.name());
        }
        let map: Map<_, _> = members
            .iter()
            .map(|m| (m.name().into_owned(), tree(m.value())))
            .collect();
        assert!(same(&Tree::Object(map), &Tree::Object(theirs)), "{shown}");
    }
}

/// Equal, but for the last bits of doubles, which the oracle does not promise.
fn same(a: &Tree, b: &Tree) -> bool {
    match (a, b) {
        (Tree::Array(a), Tree::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Tree::Object(a), Tree::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((a_name, a), (b_name, b))| a_name == b_name && same(a, b))
        }
        (Tree::Number(a), Tree::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            a == b || (a - b).abs() <= 4.0 * f64::EPSILON * a.abs() + f64::MIN_POSITIVE
        }
        (a, b) => a == b,
    }
}

/// Names and values are the slices their spans say, and between them stands nothing but punctuation.
fn check_spans(text: &[u8], members: &[Member<'_>]) {
    for member in members {
        let (name, value) = (member.name_text().span(), member.value_span());
        assert_eq!(member.span(), name.start..value.end);
        assert_eq!(&text[value.clone()], member.value().text().as_bytes());
        let spelled: String = serde_json::from_slice(&text[name.clone()]).unwrap();
        assert_eq!(member.name(), spelled);
        assert!(member.is(&spelled) && !member.is(&(spelled + "x")));
        assert_eq!(punctuation(&text[name.end..value.start]), b":");
        check_inside(text, member.value());
    }
    for pair in members.windows(2) {
        let between = pair[0].span().end..pair[1].span().start;
        assert_eq!(punctuation(&text[between]), b",");
    }
}

/// The same for all that is inside a value.
fn check_inside(text: &[u8], value: Value<'_>) {
    let members: Vec<_> = value.members().collect();
    check_spans(text, &members);
    let elements: Vec<_> = value.elements().collect();
    for element in &elements {
        assert_eq!(&text[element.span()], element.text().as_bytes());
        check_inside(text, *element);
    }
    for pair in elements.windows(2) {
        let between = pair[0].span().end..pair[1].span().start;
        assert_eq!(punctuation(&text[between]), b",");
    }
}

/// A text without white space.
fn punctuation(text: &[u8]) -> Vec<u8> {
    let kept = text.iter().filter(|byte| !b" \t\r\n".contains(byte));
    kept.copied().collect()
}

/// A name is found where it stands once, and refused where it repeats.
fn check_found(object: &Object<'_>, name: &str) {
    let of_name = |member: &&Member<'_>| member.name() == name;
    let spans: Vec<_> = object
        .members()
        .iter()
        .filter(of_name)
        .map(Member::span)
        .collect();
    match (object.get(name), &spans[..]) {
        (Ok(Some(found)), [span]) => assert_eq!(found.span(), *span),
        (Err(duplicate), [_, second, ..]) => assert_eq!(duplicate.at, second.start),
        (found, _) => panic!("{found:?} {spans:?}"),
    }
}
