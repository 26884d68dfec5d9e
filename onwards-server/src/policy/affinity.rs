//! Conversation affinity of a pool: which conversation a request belongs to, and which side it is on (spec H).

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use onwards_balance::{AffinitySettings, point};
use onwards_json::{Object, Value};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::endpoint::Endpoint;
use crate::metrics::{PoolSeries, Role};

/// The living affinity of one pool.
#[derive(Debug)]
pub(crate) struct Affinity {
    conversations: Mutex<onwards_balance::Affinity>,
    settings: AffinitySettings,
    series: PoolSeries,
}

impl Affinity {
    /// The affinity that a pool had, if its settings are the same, else a fresh one.
    pub(super) fn carried(
        old: Option<Arc<Self>>,
        settings: &AffinitySettings,
        series: PoolSeries,
    ) -> Option<Arc<Self>> {
        if let Some(old) = old.filter(|old| old.settings == *settings) {
            return Some(old);
        }
        let conversations = Mutex::new(onwards_balance::Affinity::new(settings.clone()).ok()?);
        Some(Arc::new(Self {
            conversations,
            settings: settings.clone(),
            series,
        }))
    }

    /// Notes a request of a conversation; its point, and the share below which the preferred provider comes first.
    pub(crate) fn arrive(&self, key: u64, wall: Duration) -> (f64, f64) {
        let mut conversations = self.conversations.lock();
        let census = conversations.arrive(key, wall);
        let share = conversations.share();
        drop(conversations);
        if let Some(census) = census {
            let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
            self.series
                .affinity_active_conversations()
                .set(count(census.active));
            self.series
                .affinity_admitted_conversations()
                .set(count(census.admitted));
        }
        self.series.affinity_share().set(share);
        (point(key), share)
    }

    /// Counts where a request of a conversation was sent first.
    pub(crate) fn routed(&self, side: Role) {
        self.series.affinity_routed(side).inc();
    }
}

/// The conversation that a request belongs to: an identifier that the client sends, else how the conversation opens.
pub(crate) fn conversation(
    endpoint: Endpoint,
    headers: &HeaderMap,
    document: Option<&Object<'_>>,
) -> Option<u64> {
    let session = headers
        .get("x-session-id")
        .map(http::HeaderValue::as_bytes)
        .filter(|id| !id.is_empty());
    if let Some(id) = session {
        return Some(key(&[b"id", id]));
    }
    let document = document?;
    let text = |name: &str| {
        let member = document
            .members()
            .iter()
            .rev()
            .find(|member| member.is(name))?;
        member.value().as_str().filter(|text| !text.is_empty())
    };
    if let Some(id) = text("session_id").or_else(|| text("prompt_cache_key")) {
        return Some(key(&[b"id", id.as_bytes()]));
    }
    let member = |name: &str| {
        document
            .members()
            .iter()
            .rev()
            .find(|member| member.is(name))
            .map(|member| member.value())
    };
    let opening = match endpoint {
        Endpoint::ChatCompletions | Endpoint::Messages => of_messages(member("messages")?),
        Endpoint::Responses => of_input(member("instructions"), member("input")?),
        _ => None,
    }?;
    let mut parts: Vec<&[u8]> = vec![b"open"];
    parts.extend(
        opening
            .iter()
            .flat_map(|(role, content)| [role.as_bytes(), content.as_bytes()]),
    );
    Some(key(&parts))
}

type Opening = Vec<(String, String)>;

/// The first message that sets the scene, if there is one, and the first other one.
fn of_messages(messages: Value<'_>) -> Option<Opening> {
    let mut scene = None;
    let mut first = None;
    for message in messages.elements() {
        let role = member(message, "role")
            .and_then(|role| role.as_str())
            .unwrap_or_default()
            .into_owned();
        let place = if matches!(role.as_str(), "system" | "developer") {
            &mut scene
        } else {
            &mut first
        };
        if place.is_none() {
            *place = Some((role, content(member(message, "content"))));
        }
        if first.is_some() && scene.is_some() {
            break;
        }
    }
    let first = first?;
    Some(scene.into_iter().chain([first]).collect())
}

