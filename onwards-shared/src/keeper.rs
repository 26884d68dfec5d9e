//! The background task: finds and keeps the connection, renews leases, sends releases and refunds.
//!
//! # Rules
//!
//! * **Order**: one task does all three, one after the other, so a release always follows the renewals that named its
//!   slot and none is brought back.
//! * **Away**: the connection at hand is tried first, since only its order of commands is known to hold; one that
//!   fails is replaced. Pauses double from 50 ms to 2 s, with jitter, and start over, with a
//!   try at once, only after a calm of 2 s, so a store that comes and goes is not asked at full pace.
//! * **Back** is a store that carries out a script within the bound, and that has been told of all slots held here.
//!   One that answers slower stays away: it would time out the requests it came back for.
//! * **End**: when all handles and guards are gone and everything queued is sent, or at once when away.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Pipeline, RedisResult, Value};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, sleep, timeout};

use crate::core::{Core, random};
use crate::leases::Number;
use crate::link::Live;
use crate::observer::{Event, Reason};
use crate::script;

/// Something to send when there is time.
#[derive(Debug)]
pub(crate) enum Note {
    /// A slot is free.
    Release { key: Arc<str>, number: Number },
    /// A token each was not used.
    GiveBack { keys: Vec<String> },
    /// Everything before this is sent.
    Sent(oneshot::Sender<()>),
}

