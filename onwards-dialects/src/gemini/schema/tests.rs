use proptest::prelude::*;

use super::{Converted, ROOM, json_schema, open_api, says_nothing};
use crate::text::value;

fn back(schema: &str) -> String {
    json_schema(&value(schema).unwrap())
}

fn text(schema: &str) -> Option<String> {
    let converted = open_api(schema, &mut ROOM.clone())?;
    assert!(value(&converted.text).is_some(), "{}", converted.text);
    assert!(!converted.lossy, "{schema}");
    Some(converted.text)
}

#[test]
fn what_can_be_said_in_the_subset() {
    for (given, expected) in [
        // Kept as it was written; what says nothing of the answer is left out.
        (
            r#"{"$schema":"x","$id":"y","title":"T","type":"object","properties":{"b":{"type":"number","maximum":1.10},"a\u00e9":{"type":"string","format":"date","maxLength":5,"x-y":1}},"required":["b"],"additionalProperties":false,"strict":true,"propertyOrdering":["b","aé"]}"#,
            r#"{"title":"T","type":"object","properties":{"b":{"type":"number","maximum":1.10},"a\u00e9":{"type":"string","format":"date","maxLength":5}},"required":["b"],"propertyOrdering":["b","aé"]}"#,
        ),
        // Null is not a type.
        (
            r#"{"type":["string","null"],"description":"d"}"#,
            r#"{"type":"string","description":"d","nullable":true}"#,
        ),
        (
            r#"{"description":"d","anyOf":[{"type":"integer","description":"i"},{"type":"null"}]}"#,
            r#"{"description":"d","type":"integer","nullable":true}"#,
        ),
        (
            r#"{"anyOf":[{"type":"integer"},{"type":"string"},{"const":null}]}"#,
            r#"{"anyOf":[{"type":"integer"},{"type":"string"}],"nullable":true}"#,
        ),
        (
            r#"{"type":["integer","string","null"],"title":"T"}"#,
            r#"{"anyOf":[{"type":"integer"},{"type":"string"}],"title":"T","nullable":true}"#,
        ),
        // Choices.
        (r#"{"const":"x"}"#, r#"{"type":"string","enum":["x"]}"#),
        (
            r#"{"type":"string","enum":["a",null]}"#,
            r#"{"type":"string","enum":["a"],"nullable":true}"#,
        ),
        (
            r#"{"oneOf":[{"type":"boolean"},{"type":"array","items":{"type":"string"}}]}"#,
            r#"{"anyOf":[{"type":"boolean"},{"type":"array","items":{"type":"string"}}]}"#,
        ),
        // Parts that fit together.
        (
            r#"{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b","a"]}],"description":"d"}"#,
            r#"{"description":"d","type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}"#,
        ),
        // References.
        (
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"mine"},"b":{"$ref":"#/properties/a"},"c":{"$ref":"#/definitions/x~1y%25"}},"$defs":{"A":{"type":"string","description":"theirs"}},"definitions":{"x/y%":{"type":"integer"}}}"##,
            r#"{"type":"object","properties":{"a":{"description":"mine","type":"string"},"b":{"description":"mine","type":"string"},"c":{"type":"integer"}}}"#,
        ),
        // Bounds of whole numbers.
        (
            r#"{"type":"integer","exclusiveMinimum":0,"maximum":9,"exclusiveMaximum":7}"#,
            r#"{"type":"integer","minimum":1,"maximum":6}"#,
        ),
        // Types that are not said.
        (
            r#"{"properties":{"a":{"items":{"type":"string"}}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}"#,
        ),
    ] {
        assert_eq!(text(given).as_deref(), Some(expected), "{given}");
    }
}

#[test]
fn numbers_to_choose_from_are_strings_and_a_loss() {
    for given in [r#"{"type":"integer","enum":[1,20]}"#, r#"{"enum":[1,20]}"#] {
        let expected = Converted {
            text: r#"{"type":"string","enum":["1","20"]}"#.to_owned(),
            lossy: true,
        };
        assert_eq!(open_api(given, &mut ROOM.clone()), Some(expected));
    }
}

