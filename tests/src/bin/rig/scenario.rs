//! What is measured: the scenarios, the gateways that they need, and the configurations of those.

use serde_json::{Value, json};

use crate::answers::{self, Answer};
use crate::kinds::{self, Kind, Protocol};

/// A kind of request, and how it is answered.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) house: House,
    pub(crate) work: Work,
    /// Connections of clients at a time when time is measured; one when instructions are counted.
    pub(crate) clients: usize,
    /// Requests that are counted at first; three times as many then.
    pub(crate) counted: usize,
}

/// A gateway with a configuration of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum House {
    /// The defaults.
    Plain,
    /// Strict mode.
    Strict,
    /// Nothing that can be left out: no metrics page, no log.
    Bare,
    /// Keys, rates and limits everywhere, metrics, the default log.
    Full,
    /// So many aliases.
    Aliases(usize),
    /// So many keys with limits of their own.
    Keys(usize),
    /// So many streams are open.
    Held(usize),
}

/// What clients ask for and the provider answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A small request, a small answer; the name that clients know is the provider's.
    Small,
    /// The provider knows the model by another name.
    Renamed,
    /// With a prompt of 200 KB.
    Prompt,
    /// The answer has fields to be removed.
    Cleaned,
    /// Vectors, with fields to be removed.
    Embeddings,
    /// A stream of so many pieces, so many events at a time.
    Stream { pieces: usize, at_once: usize },
    /// The same text from a provider of a known kind, to a client that speaks this.
    Spoken {
        kind: Kind,
        protocol: Protocol,
        pieces: usize,
        at_once: usize,
    },
}

/// How many aliases, keys or streams there are where there are many.
pub(crate) const MANY: usize = 10_000;
/// And where there are few.
pub(crate) const FEW: usize = 10;

/// All of them; few and many stand together.
pub(crate) fn all(held: usize) -> Vec<Scenario> {
    use House::{Aliases, Bare, Full, Held, Keys, Plain, Strict};
    let scenario = |name, house, work, clients, counted| Scenario {
        name,
        house,
        work,
        clients,
        counted,
    };
    let small = |name, house| scenario(name, house, Work::Small, 32, 25);
    let stream = |pieces, at_once| Work::Stream { pieces, at_once };
    let spoken = |name, kind, protocol| {
        let (pieces, at_once) = (1000, 16);
        let work = Work::Spoken {
            kind,
            protocol,
            pieces,
            at_once,
        };
        scenario(name, Plain, work, 8, 1)
    };
    vec![
        small("unary_small", Plain),
        scenario("unary_rewrite", Plain, Work::Renamed, 32, 25),
        scenario("prompt_200k", Plain, Work::Prompt, 8, 2),
        scenario("sanitize_unary", Plain, Work::Cleaned, 32, 25),
        scenario("stream100", Plain, stream(100, 1), 50, 1),
        spoken("burst1000_native", Kind::OpenAi, Protocol::Chat),
        spoken(
            "burst1000_openai_messages",
            Kind::OpenAi,
            Protocol::Messages,
        ),
        spoken("burst1000_anthropic_chat", Kind::Anthropic, Protocol::Chat),
        spoken("burst1000_gemini_chat", Kind::Gemini, Protocol::Chat),
        spoken("burst1000_bedrock_chat", Kind::Bedrock, Protocol::Chat),
        scenario("unary_strict", Strict, Work::Cleaned, 32, 25),
        scenario("embed_strict", Strict, Work::Embeddings, 4, 1),
        scenario("stream1000_strict", Strict, stream(1000, 1), 25, 1),
        scenario("burst1000_strict", Strict, stream(1000, 16), 8, 1),
        small("unary_bare", Bare),
        small("unary_full", Full),
        small("aliases_10", Aliases(FEW)),
        small("aliases_10000", Aliases(MANY)),
        small("keys_10", Keys(FEW)),
        small("keys_10000", Keys(MANY)),
        small("held_10", Held(FEW)),
        small("held_many", Held(held)),
    ]
}

