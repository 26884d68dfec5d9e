use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{ArrayError, Splitter};

/// The elements, and how it ended, of a text that comes in these pieces.
fn split<'t>(
    pieces: impl IntoIterator<Item = &'t [u8]>,
    limit: usize,
) -> (Vec<String>, Result<bool, ArrayError>) {
    let mut splitter = Splitter::new(limit);
    let mut elements = Vec::new();
    for piece in pieces {
        if let Err(error) = splitter.push(piece, &mut |element| elements.push(element.to_owned())) {
            assert_eq!(
                splitter.push(b"]", &mut |_| panic!("after an error")),
                Err(error)
            );
            return (elements, Err(error));
        }
    }
    (elements, Ok(splitter.is_complete()))
}

#[test]
fn elements_as_they_end() {
    let mut splitter = Splitter::new(100);
    let mut seen = Vec::new();
    for (piece, expected) in [
        ("[", &[][..]),
        ("{\"a\":[1]", &[]),
        ("}", &["{\"a\":[1]}"]),
        (",\r\n {}", &["{}"]),
        (",4", &[]),
        ("2 ", &["42"]),
        (",\"x\\\"", &[]),
        ("y\"", &["\"x\\\"y\""]),
        ("\n]", &[]),
    ] {
        seen.clear();
        splitter
            .push(piece.as_bytes(), &mut |element| {
                seen.push(element.to_owned())
            })
            .unwrap();
        assert_eq!(seen, expected, "{piece}");
    }
    assert!(splitter.is_complete());
}

#[test]
fn what_is_no_array() {
    for (text, elements, end) in [
        ("[]", 0, Ok(true)),
        (" [ ] \n", 0, Ok(true)),
        ("", 0, Ok(false)),
        ("[{}", 1, Ok(false)),
        ("[1", 0, Ok(false)),
        ("{}", 1, Ok(true)),
        (" {\"a\":[{}]}\n", 1, Ok(true)),
        ("{}{}", 1, Err(ArrayError::Malformed)),
        ("{},{}", 1, Err(ArrayError::Malformed)),
        ("{}]", 1, Err(ArrayError::Malformed)),
        ("{\"a\":", 0, Ok(false)),
        ("7", 0, Err(ArrayError::NotAnArray)),
        ("data: x", 0, Err(ArrayError::NotAnArray)),
        ("[,1]", 0, Err(ArrayError::Malformed)),
        ("[1,]", 1, Err(ArrayError::Malformed)),
        ("[{}{}]", 1, Err(ArrayError::Malformed)),
        ("[}", 0, Err(ArrayError::Malformed)),
        ("[] []", 0, Err(ArrayError::Malformed)),
        ("[12345678901]", 0, Err(ArrayError::TooLong { limit: 10 })),
        (
            "[{\"a\":\"12345678901",
            0,
            Err(ArrayError::TooLong { limit: 10 }),
        ),
    ] {
        for cut in [1, 2, 3, 100] {
            let (found, ended) = split(text.as_bytes().chunks(cut), 10);
            assert_eq!((found.len(), ended), (elements, end), "{text} in {cut}");
        }
    }
    assert_eq!(
        split([&b"[\"\xff\"]"[..]], 10),
        (vec![], Err(ArrayError::NotUtf8))
    );
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Into::into),
        any::<bool>().prop_map(Into::into),
        Just(serde_json::Value::Null),
        "[\\[\\]{},:\"\\\\ é💻]{0,6}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map("[a\\[\\]{}\"]{0,2}", inner, 0..4).prop_map(
                |members| members
                    .into_iter()
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            ),
        ]
    })
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_elements(
        values in proptest::collection::vec(value(), 0..6),
        pretty in any::<bool>(),
        cuts in proptest::collection::vec(1..20_usize, 0..40),
    ) {
        let text = if pretty {
            serde_json::to_string_pretty(&values)
        } else {
            serde_json::to_string(&values)
        }.unwrap();
        let expected: Vec<&RawValue> = serde_json::from_str(&text).unwrap();
        let expected: Vec<String> = expected.into_iter().map(|raw| raw.get().to_owned()).collect();
        let mut rest = text.as_bytes();
        let mut pieces = Vec::new();
        for cut in cuts {
            let (piece, more) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = more;
        }
        pieces.push(rest);
        prop_assert_eq!(split(pieces, text.len()), (expected, Ok(true)));
    }

    #[test]
    fn no_bytes_panic_and_no_cut_matters(
        bytes in proptest::collection::vec(prop_oneof![
            Just(b'['), Just(b']'), Just(b'{'), Just(b'}'), Just(b','), Just(b'"'), Just(b'\\'), Just(b' '), any::<u8>(),
        ], 0..40),
        cut in 1..8_usize,
        limit in 0..20_usize,
    ) {
        let whole = split([&bytes[..]], limit);
        prop_assert_eq!(split(bytes.chunks(cut), limit), whole);
    }
}
