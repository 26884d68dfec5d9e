//! Events from the directories that files lie in.

use std::collections::BTreeSet;
use std::path::PathBuf;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

/// Watches the directories that paths name, and those the files really lie in if symlinks lead elsewhere.
#[derive(Debug)]
pub(super) struct Watch {
    /// None if the system gives no events; then the regular look has to do.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
}

impl Watch {
    /// Starts to watch around `paths`. The receiver gets a token per event or several.
    pub(super) fn start(paths: &[PathBuf]) -> (Option<Self>, mpsc::Receiver<()>) {
        let (send, stirred) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Our own reading causes access events. A full channel already holds the token that matters.
            if !matches!(event, Ok(notify::Event { kind: EventKind::Access(access), .. }) if !is_end_of_write(access))
            {
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
        let wanted: BTreeSet<PathBuf> = paths
            .iter()
            .flat_map(|path| [Some(path.clone()), path.canonicalize().ok()])
            .flatten()
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

fn is_end_of_write(access: notify::event::AccessKind) -> bool {
    use notify::event::{AccessKind, AccessMode};
    access == AccessKind::Close(AccessMode::Write)
}
