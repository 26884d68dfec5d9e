//! Waiting with a deadline.

use std::time::Duration;

use tokio::time::{sleep, timeout};

/// The longest any test waits for one thing. Generous, since tests share two cores with everything else; a test
/// that passes does not come near it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// Waits for an event; panics with `what` when it does not come.
pub async fn within<F: Future>(what: &str, event: F) -> F::Output {
    let done = timeout(PATIENCE, event).await;
    done.unwrap_or_else(|_| panic!("waited {PATIENCE:?} for {what}"))
}

/// Looks until `condition` holds; panics with `what` when it does not come to that.
pub async fn eventually<F>(what: &str, mut condition: impl FnMut() -> F)
where
    F: Future<Output = bool>,
{
    let looking = async {
        while !condition().await {
            sleep(LOOK).await;
        }
    };
    within(what, looking).await;
}
