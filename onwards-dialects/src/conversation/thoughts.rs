//! How much a model may think, and what it has thought before (spec providers 3.0.6).

use std::borrow::Cow;

use super::{Conversation, Placed, Turn};
use crate::Family;
use crate::failure::Rejected;
use crate::fidelity::{Change, Report};
use crate::options::{Kept, Options, ReasoningStyle, Settings};
use crate::request::{Part, PartKind, Reasoning, Request, State};
use crate::text::Str;

/// One effort: its word, tokens at Anthropic, tokens at Google, Gemini's level, effort of adaptive thinking. The first means none.
type Row = (&'static str, u64, u64, &'static str, &'static str);

const EFFORTS: [Row; 7] = [
    ("none", 0, 0, "minimal", "low"),
    ("minimal", 1024, 1024, "minimal", "low"),
    ("low", 2048, 1024, "low", "low"),
    ("medium", 8192, 8192, "medium", "medium"),
    ("high", 16384, 24576, "high", "high"),
    ("xhigh", 24576, 24576, "high", "xhigh"),
    ("max", 32000, 32768, "high", "max"),
];

/// What Gemini takes for a signature that is not there.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Another word for the same, which some clients send.
const NO_SIGNATURE_EITHER: &str = "context_engineering_is_the_way_to_go";

/// Tokens of an answer beside its thoughts, where nobody says.
const BESIDE: u64 = 4096;

/// What a Claude model is told of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// Nothing.
    Unsaid,
    /// Not to.
    Off,
    /// With so many tokens.
    Budget(u64),
    /// As it likes, with an effort or without.
    Adaptive(Option<&'static str>),
}

impl Thinking {
    /// True when the model is told to.
    pub(crate) fn is_on(self) -> bool {
        matches!(self, Self::Budget(_) | Self::Adaptive(_))
    }
}

fn row(word: &str) -> Option<&'static Row> {
    EFFORTS.iter().find(|row| row.0 == word)
}

/// Tokens for an effort: the operator's or the table's. `None` for a word that is in neither.
pub(crate) fn budget(word: &str, options: &Options, family: Family) -> Option<u64> {
    if let Some(tokens) = options.reasoning_budgets.get(word) {
        return Some(*tokens);
    }
    row(word).map(|row| match family {
        Family::Anthropic => row.1,
        Family::Google => row.2,
    })
}

/// Gemini's level for an effort.
pub(crate) fn level(word: &str) -> Option<&'static str> {
    row(word).map(|row| row.3)
}

/// The least effort that allows so many tokens by the table.
pub(crate) fn effort(tokens: u64, family: Family) -> &'static str {
    let allows = |row: &&Row| match family {
        Family::Anthropic => row.1 >= tokens,
        Family::Google => row.2 >= tokens,
    };
    EFFORTS.iter().find(allows).map_or("max", |row| row.0)
}

/// What a Claude model is to be told, by the client's wish and the operator's style. A wish that cannot be met is noted as
/// `reasoning_effort`.
pub(crate) fn claude(request: &Request<'_>, options: &Options, report: &mut Report) -> Thinking {
    let Some(wish) = &request.reasoning else {
        return Thinking::Unsaid;
    };
    let adaptive = match options.reasoning_style {
        ReasoningStyle::Off => {
            report.dropped("reasoning_effort");
            return Thinking::Unsaid;
        }
        ReasoningStyle::Adaptive => true,
        ReasoningStyle::Budget | ReasoningStyle::Level | ReasoningStyle::Effort => false,
    };
    match wish {
        Reasoning::Effort(word) if word.is("none") => Thinking::Off,
        Reasoning::Budget(0) => Thinking::Off,
        Reasoning::Effort(word) => {
            let word = word.decoded();
            let known = if adaptive {
                row(&word).map(|row| Thinking::Adaptive(Some(row.4)))
            } else {
                budget(&word, options, Family::Anthropic).map(|tokens| match tokens {
                    0 => Thinking::Off,
                    tokens => Thinking::Budget(tokens),
                })
            };
            known.unwrap_or_else(|| {
                report.dropped("reasoning_effort");
                Thinking::Unsaid
            })
        }
        Reasoning::Budget(tokens) if adaptive => {
            report.note("reasoning_effort", Change::Changed);
            let word = effort(*tokens, Family::Anthropic);
            Thinking::Adaptive(row(word).map(|row| row.4))
        }
        Reasoning::Budget(tokens) => Thinking::Budget(*tokens),
        Reasoning::Dynamic if adaptive => Thinking::Adaptive(None),
        Reasoning::Dynamic => within(request, options, report),
    }
}

/// A budget for a client that leaves it to the model: a medium one, or what its limit leaves room for.
fn within(request: &Request<'_>, options: &Options, report: &mut Report) -> Thinking {
    let room = request.max_tokens.map_or(u64::MAX, |limit| limit.tokens);
    let fits = ["medium", "low", "minimal"]
        .iter()
        .filter_map(|word| budget(word, options, Family::Anthropic))
        .find(|tokens| (1..room).contains(tokens));
    match fits {
        Some(tokens) => {
            report.note("reasoning_effort", Change::Changed);
            Thinking::Budget(tokens)
        }
        None => {
            report.dropped("reasoning_effort");
            Thinking::Unsaid
        }
    }
}

