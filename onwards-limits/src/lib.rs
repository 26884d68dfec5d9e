//! Token buckets and concurrency slots that take the time as an argument.
