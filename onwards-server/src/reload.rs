//! Takes up changed files while requests are served: the configuration, the certificate and its key.
//!
//! # How a change is noticed
//! The *directory* is watched, not the file: an editor or a deployment tool replaces a file by a rename, and a watch on
//! the old file would follow it into the void. A mounted config map changes a symlink beside the file, which the same
//! watch sees. Where the file is mounted alone, or the watch misses something, a look every two seconds finds the
//! change. SIGHUP asks for a reload even if the text is the same, because secrets it refers to may have changed.
//!
//! # When it is taken up
//! What counts is the content, not the event. After an event the file is left alone until it has been quiet for
//! 100 ms, or for a second at most; then it is read, and nothing happens if the text is the one already judged. A text
//! that is refused, or a missing file, gets one more quiet period and a second look before it is reported, so a
//! half-written file, or one of a pair, is never an error in the log. A refused text is reported once and the configuration in force
//! stays; so it does while the file is gone, or is no file: a FIFO or a device is never opened, since it may never end.

mod judge;
mod watch;

use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use judge::{Judge, Step};
use watch::Watch;

use crate::files;

/// How often the file is looked at without being told to.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The largest file that is read.
const LARGEST: u64 = 64 * 1024 * 1024;
/// How long a read may take; one from a file system that hangs goes on in its thread, and none is begun beside it.
const READ_PATIENCE: Duration = Duration::from_secs(10);

/// SIGHUP, which from here on asks for a reload and is not deadly.
///
/// # Errors
/// The system refuses a handler.
pub(crate) fn hangup() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}

/// What is needed to reload.
#[derive(Debug)]
pub(crate) struct Settings {
    /// What the files hold, for messages.
    pub(crate) what: &'static str,
    /// The files, which are judged together.
    pub(crate) paths: Vec<PathBuf>,
    /// Their texts in force, in the same order.
    pub(crate) current: Vec<Vec<u8>>,
    /// Whether to notice changes; if not, only SIGHUP reloads.
    pub(crate) watch: bool,
}

/// The task that reloads. Dropping it ends the task.
#[derive(Debug)]
pub(crate) struct Reloader {
    _task: JoinSet<()>,
}

impl Reloader {
    /// Starts to watch; `apply` judges the texts of the files and, if they are good, puts them into force.
    pub(crate) fn start<A, E>(settings: Settings, hangup: Signal, apply: A) -> Self
    where
        A: FnMut(&[Vec<u8>]) -> Result<(), E> + Send + 'static,
        E: Display,
    {
        let look_every = settings.watch.then_some(LOOK_EVERY);
        Self::begin(settings, hangup, look_every, apply)
    }

    fn begin<A, E>(
        settings: Settings,
        hangup: Signal,
        look_every: Option<Duration>,
        mut apply: A,
    ) -> Self
    where
        A: FnMut(&[Vec<u8>]) -> Result<(), E> + Send + 'static,
        E: Display,
    {
        let Settings {
            what,
            paths,
            current,
            watch,
        } = settings;
        let (watch, stirred) = if watch {
            Watch::start(&paths)
        } else {
            Watch::none()
        };
        let triggers = Triggers {
            stirred,
            hangup: Hangup::Signal(hangup),
            look_every,
        };
        let files = Files {
            what,
            paths,
            watch,
            reading: JoinSet::new(),
        };
        let mut task = JoinSet::new();
        task.spawn(async move { run(files, triggers, Judge::new(&current), &mut apply).await });
        Self { _task: task }
    }
}

/// Where the texts come from.
trait Source {
    /// The texts now.
    fn read(&mut self) -> impl Future<Output = io::Result<Vec<Vec<u8>>>> + Send;

    /// What they hold, for messages.
    fn what(&self) -> &'static str;

    /// Where they lie, for messages.
    fn name(&self) -> impl Display;
}

struct Files {
    what: &'static str,
    paths: Vec<PathBuf>,
    watch: Option<Watch>,
    /// The read that has not ended, if there is one.
    reading: JoinSet<io::Result<Vec<Vec<u8>>>>,
}

impl Source for Files {
    async fn read(&mut self) -> io::Result<Vec<Vec<u8>>> {
        if let Some(watch) = &mut self.watch {
            watch.follow(&self.paths);
        }
        if self.reading.is_empty() {
            let paths = self.paths.clone();
            self.reading.spawn_blocking(move || {
                paths
                    .iter()
                    .map(|path| files::read(path, LARGEST))
                    .collect()
            });
        }
        match timeout(READ_PATIENCE, self.reading.join_next()).await {
            Ok(Some(Ok(texts))) => texts,
            Ok(_) => Err(io::Error::other("reading it failed")),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    fn what(&self) -> &'static str {
        self.what
    }

    fn name(&self) -> impl Display {
        let names: Vec<_> = self
            .paths
            .iter()
            .map(|path| path.to_string_lossy())
            .collect();
        names.join(" and ")
    }
}

/// What makes the task look at the file.
struct Triggers {
    stirred: mpsc::Receiver<()>,
    hangup: Hangup,
    look_every: Option<Duration>,
}

/// SIGHUP, or its stand-in in a test.
enum Hangup {
    Signal(Signal),
    #[cfg(test)]
    Fed(mpsc::Receiver<()>),
}

impl Hangup {
    async fn next(&mut self) {
        let got = match self {
            Self::Signal(signal) => signal.recv().await,
            #[cfg(test)]
            Self::Fed(fed) => fed.recv().await,
        };
        if got.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// The life of the task.
async fn run<S, A, E>(mut source: S, mut triggers: Triggers, mut judge: Judge, mut apply: A)
where
    S: Source,
    A: FnMut(&[Vec<u8>]) -> Result<(), E>,
    E: Display,
{
    let what = source.what();
    let mut look = triggers.look_every.map(|_| Instant::now());
    let mut watching = true;
    loop {
        tokio::select! {
            event = triggers.stirred.recv(), if watching => match event {
                Some(()) => judge.stirred(Instant::now()),
                None => watching = false,
            },
            () = triggers.hangup.next() => {
                tracing::info!("SIGHUP: reading the {what} again");
                judge.demanded(Instant::now());
            }
            () = until(look) => {
                judge.stirred(Instant::now());
                look = triggers.look_every.map(|every| Instant::now() + every);
            }
            () = until(judge.due()) => {
                let texts = source.read().await;
                match judge.read(texts.as_deref().map_err(io::Error::kind), Instant::now()) {
                    Step::Rest => {}
                    Step::Apply => match apply(texts.as_deref().unwrap_or_default()) {
                        Ok(()) => judge.accepted(),
                        Err(problems) => {
                            if judge.refused(Instant::now()) {
                                tracing::error!(file = %source.name(), "{what} refused, the one in force stays: {problems}");
                            }
                        }
                    },
                    Step::Missing => {
                        if let Err(error) = texts {
                            tracing::error!(file = %source.name(), %error, "{what} cannot be read, the one in force stays");
                        }
                    }
                }
            }
        }
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
