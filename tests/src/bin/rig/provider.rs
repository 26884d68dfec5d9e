//! The provider: a listener for each answer, so that nothing of a request needs to be understood but its length and, for
//! streams, which client sent it.

use std::cell::Cell;
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::spawn_local;

use crate::answers::{self, Answer};
use crate::pieces;

/// The most connections of clients that streams are paced for.
pub(crate) const LANES: usize = 256;

/// What clients and provider have to do with each other past the gateway.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// The client of that number has got what was written last.
    pub(crate) got: Vec<Notify>,
    /// Instructions are counted: what is long is written in [`pieces`].
    pub(crate) counted: bool,
    /// Answers that were sent.
    answers: Cell<u64>,
}

pub(crate) fn lanes(counted: bool) -> Rc<Lanes> {
    let got = (0..LANES).map(|_| Notify::new()).collect();
    Rc::new(Lanes {
        got,
        counted,
        answers: Cell::new(0),
    })
}

/// Listens on a free port, which it gives, and answers everything with `answer`.
pub(crate) async fn start(answer: Answer, lanes: &Rc<Lanes>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    let (answer, lanes) = (Rc::new(answer), Rc::clone(lanes));
    spawn_local(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            stream.set_nodelay(true).expect("a socket");
            spawn_local(serve(stream, Rc::clone(&answer), Rc::clone(&lanes)));
        }
    });
    port
}

/// Until the gateway closes the connection.
async fn serve(mut stream: TcpStream, answer: Rc<Answer>, lanes: Rc<Lanes>) {
    let mut buffer = Vec::with_capacity(2048);
    let mut answer = Answer::clone(&answer);
    while let Some(length) = request(&mut stream, &mut buffer).await {
        lanes.answers.set(lanes.answers.get() + 1);
        renumber(head(&mut answer), lanes.answers.get());
        let sent = match &answer {
            Answer::Whole(bytes) => pieces::write(&mut stream, bytes, lanes.counted).await,
            Answer::Steps(steps) => {
                let lane = &lanes.got[lane(&buffer[..length])];
                let mut sent = Ok(());
                for (at, step) in steps.iter().enumerate() {
                    if at > 0 {
                        lane.notified().await;
                    }
                    sent = sent.and(stream.write_all(&step.bytes).await);
                }
                sent
            }
            Answer::Held(bytes) => stream.write_all(bytes).await,
        };
        buffer.drain(..length);
        if sent.is_err() {
            return;
        }
    }
}

/// The bytes that begin with the answer's head.
fn head(answer: &mut Answer) -> &mut [u8] {
    match answer {
        Answer::Whole(bytes) | Answer::Held(bytes) => bytes,
        Answer::Steps(steps) => &mut steps[0].bytes,
    }
}

/// Gives the fields that differ from answer to answer other values, of the same length.
fn renumber(answer: &mut [u8], number: u64) {
    let end = find(answer, b"\r\n\r\n").expect("a head");
    for (name, digits) in answers::CHANGING {
        let at = find(&answer[..end], name.as_bytes()).expect("a field") + name.len();
        let text = format!(
            "{:0digits$}",
            number % 10_u64.pow(*digits as u32),
            digits = *digits
        );
        answer[at..at + digits].copy_from_slice(text.as_bytes());
    }
}

/// Reads until a request is whole; its length. `None`: the connection has ended.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<usize> {
    loop {
        if let Some(length) = length(buffer)
            && buffer.len() >= length
        {
            return Some(length);
        }
        if !matches!(stream.read_buf(buffer).await, Ok(read) if read > 0) {
            return None;
        }
    }
}

/// How long the request at the start is, once its head is whole.
fn length(bytes: &[u8]) -> Option<usize> {
    let head = find(bytes, b"\r\n\r\n")?;
    let text = std::str::from_utf8(&bytes[..head]).expect("a head in ASCII");
    let mut fields = text.split("\r\n").filter_map(|line| line.split_once(": "));
    let field = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let (_, digits) = field.expect("every request of the rig has a length");
    Some(head + 4 + digits.parse::<usize>().expect("a length"))
}

/// The number of the client, which it says in its text: whatever the provider speaks, that arrives.
fn lane(request: &[u8]) -> usize {
    const MARK: &[u8] = b"(client ";
    let at = find(request, MARK).expect("the client's number") + MARK.len();
    let digits = request[at..].split(|&byte| byte == b')').next();
    let digits = std::str::from_utf8(digits.unwrap_or_default()).expect("digits");
    digits.parse().expect("a number")
}

/// Where `mark` begins.
pub(crate) fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    bytes.windows(mark.len()).position(|window| window == mark)
}
