//! Turns of a conversation.

use onwards_json::Value;

use super::calls::Calls;
use super::{both, listed, media};
use crate::Family;
use crate::failure::Rejected;
use crate::fidelity::Report;
use crate::read::{At, Fields};
use crate::request::{
    Arguments, Message, Part, PartKind, Place, Request, Role, State, Thinking, ToolCall,
    ToolResult, Within,
};
use crate::text::{Str, json};

/// Reads `contents` into messages.
pub(super) fn read<'a>(
    contents: &Value<'a>,
    at: At<'_>,
    request: &mut Request<'a>,
) -> Result<(), Rejected> {
    let mut open = Calls::default();
    for (index, turn) in listed(Some(*contents), at)?.iter().enumerate() {
        let at = At::Element(&at, index);
        let mut reader = Reader {
            turn: index,
            calls: 0,
            open: &mut open,
            results: Vec::new(),
            said: Vec::new(),
            native_only: None,
            report: &mut request.report,
        };
        let role = reader.turn(turn, at)?;
        let (results, said) = (reader.results, reader.said);
        if let Some(rejected) = reader.native_only {
            request.native_only.get_or_insert(rejected);
        }
        let results = results.into_iter().map(|result| {
            let at = result.content.first().and_then(|part| part.at);
            let mut part = Part::new(PartKind::ToolResult(result));
            part.at = at;
            Message::new(Role::Tool, vec![part])
        });
        request.messages.extend(results);
        if !said.is_empty() {
            let mut message = Message::new(role, said);
            message.bare = is_bare(&message.parts);
            request.messages.push(message);
        }
    }
    Ok(())
}

