//! The client: keep-alive connections in a closed loop. Of every answer each byte is compared with those of the first
//! one, but for times and ids that the gateway made, and the first one is looked at closely.

use std::net::SocketAddr;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::pieces;
use crate::provider::{Lanes, find};

/// The longest wait for an answer; under a counter all is fifty times slower.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the answer to one request has to come.
#[derive(Debug)]
pub(crate) struct Expected {
    /// The body without its framing.
    pub(crate) body: Vec<u8>,
    /// Where in the body each step of a stream ends; of a whole answer, its end.
    pub(crate) steps: Vec<usize>,
    /// Where in the body another answer may have other bytes, in order.
    varying: Vec<Range<usize>>,
}

impl Expected {
    /// This body, whose events come in steps of these sizes; with `varying` other answers may have other times and ids.
    pub(crate) fn new(body: Vec<u8>, steps: &[usize], varying: bool) -> Self {
        let ends: Vec<usize> = (0..body.len())
            .filter(|&at| body[at..].starts_with(b"\n\n"))
            .map(|at| at + 2)
            .collect();
        let mut events = 0;
        let mut place = |step: &usize| {
            events += step;
            ends[events - 1]
        };
        let mut steps: Vec<usize> = steps.iter().map(&mut place).collect();
        if steps.is_empty() {
            steps.push(body.len());
        }
        assert_eq!(steps.last(), Some(&body.len()), "events are missing");
        let mut places = Vec::new();
        if varying {
            places = values(&body, b"\"created\":", b",");
            places.extend(values(&body, b"\"id\":\"", b"\""));
            places.sort_by_key(|place| place.start);
        }
        Self {
            body,
            steps,
            varying: places,
        }
    }

    /// Whether `run` may stand at this place of the body.
    fn has(&self, at: usize, run: &[u8]) -> bool {
        let end = at + run.len();
        let Some(wanted) = self.body.get(at..end) else {
            return false;
        };
        let same = |from: usize, to: usize| {
            from >= to || wanted[from - at..to - at] == run[from - at..to - at]
        };
        let first = self.varying.partition_point(|place| place.end <= at);
        let mut from = at;
        for place in self.varying[first..]
            .iter()
            .take_while(|place| place.start < end)
        {
            if !same(from, place.start) {
                return false;
            }
            from = place.end;
        }
        same(from, end)
    }
}

/// Where values stand between `mark` and `end`.
fn values(body: &[u8], mark: &[u8], end: &[u8]) -> Vec<Range<usize>> {
    let marks = (0..body.len()).filter(|&at| body[at..].starts_with(mark));
    marks
        .map(|at| at + mark.len())
        .filter_map(|start| Some(start..start + find(&body[start..], end)?))
        .collect()
}

/// How a body ends.
#[derive(Debug)]
enum Framing {
    Length(usize),
    Chunked,
}

