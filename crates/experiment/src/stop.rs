//! The end of a load as a time or as a count. Pure.

use std::time::Duration;
use wirebench_schema::load::Stop;

/// How long a load is that ends after a time.
pub(crate) const fn length(stop: Stop) -> Option<Duration> {
    match stop {
        Stop::After(length) => Some(length),
        Stop::Requests(_) | Stop::RequestsPerConnection(_) => None,
    }
}

/// How many requests a load on this many connections makes that ends after a count.
pub(crate) const fn count(stop: Stop, connections: usize) -> Option<u64> {
    match stop {
        Stop::After(_) => None,
        Stop::Requests(count) => Some(count),
        Stop::RequestsPerConnection(count) => Some(count.saturating_mul(connections as u64)),
    }
}
