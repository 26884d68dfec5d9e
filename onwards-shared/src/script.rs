//! The scripts, and the commands that call them. Each runs as a whole, nobody in between, on the store's own clock.

use redis::aio::MultiplexedConnection;
use redis::{Cmd, ErrorKind, Pipeline, RedisResult, ServerErrorKind, Value};

use crate::leases::Number;

/// A script and the hash it is called by.
#[derive(Debug)]
pub(crate) struct Script {
    text: &'static str,
    hash: String,
}

impl Script {
    fn new(text: &'static str) -> Self {
        let hash = redis::Script::new(text).get_hash().to_owned();
        Self { text, hash }
    }
}

/// The scripts and the name this process goes by in the store.
#[derive(Debug)]
pub(crate) struct Scripts {
    pub(crate) enter: Script,
    pub(crate) renew: Script,
    pub(crate) take: Script,
    pub(crate) admit: Script,
    pub(crate) give_back: Script,
    instance: String,
}

/// Members in one call; a script's arguments are finite.
const MEMBERS: usize = 1000;

impl Scripts {
    /// `instance` differs from that of every other process.
    pub(crate) fn new(instance: String) -> Self {
        Self {
            enter: Script::new(include_str!("scripts/enter.lua")),
            renew: Script::new(include_str!("scripts/renew.lua")),
            take: Script::new(concat!(
                include_str!("scripts/rates.lua"),
                include_str!("scripts/take.lua")
            )),
            admit: Script::new(concat!(
                include_str!("scripts/rates.lua"),
                include_str!("scripts/admit.lua")
            )),
            give_back: Script::new(include_str!("scripts/give_back.lua")),
            instance,
        }
    }

    /// The slot's name in the store.
    pub(crate) fn member(&self, number: Number) -> String {
        format!("{}:{number:x}", self.instance)
    }

    /// Counts a slot under `key`: answers 1 or 0.
    pub(crate) fn entering(&self, key: &str, number: Number, limit: u32, lease_ms: u64) -> Cmd {
        let mut command = call(&self.enter, &[key]);
        command.arg(self.member(number)).arg(limit).arg(lease_ms);
        command
    }

    /// Sees to it that all scripts are there.
    pub(crate) fn loading(&self) -> Pipeline {
        let mut pipeline = redis::pipe();
        for script in [
            &self.enter,
            &self.renew,
            &self.take,
            &self.admit,
            &self.give_back,
        ] {
            pipeline.add_command(load(script));
        }
        pipeline
    }

    /// Enters and releases a slot under a key nobody else looks at.
    pub(crate) fn probing(&self, key: &str) -> Pipeline {
        let mut pipeline = redis::pipe();
        pipeline
            .add_command(self.entering(key, 0, u32::MAX, 1000))
            .add_command(self.releasing(key, &[0]));
        pipeline
    }

    /// Renews slots of one key, in as many calls as it takes.
    pub(crate) fn renewing(
        &self,
        pipeline: &mut Pipeline,
        key: &str,
        numbers: &[Number],
        lease_ms: u64,
    ) {
        for numbers in numbers.chunks(MEMBERS) {
            let mut command = call(&self.renew, &[key]);
            command.arg(lease_ms);
            for &number in numbers {
                command.arg(self.member(number));
            }
            pipeline.add_command(command);
        }
    }

    /// Releases slots of one key.
    pub(crate) fn releasing(&self, key: &str, numbers: &[Number]) -> Cmd {
        let mut command = redis::cmd("ZREM");
        command.arg(key);
        for &number in numbers {
            command.arg(self.member(number));
        }
        command
    }
}

/// A call of a script by its hash, without its arguments.
pub(crate) fn call<K: AsRef<str>>(script: &Script, keys: &[K]) -> Cmd {
    let mut command = redis::cmd("EVALSHA");
    command.arg(&script.hash).arg(keys.len());
    for key in keys {
        command.arg(key.as_ref());
    }
    command
}

/// The command that makes a script known.
pub(crate) fn load(script: &Script) -> Cmd {
    let mut command = redis::cmd("SCRIPT");
    command.arg("LOAD").arg(script.text);
    command
}

/// Sends one call: one round trip, and a second only when the store has forgotten the script.
pub(crate) async fn send(
    connection: &mut MultiplexedConnection,
    script: &Script,
    command: &Cmd,
) -> RedisResult<Value> {
    match answer(connection.send_packed_command(command).await) {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            let mut pipeline = redis::pipe();
            pipeline
                .add_command(load(script))
                .add_command(command.clone());
            let answers = connection.send_packed_commands(&pipeline, 0, 2).await?;
            answer(answers.into_iter().last().ok_or_else(unexpected))
        }
        other => other,
    }
}

/// An error that came as a value is an error.
pub(crate) fn answer(value: RedisResult<Value>) -> RedisResult<Value> {
    match value {
        Ok(Value::ServerError(error)) => Err(error.into()),
        other => other,
    }
}

/// An answer of another shape than the script gives.
pub(crate) fn unexpected() -> redis::RedisError {
    (
        ErrorKind::UnexpectedReturnType,
        "an answer of another shape",
    )
        .into()
}
