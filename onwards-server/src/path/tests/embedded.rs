//! The options that only an embedder has.

use std::io::Write;

use http::HeaderName;

use super::*;
use crate::embed::BuildError;
use crate::transform::WholeAnswer;
use crate::{ServedBy, response_sanitizer};

const STRICT: &str = r#"{"strict_mode":true,"targets":{"m":{"url":"http://up.example"}}}"#;
const JSON: &[(&str, &str)] = &[("content-type", "application/json; charset=utf-8")];
const GZIP: &[(&str, &str)] = &[
    ("content-type", "application/json"),
    ("content-encoding", "gzip"),
];
const STREAM: &[(&str, &str)] = &[("content-type", "text/event-stream")];
const CHAT: &str = "/v1/chat/completions";
const ASKED: &str = r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#;

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A brotli stream of one stored block: format and length, the bytes, and the end.
fn brotli(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len() - 1).unwrap();
    let [low, mid, ..] = (length << 4 | 1 << 20).to_le_bytes();
    let head = [low, mid, (length >> 12) as u8 | 1 << 4];
    [&head, text.as_bytes(), &[3]].concat()
}

fn identified(config: &str) -> Stage {
    Stage::with(config, |state| {
        state.with_response_id_header(HeaderName::from_static("x-answer-id"))
    })
}

