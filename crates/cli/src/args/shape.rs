//! The shape of a load: the same options in every verb that sends one. What excludes what is decided where they are
//! applied.

use std::time::Duration;
use wirebench_schema::{
    load::{Arrivals, Rate},
    suite::ShapePatch,
};

use crate::value::{self, List};

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ShapeArgs {
    /// Threads of the generator that share the connections [default: one per CPU of the generator]
    #[arg(short, long, value_name = "N", value_parser = value::connections)]
    pub(crate) threads: Option<usize>,
    /// Connections in total that carry requests
    #[arg(short, long, value_name = "N", value_parser = value::one_number)]
    pub(crate) connections: Option<List<usize>>,
    /// Length of the measurement window
    #[arg(short, visible_short_alias = 'z', long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) duration: Option<Duration>,
    /// Measure this many requests instead, failed ones included
    #[arg(short = 'n', long = "count", value_name = "COUNT", value_parser = value::count)]
    requests: Option<u64>,
    /// Measure this many requests on each connection instead
    #[arg(long, value_name = "COUNT", value_parser = value::count)]
    count_per_connection: Option<u64>,
    /// Load before the window, checked but not counted
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) warmup: Option<Duration>,
    /// Timeout of replies and of connecting [default: 2s]
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    timeout: Option<Duration>,
    /// Requests per second in total, sent on schedule without waiting for replies
    #[arg(short = 'R', long, value_name = "N")]
    rate: Option<Rate>,
    /// Rate that changes linearly from A to B over the window
    #[arg(long, value_name = "A:B", value_parser = value::ramp)]
    ramp: Option<(Rate, Rate)>,
    /// Sequence of rates, each for an equal part of the window
    #[arg(long, value_name = "A,B,C", value_parser = value::steps)]
    steps: Option<List<Rate>>,
    /// At a rate: Poisson arrivals instead of equal intervals
    #[arg(long)]
    poisson: bool,
    /// At a rate: skip requests that are due while no connection is free, and measure latency from
    /// sending (deliberate coordinated omission)
    #[arg(long)]
    skip_late: bool,
    /// Closed loop: each connection sends its next request after a reply
    #[arg(long)]
    closed: bool,
    /// Think time of each connection between a reply and its next request
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    delay: Option<Duration>,
    /// Requests in flight on each connection [default: 1]
    #[arg(short, long, value_name = "DEPTH", value_parser = value::connections)]
    pipeline: Option<usize>,
    /// Message size of echo loads, at most 1GiB [default: 64]
    #[arg(long, value_name = "SIZE", value_parser = value::size)]
    pub(crate) payload: Option<usize>,
    /// Close and reopen a connection after this many requests [default: never]
    #[arg(long, value_name = "N", value_parser = value::count)]
    requests_per_connection: Option<u64>,
    /// HTTP: repeat a request on a new connection if the server closed a reused one before its reply
    #[arg(long)]
    retry_closed: bool,
    /// Connections that stay idle: those of idle phases, or without one in addition to the load's
    #[arg(long, alias = "silent", value_name = "N", value_parser = value::connections)]
    pub(crate) idle_connections: Option<usize>,
}

impl ShapeArgs {
    /// Changes of a load. Of several numbers of connections none is taken.
    pub(crate) fn patch(&self) -> ShapePatch {
        ShapePatch {
            connections: self.connections.as_ref().filter(|all| all.len() == 1).map(|all| all[0]),
            rate: self.rate,
            payload: self.payload,
            threads: self.threads,
            idle_connections: self.idle_connections,
            pipeline: self.pipeline,
            requests_per_connection: self.requests_per_connection,
            retry_closed: self.retry_closed.then_some(true),
            ramp: self.ramp,
            steps: self.steps.clone(),
            arrivals: self.poisson.then_some(Arrivals::Poisson),
            skip_late: self.skip_late.then_some(true),
            closed: self.closed.then_some(true),
            delay: self.delay,
            warmup: self.warmup,
            duration: self.duration,
            requests: self.requests,
            count_per_connection: self.count_per_connection,
            timeout: self.timeout,
            ..ShapePatch::default()
        }
    }
}

#[cfg(test)]
mod tests;