impl Scenario {
    /// What figures are per.
    pub(crate) fn unit(&self) -> &'static str {
        match self.work {
            Work::Stream { .. } | Work::Spoken { .. } => "event",
            _ => "request",
        }
    }

    fn is_cleaned(&self) -> bool {
        self.house == House::Strict || self.work == Work::Cleaned
    }

    /// Whether the answer is written anew, with the time and ids of its own.
    pub(crate) fn is_translated(&self) -> bool {
        self.spoken()
            .is_some_and(|spoken| spoken != (Kind::OpenAi, Protocol::Chat))
    }

    fn spoken(&self) -> Option<(Kind, Protocol)> {
        match self.work {
            Work::Spoken { kind, protocol, .. } => Some((kind, protocol)),
            _ => None,
        }
    }

    pub(crate) fn answer(&self) -> Answer {
        match self.work {
            Work::Small | Work::Renamed | Work::Prompt => answers::completion(false),
            Work::Cleaned => answers::completion(true),
            Work::Embeddings => answers::embeddings(),
            Work::Stream { pieces, at_once } => answers::stream(pieces, at_once, self.is_cleaned()),
            Work::Spoken {
                kind,
                protocol,
                pieces,
                at_once,
            } => kinds::stream(kind, protocol, pieces, at_once),
        }
    }

    /// The requests of the client with this number, which it takes in turn; all of them are answered alike.
    pub(crate) fn requests(&self, lane: usize, names: usize) -> Vec<Vec<u8>> {
        let of = |count: usize| -> Vec<usize> {
            let names = names.min(count);
            (0..names).map(|at| at * (count / names)).collect()
        };
        match self.house {
            House::Aliases(count) => {
                let aliases = of(count).into_iter().map(numbered_alias);
                aliases
                    .map(|alias| self.request(&alias, "sk-client", lane))
                    .collect()
            }
            House::Keys(count) => {
                let keys = of(count).into_iter().map(numbered_key);
                keys.map(|key| self.request(self.name, &key, lane))
                    .collect()
            }
            _ => vec![self.request(self.name, "sk-client", lane)],
        }
    }

    fn request(&self, alias: &str, key: &str, lane: usize) -> Vec<u8> {
        let text = match self.work {
            Work::Prompt => answers::prompt(200 * 1024),
            _ => {
                "Say something of about two hundred bytes, with quotes and lines in it.".to_owned()
            }
        };
        let body = match self.work {
            Work::Embeddings => json!({"model": alias, "input": text}),
            Work::Stream { .. } | Work::Spoken { .. } => {
                let text = format!("{text} (client {lane})");
                let mut body = json!({
                    "model": alias,
                    "stream": true,
                    "messages": [{"role": "user", "content": text}],
                });
                match self.spoken() {
                    Some((_, Protocol::Messages)) => body["max_tokens"] = json!(4096),
                    _ => body["stream_options"] = json!({"include_usage": true}),
                }
                body
            }
            _ => json!({
                "model": alias,
                "temperature": 0.7,
                "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}],
            }),
        };
        let path = match (self.work, self.spoken()) {
            (Work::Embeddings, _) => "/v1/embeddings",
            (_, Some((_, Protocol::Messages))) => "/v1/messages",
            _ => "/v1/chat/completions",
        };
        post(path, key, &body)
    }

    /// Looks at the first answer.
    pub(crate) fn look_at(&self, body: &[u8]) {
        let text = std::str::from_utf8(body).expect("text");
        if let Work::Spoken {
            kind,
            protocol,
            pieces,
            ..
        } = self.work
        {
            return self.look_at_spoken(text, kind, protocol, pieces);
        }
        let values: Vec<Value> = match self.work {
            Work::Stream { pieces, .. } => {
                let events: Vec<&str> = text
                    .split_terminator("\n\n")
                    .map(|event| event.strip_prefix("data: ").expect("an event"))
                    .collect();
                assert_eq!(events.len(), pieces + 4, "{}: events", self.name);
                assert_eq!(events.last(), Some(&"[DONE]"), "{}: the end", self.name);
                events[..events.len() - 1]
                    .iter()
                    .map(|event| serde_json::from_str(event).expect("JSON"))
                    .collect()
            }
            _ => vec![serde_json::from_str(text).expect("JSON")],
        };
        let model = match self.house {
            House::Strict => self.name,
            _ if self.work == Work::Cleaned => self.name,
            _ => "mock",
        };
        for value in &values {
            assert_eq!(value["model"], model, "{}", self.name);
        }
        assert!(
            !self.is_cleaned() || !text.contains("x_vendor"),
            "{}: fields are left in",
            self.name
        );
        match self.work {
            Work::Embeddings => {
                let vectors = values[0]["data"].as_array().expect("vectors");
                let sizes: Vec<_> = vectors
                    .iter()
                    .map(|one| one["embedding"].as_array().map(Vec::len))
                    .collect();
                assert_eq!(sizes, [Some(1536); 64], "{}", self.name);
            }
            Work::Stream { .. } => {}
            _ => assert_eq!(values[0]["usage"]["total_tokens"], 54, "{}", self.name),
        }
    }

    /// Looks at a stream of a provider of a known kind: all of its text is there, under the client's name for the model.
    fn look_at_spoken(&self, text: &str, kind: Kind, protocol: Protocol, pieces: usize) {
        let events = payloads(text);
        let said = events.iter().filter_map(|event| protocol.text(event));
        let words = (0..pieces).map(answers::word);
        assert!(
            said.eq(words),
            "{}: {kind:?} says something else",
            self.name
        );
        let models = events.iter().filter_map(|event| protocol.model(event));
        let mut named = 0;
        for model in models {
            assert_eq!(model, self.name, "{}", self.name);
            named += 1;
        }
        assert!(named > 0, "{}: no event names a model", self.name);
        let ends = match protocol {
            Protocol::Chat => "data: [DONE]\n\n",
            Protocol::Messages => "data: {\"type\":\"message_stop\"}\n\n",
        };
        assert!(text.ends_with(ends), "{}: the end", self.name);
    }
}