/// The headers that describe the body, and the body.
async fn described(response: Response<Body>) -> String {
    let headers = ["content-encoding", "content-length"].map(|name| {
        response
            .headers()
            .get(name)
            .map_or("-", |value| value.to_str().unwrap())
            .to_owned()
    });
    let body = response.into_body().collect().await.unwrap().to_bytes();
    format!(
        "{} {} {}",
        headers[0],
        headers[1],
        String::from_utf8_lossy(&body)
    )
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one flat table")]
async fn an_answer_carries_the_id_that_the_request_names() {
    let other: &[_] = &[("content-type", "text/plain")];
    for (path, id, act, expect) in [
        (
            CHAT,
            Some("abc"),
            Act::Answer(200, JSON, r#"{ "id" : "theirs", "n": 1e0 }"#),
            r#"- 31 { "id" : "resp_abc", "n": 1e0 }"#,
        ),
        (
            "/v1/responses",
            Some("resp_a"),
            Act::Answer(201, JSON, r#"{"id":"theirs"}"#),
            r#"- 15 {"id":"resp_a"}"#,
        ),
        (
            CHAT,
            Some("abc"),
            Act::Bytes(GZIP, gzip(r#"{"id":"theirs"}"#)),
            r#"- 17 {"id":"resp_abc"}"#,
        ),
        (
            CHAT,
            Some("abc"),
            Act::Bytes(
                &[
                    ("content-type", "application/json"),
                    ("content-encoding", "br"),
                ],
                brotli(r#"{"id":"theirs"}"#),
            ),
            r#"- 17 {"id":"resp_abc"}"#,
        ),
        (
            CHAT,
            Some("abc"),
            Act::Answer(200, JSON, r#"{"object":"x"}"#),
            r#"- - {"object":"x"}"#,
        ),
        (
            CHAT,
            Some("abc"),
            Act::Answer(200, JSON, "not json"),
            "- - not json",
        ),
        (
            CHAT,
            Some("abc"),
            Act::Answer(200, GZIP, "not gzip"),
            "gzip - not gzip",
        ),
        (
            CHAT,
            Some("abc"),
            Act::Answer(200, other, r#"{"id":"theirs"}"#),
            r#"- - {"id":"theirs"}"#,
        ),
        (
            CHAT,
            Some("abc"),
            Act::Answer(404, JSON, r#"{"id":"theirs"}"#),
            r#"- - {"id":"theirs"}"#,
        ),
        (
            CHAT,
            None,
            Act::Answer(200, JSON, r#"{"id":"theirs"}"#),
            r#"- - {"id":"theirs"}"#,
        ),
        (
            CHAT,
            Some(""),
            Act::Answer(200, JSON, r#"{"id":"theirs"}"#),
            r#"- - {"id":"theirs"}"#,
        ),
        (
            "/v1/embeddings",
            Some("abc"),
            Act::Answer(200, JSON, r#"{"id":"theirs"}"#),
            r#"- - {"id":"theirs"}"#,
        ),
        (
            CHAT,
            Some("abc"),
            Act::Answer(200, STREAM, "data: {\"id\":\"a\"}\n\n"),
            "- - data: {\"id\":\"a\"}\n\n",
        ),
    ] {
        let stage = identified(ONE).acts([act]);
        let headers: Vec<_> = id.map(|id| ("x-answer-id", id)).into_iter().collect();
        let response = stage.send(post(path, ASKED, &headers)).await;
        assert_eq!(described(response).await, expect, "{path} {id:?}");
    }
}

#[tokio::test]
async fn strict_answers_and_every_event_of_strict_streams_carry_the_id() {
    let unary =
        r#"{"id":"theirs","object":"chat.completion","created":1,"model":"m","choices":[]}"#;
    let chunks = "data: {\"id\":\"a\",\"created\":1,\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
        data: {\"created\":1,\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}\n\ndata: [DONE]\n\n";
    let events = "data: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"a\"}}\n\n\
        data: {\"type\":\"response.completed\",\"sequence_number\":1,\"response\":{\"output\":[]}}\n\n";
    let error = r#"{"error":{"code":429,"message":"no"}}"#;
    let responses = r#"{"model":"m","input":"a"}"#;
    for (path, asked, kind, answer, ids) in [
        (CHAT, ASKED, JSON, unary, 1),
        (CHAT, ASKED, STREAM, chunks, 2),
        ("/v1/responses", responses, STREAM, events, 2),
        (CHAT, ASKED, JSON, error, 0),
        (
            "/v1/embeddings",
            r#"{"model":"m","input":"a"}"#,
            JSON,
            r#"{"object":"list","data":[],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}"#,
            0,
        ),
    ] {
        let stage = identified(STRICT).acts([Act::Answer(200, kind, answer)]);
        let response = stage
            .send(post(
                path,
                asked,
                &[("x-answer-id", "abc"), ("content-type", "application/json")],
            ))
            .await;
        let text = text(response).await;
        assert_eq!(text.matches(r#""id":"resp_abc""#).count(), ids, "{text}");
        assert_eq!(text.matches(r#""id":"#).count(), ids, "{text}");
    }
}

/// Shouts, with what it was told; keeps what says `keep`, fails at what says `fail`.
fn shout(answer: &WholeAnswer<'_>) -> Result<Option<Bytes>, crate::BodyError> {
    let WholeAnswer {
        path,
        headers,
        body,
        model,
    } = *answer;
    let body = String::from_utf8_lossy(body);
    match &*body {
        "keep" => Ok(None),
        "fail" => Err("cannot".into()),
        _ => Ok(Some(
            format!(
                "{path} {model} {:?} {}",
                headers.get("x-a"),
                body.to_uppercase()
            )
            .into(),
        )),
    }
}

#[tokio::test]
async fn a_transform_sees_whole_answers_and_what_they_answer() {
    let encoded: &[_] = &[("content-encoding", "gzip"), ("x-a", "1")];
    let strange: &[_] = &[("content-encoding", "compress")];
    for (act, expect) in [
        (
            Act::Bytes(encoded, gzip("hi")),
            r#"200 - 28 /v1/any/thing m Some("1") HI"#,
        ),
        (
            Act::Answer(206, JSON, "hi"),
            "206 - 23 /v1/any/thing m None HI",
        ),
        (Act::Answer(200, JSON, "keep"), "200 - - keep"),
        (Act::Answer(200, &[("content-length", "7")], ""), "200 - 7 "),
        (Act::Answer(404, JSON, "hi"), "404 - - hi"),
        (Act::Answer(200, STREAM, "hi"), "200 - - hi"),
        (Act::Answer(200, JSON, "fail"), "500 internal_error"),
        (Act::Answer(200, strange, "hi"), "500 internal_error"),
        (Act::Answer(200, GZIP, "hi"), "500 internal_error"),
        (Act::Bytes(&[], b"long".repeat(11)), "502 internal_error"),
        (
            Act::Bytes(GZIP, gzip(&"a".repeat(1000))),
            "502 internal_error",
        ),
    ] {
        let stage = Stage::with(ONE, |state| {
            state.with_response_transform(shout).with_response_limit(40)
        })
        .acts([act]);
        let response = stage
            .send(post(
                "/v1/any/thing?q",
                r#"{"model":"m"}"#,
                &[("accept-encoding", "gzip")],
            ))
            .await;
        let status = response.status().as_u16();
        let text = described(response).await;
        let refused = text
            .split(r#""code":""#)
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        assert_eq!(format!("{status} {}", refused.unwrap_or(&text)), expect);
        let sent = stage.script.0.lock().headers.remove(0);
        assert!(
            !sent.contains_key("accept-encoding"),
            "answers are asked for as they can be read"
        );
    }
}

#[tokio::test]
async fn what_a_transform_refuses_is_another_providers_to_answer() {
    let stage = Stage::with(TWO, |state| state.with_response_transform(shout)).acts([
        Act::Answer(200, JSON, "fail"),
        Act::Answer(200, JSON, "keep"),
    ]);
    assert_eq!(
        stage.post(r#"{"model":"m"}"#, &[]).await,
        (200, "keep".to_owned())
    );
}

#[tokio::test]
async fn strict_mode_skips_the_transform_and_sanitising_comes_before_it() {
    let chat =
        r#"{"id":"c","object":"chat.completion","created":1,"x":1,"model":"theirs","choices":[]}"#;
    let clean = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[]}"#;
    let stage = Stage::with(STRICT, |state| state.with_response_transform(shout))
        .acts([Act::Answer(200, JSON, chat)]);
    assert_eq!(stage.post(ASKED, &[]).await, (200, clean.to_owned()));
    let sanitised = ONE.replace(r#""url""#, r#""sanitize_response":true,"url""#);
    let stage = Stage::with(&sanitised, |state| state.with_response_transform(shout))
        .acts([Act::Answer(200, JSON, chat)]);
    assert_eq!(
        stage.post(ASKED, &[]).await.1,
        format!("{CHAT} m None {}", clean.to_uppercase())
    );
}

#[tokio::test]
async fn the_sanitizer_and_an_id_go_together() {
    let stage = Stage::with(ONE, |state| {
        state
            .with_response_transform(response_sanitizer())
            .with_response_id_header(HeaderName::from_static("x-answer-id"))
    });
    let chat =
        r#"{"id":"c","object":"chat.completion","created":1,"x":1,"model":"theirs","choices":[]}"#;
    let stage = stage.acts([Act::Answer(200, JSON, chat), Act::Answer(200, JSON, "[]")]);
    let expect =
        r#"{"id":"resp_1","object":"chat.completion","created":1,"model":"m","choices":[]}"#;
    assert_eq!(
        stage.post(ASKED, &[("x-answer-id", "1")]).await,
        (200, expect.to_owned())
    );
    assert_eq!(code(&stage.post(ASKED, &[]).await), "500 internal_error");
}

#[tokio::test]
async fn parameters_are_refused_besides_those_of_the_configuration() {
    let config = STRICT.replace(
        r#""targets""#,
        r#""rejected_params":["logprobs"],"targets""#,
    );
    let stage = Stage::with(&config, |state| {
        state.with_rejected_params(["n", "functions"])
    });
    let again = onwards_config::read(config.as_bytes(), &())
        .unwrap()
        .gateway;
    for round in 0..2 {
        for (member, outcome) in [
            (r#""n":2"#, "400 unsupported_parameter"),
            (r#""logprobs":true"#, "400 unsupported_parameter"),
            (r#""min_tokens":2"#, "502 -"),
        ] {
            let asked = ASKED.replace(r#""model""#, &format!(r#"{member},"model""#));
            assert_eq!(
                code(&stage.post(&asked, &[]).await),
                outcome,
                "{member} in round {round}"
            );
        }
        stage.house.apply(again.clone(), Vec::new()).unwrap();
    }
    let built = AppState::new(again)
        .with_rejected_params(["n", "temperature"])
        .build();
    let Err(BuildError::UnknownParam { name }) = built else {
        panic!("{built:?}")
    };
    assert_eq!(name, "temperature");
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_text_of_a_replaced_error_is_logged_only_where_that_is_asked_for() {
    let lines = Lines::default();
    let writer = lines.clone();
    let logs = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(logs);
    for log in [false, true] {
        let stage = Stage::with(STRICT, |state| state.with_log_error_bodies(log))
            .acts([Act::Answer(400, JSON, "their words")]);
        assert_eq!(stage.post(ASKED, &[]).await.0, 400);
        let text = String::from_utf8(std::mem::take(&mut *lines.0.lock())).unwrap();
        assert_eq!(
            (text.contains("bytes=11"), text.contains("their words")),
            (true, log),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_response_says_who_served_it() {
    let config = TWO.replace(
        r#""http://b""#,
        r#""http://b/v1","name":"second","onwards_model":"big","trusted":true"#,
    );
    let stage = Stage::new(&config).acts([Act::Refuse, Act::Answer(201, JSON, "{}")]);
    let response = stage.send(post(CHAT, ASKED, &[])).await;
    let served = response.extensions().get::<ServedBy>().unwrap();
    assert_eq!(
        (
            served.name(),
            served.url(),
            served.model().as_deref(),
            served.trusted()
        ),
        ("second", "http://b/v1", Some("big"), true)
    );
    let refused = stage.send(post(CHAT, "{}", &[])).await;
    assert!(refused.extensions().get::<ServedBy>().is_none());
}
