//! What other dialects have put into Chat Completions' messages, to be left out of a body that is otherwise passed on.

use std::ops::Range;

use onwards_json::{Object, Value};

use crate::fidelity::Report;

/// Members that a message can have in the canonical request and not in Chat Completions (spec providers 3.1).
const OF_MESSAGES: &[&str] = &[
    "cache_control",
    "extra_content",
    "reasoning_content",
    "thinking_blocks",
];

/// Where a client's body holds what only other dialects know: cache hints, and thoughts of other models with their signatures. The
/// ranges are sorted, do not overlap, and leave valid JSON when they are cut out. The report names each member that had a value.
///
/// Source: spec providers 3.1, row `messages`. Hints of tools go with those of messages: they mean nothing without them.
#[must_use]
pub fn foreign_members(document: &Object<'_>) -> (Vec<Range<usize>>, Report) {
    let mut cuts = Cuts::default();
    for member in document.members() {
        let value = member.value();
        if member.is("messages") {
            value.elements().for_each(|message| cuts.message(&message));
        } else if member.is("tools") {
            value
                .elements()
                .for_each(|tool| cuts.out_of(&tool, OF_MESSAGES));
        }
    }
    (cuts.ranges, cuts.report)
}

#[derive(Default)]
struct Cuts {
    ranges: Vec<Range<usize>>,
    report: Report,
}

impl Cuts {
    fn message(&mut self, message: &Value<'_>) {
        let within = message
            .members()
            .filter(|member| member.is("content") || member.is("tool_calls"));
        for member in within {
            let list = member.value();
            list.elements()
                .for_each(|part| self.out_of(&part, OF_MESSAGES));
        }
        self.out_of(message, OF_MESSAGES);
        self.ranges.sort_unstable_by_key(|range| range.start);
    }

    /// Cuts members out of an object, each with the comma before it, or the one behind where it comes first.
    fn out_of(&mut self, object: &Value<'_>, names: &[&str]) {
        let mut members = object.members().peekable();
        let mut kept = None;
        while let Some(member) = members.next() {
            let Some(name) = names.iter().find(|name| member.is(name)) else {
                kept = Some(member.span().end);
                continue;
            };
            if !member.value().is_null() {
                self.report.dropped(name);
            }
            let at = member.span();
            let range = match (kept, members.peek()) {
                (Some(kept), _) => kept..at.end,
                (None, Some(next)) => at.start..next.span().start,
                (None, None) => at,
            };
            match self.ranges.last_mut() {
                Some(last) if last.start == range.start || last.end == range.start => {
                    last.end = range.end;
                }
                _ => self.ranges.push(range),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::foreign_members;

    /// The text without what is foreign to it, and what is told of that.
    fn cut(text: &str) -> (String, String) {
        let document = onwards_json::object(text.as_bytes()).unwrap();
        let (ranges, report) = foreign_members(&document);
        let mut out = String::new();
        let mut done = 0;
        for range in ranges {
            out.push_str(text.get(done..range.start).expect("sorted ranges"));
            done = range.end;
        }
        out.push_str(text.get(done..).unwrap());
        assert!(onwards_json::object(out.as_bytes()).is_ok(), "{out}");
        (out, report.losses(1024))
    }

    #[test]
    fn what_is_not_of_the_dialect_is_cut_out_and_nothing_else() {
        for (text, left, told) in [
            (
                r#"{"messages": [{"role": "user", "content": "Hi"}], "tools": []}"#,
                None,
                "",
            ),
            (
                r#"{"messages":[{"reasoning_content":"x","role":"assistant"},{"role": "user" , "cache_control": {} }]}"#,
                Some(r#"{"messages":[{"role":"assistant"},{"role": "user" }]}"#),
                "cache_control,reasoning_content",
            ),
            (
                r#"{"messages":[{"thinking_blocks":[],"reasoning_content":"","cache_control":1,"role":"assistant"}]}"#,
                Some(r#"{"messages":[{"role":"assistant"}]}"#),
                "cache_control,reasoning_content,thinking_blocks",
            ),
            (
                r#"{"messages":[{"role":"assistant","thinking_blocks":[],"x":1,"reasoning_content":null,"extra_content":{"google":{}}}]}"#,
                Some(r#"{"messages":[{"role":"assistant","x":1}]}"#),
                "extra_content,thinking_blocks",
            ),
            (
                r#"{"messages":[{"cache_control":1}]}"#,
                Some(r#"{"messages":[{}]}"#),
                "cache_control",
            ),
            (
                r#"{"messages":[{"cache_control":1,"content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"cache_control":2}],"x":2,"tool_calls":[{"id":"c","extra_content":{},"function":{"name":"f","arguments":"{\"cache_control\":1}"}}],"extra_content":{}}]}"#,
                Some(
                    r#"{"messages":[{"content":[{"type":"text","text":"a"},{}],"x":2,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"cache_control\":1}"}}]}]}"#,
                ),
                "cache_control,extra_content",
            ),
            (
                r#"{"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"cache_control":{}}}},"cache_control":{}}],"messages":[{"r\u006fle":"user","cache\u005fcontrol":1}]}"#,
                Some(
                    r#"{"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"cache_control":{}}}}}],"messages":[{"r\u006fle":"user"}]}"#,
                ),
                "cache_control",
            ),
            (
                r#"{"messages":"cache_control","cache_control":1}"#,
                None,
                "",
            ),
        ] {
            let (out, losses) = cut(text);
            assert_eq!(out, left.unwrap_or(text));
            assert_eq!(losses, told, "{text}");
        }
    }
}
