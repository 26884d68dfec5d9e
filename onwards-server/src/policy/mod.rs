//! What the gateway knows while it serves: the compiled configuration and the living state.
//!
//! Nothing here names a socket, a listener or an HTTP server.

mod affinity;
mod caller;
mod compile;
mod dialect;
mod ledger;
mod path;
mod pause;
mod resets;
mod share;
mod snapshot;
mod thoughts;

pub(crate) use self::affinity::conversation;
pub(crate) use self::caller::Caller;
pub(crate) use self::compile::{Grounds, compile};
pub(crate) use self::dialect::{Dialect, json_content};
pub use self::ledger::Kept;
pub(crate) use self::ledger::Ledger;
pub(crate) use self::path::{has_dot_segment, join};
pub(crate) use self::pause::asked;
pub(crate) use self::share::{Observation, Share};
pub(crate) use self::snapshot::{Alias, Meter, Pool, Provider, RequestClass, Snapshot};
pub(crate) use self::thoughts::{Holder, Keeper, Thoughts};
