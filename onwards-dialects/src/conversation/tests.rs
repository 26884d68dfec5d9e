use expect_test::{Expect, expect};

use super::media::{Inline, PICTURES, inline};
use super::{Rules, drop_rest, refuse_shapes, turns};
use crate::fidelity::Report;
use crate::options::{ImageUrls, MidSystem, Picture};
use crate::request::{
    Arguments, Message, Param, Part, PartKind, Request, Role, Source, ToolCall, ToolResult,
};
use crate::testing::{options, settings};
use crate::text::Str;

const RULES: Rules = Rules {
    mid_system: MidSystem::Hoist,
    trim: true,
    ids: true,
};

fn say(role: Role, text: &str) -> Message<'_> {
    Message::text(role, Str::plain(text))
}

fn call<'a>(id: Option<&'a str>, name: &'a str) -> Message<'a> {
    let call = PartKind::ToolCall(ToolCall {
        id: id.map(Str::plain),
        name: Str::plain(name),
        arguments: Arguments::default(),
        state: None,
    });
    Message::new(Role::Assistant, vec![Part::new(call)])
}

fn result<'a>(id: Option<&'a str>, name: Option<&'a str>) -> Message<'a> {
    let result = PartKind::ToolResult(ToolResult {
        id: id.map(Str::plain),
        name: name.map(Str::plain),
        content: Vec::new(),
        bare: true,
        json: None,
        is_error: false,
    });
    Message::new(Role::Tool, vec![Part::new(result)])
}

/// The turns in one line each, then the losses.
fn shown(messages: Vec<Message<'_>>, rules: Rules) -> String {
    let request = Request {
        messages,
        ..Request::default()
    };
    let mut report = Report::default();
    let conversation = match turns(&request, rules, &mut report) {
        Ok(conversation) => conversation,
        Err(rejected) => return format!("{rejected:?}"),
    };
    let mut out = String::new();
    for system in &conversation.system {
        out += &format!("system {:?} {:?}\n", system.text, system.cache);
    }
    for turn in &conversation.turns {
        out += if turn.assistant { "assistant" } else { "user" };
        for placed in &turn.parts {
            let (message, index) = (placed.message, placed.index);
            out += &match &placed.part.kind {
                PartKind::Text(text) => format!(" {message}.{index}:{text:?}"),
                PartKind::ToolCall(call) => format!(" call {:?} {:?}", call.id, call.name),
                PartKind::ToolResult(result) => format!(" result {:?}", result.id),
                other => format!(" {other:?}"),
            };
        }
        out.push('\n');
    }
    out + &report.losses(1024)
}

fn check(messages: Vec<Message<'_>>, rules: Rules, expected: Expect) {
    expected.assert_eq(&shown(messages, rules));
}