/// The instructions, if there are any, and the first item of the input.
fn of_input(instructions: Option<Value<'_>>, input: Value<'_>) -> Option<Opening> {
    let scene = instructions
        .filter(|value| !value.is_null())
        .map(|value| ("system".to_owned(), content(Some(value))));
    let first = if let Some(text) = input.as_str() {
        ("user".to_owned(), text.into_owned())
    } else {
        let item = input.elements().next()?;
        let role = member(item, "role")
            .and_then(|role| role.as_str())
            .unwrap_or_default()
            .into_owned();
        (role, content(member(item, "content").or(Some(item))))
    };
    Some(scene.into_iter().chain([first]).collect())
}

fn member<'a>(object: Value<'a>, name: &str) -> Option<Value<'a>> {
    object
        .members()
        .find(|member| member.is(name))
        .map(|member| member.value())
}

/// A content as text: a string's own, anything else's JSON.
fn content(value: Option<Value<'_>>) -> String {
    value.map_or_else(String::new, |value| {
        value
            .as_str()
            .map_or_else(|| value.text().to_owned(), Into::into)
    })
}

/// The first eight bytes, little end first, of the SHA-256 over the parts, each behind its length.
fn key(parts: &[&[u8]]) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    digest
        .first_chunk()
        .map_or(0, |first| u64::from_le_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(endpoint: Endpoint, session: Option<&str>, body: &str) -> Option<u64> {
        let mut headers = HeaderMap::new();
        if let Some(session) = session {
            headers.insert("x-session-id", session.parse().unwrap());
        }
        let document = onwards_json::object(body.as_bytes()).ok();
        conversation(endpoint, &headers, document.as_ref())
    }

    #[test]
    fn an_identifier_beats_the_opening_and_the_first_one_counts() {
        let chat = Endpoint::ChatCompletions;
        let by_header = of(chat, Some("s"), r#"{"session_id":"x"}"#);
        assert_eq!(
            by_header,
            of(
                Endpoint::Other,
                None,
                r#"{"session_id":"s","prompt_cache_key":"x"}"#
            )
        );
        assert_eq!(
            by_header,
            of(chat, None, r#"{"session_id":"","prompt_cache_key":"s"}"#)
        );
        assert_eq!(
            by_header,
            of(chat, Some(""), r#"{"session_id":7,"prompt_cache_key":"s"}"#)
        );
        assert_ne!(by_header, of(chat, Some("t"), "{}"));
        assert_eq!(of(chat, None, "{}"), None);
        assert_eq!(of(Endpoint::Embeddings, None, r#"{"input":"x"}"#), None);
    }

    #[test]
    fn turns_of_one_conversation_have_one_key() {
        let chat = Endpoint::ChatCompletions;
        let first = r#"{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]}"#;
        let later = r#"{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"},
            {"role":"assistant","content":"hello"},{"role":"developer","content":"x"},{"role":"user","content":"more"}]}"#;
        let other = r#"{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"ho"}]}"#;
        assert!(of(chat, None, first).is_some());
        assert_eq!(of(chat, None, first), of(chat, None, later));
        assert_ne!(of(chat, None, first), of(chat, None, other));
        assert_eq!(
            of(
                chat,
                None,
                r#"{"messages":[{"role":"system","content":"x"}]}"#
            ),
            None
        );
        let input = |input: &str| {
            of(
                Endpoint::Responses,
                None,
                &format!(r#"{{"instructions":"be brief","input":{input}}}"#),
            )
        };
        assert_eq!(
            input(r#""hi""#),
            input(r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"x"}]"#)
        );
        assert_ne!(input(r#""hi""#), input(r#""ho""#));
    }
}
