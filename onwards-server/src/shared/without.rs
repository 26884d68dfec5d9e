//! A build without the feature `shared-state`: there is no store, and a configuration that names one is refused.

use std::time::Duration;

use onwards_config::{Problems, SharedState as Wanted};
use onwards_limits::Gauge;

use super::{Denied, Granted, Place, unusable};
use crate::metrics::Metrics;
use crate::policy::Meter;

/// There is none.
#[derive(Debug)]
pub(crate) enum Store {}

/// There are none.
#[derive(Debug)]
pub(crate) enum Taken {}

pub(super) fn check(_: &Wanted) -> Result<(), Problems> {
    Err(missing())
}

pub(super) fn connect(_: &Wanted, _: &Metrics) -> Result<Store, Problems> {
    Err(missing())
}

fn missing() -> Problems {
    unusable(
        "a build without the feature `shared-state`",
        "a build with it, or no shared state",
    )
}

impl Store {
    pub(crate) async fn admit(
        &self,
        _: Option<Place<'_>>,
        _: &[&Meter],
    ) -> Result<Granted, Denied> {
        match *self {}
    }

    pub(super) async fn up(&self, _: Duration) {
        match *self {}
    }

    pub(super) async fn settle(&self, _: Duration) {
        match *self {}
    }

    pub(super) fn retire(&self) {
        match *self {}
    }
}

impl Taken {
    pub(crate) fn gauges(&self) -> &[Gauge] {
        match *self {}
    }

    pub(crate) fn give_back(self) {
        match self {}
    }
}
