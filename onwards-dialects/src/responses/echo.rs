//! What an answer repeats of its request.

use onwards_json::Value;

use crate::text::{compact, value};
use crate::write::{Obj, object};

/// Members with the value that the API gives for an absent one.
const WITH_DEFAULT: [(&str, &str); 12] = [
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("max_tool_calls", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("reasoning", r#"{"effort":null,"summary":null}"#),
    ("temperature", "1"),
    ("tool_choice", r#""auto""#),
    ("tools", "[]"),
    ("top_logprobs", "0"),
    ("top_p", "1"),
    ("truncation", r#""disabled""#),
];

/// Members that are repeated only where they were given.
const GIVEN: [&str; 3] = ["prompt_cache_key", "safety_identifier", "user"];

/// The members of a request that its answer repeats, as the inside of an object; defaults for those that are absent or `null`.
/// Of a body that is no request, the defaults alone.
///
/// Nothing is stored here, so `store` is false whatever was asked.
pub(crate) fn echo(body: &[u8]) -> String {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let request = value(text);
    let member = |name: &str| {
        let members = request.as_ref().map(Value::members);
        let found = members?.filter(|member| member.is(name)).last()?.value();
        (!found.is_null()).then(|| compact(found.text()))
    };
    let mut out = String::new();
    object(&mut out, |o| {
        o.bool("background", false);
        for (name, default) in WITH_DEFAULT {
            o.raw(name, member(name).as_deref().unwrap_or(default));
        }
        for name in GIVEN {
            if let Some(given) = member(name) {
                o.raw(name, &given);
            }
        }
        o.null("previous_response_id");
        o.bool("store", false);
        text_member(member("text").as_deref().unwrap_or("{}"), o);
    });
    out.pop();
    out.remove(0);
    out
}

/// `text`, which always names a format.
fn text_member(given: &str, o: &mut Obj<'_>) {
    let given = value(given);
    let members = || given.as_ref().into_iter().flat_map(Value::members);
    o.object("text", |o| {
        if !members().any(|member| member.is("format") && !member.value().is_null()) {
            o.raw("format", r#"{"type":"text"}"#);
        }
        for member in members().filter(|member| !member.value().is_null()) {
            o.name(&member.name_text().into())
                .push_str(member.value().text());
        }
    });
}
