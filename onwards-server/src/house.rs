//! Everything a running gateway owns: the configuration in force, living state, connections, metrics.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use http::HeaderName;
use onwards_config::{Changes, Gateway, Problem, Problems, compare};
use onwards_limits::Permit;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::admit::Counters;
use crate::metrics::{BadPrefix, Metrics};
use crate::policy::{Grounds, Kept, Ledger, Snapshot, compile};
use crate::secrets::Process;
use crate::shared::Links;
use crate::traces::Traces;
use crate::transform::ResponseTransform;
use crate::transport::{Pool, Transport};

/// What is set once, at the start of the process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Largest request body in bytes, as sent and after decompression. Default 32 MiB.
    pub body_limit: usize,
    /// Longest wait for the next bytes of a request body. Default 60 s.
    pub body_timeout: Duration,
    /// Largest answer in bytes that is read whole before it is passed on: every unary answer in strict mode and of sanitised
    /// providers. Default 64 MiB.
    pub response_limit: usize,
    /// Log the text of providers' errors that are replaced, up to 64 KiB each. It can repeat prompts. Default off.
    pub log_error_bodies: bool,
    /// Log one line per request when it is over, with the target `onwards::access`. Default off.
    pub access_log: bool,
    /// Where spans of requests and attempts go. Default nowhere.
    pub traces: Option<Traces>,
    /// Most bytes of an unfinished event kept while a stream is read event by event. Default 65,536.
    pub sse_buffer_limit: usize,
    /// Request header that marks dispatched traffic, where the configuration names none. Default none.
    pub exempt_header: Option<HeaderName>,
    /// How long a stream may take to its first token while another provider can be asked, where neither pool nor
    /// configuration says. Default none.
    pub first_token_timeout: Option<Duration>,
    /// Enforce the batch in-flight limits of aliases, also where the configuration does not ask for it. Default off.
    pub batch_inflight_enforce: bool,
    /// Prefix of the HTTP layer's metrics. Default `onwards`.
    pub metrics_prefix: String,
    /// Parameters that strict mode refuses, besides those of the configuration: names of the catalog. Default none.
    pub rejected_params: Vec<String>,
    /// Request header that names the id of the answer. Default none.
    pub response_id_header: Option<HeaderName>,
    /// What is done to whole answers outside strict mode. Default nothing.
    pub response_transform: Option<ResponseTransform>,
    /// Tell the number of the configuration that served a request in the header `x-onwards-generation` of every answer.
    /// Default off.
    pub generation_header: bool,
    /// Say which provider answered, for layers around the gateway ([`ServedBy`](crate::ServedBy)). Default on.
    pub served_by: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            body_limit: 32 * 1024 * 1024,
            body_timeout: Duration::from_secs(60),
            response_limit: 64 * 1024 * 1024,
            log_error_bodies: false,
            access_log: false,
            traces: None,
            sse_buffer_limit: 65_536,
            exempt_header: None,
            first_token_timeout: None,
            batch_inflight_enforce: false,
            metrics_prefix: "onwards".to_owned(),
            rejected_params: Vec::new(),
            response_id_header: None,
            response_transform: None,
            generation_header: false,
            served_by: true,
        }
    }
}

/// A gateway without its door.
#[derive(Debug)]
pub struct House {
    pub(crate) settings: Settings,
    pub(crate) ledger: Ledger,
    pub(crate) counters: Counters,
    /// The way to the counts that several gateways share.
    pub(crate) links: Links,
    metrics: Arc<Metrics>,
    snapshot: ArcSwap<Snapshot>,
    transport: Box<dyn Transport>,
    started: Instant,
    /// One load at a time; what the last one left.
    loading: Mutex<Option<Last>>,
}

/// Members of the file that a reload does not change (spec O).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fixed {
    http_pool: onwards_config::HttpPool,
}

/// The last load: what it fixed for the life of the process, and what the next one is compared with.
#[derive(Debug)]
struct Last {
    fixed: Fixed,
    gateway: Gateway,
}

/// What a load brought.
#[derive(Debug)]
pub struct Loaded {
    /// Counts the configurations that came into force, from 1.
    pub generation: u64,
    /// How many aliases there are now.
    pub targets: usize,
    /// What is odd about the file but no error.
    pub warnings: Vec<Problem>,
    /// What is different from the configuration before; nothing for the first one.
    pub changes: Changes,
    /// What living state was taken over from the configuration before.
    pub kept: Kept,
}

impl House {
    /// A gateway that knows no alias yet.
    ///
    /// # Errors
    /// When the metrics prefix cannot begin a metric name.
    pub fn new(settings: Settings) -> Result<Arc<Self>, BadPrefix> {
        Self::with_transport(settings, Box::new(Pool::new()))
    }

