//! Running requests and request rates that several gateways count together, in Redis or Valkey.
//!
//! Three gateways that each let an account run 20 requests let it run 60. With one [`SharedState`] each, on the same
//! store, they let it run 20.
//!
//! **Owns**
//!
//! * the count of running requests per (scope, alias), as an [`onwards_limits::Counter`], by leases that run out when a
//!   gateway dies;
//! * [`SharedState::take`]: one token from each of several buckets, or from none, with the rules of
//!   [`onwards_limits::Bucket`]; and [`SharedState::admit`], both at once;
//! * the connection: one, re-used, found again after a failure, and the choice of what happens without it.
//!
//! **Does not own** what a limit is called in a file, who it applies to, what a refused caller is told, metrics and log
//! lines (an [`Observer`] hears of [`Event`]s). It reads no environment and no file.
//!
//! ```
//! use std::sync::Arc;
//! use onwards_limits::{Admission, Counter, Rate};
//! use onwards_shared::{Event, Limit, Settings, SharedState};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! // Nobody listens there: the doors open all the same, and the limit holds for this process.
//! let settings = Settings::new("redis://127.0.0.1:1/");
//! let shared = SharedState::connect(settings, Arc::new(|_: &Event| ()))?;
//!
//! let first = shared.enter("acme", "gpt-4", 1).await;
//! assert!(matches!(first, Admission::Counted(_)));
//! assert!(matches!(shared.enter("acme", "gpt-4", 1).await, Admission::Refused));
//! drop(first);
//! assert_eq!(shared.held(), 0);
//!
//! let limit = Limit { name: "pool:gpt-4", rate: Rate::new(0.1, 1)? };
//! assert_eq!(shared.take(&[limit]).await?.gauges()[0].remaining, 0);
//! assert!(shared.take(&[limit]).await.is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! # How a slot is held
//!
//! A count is a sorted set: a member per running request, scored with the time its lease runs out by the store's clock,
//! so the clocks of gateways do not matter. Entering clears what has run out, compares and adds, in one script. Every
//! third of a lease one pipelined call renews all slots of the process. A guard's drop queues the release. What dies
//! without one, by a signal or with its machine, is free when the lease ends: 15 s unless set otherwise.
//!
//! # Invariants
//!
//! * With the store up and no call timing out, the running requests of all gateways never exceed the limit they ask
//!   with. The tests are `two_gateways_never_exceed_one_limit` and `two_gateways_share_one_bucket`.
//! * No call waits longer than the bound, and after a few time-outs none waits at all until the store answers again
//!   (`a_partition_costs_the_bound_a_few_times_and_then_nothing`).
//! * A dropped call, a time-out or a dropped guard leaves no slot behind longer than a lease, and usually not for a
//!   moment (`a_dropped_call_leaves_no_slot`, `a_killed_gateway_frees_its_slots_with_the_lease`).
//! * Nothing grows without end: the queue is bounded, notes of slots and buckets follow what runs.
//!
//! # What it does not promise
//!
//! * While the store is away and [`WhenAway::Admit`] holds, each gateway alone keeps to the limit, all together do not.
//!   When it is back the true count stands there within moments, above the limit if so it is, and nobody enters until
//!   it is below. Tokens spent meanwhile stay local.
//! * After a restart without its data, a store knows the running requests again at the reconnect.
//! * A store's wall clock set back keeps the slots of the dead for as much longer; set forward, it drops leases until
//!   the next renewal ([`Event::LeaseLost`]).
//! * A lowered burst takes tokens away here (spent stays spent), where a local bucket keeps its level up to the new
//!   burst: gateways reload one after the other, and with the local rule each change of mind would mint tokens.
//! * One primary, or a proxy that looks like one. Keys carry tags that keep the keys of a count and those of buckets in one
//!   slot of a cluster each, but redirects are not followed, and [`SharedState::admit`] with both needs them on one server.
//!
//! # Features
//!
//! `tls`: addresses with `rediss://`, by rustls with ring and the system's certificates.

mod admit;
mod core;
mod keeper;
mod keys;
mod leases;
mod link;
mod observer;
mod rates;
mod script;
mod settings;
mod slot;
mod state;

pub use admit::{Admitted, NotAdmitted, Place};
pub use observer::{Event, Observer, Reason};
pub use rates::Limit;
pub use settings::{Settings, SettingsError, WhenAway};
pub use state::{NotTaken, SharedState, Taken};