#[test]
fn what_cannot_be_said_there() {
    for given in [
        "",
        "[]",
        "true",
        "{}",
        r#"{"description":"anything"}"#,
        r#"{"type":"null"}"#,
        r#"{"type":"object","properties":{"a":true}}"#,
        r#"{"type":"array"}"#,
        r#"{"type":"array","items":[{"type":"string"}]}"#,
        r#"{"type":"array","prefixItems":[],"items":{"type":"string"}}"#,
        r#"{"type":"string","not":{"const":"x"}}"#,
        r#"{"type":"string","if":{}}"#,
        r#"{"type":"object","patternProperties":{"^x":{"type":"string"}}}"#,
        r#"{"type":"object","required":["a"]}"#,
        r#"{"type":"number","exclusiveMinimum":0}"#,
        r#"{"type":"integer","exclusiveMinimum":9223372036854775807}"#,
        r#"{"type":"integer","exclusiveMinimum":true,"minimum":1}"#,
        r#"{"type":"boolean","enum":[true]}"#,
        r#"{"const":{"a":1}}"#,
        r#"{"type":["string","integer"],"minLength":1}"#,
        r#"{"allOf":[{"type":"string"},{"type":"integer"}]}"#,
        r#"{"allOf":[{"type":"string","minLength":1},{"type":"string","minLength":2}]}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"integer"}],"oneOf":[{"type":"string"},{"type":"integer"}]}"#,
        r#"{"anyOf":[{"type":"null"}]}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
        r#"{"$ref":"https://a.example/b"}"#,
        r##"{"$ref":"#/$defs/none"}"##,
        r##"{"$ref":"#"}"##,
        r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##,
        r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"b":{"anyOf":[{"$ref":"#/$defs/B"},{"type":"null"}]}}},"B":{"type":"array","items":{"$ref":"#/$defs/A"}}}}"##,
    ] {
        assert_eq!(open_api(given, &mut ROOM.clone()), None, "{given}");
    }
}

