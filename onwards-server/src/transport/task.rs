//! The gateway's only tasks without an owner. Each ends by itself once what it serves is gone: the task of a connection with
//! whoever holds the connection, a wait with its deadline, the look after idle connections with the last of them.

use tokio::task::AbortHandle;

/// Starts such a task.
pub(super) fn spawn<F>(task: F) -> AbortHandle
where
    F: Future<Output = ()> + Send + 'static,
{
    tokio::spawn(task).abort_handle()
}
