//! Token buckets: the call of the script, its answer, and the buckets of this process for when the store is away.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use onwards_limits::{Bucket, Gauge, Rate, Refused, give_back_all, take_all};
use redis::{Cmd, Value};
use tokio::time::Instant;

use crate::script::{Script, call};

/// One bucket to take a token from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit<'a> {
    /// Its name in the store, the same in every gateway, such as `pool:gpt-4`. Never a secret: it is stored in clear.
    /// Names must be bounded by configuration, not by traffic.
    pub name: &'a str,
    /// Tokens per second and burst. An argument of each call, so a reload changes it and the level lives on.
    pub rate: Rate,
}

/// What was decided about several buckets, and how they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) refused: Option<Refused>,
    pub(crate) gauges: Vec<Gauge>,
}

/// The call for one token from each.
pub(crate) fn taking(script: &Script, keys: &[String], limits: &[Limit<'_>]) -> Cmd {
    let mut command = call(script, keys);
    with_rates(&mut command, limits);
    command
}

/// Adds the arguments that say how fast each bucket fills and what it holds.
pub(crate) fn with_rates(command: &mut Cmd, limits: &[Limit<'_>]) {
    for limit in limits {
        // Written so that it reads back as the same number.
        command
            .arg(format!("{:?}", limit.rate.per_second()))
            .arg(limit.rate.burst());
    }
}

/// Reads the script's answer; none if it has another shape.
pub(crate) fn decision(answer: &Value, limits: &[Limit<'_>]) -> Option<Decision> {
    let Value::Array(numbers) = answer else {
        return None;
    };
    let mut numbers = numbers.iter().map(|number| match number {
        Value::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    });
    let position = numbers.next()??;
    let mut gauges = Vec::with_capacity(limits.len());
    for limit in limits {
        gauges.push(Gauge {
            limit: limit.rate.burst(),
            remaining: u32::try_from(numbers.next()??).unwrap_or(u32::MAX),
            next: Duration::from_micros(numbers.next()??),
            reset: Duration::from_micros(numbers.next()??),
        });
    }
    let refused = match usize::try_from(position).ok()?.checked_sub(1) {
        None => None,
        Some(index) => Some(Refused {
            index,
            wait: gauges.get(index)?.next,
        }),
    };
    Some(Decision { refused, gauges })
}

/// The buckets of this process alone. One lock, held for the arithmetic, since it serves only while the store is away.
#[derive(Debug)]
pub(crate) struct LocalRates {
    start: Instant,
    buckets: Mutex<HashMap<String, Bucket>>,
}

impl LocalRates {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            buckets: Mutex::default(),
        }
    }

    /// Takes one token from each, or none.
    pub(crate) fn take(&self, keys: &[String], limits: &[Limit<'_>]) -> Decision {
        let now = self.start.elapsed();
        let mut table = self.lock();
        for (key, limit) in keys.iter().zip(limits) {
            match table.get(key) {
                Some(bucket) => bucket.set_rate(limit.rate, now),
                None => {
                    table.insert(key.clone(), Bucket::new(limit.rate, now));
                }
            }
        }
        let buckets: Vec<&Bucket> = keys.iter().filter_map(|key| table.get(key)).collect();
        let refused = take_all(buckets.iter().copied(), now).err();
        let gauges = buckets.iter().map(|bucket| bucket.gauge(now)).collect();
        Decision { refused, gauges }
    }

    /// Undoes one take.
    pub(crate) fn give_back(&self, keys: &[String]) {
        let table = self.lock();
        give_back_all(keys.iter().filter_map(|key| table.get(key)));
    }

    /// Forgets full buckets: a new one is no different.
    pub(crate) fn sweep(&self) {
        let now = self.start.elapsed();
        self.lock()
            .retain(|_, bucket| !bucket.gauge(now).reset.is_zero());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Bucket>> {
        // Nothing in here panics while the lock is held.
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