/// True for one piece of text, thoughts and calls beside it not counted: what other protocols write as a string.
fn is_bare(parts: &[Part<'_>]) -> bool {
    let mut content = parts
        .iter()
        .filter(|part| !matches!(part.kind, PartKind::Thinking(_) | PartKind::ToolCall(_)));
    matches!(
        content.next().map(|part| &part.kind),
        Some(PartKind::Text(_))
    ) && content.next().is_none()
}

/// Reads one turn.
struct Reader<'a, 'r> {
    turn: usize,
    calls: usize,
    open: &'r mut Calls<'a>,
    results: Vec<ToolResult<'a>>,
    said: Vec<Part<'a>>,
    native_only: Option<Rejected>,
    report: &'r mut Report,
}

impl<'a> Reader<'a, '_> {
    fn turn(&mut self, turn: &Value<'a>, at: At<'_>) -> Result<Role, Rejected> {
        let mut fields = Fields::of(turn, at)?;
        let role = match fields.str("role")? {
            None => Role::User,
            Some(role) => match &*role.decoded() {
                "user" | "function" | "tool" => Role::User,
                "model" => Role::Assistant,
                _ => {
                    let at = At::Member(&at, "role");
                    return Err(at.invalid("expected `user` or `model`"));
                }
            },
        };
        let at = At::Member(&at, "parts");
        for (index, part) in listed(fields.take("parts"), at)?.iter().enumerate() {
            let (said, results) = (self.said.len(), self.results.len());
            self.part(part, At::Element(&at, index))?;
            let place = Some(Place::new(Within::Turn, self.turn, index));
            let said = self.said.iter_mut().skip(said);
            let results = self.results.iter_mut().skip(results);
            for part in said.chain(results.flat_map(|result| &mut result.content)) {
                part.at = place;
            }
        }
        self.drop(fields);
        Ok(role)
    }

    fn part(&mut self, value: &Value<'a>, at: At<'_>) -> Result<(), Rejected> {
        let mut fields = Fields::of(value, at)?;
        let state = state(&mut fields)?;
        let thought = fields.bool("thought")?.unwrap_or_default();
        if let Some(call) = both(
            &mut fields,
            ["functionCall", "function_call"],
            Fields::object,
        )? {
            self.call(&call, At::Member(&at, "functionCall"), state)?;
        } else if let Some(result) = both(
            &mut fields,
            ["functionResponse", "function_response"],
            Fields::object,
        )? {
            self.result(&result, At::Member(&at, "functionResponse"))?;
        } else if let Some(text) = fields.str("text")? {
            self.text(text, thought, state);
        } else if let Some(inline) =
            both(&mut fields, ["inlineData", "inline_data"], Fields::object)?
        {
            let part = media::inline(&inline, At::Member(&at, "inlineData"), self.report)?;
            self.said.push(part);
        } else if let Some(file) = both(&mut fields, ["fileData", "file_data"], Fields::object)? {
            let at = At::Member(&at, "fileData");
            let part = media::file(&file, value, at, self.report)?;
            let whole = matches!(part.kind, PartKind::Other { .. });
            self.said.push(part);
            if whole {
                return Ok(());
            }
        } else if let Some(state) = state {
            self.text(Str::plain(""), thought, Some(state));
        } else if fields.either(CODE).is_some() {
            let what = "code that another provider runs";
            self.native_only
                .get_or_insert(Rejected::content(&at.pointer(), what));
        } else {
            return Err(at.invalid(
                "expected `text`, `inlineData`, `fileData`, `functionCall` or `functionResponse`",
            ));
        }
        self.drop(fields);
        Ok(())
    }

    /// Text, or a thought. A signature of text stands behind it as a thought that has no text.
    fn text(&mut self, text: Str<'a>, thought: bool, state: Option<State<'a>>) {
        let kind = if thought {
            let text = Some(text).filter(|text| !text.is_empty());
            PartKind::Thinking(Thinking { text, state })
        } else {
            if !text.is_empty() || state.is_none() {
                self.said.push(Part::new(PartKind::Text(text)));
            }
            if state.is_none() {
                return;
            }
            PartKind::Thinking(Thinking { text: None, state })
        };
        self.said.push(Part::new(kind));
    }

    fn call(
        &mut self,
        call: &Value<'a>,
        at: At<'_>,
        state: Option<State<'a>>,
    ) -> Result<(), Rejected> {
        let mut fields = Fields::of(call, at)?;
        let name = fields.need_str("name")?;
        let given = fields.str("id")?.filter(|id| !id.is_empty());
        let args = fields.object("args")?;
        self.drop(fields);
        let id = given.clone().unwrap_or_else(|| {
            let (turn, number) = (self.turn, self.calls);
            Str::owned(format!("call_g{turn}_{number}"))
        });
        self.calls += 1;
        self.open.open(&name, id.clone(), given.is_some());
        self.said.push(Part::new(PartKind::ToolCall(ToolCall {
            id: Some(id),
            name,
            arguments: args.map_or_else(Arguments::default, |args| Arguments::Value(json(&args))),
            state,
        })));
        Ok(())
    }

    fn result(&mut self, result: &Value<'a>, at: At<'_>) -> Result<(), Rejected> {
        let mut fields = Fields::of(result, at)?;
        let name = fields.need_str("name")?;
        let given = fields.str("id")?.filter(|id| !id.is_empty());
        let response = fields.object("response")?;
        let parts = listed(fields.take("parts"), At::Member(&at, "parts"))?;
        let (text, is_error) = response
            .as_ref()
            .map_or_else(|| (Str::plain(""), false), |response| said_by(response));
        let mut content = vec![Part::new(PartKind::Text(text))];
        let above = At::Member(&at, "parts");
        for (index, part) in parts.iter().enumerate() {
            let at = At::Element(&above, index);
            let mut fields = Fields::of(part, at)?;
            if let Some(file) = both(&mut fields, ["fileData", "file_data"], Fields::object)? {
                let at = At::Member(&at, "fileData");
                content.push(media::file(&file, part, at, self.report)?);
                continue;
            }
            let inline = both(&mut fields, ["inlineData", "inline_data"], Fields::object)?
                .ok_or_else(|| at.missing("inlineData", "an object"))?;
            content.push(media::inline(
                &inline,
                At::Member(&at, "inlineData"),
                self.report,
            )?);
            self.drop(fields);
        }
        self.drop(fields);
        let id = self.open.answer(&name, given);
        self.results.push(ToolResult {
            id: Some(id),
            name: Some(name),
            bare: content.len() == 1,
            content,
            json: response.as_ref().map(json),
            is_error,
        });
        Ok(())
    }

    fn drop(&mut self, fields: Fields<'a, '_>) {
        for (name, _) in fields.rest() {
            self.report.dropped(&name.decoded());
        }
    }
}

/// Parts that tools of a provider's own leave in the history.
const CODE: &[&str] = &[
    "executableCode",
    "executable_code",
    "codeExecutionResult",
    "code_execution_result",
    "toolCall",
    "tool_call",
    "toolResponse",
    "tool_response",
];

fn state<'a>(fields: &mut Fields<'a, '_>) -> Result<Option<State<'a>>, Rejected> {
    let signature = both(
        fields,
        ["thoughtSignature", "thought_signature"],
        Fields::str,
    )?;
    Ok(signature
        .filter(|signature| !signature.is_empty())
        .map(|data| State {
            family: Family::Google,
            data,
        }))
}

/// What a function gave back, as text, and whether it failed: what its only member says, if that is one of those by which the
/// official clients wrap results, else all of it.
fn said_by<'a>(response: &Value<'a>) -> (Str<'a>, bool) {
    let mut members = response.members();
    let only = members.next().filter(|_| members.next().is_none());
    let wrapped = only.filter(|member| {
        ["result", "output", "error"]
            .iter()
            .any(|word| member.is(word))
    });
    match wrapped {
        Some(member) => {
            let value = member.value();
            let text = Str::of(&value).unwrap_or_else(|| Str::plain(value.text()));
            (text, member.is("error") && !value.is_null())
        }
        None => (Str::plain(response.text()), false),
    }
}
