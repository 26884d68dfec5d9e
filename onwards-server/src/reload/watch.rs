//! Events from the directories that files lie in.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;
use tokio::sync::mpsc;

/// Watches the directories that paths name, and those the files really lie in if symlinks lead elsewhere.
#[derive(Debug)]
pub(super) struct Watch {
    /// None if the system gives no events; then the regular look has to do.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    names: Arc<Mutex<Names>>,
}

/// What the files are called where they lie.
type Names = BTreeSet<OsString>;

impl Watch {
    /// Starts to watch around `paths`. The receiver gets a token per event or several.
    pub(super) fn start(paths: &[PathBuf]) -> (Option<Self>, mpsc::Receiver<()>) {
        let (send, stirred) = mpsc::channel(1);
        let names = Arc::<Mutex<Names>>::default();
        let known = Arc::clone(&names);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // A full channel already holds the token that matters.
            if event.map_or(true, |event| matters(&event, &known.lock())) {
                send.try_send(()).ok();
            }
        });
        let watcher = watcher
            .inspect_err(
                |error| tracing::warn!(%error, "no file events; looking at the file instead"),
            )
            .ok();
        let mut watch = Self {
            watcher,
            watched: BTreeSet::new(),
            names,
        };
        watch.follow(paths);
        (Some(watch), stirred)
    }

    /// Watches nothing.
    pub(super) fn none() -> (Option<Self>, mpsc::Receiver<()>) {
        (None, mpsc::channel(1).1)
    }

    /// Adapts to where the files lie now.
    pub(super) fn follow(&mut self, paths: &[PathBuf]) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        let places: Vec<PathBuf> = paths
            .iter()
            .flat_map(|path| [Some(path.clone()), path.canonicalize().ok()])
            .flatten()
            .collect();
        *self.names.lock() = places
            .iter()
            .filter_map(|path| path.file_name().map(ToOwned::to_owned))
            .collect();
        let wanted: BTreeSet<PathBuf> = places
            .iter()
            .filter_map(|path| {
                path.parent().map(|parent| {
                    if parent.as_os_str().is_empty() {
                        PathBuf::from(".")
                    } else {
                        parent.to_owned()
                    }
                })
            })
            .collect();
        for gone in self.watched.difference(&wanted) {
            if let Err(error) = watcher.unwatch(gone) {
                tracing::debug!(%error, directory = %gone.display(), "no longer watched");
            }
        }
        self.watched.retain(|directory| wanted.contains(directory));
        for directory in wanted {
            if !self.watched.contains(&directory) {
                match watcher.watch(&directory, RecursiveMode::NonRecursive) {
                    Ok(()) => drop(self.watched.insert(directory)),
                    Err(error) => {
                        tracing::debug!(%error, directory = %directory.display(), "cannot watch")
                    }
                }
            }
        }
    }
}

/// Whether an event may be one about the files. Our own reading causes some that are not, and so does whoever writes to a neighbour,
/// a log say; but a neighbour that comes, goes or is renamed may be the link that leads to them.
fn matters(event: &Event, names: &Names) -> bool {
    let ours = |path: &Path| path.file_name().is_some_and(|name| names.contains(name));
    match event.kind {
        EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write) => false,
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => {
            event.paths.is_empty() || event.paths.iter().any(|path| ours(path))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, MetadataKind, RenameMode};

    use super::*;

    #[test]
    fn a_neighbour_that_is_written_to_does_not_matter() {
        let names = Names::from(["config.json".into()]);
        let matters =
            |kind: EventKind, path: &str| matters(&Event::new(kind).add_path(path.into()), &names);
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let touched = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
        let closed = EventKind::Access(AccessKind::Close(AccessMode::Write));
        for kind in [written, touched, closed] {
            assert!(matters(kind, "/etc/onwards/config.json"), "{kind:?}");
            assert!(!matters(kind, "/etc/onwards/access.log"), "{kind:?}");
            assert!(super::matters(&Event::new(kind), &names), "{kind:?}");
        }
        let renamed = EventKind::Modify(ModifyKind::Name(RenameMode::To));
        for kind in [renamed, EventKind::Create(CreateKind::Any), EventKind::Any] {
            assert!(matters(kind, "/etc/onwards/..data"), "{kind:?}");
        }
        let read = EventKind::Access(AccessKind::Open(AccessMode::Any));
        assert!(!matters(read, "/etc/onwards/config.json"));
    }
}