/// The JSON of the events of a stream.
fn payloads(text: &str) -> Vec<Value> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines
        .filter(|payload| *payload != "[DONE]")
        .map(|payload| serde_json::from_str(payload).expect("JSON"))
        .collect()
}

/// A request that opens a stream which stays open.
pub(crate) fn held_request() -> Vec<u8> {
    let body = json!({"model": "held", "stream": true, "messages": [{"role": "user", "content": "Wait."}]});
    post("/v1/chat/completions", "sk-client", &body)
}

fn post(path: &str, key: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: gateway.test\r\nuser-agent: rig\r\naccept: application/json\r\n\
         content-type: application/json\r\nauthorization: Bearer {key}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn numbered_alias(number: usize) -> String {
    format!("alias-{number:05}")
}

fn numbered_key(number: usize) -> String {
    format!("sk-client-{number:05}")
}

impl House {
    /// The configuration: `ports` are the scenarios of this house and where their answers come from, `held` is where
    /// streams come from that stay open.
    pub(crate) fn config(self, ports: &[(&Scenario, u16)], held: u16) -> Value {
        let limits = json!({"max_concurrent_requests": 100_000});
        let rate = json!({"requests_per_second": 10_000_000, "burst_size": 10_000_000});
        let definition =
            |key: String| json!({"key": key, "rate_limit": rate, "concurrency_limit": limits});
        let mut config = json!({"targets": {}, "http_pool": {"max_idle_per_host": 512}});
        for &(scenario, port) in ports {
            let mut target = json!({"url": url(port), "onwards_key": "sk-provider"});
            if scenario.work == Work::Renamed || scenario.is_cleaned() {
                target["onwards_model"] = json!("mock");
            }
            if let Some((kind, _)) = scenario.spoken() {
                target["onwards_model"] = json!("mock");
                target["kind"] = json!(kind.name());
            }
            if scenario.work == Work::Cleaned && self != Self::Strict {
                target["sanitize_response"] = json!(true);
            }
            match self {
                Self::Full => {
                    target["rate_limit"] = rate.clone();
                    target["concurrency_limit"] = limits.clone();
                    target = json!({
                        "providers": [target],
                        "keys": ["team"],
                        "rate_limit": rate,
                        "concurrency_limit": limits,
                        "inflight_limit": 100_000,
                    });
                    let mut team = definition("sk-client".to_owned());
                    team["labels"] = json!({"account": "acme"});
                    config["auth"] = json!({"key_definitions": {"team": team}});
                }
                Self::Keys(count) => {
                    let names: Vec<String> = (0..count)
                        .map(|number| format!("key-{number:05}"))
                        .collect();
                    let definitions: serde_json::Map<_, _> = names
                        .iter()
                        .enumerate()
                        .map(|(number, name)| (name.clone(), definition(numbered_key(number))))
                        .collect();
                    config["auth"] = json!({"key_definitions": definitions});
                    target["keys"] = json!(names);
                }
                Self::Aliases(count) => {
                    for number in 0..count {
                        config["targets"][numbered_alias(number)] = target.clone();
                    }
                }
                Self::Held(_) => {
                    config["targets"]["held"] = json!({"url": url(held)});
                }
                Self::Plain | Self::Strict | Self::Bare => {}
            }
            config["targets"][scenario.name] = target;
        }
        if self == Self::Strict {
            config["strict_mode"] = json!(true);
        }
        config
    }
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
