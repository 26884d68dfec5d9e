//! Order of candidates, attempt budget and backoff as pure functions of load, time and chance.
