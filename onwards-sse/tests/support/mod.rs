//! The obvious way to read a stream, and the comparison with it that tests and fuzz targets share.
//!
//! Everything here looks at whole inputs, again and again, and does what the grammar says in the words of
//! the grammar; nothing is shared with the code under test.

use bytes::Bytes;
use onwards_sse::{Event, Framer, FramingError};

/// An event as the oracle sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) lines: Vec<Vec<u8>>,
    pub(crate) terminated: bool,
}

/// What a whole input holds, and how many bytes of it belong to the event it ends within.
pub(crate) fn oracle(input: &[u8]) -> (Vec<Seen>, usize) {
    if input.len() < 3 && b"\xEF\xBB\xBF".starts_with(input) {
        // Perhaps the start of a mark: not yet an event, unless nothing follows.
        let lines = vec![input.to_vec()];
        let rest = Seen {
            lines,
            terminated: false,
        };
        return (if input.is_empty() { vec![] } else { vec![rest] }, 0);
    }
    let text = input.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(input);
    let mut events = Vec::new();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut line = Vec::new();
    let mut unfinished = 0;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        let mut width = 1;
        if byte == b'\r' && text.get(at) == Some(&b'\n') {
            at += 1;
            width = 2;
        }
        if byte != b'\r' && byte != b'\n' {
            line.push(byte);
            unfinished += 1;
        } else if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            unfinished += width;
        } else if !lines.is_empty() {
            events.push(Seen {
                lines: std::mem::take(&mut lines),
                terminated: true,
            });
            unfinished = 0;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    if !lines.is_empty() {
        events.push(Seen {
            lines,
            terminated: false,
        });
    }
    (events, unfinished)
}

/// What must come out if the input comes in these chunks: the events, or those before an overflow.
fn expected(chunks: &[&[u8]], limit: usize) -> (Vec<Seen>, Option<FramingError>) {
    let mut so_far = Vec::new();
    for chunk in chunks {
        so_far.extend_from_slice(chunk);
        let (events, unfinished) = oracle(&so_far);
        if unfinished > limit {
            let complete = events
                .into_iter()
                .filter(|event| event.terminated)
                .collect();
            return (
                complete,
                Some(FramingError::Overlong {
                    len: unfinished,
                    limit,
                }),
            );
        }
    }
    (oracle(&so_far).0, None)
}

/// Frames the chunks and compares with the oracle: the events, their readers, and where it stops.
/// With `lazy` all chunks are pushed before the first event is taken.
pub(crate) fn check(chunks: &[&[u8]], limit: usize, lazy: bool) {
    let mut framer = Framer::new(limit);
    let mut given = Vec::new();
    let mut error = None;
    for chunk in chunks {
        framer.push(Bytes::copy_from_slice(chunk));
        if !lazy {
            take(&mut framer, &mut given, &mut error);
            assert!(framer.held() <= limit);
        }
    }
    framer.finish();
    take(&mut framer, &mut given, &mut error);
    assert!(framer.next().is_none());

    let (events, overflow) = expected(chunks, limit);
    assert_eq!(error, overflow, "{chunks:?} {limit}");
    assert_eq!(given.len(), events.len(), "{given:?} {events:?}");
    for (event, seen) in given.iter().zip(&events) {
        check_event(event, seen);
    }
}

fn take(framer: &mut Framer, given: &mut Vec<Event>, error: &mut Option<FramingError>) {
    for event in framer {
        assert_eq!(*error, None, "given after an error");
        match event {
            Ok(event) => given.push(event),
            Err(fault) => *error = Some(fault),
        }
    }
}

/// The readers of an event against its lines.
fn check_event(event: &Event, seen: &Seen) {
    let fields: Vec<(&[u8], &[u8])> = seen
        .lines
        .iter()
        .map(|line| match line.iter().position(|&byte| byte == b':') {
            None => (&line[..], &b""[..]),
            Some(colon) if line.get(colon + 1) == Some(&b' ') => {
                (&line[..colon], &line[colon + 2..])
            }
            Some(colon) => (&line[..colon], &line[colon + 1..]),
        })
        .collect();
    let values = |name: &[u8]| -> Vec<&[u8]> {
        fields
            .iter()
            .filter(|field| field.0 == name)
            .map(|field| field.1)
            .collect()
    };
    let given: Vec<_> = event
        .fields()
        .map(|field| (field.name, field.value))
        .collect();
    assert_eq!(given, fields);
    assert_eq!(event.is_terminated(), seen.terminated);
    assert_eq!(
        event.is_comment(),
        fields.iter().all(|field| field.0.is_empty())
    );

    let data = values(b"data");
    let joined = (!data.is_empty()).then(|| data.join(&b'\n'));
    assert_eq!(event.data().as_deref(), joined.as_deref());
    assert_eq!(event.event(), values(b"event").last().copied());
    assert_eq!(
        event.id(),
        values(b"id").into_iter().rfind(|id| !id.contains(&0))
    );
    let retry = values(b"retry").into_iter().rev().find_map(|value| {
        let digits = value.iter().all(u8::is_ascii_digit);
        String::from_utf8(value.to_vec())
            .ok()
            .filter(|_| digits)?
            .parse()
            .ok()
    });
    assert_eq!(
        event.retry().map(|after| after.as_millis()),
        retry.map(|ms: u64| u128::from(ms))
    );
}

/// Splits `input` into chunks of these widths, as far as it goes, and what is left.
pub(crate) fn cut<'a>(mut input: &'a [u8], widths: &[usize]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for width in widths {
        let (chunk, rest) = input.split_at((*width).min(input.len()));
        chunks.push(chunk);
        input = rest;
    }
    chunks.push(input);
    chunks
}

/// The body of the fuzz target: the first bytes say how to cut the rest and what the limit is.
pub(crate) fn fuzz_framer(input: &[u8]) {
    let [limit, lazy, count, rest @ ..] = input else {
        return;
    };
    let (widths, stream) = rest.split_at(usize::from(*count).min(rest.len()));
    let widths: Vec<_> = widths.iter().map(|&width| usize::from(width)).collect();
    check(&cut(stream, &widths), usize::from(*limit), lazy % 2 == 1);
    check(&[stream], usize::MAX, false);
}

/// The body of the other fuzz target: what is written is read back.
pub(crate) fn fuzz_frame(input: &[u8]) {
    use onwards_sse::Frame;

    let (head, payload) = input.split_at(input.len() / 3);
    let name = String::from_utf8_lossy(head);
    let mut out = Vec::new();
    let written = Frame::data(payload).event(&name).id(&name).write(&mut out);
    assert_eq!(written.is_err(), name.contains(['\r', '\n', '\0']));
    let mut framer = Framer::new(0);
    framer.push(out.into());
    framer.finish();
    let events: Vec<_> = framer
        .map(|event| event.expect("no limit is passed"))
        .collect();
    let [event] = &events[..] else {
        return assert!(written.is_err() && events.is_empty());
    };
    let unified = String::from_utf8_lossy(payload)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    assert_eq!(
        String::from_utf8_lossy(&event.data().expect("a payload")),
        unified
    );
    assert_eq!(event.event(), Some(name.as_bytes()));
    assert_eq!(event.id(), Some(name.as_bytes()));
    assert!(event.is_terminated());
}
