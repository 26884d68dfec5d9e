//! Every protocol with every kind of provider, feature by feature: what the provider is sent, and what the client is told. What
//! holds is written down as a table for readers, `docs/dialects-matrix.md`.

use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::path::Path;

use futures_util::FutureExt as _;
use onwards_tests::{Gateway, Launch, Recorded, Upstream};
use serde_json::json;

use super::ask::{self, Feature};
use super::told::{self, Told};
use super::wire::{self, Say};
use super::{Client, KEY, Kind, Wire, asked, streams};

/// How the gateway is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// As it is by default: a protocol that the provider speaks passes as it is.
    Native,
    /// Everything is translated, from a protocol to the same one too.
    Canonical,
    Strict,
}

impl Mode {
    /// A gateway of this mode with one provider behind the alias `m`.
    async fn serve(self, kind: Kind, up: &Upstream) -> Gateway {
        let mut config = json!({"targets": {"m": kind.provider(up)}});
        match self {
            Self::Native => {}
            Self::Canonical => config["ingress"] = json!({"same_dialect": "canonical"}),
            Self::Strict => config["strict_mode"] = true.into(),
        }
        Launch::new(&config).start().await
    }

    /// True where the client's own bytes are sent on.
    fn passes_on(self, client: Client, kind: Kind) -> bool {
        let chat = matches!(client, Client::Chat | Client::Responses);
        kind.speaks(client) && (self == Self::Native || (self == Self::Strict && chat))
    }

    /// What goes between the gateway and the provider.
    fn wire(self, client: Client, kind: Kind) -> Wire {
        match (self, kind.wire(client)) {
            (Self::Canonical, Wire::Responses) => Wire::Chat,
            (_, wire) => wire,
        }
    }
}

/// A column of the table.
#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    /// `None`: errors.
    feature: Option<Feature>,
    whole: bool,
    streamed: bool,
}

const fn column(title: &'static str, feature: Feature, whole: bool, streamed: bool) -> Column {
    Column {
        title,
        feature: Some(feature),
        whole,
        streamed,
    }
}

const COLUMNS: [Column; 8] = [
    column("whole answers", Feature::Text, true, false),
    column("streams", Feature::Text, false, true),
    column("tools", Feature::Tools, true, true),
    column("parallel tools", Feature::ParallelTools, true, true),
    column("images", Feature::Images, true, true),
    column("structured output", Feature::Structured, true, true),
    column("reasoning", Feature::Reasoning, true, true),
    Column {
        title: "errors",
        feature: None,
        whole: true,
        streamed: true,
    },
];

/// Why something cannot be had. The test holds that it is so.
fn missing(
    mode: Mode,
    client: Client,
    kind: Kind,
    feature: Option<Feature>,
) -> Option<&'static str> {
    let unsigned = matches!(kind, Kind::OpenAi | Kind::Azure | Kind::Gemini);
    match (client, feature) {
        (Client::Messages, Some(Feature::Reasoning)) if unsigned => {
            Some("asked for; thoughts without a signature of Anthropic's are not shown")
        }
        (_, Some(Feature::Reasoning)) if mode == Mode::Strict && !mode.passes_on(client, kind) => {
            Some("strict mode shows no thoughts unless the operator says so")
        }
        _ => None,
    }
}

/// What every provider is asked, but for names that its dialect has no place for.
fn expected_of_provider(
    mode: Mode,
    client: Client,
    kind: Kind,
    feature: Feature,
    stream: bool,
) -> Vec<String> {
    let nameless = kind == Kind::Gemini;
    let id = |id: &'static str| if nameless { "-" } else { id };
    let mut lines = vec!["system: Be brief.".to_owned(), "user: Hi".to_owned()];
    let calls: &[(&str, &str, &str)] = match feature {
        Feature::Tools => &[("toolu_a", "Oslo", "4 degrees")],
        Feature::ParallelTools => &[
            ("toolu_a", "Oslo", "4 degrees"),
            ("toolu_b", "Rome", "20 degrees"),
        ],
        _ => &[],
    };
    for (name, city, _) in calls {
        lines.push(format!(
            "call {} weather {}",
            id(name),
            json!({"city": city})
        ));
    }
    for (name, _, result) in calls {
        lines.push(format!("result {} {result}", id(name)));
    }
    match feature {
        Feature::Tools | Feature::ParallelTools => {
            lines.push(format!("tool weather {}", ask::place()))
        }
        Feature::Images => lines.push(format!("picture image/png {}", ask::PNG)),
        Feature::Structured => lines.push(format!("shape {}", ask::verdict())),
        Feature::Reasoning => lines.push(thought(client, kind)),
        Feature::Text => {}
    }
    let thinks = feature == Feature::Reasoning;
    lines.push(format!("limit {}", if thinks { 40_000 } else { 100 }));
    // Anthropic's models think at their own temperature.
    let claude = matches!(kind, Kind::Anthropic | Kind::Bedrock);
    if !(thinks && claude) || mode.passes_on(client, kind) {
        lines.push("temperature 0.5".to_owned());
    }
    if stream {
        lines.push("stream".to_owned());
    }
    lines
}

