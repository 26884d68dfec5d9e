//! What a translation could not keep.

use std::collections::BTreeSet;

/// What became of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// The provider has no counterpart.
    Dropped,
    /// It goes under another value, since the provider allows less.
    Clamped,
    /// It goes in another form that says less.
    Changed,
    /// It goes under another name.
    Renamed,
    /// The client did not say it.
    Added,
}

impl Change {
    /// The word for reports, logs and labels.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Clamped => "clamped",
            Self::Changed => "changed",
            Self::Renamed => "renamed",
            Self::Added => "added",
        }
    }

    /// True where the client's wish is not met.
    #[must_use]
    pub fn is_loss(self) -> bool {
        !matches!(self, Self::Renamed | Self::Added)
    }
}

/// The fidelity report of one translated request: which members were changed on the way.
///
/// Names are those of Chat Completions (`temperature`, `tool_choice`) or words of the specification (`system_position`); an unknown
/// member goes under the client's name for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    notes: BTreeSet<(String, Change, Option<&'static str>)>,
}

/// One line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'r> {
    /// The member.
    pub name: &'r str,
    /// What became of it.
    pub change: Change,
    /// Why, in a word.
    pub why: Option<&'static str>,
}

impl Report {
    /// Notes a change.
    pub fn note(&mut self, name: &str, change: Change) {
        self.notes.insert((name.to_owned(), change, None));
    }

    /// Notes a change and its reason.
    pub fn because(&mut self, name: &str, change: Change, why: &'static str) {
        self.notes.insert((name.to_owned(), change, Some(why)));
    }

    /// Notes a member that the provider has no counterpart for.
    pub fn dropped(&mut self, name: &str) {
        self.note(name, Change::Dropped);
    }

    /// The lines, by name.
    pub fn notes(&self) -> impl Iterator<Item = Note<'_>> {
        self.notes.iter().map(|(name, change, why)| Note {
            name,
            change: *change,
            why: *why,
        })
    }

    /// Everything, for the log: as [`whole`](Self::whole), without a client's own words.
    #[must_use]
    pub fn known(&self) -> String {
        let notes = self.notes().map(|note| Note {
            name: known(note.name),
            ..note
        });
        joined(notes, 1024, write_note)
    }

    /// True when everything was kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// The first wish by name that is not met.
    #[must_use]
    pub fn first_loss(&self) -> Option<Note<'_>> {
        self.notes().find(|note| note.change.is_loss())
    }

    /// The losses for a header, in the words of spec providers 3.0: `seed,temperature(clamped),reasoning(signature_missing)`, cut off at a whole name after `limit`
    /// bytes. Characters that a header cannot have become `?`.
    #[must_use]
    pub fn losses(&self, limit: usize) -> String {
        joined(
            self.notes().filter(|note| note.change.is_loss()),
            limit,
            |note, out| {
                out.push_str(&visible(note.name));
                if let Some(why) = note
                    .why
                    .or((note.change == Change::Clamped).then(|| note.change.word()))
                {
                    out.push('(');
                    out.push_str(why);
                    out.push(')');
                }
            },
        )
    }

    /// Everything, for a header: `added=max_tokens,dropped=seed,…`, cut off as in [`losses`](Self::losses).
    #[must_use]
    pub fn whole(&self, limit: usize) -> String {
        joined(self.notes(), limit, write_note)
    }
}

/// The members that reports name, for labels: any other is `other`.
const KNOWN: &[&str] = &[
    "anthropic-beta",
    "audio",
    "cache_control",
    "document_title",
    "extra_content",
    "frequency_penalty",
    "image_detail",
    "is_error",
    "logit_bias",
    "logprobs",
    "max_tokens",
    "metadata",
    "modalities",
    "n",
    "name",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "reasoning",
    "reasoning_content",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream_options",
    "strict",
    "synthetic_user_turn",
    "system_position",
    "temperature",
    "thinking_blocks",
    "thought_signature",
    "tool_arguments",
    "tool_choice",
    "tools",
    "top_k",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// A member's name if it is one that reports know, else `other`: never a client's word.
#[must_use]
pub fn known(name: &str) -> &'static str {
    KNOWN
        .iter()
        .find(|known| **known == name)
        .copied()
        .unwrap_or("other")
}

fn joined<'r>(
    notes: impl Iterator<Item = Note<'r>>,
    limit: usize,
    write: impl Fn(&Note<'r>, &mut String),
) -> String {
    let mut out = String::new();
    for note in notes {
        let before = out.len();
        if before > 0 {
            out.push(',');
        }
        write(&note, &mut out);
        if out.len() > limit {
            out.truncate(before);
            break;
        }
    }
    out
}

fn write_note(note: &Note<'_>, out: &mut String) {
    out.push_str(note.change.word());
    out.push('=');
    out.push_str(&visible(note.name));
    if let Some(why) = note.why {
        out.push('(');
        out.push_str(why);
        out.push(')');
    }
}

fn visible(name: &str) -> String {
    name.chars()
        .take(64)
        .map(|c| {
            if c.is_ascii_graphic() && !matches!(c, ',' | '=' | '(' | ')') {
                c
            } else {
                '?'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Change, Report};

    #[test]
    fn a_report_is_sorted_short_and_fit_for_a_header() {
        let mut report = Report::default();
        report.note("temperature", Change::Clamped);
        report.dropped("seed");
        report.dropped("seed");
        report.because("reasoning", Change::Changed, "signature_missing");
        report.note("max_tokens", Change::Added);
        report.note("tool_arguments", Change::Changed);
        report.dropped("naïve\n");
        assert_eq!(
            report.losses(1024),
            "na?ve?,reasoning(signature_missing),seed,temperature(clamped),tool_arguments"
        );
        assert_eq!(
            report.whole(1024),
            "added=max_tokens,dropped=na?ve?,changed=reasoning(signature_missing),dropped=seed,clamped=temperature,changed=tool_arguments"
        );
        assert_eq!(report.losses(10), "na?ve?");
        assert_eq!(report.first_loss().map(|note| note.name), Some("naïve\n"));
    }
}