#[test]
fn references_that_multiply_are_given_up() {
    for (open, close) in [
        (r#"{"type":"object","properties":{"a":"#, r#"}}"#),
        (r#"{"anyOf":["#, "]}"),
    ] {
        let mut definitions = String::from(r#""d0":{"type":"string"}"#);
        for level in 1..40 {
            let below = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, level - 1);
            let twice = match close {
                "]}" => format!("{below},{below}"),
                _ => format!(r#"{below},"b":{below}"#),
            };
            definitions += &format!(r#","d{level}":{open}{twice}{close}"#);
        }
        let bomb = format!(r##"{{"$ref":"#/$defs/d39","$defs":{{{definitions}}}}}"##);
        assert_eq!(open_api(&bomb, &mut ROOM.clone()), None);
    }
    let deep = r#"{"type":"array","items":"#.repeat(60) + r#"{"type":"string"}"# + &"}".repeat(60);
    assert_eq!(text(&deep), Some(deep.clone()));
    let chain: Vec<String> = (0..100)
        .map(|n| {
            format!(
                r##""d{n}":{{"type":"array","items":{{"$ref":"#/$defs/d{}"}}}}"##,
                n + 1
            )
        })
        .collect();
    let chain = format!(
        r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d100":{{"type":"string"}}}}}}"##,
        chain.join(",")
    );
    assert_eq!(open_api(&chain, &mut ROOM.clone()), None);
    let long = format!(
        r#"{{"type":"string","description":"{}"}}"#,
        "x".repeat(1 << 20)
    );
    assert_eq!(open_api(&long, &mut ROOM.clone()), None);
}

#[test]
fn functions_without_arguments() {
    for (schema, nothing) in [
        (r#"{"type":"object"}"#, true),
        (
            r#"{"type":"OBJECT","properties":{},"required":[],"additionalProperties":false}"#,
            true,
        ),
        ("{}", true),
        (r#"{"type":"object","properties":{"a":{}}}"#, false),
        (r##"{"$ref":"#/$defs/A"}"##, false),
        (r#"{"type":"string"}"#, false),
        ("true", false),
        ("", false),
    ] {
        assert_eq!(says_nothing(schema), nothing, "{schema}");
    }
}

#[test]
fn schemas_of_gemini_clients_are_json_schema_again() {
    for (given, expected) in [
        (
            r#"{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true,"enum":["x"]},"b":{"type":"ARRAY","items":{"type":"INTEGER"},"minItems":"2","max_items":7}},"property_ordering":["a"],"required":["a"]}"#,
            r#"{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]},"b":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":7}},"propertyOrdering":["a"],"required":["a"]}"#,
        ),
        (
            r#"{"any_of":[{"type":"STRING"},{"type":"NUMBER"}],"nullable":true}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}"#,
        ),
        (r#"{"type":"TYPE_UNSPECIFIED","nullable":false}"#, "{}"),
        (
            r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":["string","null"],"multipleOf":1.10}}}"##,
            r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":["string","null"],"multipleOf":1.10}}}"##,
        ),
        ("true", "true"),
    ] {
        assert_eq!(back(given), expected);
    }
}

fn schema() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(r#"{"type":"string"}"#.to_owned()),
        Just(r#"{"type":["integer","null"],"minimum":-1}"#.to_owned()),
        Just(r#"{"type":"string","enum":["a","b"]}"#.to_owned()),
        Just(r#"{"description":"\"d\u2028","type":"boolean"}"#.to_owned()),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| format!(r#"{{"type":"array","items":{items}}}"#)),
            proptest::collection::vec(inner.clone(), 2..4)
                .prop_map(|options| format!(r#"{{"anyOf":[{}]}}"#, options.join(","))),
            proptest::collection::vec(inner, 1..4).prop_map(|members| {
                let members: Vec<String> = members
                    .iter()
                    .zip(0..)
                    .map(|(member, n)| format!(r#""p{n}":{member}"#))
                    .collect();
                let members = members.join(",");
                format!(r#"{{"type":"object","properties":{{{members}}},"required":["p0"]}}"#)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn there_and_back_is_the_same(schema in schema()) {
        let there = open_api(&schema, &mut ROOM.clone()).unwrap();
        prop_assert!(!there.lossy);
        prop_assert_eq!(back(&there.text), schema);
    }

    #[test]
    fn nothing_panics_and_what_is_written_is_json(schema in anything()) {
        if let Some(converted) = open_api(&schema, &mut ROOM.clone()) {
            prop_assert!(value(&converted.text).is_some());
        }
        let again = back(&schema);
        prop_assert!(value(&again).is_some());
    }
}

/// JSON of the words that schemas are made of, put together anyhow.
fn anything() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "true",
        "null",
        "7",
        "-1.5",
        r#""string""#,
        r#""array""#,
        r#""object""#,
        r#""a""#,
        r##""#""##,
        r##""#/$defs/a""##,
    ])
    .prop_map(str::to_owned);
    let word = prop::sample::select(vec![
        "type",
        "items",
        "$ref",
        "anyOf",
        "allOf",
        "properties",
        "enum",
        "const",
        "required",
        "nullable",
        "$defs",
        "a",
        "exclusiveMinimum",
        "minimum",
    ]);
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|all| format!("[{}]", all.join(","))),
            proptest::collection::vec((word.clone(), inner), 0..4).prop_map(|all| {
                let all: Vec<String> = all
                    .iter()
                    .map(|(name, value)| format!("\"{name}\":{value}"))
                    .collect();
                format!("{{{}}}", all.join(","))
            }),
        ]
    })
}

#[test]
fn schemas_of_one_request_share_their_room() {
    let doubling: Vec<String> = (1..10)
        .map(|n| {
            let below = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, n - 1);
            format!(r#""d{n}":{{"type":"object","properties":{{"a":{below},"b":{below}}}}}"#)
        })
        .collect();
    let long = "x".repeat(1500);
    let schema = format!(
        r##"{{"type":"object","properties":{{"x":{{"$ref":"#/$defs/d9"}}}},"$defs":{{"d0":{{"type":"string","description":"{long}"}},{}}}}}"##,
        doubling.join(",")
    );
    let mut room = ROOM;
    let converted = (0..100)
        .filter(|_| open_api(&schema, &mut room).is_some())
        .count();
    assert_eq!((converted, room), (5, 0));
}