/// How much thought is asked for, given as an effort or as a number of tokens.
fn thought(client: Client, kind: Kind) -> String {
    let by_effort = matches!(client, Client::Chat | Client::Responses);
    match kind {
        Kind::OpenAi | Kind::Azure => "effort \"high\"",
        Kind::Gemini if by_effort => "budget 24576",
        _ => "budget 16384",
    }
    .to_owned()
}

fn expected_of_client(mode: Mode, client: Client, kind: Kind, feature: Feature) -> Told {
    let say = Say::to(feature, None);
    let hidden = missing(mode, client, kind, Some(feature)).is_some();
    let end = if say.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    Told {
        thought: say
            .thought
            .filter(|_| !hidden)
            .unwrap_or_default()
            .to_owned(),
        text: say.text.unwrap_or_default().to_owned(),
        calls: say.calls,
        end: end.to_owned(),
        usage: Some((11, 5)),
    }
}

/// What was sent has gone where such a provider expects it, in its own words.
fn is_addressed(wire: Wire, client: Client, kind: Kind, stream: bool, request: &Recorded) {
    let client = match wire {
        Wire::Chat => Client::Chat,
        _ => client,
    };
    assert_eq!(request.line, kind.line(client, stream));
    kind.is_authorized(request);
    let version = (kind == Kind::Anthropic).then_some("2023-06-01");
    assert_eq!(request.header("anthropic-version"), version);
    assert_eq!(request.header("content-type"), Some("application/json"));
    let body = request.json();
    match kind {
        Kind::Gemini | Kind::Bedrock => assert_eq!(body.get("model"), None),
        _ => assert_eq!(body["model"], kind.model()),
    }
    if stream && wire == Wire::Chat {
        assert_eq!(body["stream_options"]["include_usage"], true);
    }
}

