//! Pictures that requests name by address, fetched without letting a request reach a private network.
//!
//! Some providers take pictures only as bytes. [`Fetcher::fetch`] gets those of one request and gives each as base64 with the
//! type that its first bytes show. Whoever writes a request chooses the addresses, so they are an attacker's:
//!
//! - `https` only, no user or password in the address, and if a list of hosts is given, only those;
//! - every address that a host's name has must be public ([`is_public`]), and the connection goes to one of the addresses that
//!   were checked: the name is not looked up a second time;
//! - a redirect is followed by hand, under the same rules;
//! - sizes are counted while reading, one picture's and all together, and all pictures share one deadline;
//! - nothing of the client's request is sent, no cookies, and no proxy of the environment is used;
//! - a failure is one of six words ([`Reason`]), whatever the server said.
//!
//! It does not decode pictures, keep them, or log.
//!
//! ```
//! use onwards_images::{Failed, Fetcher, Reason, Settings};
//! use tokio_rustls::rustls::{ClientConfig, RootCertStore};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! # let provider = std::sync::Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
//! # let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
//! // Trusts nobody: give it the roots of the platform.
//! let tls = builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
//! let fetcher = Fetcher::new(Settings::default(), tls);
//! for (url, reason) in [
//!     ("https://169.254.169.254/latest/meta-data", Reason::BlockedAddress),
//!     ("https://0x7f.1/", Reason::BlockedAddress),
//!     ("http://example.com/cat.png", Reason::BadUrl),
//! ] {
//!     assert_eq!(fetcher.fetch(&[url]).await, Err(Failed { index: 0, reason }));
//! }
//! # });
//! ```
//!
//! # Invariants
//!
//! - Nothing is connected to but an address that was checked, at every hop
//!   (`a_name_is_looked_up_once_and_the_connection_goes_where_it_was_checked`, `a_redirect_reaches_no_private_network`).
//! - A fetch ends with its deadline, and with it its connections; no task outlives it but a lookup of the system's, of which
//!   there are at most sixteen (`one_deadline_is_kept_however_slow_the_server_is`, `a_dropped_fetch_closes_its_connections`).
//! - No more is held than [`Settings::max_total_bytes`], and a third more once it is base64
//!   (`all_pictures_together_have_a_limit`).
//! - Nothing panics on any address, name or answer.

mod address;
mod exchange;
mod fetcher;
mod network;
mod picture;
mod settings;
mod target;

pub use address::is_public;
pub use fetcher::{Failed, Fetcher, Reason};
pub use network::{Network, Pending, System};
pub use picture::{Picture, sniff};
pub use settings::Settings;