#[test]
fn system_messages_in_the_middle_are_hoisted() {
    let messages = || {
        vec![
            say(Role::System, "a"),
            say(Role::Developer, "b"),
            say(Role::User, "hi"),
            say(Role::System, "c"),
            say(Role::User, "there"),
        ]
    };
    check(
        messages(),
        RULES,
        expect![[r#"
            system "a" None
            system "b" None
            system "c" None
            user 2.0:"hi" 4.0:"there"
            system_position"#]],
    );
    let rules = Rules {
        mid_system: MidSystem::UserNote,
        ..RULES
    };
    check(
        messages(),
        rules,
        expect![[r#"
            system "a" None
            system "b" None
            user 2.0:"hi" 3.0:"System: c" 4.0:"there"
            system_position"#]],
    );
}

#[test]
fn a_system_message_is_one_block_unless_a_cache_hint_ends_within() {
    let part = |text, cache: Option<&'static str>| Part {
        kind: PartKind::Text(Str::plain(text)),
        cache: cache.map(Into::into),
        at: None,
    };
    let hint = Some(r#"{"type":"ephemeral"}"#);
    let parts = vec![
        part("a", None),
        part("b", hint),
        part(" ", hint),
        part("c", None),
    ];
    check(
        vec![Message::new(Role::System, parts), say(Role::User, "hi")],
        RULES,
        expect![[r#"
            system "ab" Some("{\"type\":\"ephemeral\"}")
            system "c" None
            user 1.0:"hi"
        "#]],
    );
}

#[test]
fn turns_of_one_role_merge_and_results_come_first() {
    check(
        vec![
            say(Role::User, "a"),
            say(Role::User, "b"),
            call(Some("1"), "f"),
            call(Some("2"), "g"),
            say(Role::User, "wait"),
            result(Some("2"), None),
            result(Some("1"), None),
        ],
        RULES,
        expect![[r#"
            user 0.0:"a" 1.0:"b"
            assistant call Some("1") "f" call Some("2") "g"
            user result Some("2") result Some("1") 4.0:"wait"
        "#]],
    );
}

#[test]
fn blank_text_goes_and_takes_its_message_along() {
    let messages = || {
        vec![
            say(Role::User, " \u{2003}"),
            say(Role::User, "hi"),
            say(Role::Assistant, ""),
            say(Role::User, "there"),
        ]
    };
    check(
        messages(),
        RULES,
        expect![[r#"
            user 1.0:"hi" 3.0:"there"
        "#]],
    );
    let rules = Rules {
        trim: false,
        ..RULES
    };
    check(
        messages(),
        rules,
        expect![[r#"
            user 0.0:" \u{2003}" 1.0:"hi"
            assistant 2.0:""
            user 3.0:"there"
        "#]],
    );
}

#[test]
fn an_assistant_in_front_gets_somebody_to_answer() {
    check(
        vec![say(Role::Assistant, "I am here. \u{2028}\n")],
        RULES,
        expect![[r#"
            user 0.0:"."
            assistant 0.0:"I am here."
            synthetic_user_turn"#]],
    );
}

#[test]
fn nothing_to_answer_is_refused() {
    check(
        vec![say(Role::System, "a"), say(Role::User, " ")],
        RULES,
        expect![[
            r#"Rejected { code: "conversation_empty", param: Some("messages"), message: "no message is left to be answered: expected one that is not a system message and not empty" }"#
        ]],
    );
}

#[test]
fn calls_without_ids_are_paired_by_name_and_order() {
    let messages = || {
        vec![
            say(Role::User, "hi"),
            call(None, "f"),
            call(None, "g"),
            call(None, "f"),
            result(None, Some("g")),
            result(None, Some("f")),
            result(None, Some("f")),
        ]
    };
    check(
        messages(),
        RULES,
        expect![[r#"
            user 0.0:"hi"
            assistant call Some("call_0") "f" call Some("call_1") "g" call Some("call_2") "f"
            user result Some("call_1") result Some("call_0") result Some("call_2")
        "#]],
    );
    let rules = Rules {
        ids: false,
        ..RULES
    };
    check(
        messages(),
        rules,
        expect![[r#"
            user 0.0:"hi"
            assistant call None "f" call None "g" call None "f"
            user result None result None result None
        "#]],
    );
}

#[test]
fn a_result_that_answers_nothing_is_refused() {
    for (name, ids) in [(Some("f"), true), (None, true), (None, false)] {
        let messages = vec![say(Role::User, "hi"), result(None, name)];
        assert!(shown(messages, Rules { ids, ..RULES }).starts_with(
            r#"Rejected { code: "tool_call_id_missing", param: Some("/messages/1/tool_call_id")"#
        ),);
    }
}

#[test]
fn answers_of_another_shape_are_refused_and_the_rest_is_noted() {
    let mut request = Request {
        params: vec![
            Param {
                name: "n",
                value: "1".into(),
            },
            Param {
                name: "modalities",
                value: r#"["text"]"#.into(),
            },
            Param {
                name: "seed",
                value: "1".into(),
            },
        ],
        unknown: vec![(Str::plain("x"), "1".into())],
        ..Request::default()
    };
    assert_eq!(refuse_shapes(&request, false), Ok(()));
    let mut report = Report::default();
    drop_rest(&request, &["n"], &mut report);
    assert_eq!(report.losses(100), "modalities,seed,x");
    for (name, value, several, refused) in [
        ("n", "2", true, None),
        ("n", "2", false, Some("n")),
        (
            "modalities",
            r#"["text","audio"]"#,
            true,
            Some("modalities"),
        ),
        ("audio", "{}", true, Some("audio")),
    ] {
        request.params = vec![Param {
            name,
            value: value.into(),
        }];
        let refusal = refuse_shapes(&request, several).err();
        assert_eq!(
            refusal.and_then(|refusal| refusal.param).as_deref(),
            refused
        );
    }
}

#[test]
fn pictures_go_as_what_they_are() {
    let mut options = options();
    let mut settings = settings(&options);
    let pictures = [(
        "https://a.example/b".to_owned(),
        Picture {
            mime: "image/gif".into(),
            base64: "R0lGODlh".to_owned(),
        },
    )]
    .into();
    settings.pictures = &pictures;
    let data = |mime, base64| Source::Data {
        mime: Str::plain(mime),
        base64: Str::plain(base64),
    };
    let png = "iVBORw0KGgoAAAAN";
    for (source, expected) in [
        (data("image/jpeg", png), Ok(("image/png", png))),
        (data("image/gif", "AAAA"), Ok(("image/gif", "AAAA"))),
        (data("image/png", "JVBERi0x"), Err("unsupported_content")),
        (data("image/tiff", "AAAA"), Err("unsupported_content")),
        (
            Source::Url(Str::plain("https://a.example/b")),
            Ok(("image/gif", "R0lGODlh")),
        ),
        (
            Source::Url(Str::plain("https://a.example/c")),
            Err("image_fetch_failed"),
        ),
        (
            Source::Url(Str::plain("gs://a/b")),
            Err("unsupported_content"),
        ),
        (Source::Id(Str::plain("file-1")), Err("unsupported_content")),
    ] {
        let found = inline(&source, "/p", &settings, PICTURES);
        let expected = expected.map(|(mime, base64)| Inline {
            mime: mime.into(),
            base64: Str::plain(base64),
        });
        assert_eq!(
            found.map_err(|rejected| rejected.code),
            expected,
            "{source:?}"
        );
    }
    let web = Source::Url(Str::plain("https://a.example/b"));
    options.image_urls = ImageUrls::Reject;
    let settings = crate::testing::settings(&options);
    assert_eq!(
        inline(&web, "/p", &settings, PICTURES).map_err(|rejected| rejected.code),
        Err("unsupported_content")
    );
}

/// Counting anew for each would take minutes here.
#[test]
fn thousands_of_names_that_are_alike_are_told_apart() {
    let tools = (0..20_000).map(|n| crate::request::Tool {
        name: Str::owned(format!("{}{n}", "\u{e9}".repeat(64))),
        description: None,
        schema: None,
        strict: None,
        cache: None,
    });
    let request = Request {
        tools: tools.collect(),
        ..Request::default()
    };
    let names = super::names::Names::of(&request, false);
    let mut memory = crate::Memory::default();
    names.remember(&mut memory);
    let told: std::collections::BTreeSet<_> =
        memory.tool_names.iter().map(|(told, _)| told).collect();
    assert_eq!(told.len(), 20_000);
    assert!(told.iter().all(|name| name.len() <= 64));
}
