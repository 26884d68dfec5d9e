//! One request and its answer over an HTTP/1.1 connection.
//!
//! A provider may answer before it has read all of the request: the answer is passed on at once, the rest of the request is sent
//! while the answer is read. It may also answer and close the connection without reading on: then every write fails, and
//! the answer lies in our socket. So a failed write ends nothing; what follows is settled by reading.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::Method;
use http_body::{Frame, SizeHint};
use onwards_http1::{Head, MAX_HEAD_BYTES, Recall, is_interim};
use parking_lot::Mutex;

use super::body::BodyError;
use super::connection::{Connection, READ};
use super::pool::{Forward, Site};
use super::{Call, Outgoing};

/// At most so many slices go to the system at once.
const SLICES: usize = 16;
/// The most that is read at once where payload is certain to follow.
const LONG_READ: u64 = 256 * 1024;
/// Interim answers before the final one.
const MOST_INTERIM: u32 = 100;

/// A request on its way, then its answer's body. Dropping it before the end closes the connection.
#[derive(Debug)]
pub(super) struct Exchange {
    /// `None` once nothing more is needed of it.
    connection: Option<Connection>,
    site: Arc<Site>,
    unsent: Unsent,
    /// Bytes of the body that came with the head.
    unread: Bytes,
    body: onwards_http1::Body,
    persistent: bool,
    /// What broke the body behind payload that is passed on first. A socket tells an error only once.
    broken: Option<BodyError>,
}

/// Why an exchange brought no head.
#[derive(Debug)]
pub(super) struct NoAnswer {
    pub(super) error: BodyError,
    /// Not a byte of an answer had come.
    pub(super) unheard: bool,
}

impl Exchange {
    /// Sends a call and waits for the head of its answer.
    pub(super) async fn begin(
        site: Arc<Site>,
        mut connection: Connection,
        call: &Call<'_>,
    ) -> Result<(Head, Box<Self>), NoAnswer> {
        connection.begin();
        let mut exchange = Box::new(Self {
            connection: Some(connection),
            unsent: Unsent::new(head(call, site.forward()), &call.body),
            site,
            unread: Bytes::new(),
            body: onwards_http1::Body::new(onwards_http1::Framing::Empty),
            persistent: false,
            broken: None,
        });
        let mut arrival = Arrival::new(call.method);
        match poll_fn(|cx| exchange.poll_head(&mut arrival, cx)).await {
            Ok(head) => {
                exchange.body = onwards_http1::Body::new(head.framing);
                exchange.persistent = head.persistent;
                exchange.unread = arrival.behind;
                if exchange.body.is_end() {
                    exchange.release(exchange.unread.is_empty());
                }
                Ok((head, exchange))
            }
            Err(error) => Err(NoAnswer {
                error,
                unheard: exchange
                    .connection
                    .as_ref()
                    .is_some_and(|connection| !connection.has_heard()),
            }),
        }
    }

    fn poll_head(
        &mut self,
        arrival: &mut Arrival<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Head, BodyError>> {
        let Some(connection) = &mut self.connection else {
            return Poll::Ready(Err(closed().into()));
        };
        self.unsent.poll(connection, cx);
        let recall = &self.site.recall;
        loop {
            let read = connection.poll_read(cx, |bytes| arrival.take(bytes, recall));
            if let Some(head) = ready!(read)?? {
                return Poll::Ready(Ok(head));
            }
        }
    }

    /// The next payload, all that one read brought.
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = self.poll_payload(cx);
        if let Poll::Ready(Some(Err(_))) = &polled {
            self.connection = None;
        }
        polled.map_ok(Frame::data)
    }

    fn poll_payload(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        if let Some(connection) = &mut self.connection {
            self.unsent.poll(connection, cx);
        }
        if let Some(error) = self.broken.take() {
            return Poll::Ready(Some(Err(error)));
        }
        loop {
            if self.body.is_end() {
                return Poll::Ready(None);
            }
            if !self.unread.is_empty() {
                let payload = self.take_unread()?;
                if !payload.is_empty() {
                    return Poll::Ready(Some(Ok(payload)));
                }
                continue;
            }
            let payload = ready!(self.poll_more(cx))?;
            if !payload.is_empty() {
                return Poll::Ready(Some(Ok(payload)));
            }
        }
    }

    /// The payload of what came with the head; it is not copied again where it is nothing else.
    fn take_unread(&mut self) -> Result<Bytes, BodyError> {
        let bytes = std::mem::take(&mut self.unread);
        let mut rest = bytes.as_ref();
        if self.body.run() >= rest.len() as u64 {
            self.body.next(&mut rest)?;
            self.note_end(true);
            return Ok(bytes);
        }
        let payload = payload(&mut self.body, &mut rest)?;
        self.note_end(rest.is_empty());
        Ok(payload)
    }

