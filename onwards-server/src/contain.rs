//! A defect in the handling of one request ends that request, not its connection.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// What a future comes to; `None` if it panicked. The panic's text is dropped, because it can quote what was handled.
///
/// Nothing is shared with the future but state that is never left half changed over a call: counters, and guards that give back
/// what they hold when they are dropped, as they are here.
pub(crate) async fn contained<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut future).poll(cx))) {
            Ok(polled) => polled.map(Some),
            Err(_panic) => Poll::Ready(None),
        },
    )
    .await
}

#[cfg(test)]
mod tests {
    use super::contained;

    #[tokio::test]
    async fn a_panic_is_the_end_of_the_future_alone() {
        assert_eq!(contained(Box::pin(async { 1 })).await, Some(1));
        let late = async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "on purpose");
        };
        assert_eq!(contained(Box::pin(late)).await, None);
    }
}
