//! The series of the store of shared counts. They are there only where one is configured, so that its absence is no alarm.

use prometheus::{IntCounterVec, IntGauge, IntGaugeVec};

use super::labels::SharedEvent;
use super::{Maker, Name};

#[derive(Debug)]
pub(super) struct Families {
    up: IntGaugeVec,
    events: IntCounterVec,
}

impl Families {
    pub(super) fn new(make: &Maker<'_>) -> Result<Self, prometheus::Error> {
        Ok(Self {
            up: make.gauges(Name::SharedStateUp)?,
            events: make.counters(Name::SharedStateEvents)?,
        })
    }

    pub(super) fn series(&self) -> SharedSeries {
        let up = self.up.with_label_values::<&str>(&[]);
        up.set(0);
        for event in SharedEvent::ALL {
            self.events.with_label_values(&[event.label()]);
        }
        SharedSeries {
            up,
            events: self.events.clone(),
        }
    }

    pub(super) fn gone(&self) {
        self.up.reset();
    }
}

/// What is told of a store of shared counts.
#[derive(Debug)]
pub struct SharedSeries {
    up: IntGauge,
    events: IntCounterVec,
}

impl SharedSeries {
    /// Whether the store answers.
    pub fn up(&self, up: bool) {
        self.up.set(up.into());
    }

    /// Something happened `times` times.
    pub fn count(&self, event: SharedEvent, times: u64) {
        self.events
            .with_label_values(&[event.label()])
            .inc_by(times);
    }
}