/// Notes sent in one go.
const BATCH: usize = 512;
/// Pause between two looks at a connection that nobody uses, so that its end is noticed before a request needs it.
const BEAT: Duration = Duration::from_secs(1);
/// Time for what nobody waits for: connecting, renewing, releasing.
const PATIENCE: Duration = Duration::from_secs(1);
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Runs until the other end of `notes` is gone. `alive` ends with the last handle.
pub(crate) async fn keep(
    core: Arc<Core>,
    client: Client,
    notes: mpsc::Receiver<Note>,
    alive: watch::Receiver<()>,
) {
    let every = |period| {
        let mut ticks = interval_at(Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    };
    let keeper = Keeper {
        client,
        notes,
        alive,
        renewal: every(core.settings.lease / 3),
        beat: every(BEAT),
        core,
        connection: None,
        batch: Vec::new(),
        pause: SHORTEST_PAUSE,
        risen: None,
    };
    keeper.run().await;
}

struct Keeper {
    core: Arc<Core>,
    client: Client,
    notes: mpsc::Receiver<Note>,
    alive: watch::Receiver<()>,
    renewal: Interval,
    beat: Interval,
    /// The last connection, also while out of use.
    connection: Option<MultiplexedConnection>,
    /// Notes taken from the queue and not sent yet.
    batch: Vec<Note>,
    pause: Duration,
    /// When a connection was last brought into use.
    risen: Option<Instant>,
}

impl Keeper {
    async fn run(mut self) {
        loop {
            let Some(live) = self.core.link.live() else {
                if !self.come_back().await {
                    return;
                }
                continue;
            };
            if !self.batch.is_empty() {
                self.send_batch(&live).await;
                continue;
            }
            let core = Arc::clone(&self.core);
            tokio::select! {
                () = core.link.fallen() => {}
                _ = self.renewal.tick() => {
                    core.rates.sweep();
                    let renewed = self.renew_by(&mut live.connection()).await;
                    self.or_fall(&live, renewed);
                }
                _ = self.beat.tick() => {
                    let beat = send(&mut live.connection(), &ping()).await;
                    self.or_fall(&live, beat.map(drop));
                }
                count = self.notes.recv_many(&mut self.batch, BATCH) => {
                    if count == 0 {
                        return;
                    }
                }
            }
        }
    }

    /// Tries until there is a connection in use; false once nobody needs one.
    async fn come_back(&mut self) -> bool {
        // Whoever took the connection out of use said so.
        let mut said = self.risen.is_some();
        let calm = self
            .risen
            .is_none_or(|risen| risen.elapsed() >= LONGEST_PAUSE);
        if calm {
            self.pause = SHORTEST_PAUSE;
        } else if !self.rest().await {
            return false;
        }
        loop {
            self.core.rates.sweep();
            match self.try_once().await {
                Ok(connection) => {
                    let after = self.core.link.rise(connection);
                    self.risen = Some(Instant::now());
                    // Slots entered since the store was told of all.
                    self.renewal.reset_immediately();
                    self.core.observer.event(&Event::Back { after });
                    return true;
                }
                Err(reason) if !said => {
                    said = true;
                    self.core.observer.event(&Event::Away(reason));
                }
                Err(_) => {}
            }
            if !self.rest().await {
                return false;
            }
        }
    }

    /// Pauses, longer each time; false once nobody needs a connection.
    async fn rest(&mut self) -> bool {
        let pause = self.pause.mul_f64(jitter());
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        tokio::select! {
            () = sleep(pause) => true,
            // Never sent to: it ends, and then there is nobody left.
            _ = self.alive.changed() => false,
        }
    }

    /// A connection that works, within the bound, and knows all slots held here.
    async fn try_once(&mut self) -> Result<MultiplexedConnection, Reason> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(Some(PATIENCE))
                    .set_response_timeout(None);
                self.client
                    .get_multiplexed_async_connection_with_config(&config)
                    .await
                    .map_err(|error| Reason::of(&error))?
            }
        };
        // Compiling scripts takes a store longer than running them, which is what the bound is about.
        let loaded = send(&mut connection, &self.core.scripts.loading()).await?;
        self.look_for_errors(&loaded)?;
        let probe = self.core.scripts.probing(&self.core.keys.probe());
        let asked = Instant::now();
        let answers = send(&mut connection, &probe).await?;
        let took = asked.elapsed();
        self.look_for_errors(&answers)?;
        // From here on the connection is sound, if perhaps slow.
        self.connection = Some(connection.clone());
        if took > self.core.settings.bound {
            return Err(Reason::Slow { took });
        }
        self.renew_by(&mut connection).await?;
        Ok(connection)
    }

    fn or_fall(&self, live: &Arc<Live>, result: Result<(), Reason>) {
        if let Err(reason) = result {
            self.core.fall(live, reason);
        }
    }

    /// Tells the store of all slots in one call; says so if it had lost some.
    async fn renew_by(&mut self, connection: &mut MultiplexedConnection) -> Result<(), Reason> {
        let renewals = self.core.leases.renewals();
        if renewals.is_empty() {
            return Ok(());
        }
        let lease = self.core.settings.lease_millis();
        let scripts = &self.core.scripts;
        let mut pipeline = redis::pipe();
        pipeline.add_command(script::load(&scripts.renew));
        for renewal in &renewals {
            scripts.renewing(&mut pipeline, &renewal.key, &renewal.known, lease);
        }
        let expected = pipeline.len();
        for renewal in &renewals {
            scripts.renewing(&mut pipeline, &renewal.key, &renewal.others, lease);
        }
        let answers = send(connection, &pipeline).await?;
        self.look_for_errors(&answers)?;
        self.core.leases.renewed(&renewals);
        let count: u64 = answers
            .iter()
            .take(expected)
            .filter_map(|answer| match answer {
                Value::Int(added) => u64::try_from(*added).ok(),
                _ => None,
            })
            .sum();
        if count > 0 {
            self.core.observer.event(&Event::LeaseLost { count });
        }
        Ok(())
    }

    /// Sends what was taken from the queue. Releases that fail are kept, since a second one does no harm; a refund may
    /// have been carried out, and a token too few is better than one too many.
    async fn send_batch(&mut self, live: &Arc<Live>) {
        let pipeline = self.pipeline();
        if !pipeline.is_empty() {
            let sent = send(&mut live.connection(), &pipeline).await;
            if let Err(reason) = sent.and_then(|answers| self.look_for_errors(&answers)) {
                self.batch
                    .retain(|note| !matches!(note, Note::GiveBack { .. }));
                self.core.fall(live, reason);
                return;
            }
        }
        for note in self.batch.drain(..) {
            if let Note::Sent(asked) = note {
                // Whoever asked may have gone.
                let _gone = asked.send(());
            }
        }
    }

    /// A key of another kind is one key's trouble; any other error is the store's.
    fn look_for_errors(&self, answers: &[Value]) -> Result<(), Reason> {
        for code in errors(answers) {
            if code != "WRONGTYPE" {
                return Err(Reason::Server { code });
            }
            self.core.faulted(&code);
        }
        Ok(())
    }

    fn pipeline(&self) -> Pipeline {
        let scripts = &self.core.scripts;
        let mut pipeline = redis::pipe();
        let mut releases: HashMap<&str, Vec<Number>> = HashMap::new();
        let mut refunds: Vec<&[String]> = Vec::new();
        for note in &self.batch {
            match note {
                Note::Release { key, number } => releases.entry(key).or_default().push(*number),
                Note::GiveBack { keys } => refunds.push(keys),
                Note::Sent(_) => {}
            }
        }
        for (key, numbers) in releases {
            pipeline.add_command(scripts.releasing(key, &numbers));
        }
        if !refunds.is_empty() {
            pipeline.add_command(script::load(&scripts.give_back));
        }
        for keys in refunds {
            pipeline.add_command(script::call(&scripts.give_back, keys));
        }
        pipeline
    }
}

fn ping() -> Pipeline {
    let mut pipeline = redis::pipe();
    pipeline.cmd("PING");
    pipeline
}

/// Sends many commands at once and waits for all answers; errors among them are values.
async fn send(
    connection: &mut MultiplexedConnection,
    pipeline: &Pipeline,
) -> Result<Vec<Value>, Reason> {
    let sent = connection.send_packed_commands(pipeline, 0, pipeline.len());
    let answers: RedisResult<Vec<Value>> = timeout(PATIENCE, sent)
        .await
        .map_err(|_late| Reason::TimedOut)?;
    answers.map_err(|error| Reason::of(&error))
}

/// Codes of the errors among answers.
fn errors(answers: &[Value]) -> impl Iterator<Item = String> {
    answers.iter().filter_map(|answer| match answer {
        Value::ServerError(error) => Some(error.code().to_owned()),
        _ => None,
    })
}

/// Between a half and one, so that gateways that lost the store together do not come back together.
fn jitter() -> f64 {
    let random = random() as u32;
    0.5 + f64::from(random) / f64::from(u32::MAX) / 2.0
}
