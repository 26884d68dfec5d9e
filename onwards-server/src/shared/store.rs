//! The store itself, and what operators hear of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use onwards_config::{Problems, SharedState as Wanted, WhenAway};
use onwards_shared::{
    Event, Limit, NotAdmitted, Observer, Place as SharedPlace, Settings, SharedState,
};

use super::{Denied, Granted, Place, unusable};
use crate::metrics::{Metrics, SharedEvent, SharedSeries};
use crate::policy::Meter;

pub(crate) use onwards_shared::Taken;

/// A connection to a store, which finds itself again when it breaks.
#[derive(Debug)]
pub(crate) struct Store {
    shared: SharedState,
    watch: Arc<Watch>,
}

/// Whether these settings can be used in this build.
///
/// # Errors
/// Which one cannot.
pub(super) fn check(wanted: &Wanted) -> Result<(), Problems> {
    settings(wanted).check().map_err(|error| refused(&error))
}

/// Connects, in the background.
///
/// # Errors
/// A setting that cannot be used, or no runtime.
pub(super) fn connect(wanted: &Wanted, metrics: &Metrics) -> Result<Store, Problems> {
    let watch = Arc::new(Watch {
        series: metrics.shared_state(),
        when_away: wanted.when_away,
        current: AtomicBool::new(true),
        told: AtomicBool::new(false),
    });
    let observer: Arc<dyn Observer> = watch.clone();
    match SharedState::connect(settings(wanted), observer) {
        Ok(shared) => Ok(Store { shared, watch }),
        Err(error) => Err(refused(&error)),
    }
}

fn settings(wanted: &Wanted) -> Settings {
    let mut settings = Settings::new(wanted.redis.expose());
    settings.certificate = wanted.ca.as_ref().map(|ca| ca.expose().as_bytes().to_vec());
    settings.prefix.clone_from(&wanted.prefix);
    settings.bound = wanted.timeout;
    settings.lease = wanted.lease;
    settings.when_away = match wanted.when_away {
        WhenAway::Admit => onwards_shared::WhenAway::Admit,
        WhenAway::Refuse => onwards_shared::WhenAway::Refuse,
    };
    settings
}

/// The error names no address.
fn refused(error: &onwards_shared::SettingsError) -> Problems {
    unusable(
        format!("settings that cannot be used ({error})"),
        "the address of a Redis or Valkey server and settings in their ranges",
    )
}

impl Store {
    /// Asks for a place and a token of each limit: everything or nothing, in one round trip.
    ///
    /// # Errors
    /// [`Denied`]; nothing is counted then.
    pub(crate) async fn admit(
        &self,
        place: Option<Place<'_>>,
        limits: &[&Meter],
    ) -> Result<Granted, Denied> {
        let place = place.map(|place| SharedPlace {
            scope: place.scope,
            alias: place.alias,
            limit: place.limit,
        });
        let limits: smallvec::SmallVec<[Limit<'_>; 2]> = limits
            .iter()
            .map(|meter| Limit {
                name: &meter.name,
                rate: meter.rate,
            })
            .collect();
        match self.shared.admit(place, &limits).await {
            Ok(admitted) => Ok(Granted {
                place: admitted.place,
                taken: admitted.taken,
            }),
            Err(NotAdmitted::Full) => Err(Denied::Full),
            Err(NotAdmitted::Empty { refused, gauges }) => Err(Denied::Empty {
                wait: refused.wait,
                gauges,
            }),
            Err(_) => Err(Denied::Away),
        }
    }

    pub(super) async fn up(&self, within: Duration) {
        // A store that is away is said by the observer, and keeps nobody from starting.
        let _late = tokio::time::timeout(within, self.shared.up()).await;
    }

    pub(super) async fn settle(&self, within: Duration) {
        if self.shared.is_up() && !self.shared.settle(within).await {
            tracing::warn!(
                "the shared state was not told of every request that ended: their places end with their leases"
            );
        }
    }

    /// Another one is in use from here on: this one says nothing of itself any more.
    pub(super) fn retire(&self) {
        self.watch.current.store(false, Ordering::Relaxed);
    }
}

/// Makes metrics and log lines of events.
struct Watch {
    series: SharedSeries,
    when_away: WhenAway,
    /// Not replaced by another store.
    current: AtomicBool,
    /// What may happen with every request has been logged since the store came back.
    told: AtomicBool,
}

impl Watch {
    /// True once between two returns of the store.
    fn first(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }
}

impl Observer for Watch {
    fn event(&self, event: &Event) {
        let current = self.current.load(Ordering::Relaxed);
        match event {
            Event::Away(reason) => {
                self.series.count(SharedEvent::Away, 1);
                if current {
                    self.series.up(false);
                    let requests = match self.when_away {
                        WhenAway::Admit => "limits hold for this gateway alone",
                        WhenAway::Refuse => "requests with limits are refused",
                    };
                    tracing::warn!(%reason, requests, "the shared state is away");
                }
            }
            Event::Back { after } => {
                self.series.count(SharedEvent::Back, 1);
                self.told.store(false, Ordering::Relaxed);
                if current {
                    self.series.up(true);
                    tracing::info!(after_ms = after.as_millis(), "the shared state is there");
                }
            }
            Event::TimedOut => self.series.count(SharedEvent::TimedOut, 1),
            Event::Faulted { code } => {
                self.series.count(SharedEvent::Faulted, 1);
                if self.first() {
                    tracing::warn!(code, "the shared state answers with errors");
                }
            }
            Event::Alone { admitted: true } => self.series.count(SharedEvent::AdmittedAlone, 1),
            Event::Alone { admitted: false } => self.series.count(SharedEvent::RefusedAlone, 1),
            Event::LeaseLost { count } => {
                self.series.count(SharedEvent::LeaseLost, *count);
                tracing::warn!(
                    count,
                    "running requests were not counted in the shared state and are again"
                );
            }
            Event::Unsent => {
                self.series.count(SharedEvent::Unsent, 1);
                if self.first() {
                    tracing::warn!(
                        "too many releases wait for the shared state: some places end with their leases"
                    );
                }
            }
            // The enum may grow.
            _ => {}
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch")
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}
