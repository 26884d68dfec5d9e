//! The gateway from outside, one module per subject.
