use super::{Thinking, budget, claude, effort, keep, level, limit, restore, sign};
use crate::Family;
use crate::conversation::{Conversation, Rules, turns};
use crate::fidelity::Report;
use crate::options::{Kept, MidSystem, ReasoningStyle};
use crate::request::{
    self, Arguments, MaxTokens, Message, Part, PartKind, Reasoning, Request, Role, State, ToolCall,
    ToolResult,
};
use crate::testing::{options, settings};
use crate::text::Str;

fn word(word: &str) -> Reasoning<'_> {
    Reasoning::Effort(Str::plain(word))
}

#[test]
fn efforts_are_budgets_levels_and_efforts() {
    use Thinking::{Adaptive, Budget, Off, Unsaid};
    let options = options();
    let mut adaptive = options.clone();
    adaptive.reasoning_style = ReasoningStyle::Adaptive;
    for (wish, style, expected, losses) in [
        (word("none"), &options, Off, ""),
        (word("minimal"), &options, Budget(1024), ""),
        (word("xhigh"), &options, Budget(24576), ""),
        (word("huge"), &options, Unsaid, "reasoning_effort"),
        (Reasoning::Budget(5000), &options, Budget(5000), ""),
        (
            Reasoning::Dynamic,
            &options,
            Budget(8192),
            "reasoning_effort",
        ),
        (word("none"), &adaptive, Off, ""),
        (word("minimal"), &adaptive, Adaptive(Some("low")), ""),
        (word("max"), &adaptive, Adaptive(Some("max")), ""),
        (
            Reasoning::Budget(5000),
            &adaptive,
            Adaptive(Some("medium")),
            "reasoning_effort",
        ),
        (Reasoning::Dynamic, &adaptive, Adaptive(None), ""),
    ] {
        let request = Request {
            reasoning: Some(wish),
            ..Request::default()
        };
        let mut report = Report::default();
        assert_eq!(claude(&request, style, &mut report), expected);
        assert_eq!(report.losses(100), losses);
    }
    assert_eq!(budget("low", &options, Family::Google), Some(1024));
    assert_eq!(level("xhigh"), Some("high"));
    assert_eq!(effort(40_000, Family::Google), "max");
    adaptive.reasoning_budgets.insert("huge".to_owned(), 7);
    assert_eq!(budget("huge", &adaptive, Family::Anthropic), Some(7));
    adaptive.reasoning_style = ReasoningStyle::Off;
    let request = Request {
        reasoning: Some(word("low")),
        ..Request::default()
    };
    let mut report = Report::default();
    assert_eq!(claude(&request, &adaptive, &mut report), Unsaid);
    assert_eq!(report.losses(100), "reasoning_effort");
}

#[test]
fn a_model_that_thinks_as_it_likes_gets_a_budget_with_room_beside_it() {
    let options = options();
    for (tokens, expected, losses) in [
        (9000, Thinking::Budget(8192), "reasoning_effort"),
        (8192, Thinking::Budget(2048), "reasoning_effort"),
        (1025, Thinking::Budget(1024), "reasoning_effort"),
        (1024, Thinking::Unsaid, "reasoning_effort"),
    ] {
        let request = Request {
            reasoning: Some(Reasoning::Dynamic),
            max_tokens: Some(MaxTokens {
                tokens,
                spelling: None,
            }),
            ..Request::default()
        };
        let mut report = Report::default();
        assert_eq!(claude(&request, &options, &mut report), expected);
        assert_eq!(report.losses(100), losses);
    }
}

#[test]
fn a_budget_needs_room_beside_it() {
    let mut options = options();
    for (client, thinking, default, expected) in [
        (
            Some(1024),
            Thinking::Budget(1024),
            None,
            Err("reasoning_budget_exceeds_limit"),
        ),
        (Some(1025), Thinking::Budget(1024), None, Ok(Some(1025))),
        (None, Thinking::Budget(1024), Some(100), Ok(Some(1124))),
        (None, Thinking::Budget(1024), None, Ok(Some(5120))),
        (None, Thinking::Unsaid, None, Ok(None)),
        (None, Thinking::Adaptive(None), Some(100), Ok(Some(100))),
    ] {
        options.default_max_tokens = default;
        let request = Request {
            max_tokens: client.map(|tokens| MaxTokens {
                tokens,
                spelling: None,
            }),
            ..Request::default()
        };
        let found = limit(&request, thinking, &options, &mut Report::default());
        assert_eq!(found.map_err(|rejected| rejected.code), expected);
    }
}

