//! What the properties, the corpus and the fuzz target share.
#![allow(
    unreachable_pub,
    dead_code,
    reason = "shared by several tests and a fuzz target"
)]

use http::{HeaderName, HeaderValue, Method, StatusCode, Version};
use onwards_http1::{Body, BodyError, Framing, Head, HeadError, Recall, head, is_interim};

/// What an answer is read as: status, fields, payload, whether the body ended, bytes behind it.
#[derive(Debug, PartialEq, Eq)]
pub struct Read {
    pub status: u16,
    pub fields: Vec<(String, Vec<u8>)>,
    pub payload: Vec<u8>,
    pub ended: bool,
    pub behind: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    Head(HeadError),
    Body(BodyError),
    Unfinished,
}

/// Reads one answer, with its interim ones, as it arrives piece by piece.
pub fn read(pieces: &[&[u8]]) -> Result<Read, Fault> {
    let mut unread: Vec<u8> = Vec::new();
    let mut reading: Option<(Read, Body)> = None;
    for piece in pieces {
        unread.extend_from_slice(piece);
        while reading.is_none() {
            let Some((head, length)) = head(&unread, &Method::POST).map_err(Fault::Head)? else {
                break;
            };
            unread.drain(..length);
            if is_interim(head.status) {
                continue;
            }
            let fields = head.headers.iter();
            let fields = fields.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
            let read = Read {
                status: head.status.as_u16(),
                fields: fields.collect(),
                payload: Vec::new(),
                ended: false,
                behind: 0,
            };
            reading = Some((read, Body::new(head.framing)));
        }
        if let Some((read, body)) = &mut reading {
            let bytes = std::mem::take(&mut unread);
            let mut rest = bytes.as_slice();
            while let Some(run) = body.next(&mut rest).map_err(Fault::Body)? {
                assert!(!run.is_empty());
                read.payload.extend_from_slice(run);
            }
            assert!(rest.is_empty() || body.is_end());
            read.behind += rest.len();
        }
    }
    let (mut read, mut body) = reading.ok_or(Fault::Unfinished)?;
    read.ended = body.finish().is_ok();
    Ok(read)
}

/// Any cut gives the same answer or the same error; nothing panics.
pub fn fuzz_answer(input: &[u8]) {
    let whole = read(&[input]);
    for width in [1, 2, 3, 7, 100] {
        let pieces: Vec<_> = input.chunks(width).collect();
        assert_eq!(read(&pieces), whole, "pieces of {width}");
    }
    if let Ok(read) = &whole {
        assert!(read.payload.len() + read.behind <= input.len());
    }
}

/// All that a head says, and its length.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    status: StatusCode,
    version: Version,
    reason: Option<Vec<u8>>,
    fields: Vec<(HeaderName, HeaderValue)>,
    /// What is found by each name.
    found: Vec<Vec<HeaderValue>>,
    framing: Framing,
    persistent: bool,
    length: usize,
}

type Outcome<T> = Result<Option<T>, HeadError>;

pub fn said(read: Outcome<(Head, usize)>) -> Outcome<Said> {
    let say = |(head, length): (Head, usize)| {
        let fields = head.headers.iter();
        let found = head.headers.keys();
        Said {
            status: head.status,
            version: head.version,
            reason: head.reason.map(|reason| reason.to_vec()),
            fields: fields.map(|(n, v)| (n.clone(), v.clone())).collect(),
            found: found
                .map(|name| head.headers.get_all(name).iter().cloned().collect())
                .collect(),
            framing: head.framing,
            persistent: head.persistent,
            length,
        }
    };
    read.map(|whole| whole.map(say))
}

/// Whatever was read before, a head is read as if it were the first.
pub fn check_recall(heads: &[&[u8]]) {
    let mut recall = Recall::default();
    for round in 0..3 {
        for bytes in heads {
            let methods = [Method::POST, Method::HEAD, Method::GET];
            for method in methods.iter().skip(round) {
                let expected = said(head(bytes, method));
                let shown = || String::from_utf8_lossy(bytes).into_owned();
                assert_eq!(said(recall.head(bytes, method)), expected, "{}", shown());
            }
        }
    }
}

/// Heads parted by bytes 0xFF, and the first with changes: how many, then place and byte of each.
pub fn fuzz_recall(input: &[u8]) {
    let Some((&count, rest)) = input.split_first() else {
        return;
    };
    let (changes, texts) = rest.split_at(rest.len().min(3 * usize::from(count % 8)));
    let mut heads: Vec<&[u8]> = texts.split(|&byte| byte == 0xFF).collect();
    let mut changed = heads.first().copied().unwrap_or_default().to_vec();
    for change in changes.chunks_exact(3) {
        let [high, low, byte] = *change else { return };
        let at = usize::from(u16::from_be_bytes([high, low])) % changed.len().max(1);
        if let Some(place) = changed.get_mut(at) {
            *place = byte;
        }
    }
    heads.insert(1, &changed);
    check_recall(&heads);
}