    /// Reads once. No payload: only framing came, or the body has ended.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, BodyError>> {
        let Some(connection) = &mut self.connection else {
            return Poll::Ready(Err(closed().into()));
        };
        let body = &mut self.body;
        let read = connection.poll_read(cx, |bytes| {
            if bytes.is_empty() {
                body.finish()?;
                return Ok((Bytes::new(), false, false));
            }
            let mut rest = bytes;
            let payload = payload(body, &mut rest)?;
            let full = bytes.len() == READ;
            Ok::<_, onwards_http1::BodyError>((payload, rest.is_empty(), full))
        });
        let (mut payload, clean, full) = ready!(read)??;
        if full && self.body.run() >= READ as u64 {
            payload = self.read_on(payload, cx)?;
        }
        self.note_end(clean);
        Poll::Ready(Ok(payload))
    }

    /// Goes on reading a long run of payload, for as long as there is something, without looking at it.
    fn read_on(&mut self, begun: Bytes, cx: &mut Context<'_>) -> Result<Bytes, BodyError> {
        let Some(connection) = &mut self.connection else {
            return Ok(begun);
        };
        let more = usize::try_from(self.body.run().min(LONG_READ)).unwrap_or(READ);
        let mut all = BytesMut::with_capacity(begun.len() + more);
        all.extend_from_slice(&begun);
        let end = begun.len() + more;
        while all.len() < end {
            let before = all.len();
            match connection.poll_read_into(cx, &mut (&mut all).limit(end - before)) {
                Poll::Pending => break,
                Poll::Ready(Ok(0)) => {
                    self.broken = self.body.finish().err().map(Into::into);
                    break;
                }
                Poll::Ready(Ok(_)) => {
                    let mut rest = all.get(before..).unwrap_or_default();
                    self.body.next(&mut rest)?;
                }
                Poll::Ready(Err(error)) => {
                    self.broken = Some(error.into());
                    break;
                }
            }
        }
        Ok(all.freeze())
    }

    /// The connection is free again once the body has ended.
    fn note_end(&mut self, clean: bool) {
        if self.body.is_end() {
            self.release(clean);
        }
    }

    /// The exchange needs its connection no longer: it is kept if nothing is left of the exchange on it.
    fn release(&mut self, clean: bool) {
        let Some(mut connection) = self.connection.take() else {
            return;
        };
        if self.persistent && clean && self.unsent.is_sent() {
            connection.end();
            if self.site.keeps() {
                self.site.keep(connection);
            }
        }
    }

    /// True when nothing more will come.
    pub(super) fn is_end(&self) -> bool {
        self.body.is_end()
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        self.body
            .left()
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

fn closed() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the provider closed the connection",
    )
}

/// All payload in `input`, as one piece.
fn payload(
    body: &mut onwards_http1::Body,
    input: &mut &[u8],
) -> Result<Bytes, onwards_http1::BodyError> {
    let Some(first) = body.next(input)? else {
        return Ok(Bytes::new());
    };
    let Some(second) = body.next(input)? else {
        return Ok(Bytes::copy_from_slice(first));
    };
    let mut all = Vec::with_capacity(first.len() + second.len() + input.len());
    all.extend_from_slice(first);
    all.extend_from_slice(second);
    while let Some(run) = body.next(input)? {
        all.extend_from_slice(run);
    }
    Ok(all.into())
}

/// What has come of an answer whose head is not whole yet.
struct Arrival<'a> {
    method: &'a Method,
    begun: Vec<u8>,
    interim: u32,
    /// What came behind the head.
    behind: Bytes,
}

impl<'a> Arrival<'a> {
    fn new(method: &'a Method) -> Self {
        Self {
            method,
            begun: Vec::new(),
            interim: 0,
            behind: Bytes::new(),
        }
    }

    /// Takes what one read brought; the final head once it is whole.
    fn take(&mut self, bytes: &[u8], recall: &Mutex<Recall>) -> Result<Option<Head>, BodyError> {
        if bytes.is_empty() {
            return Err(closed().into());
        }
        if self.begun.is_empty() {
            return self.look(bytes, recall);
        }
        let before = self.begun.len();
        self.begun.extend_from_slice(bytes);
        if !bytes.contains(&b'\n') && before > 8 && self.begun.len() < MAX_HEAD_BYTES {
            return Ok(None); // so that a head in many pieces is not searched for every one
        }
        let begun = std::mem::take(&mut self.begun);
        self.look(&begun, recall)
    }