/// The limit of an answer of a Claude model: the client's, or a default where the provider must have one or there is a budget.
///
/// # Errors
/// `reasoning_budget_exceeds_limit`: the client's limit leaves nothing beside the budget.
pub(crate) fn limit(
    request: &Request<'_>,
    thinking: Thinking,
    options: &Options,
    report: &mut Report,
) -> Result<Option<u64>, Rejected> {
    let budget = match thinking {
        Thinking::Budget(tokens) => Some(tokens),
        _ => None,
    };
    let Some(limit) = request.max_tokens else {
        let default = match budget {
            Some(budget) => {
                Some(budget.saturating_add(options.default_max_tokens.unwrap_or(BESIDE)))
            }
            None => options.default_max_tokens,
        };
        if default.is_some() {
            report.note("max_tokens", Change::Added);
        }
        return Ok(default);
    };
    match budget {
        Some(budget) if limit.tokens <= budget => Err(Rejected::new(
            "reasoning_budget_exceeds_limit",
            Some(limit.spelling.unwrap_or("max_tokens").to_owned()),
            format!(
                "the answer may have {} tokens, but {budget} are for reasoning alone: expected a higher limit or less effort",
                limit.tokens
            ),
        )),
        _ => Ok(Some(limit.tokens)),
    }
}

/// Leaves of the thoughts in a conversation those that `family` can read, and notes the others as dropped.
pub(crate) fn keep(conversation: &mut Conversation<'_>, family: Family, report: &mut Report) {
    conversation.retain(|part| match &part.kind {
        PartKind::Thinking(thought) => match &thought.state {
            Some(state) if state.family == family => true,
            Some(_) => {
                report.dropped("thinking_blocks");
                false
            }
            None => {
                report.dropped("reasoning_content");
                false
            }
        },
        _ => true,
    });
}

/// Puts what is remembered of earlier thoughts before the calls they led to, where the client has not sent them back.
/// False when the model is within a chain of calls and results whose first call lacks the thoughts that a Claude model wants to
/// see there. (Later calls of a chain may come without.)
pub(crate) fn restore(
    conversation: &mut Conversation<'_>,
    family: Family,
    settings: &Settings<'_>,
) -> bool {
    let mut complete = None;
    for turn in &mut conversation.turns {
        if !turn.assistant {
            if !results(turn) {
                complete = None;
            }
        } else if calls(turn) {
            let known = thinks(turn) || recall(turn, family, settings);
            complete = complete.or(Some(known));
        }
    }
    complete.unwrap_or(true)
}

/// Gives the calls of Gemini's turns their signatures back, and the first of each turn a word instead, where none is known.
pub(crate) fn sign(
    conversation: &mut Conversation<'_>,
    settings: &Settings<'_>,
    report: &mut Report,
) {
    for turn in conversation.turns.iter_mut().filter(|turn| turn.assistant) {
        let mut first = true;
        for placed in &mut turn.parts {
            let PartKind::ToolCall(call) = &placed.part.kind else {
                continue;
            };
            let first = std::mem::replace(&mut first, false);
            if google(call.state.as_ref()) {
                continue;
            }
            let known = call
                .id
                .as_ref()
                .and_then(|id| (settings.recall)(&id.decoded()))
                .and_then(|kept| kept.state)
                .filter(|state| google(Some(state)));
            let state = known.or_else(|| {
                first.then(|| {
                    report.note("thought_signature", Change::Changed);
                    State {
                        family: Family::Google,
                        data: Str::plain(NO_SIGNATURE),
                    }
                })
            });
            if let PartKind::ToolCall(call) = &mut placed.part.to_mut().kind {
                call.state = state;
            }
        }
    }
}

/// True for what Gemini has signed itself.
pub(crate) fn is_signature(state: &State<'_>) -> bool {
    state.family == Family::Google
        && !state.data.is(NO_SIGNATURE)
        && !state.data.is(NO_SIGNATURE_EITHER)
}

fn google(state: Option<&State<'_>>) -> bool {
    state.is_some_and(|state| state.family == Family::Google)
}

fn results(turn: &Turn<'_>) -> bool {
    turn.parts
        .iter()
        .any(|placed| matches!(placed.part.kind, PartKind::ToolResult(_)))
}

fn calls(turn: &Turn<'_>) -> bool {
    turn.parts
        .iter()
        .any(|placed| matches!(placed.part.kind, PartKind::ToolCall(_)))
}

fn thinks(turn: &Turn<'_>) -> bool {
    turn.parts
        .iter()
        .take_while(|placed| !matches!(placed.part.kind, PartKind::ToolCall(_)))
        .any(|placed| matches!(placed.part.kind, PartKind::Thinking(_)))
}

fn recall(turn: &mut Turn<'_>, family: Family, settings: &Settings<'_>) -> bool {
    let kept: Option<(Kept, usize)> = turn.parts.iter().find_map(|placed| {
        let PartKind::ToolCall(call) = &placed.part.kind else {
            return None;
        };
        let kept = (settings.recall)(&call.id.as_ref()?.decoded())?;
        Some((kept, placed.message))
    });
    let Some((kept, message)) = kept else {
        return false;
    };
    let thoughts: Vec<Placed<'_>> = kept
        .thoughts
        .into_iter()
        .filter(|thought| {
            thought
                .state
                .as_ref()
                .is_some_and(|state| state.family == family)
        })
        .map(|thought| Placed {
            part: Cow::Owned(Part::new(PartKind::Thinking(thought))),
            message,
            index: 0,
        })
        .collect();
    if thoughts.is_empty() {
        return false;
    }
    let at = turn
        .parts
        .iter()
        .position(|placed| placed.message == message)
        .unwrap_or(0);
    turn.parts.splice(at..at, thoughts);
    true
}

/// Takes all thoughts out of a conversation with a model that can read nobody's, and notes them as dropped.
pub(crate) fn forget(conversation: &mut Conversation<'_>, report: &mut Report) {
    // What is left behind has the state of no family.
    for family in [Family::Anthropic, Family::Google] {
        keep(conversation, family, report);
    }
}

#[cfg(test)]
mod tests;
