//! Every client protocol with every kind of provider: requests, whole answers, streams and errors, as files to look at.
//!
//! `tests/data/pairs/<what>/<feature>/` holds what one side says, in one file for each protocol or kind, and beside each file what
//! the other side is told, in all its dialects. `UPDATE_EXPECT=1` accepts what is new.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

#[path = "pairs/common.rs"]
mod common;
#[path = "pairs/matrix.rs"]
mod matrix;
#[path = "pairs/members.rs"]
mod members;
#[path = "pairs/properties.rs"]
mod properties;

use std::fmt::Write as _;

use common::{
    KINDS, PROTOCOLS, Written, context, events, fixtures, golden, kind, pretty, protocol, reading,
    translated, write,
};
use onwards_dialects::options::Expose;

#[test]
fn requests_are_written_for_every_kind() {
    for (folder, name, body) in fixtures("requests", "json") {
        let request = protocol(&name).read_request(body.as_bytes());
        let mut out = String::new();
        let mut told = Vec::new();
        for (kind_name, kind) in KINDS {
            let section = match &request {
                Err(rejected) => format!("{rejected:?}\n"),
                Ok(request) => match write(kind, request) {
                    Written::Sent(body, report, memory) => {
                        format!("{}{report}{memory}", pretty(&body))
                    }
                    Written::Refused(rejected) => format!("{rejected:?}\n"),
                },
            };
            told.push((kind_name, section));
        }
        // Azure is told what OpenAI is.
        let azure = told.remove(1);
        assert_eq!(azure.1, told[0].1, "{folder}/{name}");
        told[0].0 = "openai, azure";
        for (kinds, section) in told {
            writeln!(out, "== {kinds}\n{section}").unwrap();
        }
        golden(&folder, &name, &out);
    }
}

#[test]
fn answers_are_written_for_every_protocol() {
    for (folder, name, body) in fixtures("answers", "json") {
        let reading = reading(&folder);
        let answer = kind(&name).read_answer(&body, &reading).unwrap();
        let mut out = String::new();
        for (protocol_name, protocol) in PROTOCOLS {
            let mut told = String::new();
            protocol.write_answer(&answer, &context(Expose::Full), &mut told);
            writeln!(out, "== {protocol_name}\n{}", pretty(&told)).unwrap();
        }
        golden(&folder, &name, &out);
    }
}

#[test]
fn streams_are_written_for_every_protocol() {
    for (folder, name, stream) in fixtures("streams", "sse") {
        let mut out = String::new();
        for (protocol_name, protocol) in PROTOCOLS {
            let told = translated(kind(&name), protocol, &folder, &events(&stream));
            writeln!(out, "== {protocol_name}\n{told}").unwrap();
        }
        golden(&folder, &name, &out);
    }
}

#[test]
fn errors_are_written_for_every_protocol() {
    for (folder, name, body) in fixtures("failures", "json") {
        let status = folder.rsplit('/').next().unwrap().parse().unwrap();
        let failure = kind(&name).read_failure(status, &|_| None, body.as_bytes());
        let mut out = String::new();
        writeln!(
            out,
            "status {}, again after {:?}, others may be asked: {}\n",
            failure.status, failure.retry_after, failure.retryable
        )
        .unwrap();
        for (protocol_name, protocol) in PROTOCOLS {
            let mut told = String::new();
            protocol.write_failure(&failure, "r-1", &mut told);
            writeln!(out, "== {protocol_name}\n{}", pretty(&told)).unwrap();
        }
        golden(&folder, &name, &out);
    }
}