fn thought(family: Option<Family>) -> Part<'static> {
    Part::new(PartKind::Thinking(request::Thinking {
        text: Some(Str::plain("hm")),
        state: family.map(|family| State {
            family,
            data: Str::plain("sig"),
        }),
    }))
}

fn call(id: &str) -> Part<'_> {
    Part::new(PartKind::ToolCall(ToolCall {
        id: Some(Str::plain(id)),
        name: Str::plain("f"),
        arguments: Arguments::default(),
        state: None,
    }))
}

fn result(id: &str) -> Message<'_> {
    let result = Part::new(PartKind::ToolResult(ToolResult {
        id: Some(Str::plain(id)),
        name: None,
        content: Vec::new(),
        bare: true,
        json: None,
        is_error: false,
    }));
    Message::new(Role::Tool, vec![result])
}

fn chain(first: Vec<Part<'static>>) -> Request<'static> {
    Request {
        messages: vec![
            Message::text(Role::User, Str::plain("hi")),
            Message::new(Role::Assistant, first),
            result("1"),
            Message::new(Role::Assistant, vec![call("2")]),
            result("2"),
        ],
        ..Request::default()
    }
}

fn conversation<'r>(request: &'r Request<'r>) -> Conversation<'r> {
    let rules = Rules {
        mid_system: MidSystem::Hoist,
        trim: true,
        ids: true,
    };
    turns(request, rules, &mut Report::default()).unwrap()
}

/// Which parts the turns hold: `T`hought, `C`all with state or `c` without, `R`esult, `.` else.
fn kinds(conversation: &Conversation<'_>) -> String {
    let turns = conversation.turns.iter().map(|turn| -> String {
        let kinds = turn.parts.iter().map(|placed| match &placed.part.kind {
            PartKind::Thinking(_) => 'T',
            PartKind::ToolCall(call) if call.state.is_some() => 'C',
            PartKind::ToolCall(_) => 'c',
            PartKind::ToolResult(_) => 'R',
            _ => '.',
        });
        kinds.collect()
    });
    turns.collect::<Vec<_>>().join(" ")
}

#[test]
fn thoughts_come_from_the_client_or_from_memory_or_not_at_all() {
    let options = options();
    let remembered = |id: &str| {
        (id == "1").then(|| Kept {
            thoughts: vec![request::Thinking {
                text: None,
                state: Some(State {
                    family: Family::Anthropic,
                    data: Str::plain("sig"),
                }),
            }],
            state: None,
        })
    };
    let mut settings = settings(&options);
    for (first, memory, complete, expected, losses) in [
        (
            vec![thought(Some(Family::Anthropic)), call("1")],
            false,
            true,
            ". Tc R c R",
            "",
        ),
        (
            vec![thought(Some(Family::Google)), call("1")],
            false,
            false,
            ". c R c R",
            "thinking_blocks",
        ),
        (
            vec![thought(None), call("1")],
            false,
            false,
            ". c R c R",
            "reasoning_content",
        ),
        (vec![call("1")], true, true, ". Tc R c R", ""),
        (vec![call("3")], true, false, ". c R c R", ""),
    ] {
        settings.recall = if memory {
            &remembered
        } else {
            &crate::testing::nothing
        };
        let request = chain(first);
        let mut conversation = conversation(&request);
        let mut report = Report::default();
        keep(&mut conversation, Family::Anthropic, &mut report);
        assert_eq!(
            restore(&mut conversation, Family::Anthropic, &settings),
            complete
        );
        assert_eq!(kinds(&conversation), expected);
        assert_eq!(report.losses(100), losses);
    }
}

#[test]
fn a_chain_that_is_over_needs_no_thoughts() {
    let options = options();
    let mut request = chain(vec![call("1")]);
    request
        .messages
        .push(Message::text(Role::Assistant, Str::plain("so")));
    request
        .messages
        .push(Message::text(Role::User, Str::plain("and")));
    let mut conversation = conversation(&request);
    assert!(restore(
        &mut conversation,
        Family::Anthropic,
        &settings(&options)
    ));
}

#[test]
fn the_first_call_of_a_turn_of_geminis_is_signed() {
    let options = options();
    let remembered = |id: &str| {
        (id == "2").then(|| Kept {
            thoughts: Vec::new(),
            state: Some(State {
                family: Family::Google,
                data: Str::plain("sig"),
            }),
        })
    };
    let mut settings = settings(&options);
    settings.recall = &remembered;
    let request = chain(vec![call("1"), call("3")]);
    let mut conversation = conversation(&request);
    let mut report = Report::default();
    sign(&mut conversation, &settings, &mut report);
    assert_eq!(kinds(&conversation), ". Cc R C R");
    assert_eq!(report.losses(100), "thought_signature");
}
