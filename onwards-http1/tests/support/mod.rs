//! What the properties, the corpus and the fuzz target share.
#![allow(
    unreachable_pub,
    dead_code,
    reason = "shared by several tests and a fuzz target"
)]

use http::Method;
use onwards_http1::{Body, BodyError, HeadError, head, is_interim};

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
