//! Gateways as the tests see them: a handle and what its observer heard.

use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onwards_limits::{Admission, Counter, Guard, Rate};
use onwards_shared::{Event, Limit, Settings, SharedState};
use tokio::time::timeout;

use crate::server::{LONG, Server, eventually};

/// One gateway's part.
pub(crate) struct Gateway {
    shared: SharedState,
    heard: Arc<Mutex<Vec<Event>>>,
}

/// Settings that a busy machine does not upset: a call may take a second.
pub(crate) fn patient(server: &Server) -> Settings {
    let mut settings = Settings::new(server.url());
    settings.bound = Duration::from_secs(1);
    settings
}

impl Gateway {
    /// Starts one without waiting.
    pub(crate) fn start(settings: Settings) -> Self {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        let observer = move |event: &Event| ear.lock().unwrap().push(event.clone());
        Self {
            shared: SharedState::connect(settings, Arc::new(observer)).expect("sound settings"),
            heard,
        }
    }

    /// Starts one and waits until it has the store.
    pub(crate) async fn up(settings: Settings) -> Self {
        let gateway = Self::start(settings);
        timeout(LONG, gateway.shared.up())
            .await
            .expect("it comes up");
        gateway
    }

    /// A handle of the same.
    pub(crate) fn handle(&self) -> SharedState {
        self.shared.clone()
    }

    /// Enters, or not.
    pub(crate) async fn enter(&self, scope: &str, alias: &str, limit: u32) -> Option<Guard> {
        entered(self.shared.enter(scope, alias, limit).await)
    }

    /// All it heard so far.
    pub(crate) fn heard(&self) -> Vec<Event> {
        self.heard.lock().unwrap().clone()
    }

    /// How often it heard such an event.
    pub(crate) fn count(&self, which: impl Fn(&Event) -> bool) -> usize {
        self.heard().iter().filter(|event| which(event)).count()
    }

    /// Waits for an event.
    pub(crate) async fn hears(&self, what: &str, which: impl Fn(&Event) -> bool) {
        let heard = timeout(LONG, eventually(what, async || self.count(&which) > 0)).await;
        assert!(heard.is_ok(), "{what}: {:?}", self.heard());
    }
}

impl Deref for Gateway {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.shared
    }
}

pub(crate) fn entered(admission: Admission) -> Option<Guard> {
    match admission {
        Admission::Counted(guard) => Some(guard),
        Admission::Refused | Admission::Unavailable => None,
        Admission::Uncounted => panic!("everybody is counted"),
    }
}

pub(crate) fn limit(name: &str, per_second: f64, burst: u32) -> Limit<'_> {
    Limit {
        name,
        rate: Rate::new(per_second, burst).unwrap(),
    }
}
