//! The gateway: listener, pipeline, upstream client, reload, metrics, command line; and the library to embed it.
