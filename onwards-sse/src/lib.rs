//! Server-sent events: an incremental framer, a writer and a rewrite seam, without I/O.