/// A connection to the gateway.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    /// What was read; before `at` it has been handled.
    buffer: Vec<u8>,
    at: usize,
    lanes: Rc<Lanes>,
    lane: usize,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr, lanes: &Rc<Lanes>, lane: usize) -> Self {
        let stream = TcpStream::connect(address).await.expect("the gateway");
        stream.set_nodelay(true).expect("a socket");
        Self {
            stream,
            buffer: Vec::with_capacity(16 * 1024),
            at: 0,
            lanes: Rc::clone(lanes),
            lane,
        }
    }

    /// The body of an answer that nothing is known about but the sizes of its steps; each step's arrival is told.
    pub(crate) async fn learn(&mut self, request: &[u8], steps: &[usize]) -> Vec<u8> {
        self.send(request).await;
        let framing = self.head().await;
        let (mut body, mut events, mut step) = (Vec::new(), 0, 0);
        let mut due = steps.first().copied().unwrap_or(usize::MAX);
        let mut reader = Reader::new(framing);
        loop {
            while let Some(run) = reader.next(&self.buffer, &mut self.at) {
                let from = body.len().saturating_sub(1);
                body.extend_from_slice(run);
                events += body[from..].windows(2).filter(|two| two == b"\n\n").count();
            }
            if reader.is_end() {
                return body;
            }
            if events >= due && step + 1 < steps.len() {
                step += 1;
                due += steps[step];
                self.lanes.got[self.lane].notify_one();
            }
            self.read().await;
        }
    }

    /// One request, whose answer has to be as expected; how long each of its steps took goes to `laps`.
    pub(crate) async fn ask(
        &mut self,
        request: &[u8],
        expected: &Expected,
        laps: &mut Vec<Duration>,
    ) {
        let mut begun = Instant::now();
        self.send(request).await;
        let mut reader = Reader::new(self.head().await);
        let (mut got, mut step) = (0, 0);
        loop {
            while let Some(run) = reader.next(&self.buffer, &mut self.at) {
                assert!(
                    expected.has(got, run),
                    "another answer than the first one: {}",
                    String::from_utf8_lossy(run)
                );
                got += run.len();
            }
            if step + 1 < expected.steps.len() && got == expected.steps[step] {
                step += 1;
                let now = Instant::now();
                laps.push(now - begun);
                begun = now;
                self.lanes.got[self.lane].notify_one();
            }
            if reader.is_end() {
                break;
            }
            self.read().await;
        }
        assert_eq!(got, expected.body.len(), "a shorter answer");
        assert_eq!(self.at, self.buffer.len(), "more than an answer");
        laps.push(begun.elapsed());
    }

    /// Begins a request and reads its answer as far as the end of its first event.
    pub(crate) async fn hold(&mut self, request: &[u8]) {
        self.send(request).await;
        self.head().await;
        while find(&self.buffer[self.at..], b"\n\n").is_none() {
            self.read().await;
        }
        // As a client that has read this would: nothing is kept.
        self.buffer = Vec::new();
        self.at = 0;
    }

    async fn send(&mut self, request: &[u8]) {
        self.buffer.clear();
        self.at = 0;
        let sent = pieces::write(&mut self.stream, request, self.lanes.counted).await;
        sent.expect("an open connection");
    }

    async fn read(&mut self) {
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
        }
        let read = timeout(PATIENCE, self.stream.read_buf(&mut self.buffer)).await;
        let read = read
            .expect("an answer in time")
            .expect("an open connection");
        assert!(read > 0, "the gateway closed the connection");
    }

    /// Reads the head, whose status has to be 200.
    async fn head(&mut self) -> Framing {
        let end = loop {
            match find(&self.buffer, b"\r\n\r\n") {
                Some(end) => break end,
                None => self.read().await,
            }
        };
        let head = std::str::from_utf8(&self.buffer[..end]).expect("a head in ASCII");
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        let mut fields = head.split("\r\n").filter_map(|line| line.split_once(": "));
        let framing = fields.find_map(|(name, value)| match name.to_ascii_lowercase().as_str() {
            "content-length" => Some(Framing::Length(value.parse().expect("a length"))),
            "transfer-encoding" => Some(Framing::Chunked),
            _ => None,
        });
        self.at = end + 4;
        framing.expect("a framed body")
    }
}

/// Takes the payload of one body out of what was read.
struct Reader {
    /// Bytes of payload left: of the body, or of its present chunk.
    left: usize,
    chunked: bool,
    /// The end of a chunk's data is still to come.
    data: bool,
    end: bool,
}

impl Reader {
    fn new(framing: Framing) -> Self {
        let (left, chunked) = match framing {
            Framing::Length(length) => (length, false),
            Framing::Chunked => (0, true),
        };
        Self {
            left,
            chunked,
            data: false,
            end: !chunked && left == 0,
        }
    }

    fn is_end(&self) -> bool {
        self.end
    }

    /// The next run of payload in what was read and not yet handled.
    fn next<'a>(&mut self, buffer: &'a [u8], at: &mut usize) -> Option<&'a [u8]> {
        if self.end {
            return None;
        }
        if self.left == 0 && !self.chunk(&buffer[*at..], at) {
            return None;
        }
        let run = &buffer[*at..];
        let run = &run[..run.len().min(self.left)];
        self.left -= run.len();
        *at += run.len();
        self.end = !self.chunked && self.left == 0;
        (!run.is_empty()).then_some(run)
    }

    /// Reads what stands between the data of two chunks, if it is whole and not the end.
    fn chunk(&mut self, rest: &[u8], at: &mut usize) -> bool {
        let skip = if self.data { 2 } else { 0 };
        let Some(line) = rest.get(skip..).and_then(|line| find(line, b"\r\n")) else {
            return false;
        };
        let digits = std::str::from_utf8(&rest[skip..skip + line]).expect("a chunk's size");
        let size = usize::from_str_radix(digits, 16).expect("a chunk's size");
        let length = skip + line + 2;
        if size > 0 {
            *at += length;
            (self.left, self.data) = (size, true);
        } else if let Some(last) = rest.get(length..length + 2) {
            assert_eq!(last, b"\r\n", "trailers");
            *at += length + 2;
            self.end = true;
        }
        size > 0
    }
}

#[cfg(test)]
mod tests;
