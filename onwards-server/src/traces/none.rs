//! The program without the feature `otlp`: there are no traces, and the compiler knows it.

use std::time::Duration;

use http::request::Parts;

use super::{Peer, TracesError};
use crate::headers::Parent;
use crate::metrics::Route;
use crate::record::Record;

/// Where spans go: nowhere, in a program without the feature `otlp`. There is no value of this type.
#[derive(Clone, Debug)]
pub enum Traces {}

impl Traces {
    /// What the environment asks for: nothing, here.
    ///
    /// # Errors
    /// None.
    pub fn from_environment() -> Result<Option<Self>, TracesError> {
        Ok(None)
    }

    /// Exports what is left.
    pub fn finish(&self, _limit: Duration) {
        match *self {}
    }

    pub(crate) fn begin(&self, _head: &Parts) -> Box<Trace> {
        match *self {}
    }
}

/// The spans of one request.
#[derive(Debug)]
pub(crate) enum Trace {}

impl Trace {
    pub(crate) fn attempt(&mut self, _route: Route, _peer: &Peer, _model: &str) {
        match *self {}
    }

    pub(crate) fn parent(&self) -> Option<Parent> {
        match *self {}
    }

    pub(crate) fn answered(&mut self, _status: u16) {
        match *self {}
    }

    pub(crate) fn failed(&mut self, _why: &'static str) {
        match *self {}
    }

    pub(crate) fn end(self: Box<Self>, _record: &Record<'_>) {
        match *self {}
    }
}
