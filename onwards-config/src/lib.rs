//! The configuration file: format, defaults, inheritance, problems, JSON Schema.
