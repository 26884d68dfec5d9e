//! Everything against a real `redis-server`, started here on a port of its own. Where none is installed each test says
//! that it is skipped, and passes.

#![cfg(test)]

mod admit;
mod away;
mod rates;
mod running;
mod script;
mod server;
mod support;
#[cfg(feature = "tls")]
mod tls;