/// One request with a feature and its answer.
async fn asks(
    gateway: &Gateway,
    up: &Upstream,
    (mode, client, kind): (Mode, Client, Kind),
    feature: Feature,
    stream: bool,
) {
    let wire = mode.wire(client, kind);
    up.answer(move |request| {
        let body = request.json();
        let say = Say::to(feature, asked::forced_tool(&body));
        if stream {
            streams::whole(wire, &say)
        } else {
            wire::whole(wire, &say)
        }
    });
    let before = up.count();
    let answer = gateway.send(ask::request(client, feature, stream)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let request = up.request(before).await;
    is_addressed(wire, client, kind, stream, &request);
    let lines = asked::lines(wire, &request);
    let expected = expected_of_provider(mode, client, kind, feature, stream);
    if feature == Feature::Images {
        let sort = |mut lines: Vec<String>| {
            lines.sort();
            lines
        };
        assert_eq!(sort(lines), sort(expected));
    } else {
        assert_eq!(lines, expected);
    }
    let told = if stream {
        told::stream(client, &answer)
    } else {
        told::whole(client, &answer)
    };
    assert_eq!(
        told,
        expected_of_client(mode, client, kind, feature),
        "{}",
        answer.text()
    );
    for hidden in [kind.model(), "127.0.0.1", KEY] {
        assert!(
            !answer.text().contains(hidden),
            "{hidden}: {}",
            answer.text()
        );
    }
}

/// Errors of a provider, before an answer: status, the client's envelope with the client's word for the class, the provider's
/// message, and when to come back.
async fn refuses(
    gateway: &Gateway,
    up: &Upstream,
    (mode, client, kind): (Mode, Client, Kind),
    stream: bool,
) {
    for status in [400, 429, 500] {
        up.reply(wire::error(mode.wire(client, kind), status, "slow down"));
        let answer = gateway
            .send(ask::request(client, Feature::Text, stream))
            .await;
        assert_eq!(answer.status, status, "{}", answer.text());
        let wait = (status == 429).then_some("7");
        assert_eq!(answer.head.header("retry-after"), wait);
        assert_eq!(answer.head.header("content-type"), Some("application/json"));
        let body = answer.json();
        let error = &body["error"];
        let message = error["message"].as_str().unwrap_or_default();
        assert_eq!(
            message.ends_with("slow down"),
            mode != Mode::Strict,
            "{body}"
        );
        let class = match client {
            Client::Gemini => &error["status"],
            _ => &error["type"],
        };
        let expected = match (client, status) {
            (Client::Gemini, 400) => "INVALID_ARGUMENT",
            (Client::Gemini, 429) => "RESOURCE_EXHAUSTED",
            (Client::Gemini, _) => "INTERNAL",
            (_, 400) => "invalid_request_error",
            (_, 429) => "rate_limit_error",
            (_, _) => "api_error",
        };
        assert_eq!(class, expected, "{body}");
        match client {
            Client::Messages => assert_eq!(body["type"], "error"),
            Client::Gemini => assert_eq!(error["code"], status),
            Client::Chat | Client::Responses => {
                assert!(
                    error.get("param").is_some() && error.get("code").is_some(),
                    "{body}"
                );
            }
        }
    }
}

/// One row of the table. A cell that does not hold says so; the panic before it says why.
async fn row(mode: Mode, client: Client, kind: Kind) -> String {
    let up = Upstream::start().await;
    let gateway = mode.serve(kind, &up).await;
    let mut row = format!("| {client:?} | `{}` |", kind.name());
    for column in COLUMNS {
        let mut holds = true;
        for stream in [false, true] {
            if !(if stream {
                column.streamed
            } else {
                column.whole
            }) {
                continue;
            }
            let asked = (mode, client, kind);
            let cell = async {
                match column.feature {
                    Some(feature) => asks(&gateway, &up, asked, feature, stream).await,
                    None => refuses(&gateway, &up, asked, stream).await,
                }
            };
            if AssertUnwindSafe(cell).catch_unwind().await.is_err() {
                eprintln!(
                    "^^^ {mode:?} {client:?} {kind:?} {} stream {stream}",
                    column.title
                );
                holds = false;
            }
        }
        match missing(mode, client, kind, column.feature) {
            _ if !holds => row.push_str(" DOES NOT HOLD |"),
            None => row.push_str(" yes |"),
            Some(why) => write!(row, " – ({why}) |").unwrap(),
        }
    }
    row
}

/// All rows of a mode hold.
async fn holds(mode: Mode) {
    let mut table = String::new();
    for client in Client::ALL {
        for kind in Kind::ALL {
            writeln!(table, "{}", row(mode, client, kind).await).unwrap();
        }
    }
    assert!(!table.contains("DOES NOT HOLD"), "{table}");
}

#[tokio::test]
async fn every_protocol_reaches_every_kind_where_all_is_translated() {
    holds(Mode::Canonical).await;
}

#[tokio::test]
async fn every_protocol_reaches_every_kind_in_strict_mode() {
    holds(Mode::Strict).await;
}

#[tokio::test]
async fn every_protocol_reaches_every_kind() {
    let mut page = String::from(concat!(
        "# Protocols and kinds\n\n",
        "Written by the test that holds it, `tests/tests/black_box/dialects/matrix.rs`: each cell is a request of that protocol to a\n",
        "provider of that kind, what the provider was sent, and what the client was told. All but the first two columns are\n",
        "asked for whole answers and for streams. What the columns mean is in [dialects](dialects.md).\n\n",
        "The same is held where everything is translated (`ingress.same_dialect: canonical`), and in strict mode, where thoughts are\n",
        "not shown in translated answers unless the operator says so, and the texts of errors are the gateway's own.\n\n",
        "| client | kind |",
    ));
    for column in COLUMNS {
        write!(page, " {} |", column.title).unwrap();
    }
    page.push_str("\n|---|---|---|---|---|---|---|---|---|---|\n");
    for client in Client::ALL {
        for kind in Kind::ALL {
            page.push_str(&row(Mode::Native, client, kind).await);
            page.push('\n');
        }
    }
    assert!(!page.contains("DOES NOT HOLD"), "{page}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/dialects-matrix.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page, "UPDATE_GOLDEN=1 writes the page anew");
}
