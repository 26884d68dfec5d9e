//! The gauge of all proxied requests in flight. Their count decides who is let in, so it is kept elsewhere and only read
//! here, when somebody scrapes: a request is counted once.

use std::sync::Arc;

use onwards_limits::Slots;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntGauge, Opts};

use super::names::Name;

/// A gauge with the number of slots in use.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    gauge: IntGauge,
    count: Arc<Slots>,
}

impl Shown {
    pub(super) fn new(count: Arc<Slots>) -> Result<Self, prometheus::Error> {
        let row = Name::RequestsInflight.row();
        let gauge = IntGauge::with_opts(Opts::new(row.name, row.help))?;
        Ok(Self { gauge, count })
    }
}

impl Collector for Shown {
    fn desc(&self) -> Vec<&Desc> {
        self.gauge.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.gauge.set(self.count.in_use().into());
        self.gauge.collect()
    }
}