    fn look(
        &mut self,
        mut bytes: &[u8],
        recall: &Mutex<Recall>,
    ) -> Result<Option<Head>, BodyError> {
        loop {
            // Nobody waits for what only saves work.
            let read = match recall.try_lock() {
                Some(mut recall) => recall.head(bytes, self.method),
                None => onwards_http1::head(bytes, self.method),
            };
            let Some((head, length)) = read? else {
                self.begun.extend_from_slice(bytes);
                return Ok(None);
            };
            bytes = bytes.get(length..).unwrap_or_default();
            if !is_interim(head.status) {
                self.behind = Bytes::copy_from_slice(bytes);
                return Ok(Some(head));
            }
            self.interim += 1;
            if self.interim > MOST_INTERIM {
                return Err("too many interim answers".into());
            }
            if bytes.is_empty() {
                return Ok(None);
            }
        }
    }
}

/// What is left to send of a request.
#[derive(Debug)]
struct Unsent {
    pieces: VecDeque<Bytes>,
    flushed: bool,
    /// The provider reads no more.
    severed: bool,
}

impl Unsent {
    fn new(head: Vec<u8>, body: &Outgoing) -> Self {
        let mut pieces = VecDeque::with_capacity(1 + body.pieces_left().len());
        pieces.push_back(Bytes::from(head));
        pieces.extend(body.pieces_left().iter().cloned());
        Self {
            pieces,
            flushed: false,
            severed: false,
        }
    }

    fn is_sent(&self) -> bool {
        self.flushed && !self.severed
    }

    /// Sends as much as the connection takes.
    fn poll(&mut self, connection: &mut Connection, cx: &mut Context<'_>) {
        if self.flushed || self.severed {
            return;
        }
        if let Poll::Ready(Err(error)) = self.poll_send(connection, cx) {
            tracing::debug!(%error, "a provider stopped reading");
            self.severed = true;
            self.pieces.clear();
        }
    }

    fn poll_send(
        &mut self,
        connection: &mut Connection,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.pieces.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let mut count = 0;
            for (slice, piece) in slices.iter_mut().zip(&self.pieces) {
                *slice = IoSlice::new(piece);
                count += 1;
            }
            let slices = slices.get(..count).unwrap_or_default();
            let written = ready!(connection.poll_write(cx, slices))?;
            self.advance(written);
        }
        ready!(connection.poll_flush(cx))?;
        self.flushed = true;
        Poll::Ready(Ok(()))
    }

    fn advance(&mut self, mut written: usize) {
        while let Some(piece) = self.pieces.front_mut() {
            if written < piece.len() {
                piece.advance(written);
                return;
            }
            written -= piece.len();
            self.pieces.pop_front();
        }
    }
}

/// The head of a request as it is written (RFC 9112, 3): in absolute form, with what the proxy wants to know of us, where a
/// forward proxy passes it on (3.2.2).
fn head(call: &Call<'_>, forward: Option<Forward<'_>>) -> Vec<u8> {
    let mut text = Vec::with_capacity(256 + 48 * call.headers.len());
    text.extend_from_slice(call.method.as_str().as_bytes());
    text.push(b' ');
    if let Some(forward) = &forward {
        text.extend_from_slice(b"http://");
        text.extend_from_slice(forward.authority.as_bytes());
    }
    text.extend_from_slice(call.target.as_str().as_bytes());
    text.extend_from_slice(b" HTTP/1.1\r\n");
    for (name, value) in &call.headers {
        write_field(name.as_str(), value.as_bytes(), &mut text);
    }
    text.extend_from_slice(b"content-length: ");
    write_number(call.body.len(), &mut text);
    text.extend_from_slice(b"\r\n");
    if let Some(credentials) = forward.and_then(|forward| forward.credentials) {
        write_field("proxy-authorization", credentials.as_bytes(), &mut text);
    }
    text.extend_from_slice(b"\r\n");
    text
}

fn write_field(name: &str, value: &[u8], text: &mut Vec<u8>) {
    text.reserve(name.len() + value.len() + 4);
    text.extend_from_slice(name.as_bytes());
    text.extend_from_slice(b": ");
    text.extend_from_slice(value);
    text.extend_from_slice(b"\r\n");
}

fn write_number(mut number: u64, text: &mut Vec<u8>) {
    let begun = text.len();
    loop {
        text.push(b'0' + u8::try_from(number % 10).unwrap_or_default());
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.get_mut(begun..).unwrap_or_default().reverse();
}

#[cfg(test)]
mod tests;
