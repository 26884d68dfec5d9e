//! `generationConfig`.

use onwards_json::Kind;

use super::tools::described;
use super::{CONFIG, Writer};
use crate::Family;
use crate::conversation::thoughts;
use crate::fidelity::Change;
use crate::gemini::schema::open_api;
use crate::options::{Expose, ReasoningStyle, SchemaMode};
use crate::request::{Format, JsonSchema, Reasoning};
use crate::text::value;
use crate::write::{Obj, object};

/// Parameters that go on under another name.
const PARAMS: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "topP"),
    ("top_k", "topK"),
    ("n", "candidateCount"),
    ("presence_penalty", "presencePenalty"),
    ("frequency_penalty", "frequencyPenalty"),
];

/// How much the model is told to think.
enum Depth {
    Tokens(u64),
    /// As many tokens as it likes.
    Free,
    Level(&'static str),
}

impl Writer<'_, '_> {
    pub(super) fn config(&mut self, o: &mut Obj<'_>) {
        let mut config = String::new();
        object(&mut config, |o| {
            self.sampling(o);
            self.limits(o);
            self.logprobs(o);
            if let Some(reasoning) = &self.request.reasoning {
                self.thinking(reasoning, o);
            }
            self.modalities(o);
            match &self.request.format {
                None | Some(Format::Text) => {}
                Some(Format::JsonObject) => o.text("responseMimeType", "application/json"),
                Some(Format::JsonSchema(schema)) => self.schema(schema, o),
            }
            if self.own() {
                for (name, value) in &self.request.unknown {
                    if let Some(name) = name.decoded().strip_prefix(CONFIG) {
                        o.name(&crate::text::Str::plain(name)).push_str(value);
                    }
                }
            }
        });
        if config != "{}" {
            o.raw("generationConfig", &config);
        }
    }

    fn sampling(&mut self, o: &mut Obj<'_>) {
        for (name, told) in PARAMS {
            if let Some(value) = self.request.param(name) {
                o.raw(told, value);
            }
        }
        if let Some(seed) = self.request.param("seed") {
            // A seed has 32 bits here.
            let fits = value(seed)
                .and_then(|seed| seed.as_i64())
                .is_some_and(|seed| i32::try_from(seed).is_ok());
            if fits {
                o.raw("seed", seed);
            } else {
                self.report.dropped("seed");
            }
        }
    }

    fn limits(&mut self, o: &mut Obj<'_>) {
        let given = self.request.max_tokens.map(|limit| limit.tokens);
        let default = self.settings.options.default_max_tokens;
        if given.is_none() && default.is_some() {
            self.report.note("max_tokens", Change::Added);
        }
        if let Some(limit) = given.or(default) {
            o.u64("maxOutputTokens", limit);
        }
        if !self.request.stop.is_empty() {
            o.array("stopSequences", |list| {
                self.request.stop.iter().for_each(|text| list.str(text));
            });
        }
    }

    fn logprobs(&self, o: &mut Obj<'_>) {
        if self
            .request
            .param("logprobs")
            .is_some_and(|on| on == "true")
        {
            o.bool("responseLogprobs", true);
            if let Some(top) = self.request.param("top_logprobs") {
                o.raw("logprobs", top);
            }
        }
    }

    /// Whatever the answer may hold beside text.
    fn modalities(&self, o: &mut Obj<'_>) {
        let given = self
            .request
            .param("modalities")
            .and_then(|list| value(list));
        let words: Vec<String> = given
            .iter()
            .flat_map(onwards_json::Value::elements)
            .filter_map(|word| word.as_str().map(|word| word.to_ascii_uppercase()))
            .collect();
        if words.iter().any(|word| word != "TEXT") {
            o.array("responseModalities", |list| {
                words
                    .iter()
                    .for_each(|word| list.str(&crate::text::Str::plain(word)));
            });
        }
    }

    fn thinking(&mut self, reasoning: &Reasoning<'_>, o: &mut Obj<'_>) {
        let Some(depth) = self.depth(reasoning) else {
            self.report.dropped("reasoning_effort");
            return;
        };
        let off = matches!(depth, Depth::Tokens(0));
        o.object("thinkingConfig", |o| {
            match depth {
                Depth::Tokens(tokens) => o.u64("thinkingBudget", tokens),
                Depth::Free => o.raw("thinkingBudget", "-1"),
                Depth::Level(level) => o.text("thinkingLevel", level),
            }
            // Thoughts that there are none of cannot be asked for.
            if !off && self.settings.options.expose_reasoning != Expose::None {
                o.bool("includeThoughts", true);
            }
        });
    }

    fn depth(&mut self, reasoning: &Reasoning<'_>) -> Option<Depth> {
        let options = self.settings.options;
        let by_level = match options.reasoning_style {
            ReasoningStyle::Off => return None,
            ReasoningStyle::Level => true,
            ReasoningStyle::Budget | ReasoningStyle::Adaptive | ReasoningStyle::Effort => false,
        };
        let level = |word: &str| thoughts::level(word).map(Depth::Level);
        match reasoning {
            Reasoning::Effort(word) if by_level => {
                if word.is("none") {
                    self.report.note("reasoning_effort", Change::Changed);
                }
                level(&word.decoded())
            }
            Reasoning::Effort(word) => {
                thoughts::budget(&word.decoded(), options, Family::Google).map(Depth::Tokens)
            }
            Reasoning::Budget(tokens) if by_level => {
                self.report.note("reasoning_effort", Change::Changed);
                level(thoughts::effort(*tokens, Family::Google))
            }
            Reasoning::Budget(tokens) => Some(Depth::Tokens(*tokens)),
            Reasoning::Dynamic => Some(Depth::Free),
        }
    }

    fn schema(&mut self, schema: &JsonSchema<'_>, o: &mut Obj<'_>) {
        o.text("responseMimeType", "application/json");
        let Some(text) = &schema.schema else {
            return;
        };
        let kind = value(text).map(|schema| schema.kind());
        let converted = match self.settings.options.schema_mode {
            SchemaMode::OpenApi if kind == Some(Kind::Object) => open_api(text, &mut self.room),
            _ => None,
        };
        let description = schema.description.as_ref();
        match converted {
            Some(converted) => {
                if converted.lossy {
                    self.report
                        .because("response_format", Change::Changed, "enum");
                }
                o.raw("responseSchema", &described(&converted.text, description));
            }
            None => o.raw("responseJsonSchema", &described(text, description)),
        }
    }
}
