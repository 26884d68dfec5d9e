//! Serving: builds the house, opens its doors, and waits for the end.

use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use hyper::service::service_fn;
use hyper_util::service::TowerToHyperService;
use onwards_config::{Part, Problems};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::Signal;

use super::args::Serve;
use super::doors::{self, Doors};
use crate::listen::{self, Listener, Socket};
use crate::reload::{self, Reloader};
use crate::shutdown::{self, Ending, Plan, Readiness, Signals};
use crate::{House, Loaded, Settings, Traces, logs, ops};

pub(super) fn run(args: &Serve) -> anyhow::Result<ExitCode> {
    let path = args
        .targets
        .as_deref()
        .context("no configuration file is named")?;
    logs::start(args.log_format);
    let runtime = runtime(args.workers)?;
    let ending = runtime.block_on(serve(args, path));
    runtime.shutdown_background(); // what is left was cut off on purpose
    ending
}

/// The text of a configuration file.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    match std::fs::read(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("the configuration file {} does not exist", path.display())
        }
        Err(error) => Err(error).with_context(|| {
            format!(
                "the targets could not be built: cannot read {}",
                path.display()
            )
        }),
    }
}

/// The threads everything runs on.
pub(super) fn runtime(workers: Option<u16>) -> anyhow::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if let Some(workers) = workers {
        builder.worker_threads(workers.into());
    }
    builder.enable_all().build().context("cannot start threads")
}

/// Opens the door for clients.
pub(super) fn open(
    house: &Arc<House>,
    sockets: Vec<impl Into<Socket>>,
    settings: listen::Settings,
) -> Listener {
    let house = Arc::clone(house);
    Listener::open(
        sockets,
        settings,
        service_fn(move |request| {
            let house = Arc::clone(&house);
            async move { Ok(crate::serve(&house, request).await) }
        }),
    )
}

/// What the flags say about every request.
pub(super) fn settings(args: &Serve) -> Settings {
    Settings {
        body_limit: args.body_limit,
        response_limit: args.response_limit,
        log_error_bodies: args.log_error_bodies,
        access_log: args.access_log,
        sse_buffer_limit: args.sse_buffer_limit,
        body_timeout: Duration::from_secs(args.body_timeout_secs),
        metrics_prefix: args.metrics_prefix.clone(),
        generation_header: args.generation_header,
        served_by: false, // the program has no layers that could ask
        ..Settings::default()
    }
}

/// How long the start waits for the store of shared counts, and the end for what it has to be told.
const STORE_PATIENCE: Duration = Duration::from_secs(1);

async fn serve(args: &Serve, path: &Path) -> anyhow::Result<ExitCode> {
    // First of all: from here on a signal asks for an end in order, and SIGHUP for a reload.
    let mut signals = Signals::new().context("cannot handle signals")?;
    let hangup = reload::hangup().context("cannot handle SIGHUP")?;
    let text = read(path)?;
    let traces = traces();
    let house = House::new(Settings {
        traces: traces.clone(),
        ..settings(args)
    })?;
    let loaded = house.load(&text).map_err(|problems| {
        anyhow!(
            "the targets could not be built from {}:\n{problems}",
            path.display()
        )
    })?;
    for warning in &loaded.warnings {
        tracing::warn!(file = %path.display(), "{warning}");
    }
    tracing::info!(file = %path.display(), targets = loaded.targets, watch = args.watch, "configuration loaded");

    // A store that is away is no reason not to serve.
    house.links.up(STORE_PATIENCE).await;
    let readiness = Readiness::default();
    let limits = listen::Settings {
        header_timeout: Duration::from_secs(args.header_timeout_secs),
        ..listen::Settings::default()
    };
    let certificate = doors::certificate(args, house.metrics())?;
    let tls = certificate.as_ref().map(|(certificate, _)| certificate);
    let Doors { clients, operators } = doors::bind(args, tls).await?;
    let tls = certificate.is_some();
    let _renewing = certificate.map(|(_, renewing)| renewing);
    let _reloading = follow(&house, path, text, args.watch, hangup);
    let registry = args.metrics.then(|| house.metrics().registry().clone());
    let operators = Listener::open(
        operators,
        limits,
        TowerToHyperService::new(ops::router(registry, readiness.clone())),
    );
    let limits = listen::Settings {
        max_connections: args
            .max_connections
            .map_or(limits.max_connections, NonZeroUsize::get),
        ..limits
    };
    let clients = open(&house, clients, limits);
    tracing::info!(
        clients = ?clients.addresses(),
        tls,
        unix_socket = args.unix_socket.as_ref().map(|path| tracing::field::display(path.display())),
        operators = ?operators.addresses(),
        metrics = args.metrics,
        "listening"
    );

    let plan = Plan {
        delay: Duration::from_secs(args.shutdown_delay_secs),
        timeout: Duration::from_secs(args.shutdown_timeout_secs),
    };
    let ending = shutdown::run(&mut signals, &readiness, plan, clients, operators).await;
    house.links.settle(STORE_PATIENCE).await;
    if let Some(traces) = traces {
        flush(traces).await;
    }
    Ok(ended(ending, args.shutdown_timeout_secs))
}

