//! What stands between reading events and writing them.

use std::ops::ControlFlow;

use crate::{Event, Framer, FramingError};

/// Turns each event of a stream into none, one or several, written to a buffer.
///
/// Implemented by what knows the payloads; driven by [`pump`], or by hand where events are needed one at
/// a time. The buffer is the caller's and may hold earlier output: implementations only append.
pub trait Rewrite {
    /// Why a stream cannot go on. What was appended before is still to be sent.
    type Error;

    /// Takes the next event. `Break` says that the stream ends here: what follows is not looked at, and
    /// [`end`](Self::end) is not called.
    ///
    /// # Errors
    /// What the implementation says; nothing of this event has then been appended.
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) -> Result<ControlFlow<()>, Self::Error>;

    /// The stream has ended after the last event, by itself.
    ///
    /// # Errors
    /// What the implementation says.
    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Self::Error>;
}

/// Why [`pump`] stopped. What was appended before is still to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PumpError<E> {
    /// The stream could not be split into events.
    #[error(transparent)]
    Framing(FramingError),
    /// The rewriter gave up.
    #[error("event refused")]
    Rewrite(#[source] E),
}

/// Passes all events the framer has through the rewriter, into `out`. Call it after each push; after
/// [`Framer::finish`] it also calls [`Rewrite::end`], once, when the last event has been passed.
///
/// # Errors
/// See [`PumpError`]. The framer and the rewriter are not to be used on after one, or after `Break`.
pub fn pump<R: Rewrite>(
    framer: &mut Framer,
    rewrite: &mut R,
    out: &mut Vec<u8>,
) -> Result<ControlFlow<()>, PumpError<R::Error>> {
    for event in framer.by_ref() {
        let event = event.map_err(PumpError::Framing)?;
        if rewrite
            .event(&event, out)
            .map_err(PumpError::Rewrite)?
            .is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
    }
    if framer.is_finished() {
        rewrite.end(out).map_err(PumpError::Rewrite)?;
        return Ok(ControlFlow::Break(()));
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests;