    /// The same, reaching its providers in a way of the caller's own.
    ///
    /// # Errors
    /// When the metrics prefix cannot begin a metric name.
    pub fn with_transport(
        settings: Settings,
        transport: Box<dyn Transport>,
    ) -> Result<Arc<Self>, BadPrefix> {
        Self::assemble(settings, transport, Counters::default(), Links::new())
    }

    /// One that judges configurations and connects to nothing.
    pub(crate) fn dry(settings: Settings) -> Result<Arc<Self>, BadPrefix> {
        let transport = Box::new(Pool::new());
        Self::assemble(settings, transport, Counters::default(), Links::dry())
    }

    pub(crate) fn assemble(
        settings: Settings,
        transport: Box<dyn Transport>,
        counters: Counters,
        links: Links,
    ) -> Result<Arc<Self>, BadPrefix> {
        let ledger = Ledger::default();
        let running = Arc::clone(&ledger.inflight);
        let metrics = Arc::new(Metrics::counting(&settings.metrics_prefix, running)?);
        Ok(Arc::new(Self {
            settings,
            ledger,
            counters,
            links,
            metrics,
            snapshot: ArcSwap::from_pointee(Snapshot::empty()),
            transport,
            started: Instant::now(),
            loading: Mutex::new(None),
        }))
    }

    /// Reads a configuration file's text and puts it into force: whole, or not at all.
    ///
    /// # Errors
    /// Every problem of the text at once; then the configuration before stays.
    pub fn load(&self, text: &[u8]) -> Result<Loaded, Problems> {
        match onwards_config::read(text, &Process) {
            Ok(read) => self.apply(read.gateway, read.warnings),
            Err(problems) => {
                self.metrics.config_refused();
                Err(problems)
            }
        }
    }

    /// Puts a configuration into force: whole, or not at all. Requests that are running keep the one they began with.
    ///
    /// # Errors
    /// Every problem that compiling it finds; then the configuration before stays.
    pub fn apply(
        &self,
        mut gateway: Gateway,
        mut warnings: Vec<Problem>,
    ) -> Result<Loaded, Problems> {
        gateway
            .rejected_params
            .extend_from_slice(&self.settings.rejected_params);
        gateway.exempt_header = gateway
            .exempt_header
            .or_else(|| self.settings.exempt_header.clone());
        gateway.first_token_timeout = gateway
            .first_token_timeout
            .or(self.settings.first_token_timeout);
        gateway.batch_inflight_enforce |= self.settings.batch_inflight_enforce;
        let mut loading = self.loading.lock();
        let fixed = Fixed {
            http_pool: gateway.http_pool,
        };
        if let Some(last) = &*loading
            && last.fixed != fixed
        {
            gateway.http_pool = last.fixed.http_pool;
            let expected =
                "the settings of the start: this member takes effect after a restart".to_owned();
            warnings.push(Problem::new(
                "http_pool".to_owned(),
                "other settings".to_owned(),
                expected,
            ));
        }
        let refused = |problems| {
            self.metrics.config_refused();
            problems
        };
        let wanted = gateway.shared_state.as_ref();
        self.links.check(wanted).map_err(refused)?;
        let generation = self.snapshot.load().generation + 1;
        let grounds = Grounds {
            ledger: &self.ledger,
            transport: self.transport.as_ref(),
            metrics: &self.metrics,
            now: self.now(),
            unix: unix_now(),
            generation,
        };
        let mut snapshot = compile(&gateway, &grounds)
            .map_err(Problems)
            .map_err(refused)?;
        snapshot.shared = self.links.connect(wanted, &self.metrics).map_err(refused)?;
        self.snapshot.store(Arc::new(snapshot));
        self.metrics.config_loaded(generation);
        let changes = loading
            .as_ref()
            .map(|last| compare(&last.gateway, &gateway))
            .unwrap_or_default();
        let loaded = Loaded {
            generation,
            targets: gateway.targets.len(),
            warnings,
            changes,
            kept: self.ledger.kept(),
        };
        let fixed = loading.as_ref().map_or(fixed, |last| last.fixed);
        *loading = Some(Last { fixed, gateway });
        Ok(loaded)
    }

    /// The configuration in force.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// A place among all the requests in flight, or none where there are as many as the configuration allows.
    pub(crate) fn enter(&self, snapshot: &Snapshot) -> Option<Permit> {
        let most = snapshot.max_inflight;
        let place = self.ledger.inflight.try_enter(most);
        if place.is_none() && self.ledger.tells_shedding(self.now()) {
            tracing::warn!(
                max_inflight_requests = most,
                "overloaded: requests are refused until others have ended"
            );
        }
        place
    }

    /// The metrics of this gateway.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Monotonic time since the gateway was made.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Seconds since 1970; 0 for a clock set before that.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