/// How long the last spans may take to reach their collector.
const FLUSH: Duration = Duration::from_secs(5);

/// Traces as the environment wants them. What it gets wrong costs the traces, not the gateway.
fn traces() -> Option<Traces> {
    let traces = Traces::from_environment();
    match &traces {
        Ok(None) => {}
        Ok(Some(_)) => tracing::info!("spans are exported over OTLP"),
        Err(error) => tracing::error!(%error, "no traces are exported"),
    }
    traces.ok().flatten()
}

/// Exports the last spans.
async fn flush(traces: Traces) {
    if tokio::task::spawn_blocking(move || traces.finish(FLUSH))
        .await
        .is_err()
    {
        tracing::error!("the last spans are lost");
    }
}

/// Takes up changes of the configuration file.
fn follow(house: &Arc<House>, path: &Path, text: Vec<u8>, watch: bool, hangup: Signal) -> Reloader {
    let settings = reload::Settings {
        what: "configuration",
        paths: vec![path.to_owned()],
        current: vec![text],
        watch,
    };
    let (house, path) = (Arc::clone(house), path.to_owned());
    Reloader::start(settings, hangup, move |texts: &[Vec<u8>]| {
        let loaded = house.load(texts.first().map(Vec::as_slice).unwrap_or_default())?;
        told(&path, &loaded);
        Ok::<_, Problems>(())
    })
}

/// The most names of one kind that a log line holds.
const MOST_NAMES: usize = 20;

/// Tells of a configuration that has come into force.
fn told(path: &Path, loaded: &Loaded) {
    let file = path.display();
    for warning in &loaded.warnings {
        tracing::warn!(%file, "{warning}");
    }
    let names = |part| loaded.changes.summary(part, MOST_NAMES);
    let kept = loaded.kept;
    tracing::info!(
        %file,
        generation = loaded.generation,
        targets = loaded.targets,
        settings = names(Part::Setting),
        keys = names(Part::Key),
        aliases = names(Part::Alias),
        pools = names(Part::Pool),
        providers = names(Part::Provider),
        limits = names(Part::Limit),
        kept_buckets = kept.buckets,
        kept_counts = kept.counts,
        kept_shares = kept.shares,
        kept_affinities = kept.affinities,
        "configuration reloaded"
    );
}

fn ended(ending: Ending, timeout_secs: u64) -> ExitCode {
    match ending {
        Ending::Drained => {
            tracing::info!("every request was finished");
            return ExitCode::SUCCESS;
        }
        Ending::Cut(connections) => {
            tracing::warn!(
                connections,
                "the gateway drain deadline was exceeded after {timeout_secs} seconds; connections were cut off"
            );
        }
        Ending::Hurried => tracing::warn!("ended without draining"),
        Ending::Broken => tracing::error!("ended because a listener stopped"),
    }
    ExitCode::FAILURE
}
