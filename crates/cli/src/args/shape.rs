//! The shape of a load: the same options in every verb that sends one. What excludes what is decided where they are
//! applied.

use std::time::Duration;
use wirebench_schema::{
    load::{Arrivals, RateCurve, Stop},
    suite::ShapePatch,
};

use crate::value::{self, List};

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ShapeArgs {
    /// Threads of the generator that share the connections [default: one per CPU of the generator]
    #[arg(short, long, value_name = "N", value_parser = value::number::<usize>, hide_short_help = true)]
    pub(crate) threads: Option<usize>,
    /// Connections in total that carry requests
    #[arg(short, long, value_name = "N", value_parser = value::one_number)]
    pub(crate) connections: Option<List<usize>>,
    /// Length of the measurement window
    #[arg(short, visible_short_alias = 'z', long, value_name = "DURATION", value_parser = value::duration)]
    pub(crate) duration: Option<Duration>,
    /// Measure this many requests instead, failed ones included; N/connection for N on each
    #[arg(
        short = 'n', long = "count", value_name = "COUNT", conflicts_with = "duration",
        value_parser = value::count_of_window
    )]
    requests: Option<Stop>,
    /// Load before the window, checked but not counted
    #[arg(long, value_name = "DURATION", value_parser = value::duration, hide_short_help = true)]
    pub(crate) warmup: Option<Duration>,
    /// Timeout of replies and of connecting [default: 2s]
    #[arg(long, value_name = "DURATION", value_parser = value::duration, hide_short_help = true)]
    timeout: Option<Duration>,
    /// Requests per second in total, sent on schedule without waiting for replies; A:B is a ramp over the
    /// window, A/B/C are steps
    #[arg(short = 'R', long, value_name = "N", value_parser = value::rate_curve, conflicts_with = "delay")]
    rate: Option<RateCurve>,
    /// At a rate: Poisson arrivals instead of equal intervals
    #[arg(long, hide_short_help = true)]
    poisson: bool,
    /// At a rate: skip requests that are due while no connection is free, and measure latency from
    /// sending (deliberate coordinated omission)
    #[arg(long, hide_short_help = true)]
    skip_late: bool,
    /// Think time of each connection between a reply and its next request; 0s for a closed loop
    #[arg(long, value_name = "DURATION", value_parser = value::duration, hide_short_help = true)]
    delay: Option<Duration>,
    /// Requests in flight on each connection [default: 1]
    #[arg(short, long, value_name = "DEPTH", value_parser = value::number::<usize>)]
    pipeline: Option<usize>,
    /// Message size of echo loads, at most 1GiB [default: 64]
    #[arg(long, value_name = "SIZE", value_parser = value::size, hide_short_help = true)]
    pub(crate) payload: Option<usize>,
    /// Close and reopen a connection after this many requests [default: never]
    #[arg(long, value_name = "N", value_parser = value::count, hide_short_help = true)]
    requests_per_connection: Option<u64>,
    /// HTTP: repeat a request on a new connection if the server closed a reused one before its reply
    #[arg(long, hide_short_help = true)]
    retry_closed: bool,
    /// Connections that stay idle: those of idle phases, or without one in addition to the load's
    #[arg(long, alias = "silent", value_name = "N", value_parser = value::number::<usize>, hide_short_help = true)]
    pub(crate) idle_connections: Option<usize>,
}

impl ShapeArgs {
    /// Changes of a load. Of several numbers of connections none is taken.
    pub(crate) fn patch(&self) -> ShapePatch {
        let mut patch = ShapePatch {
            connections: self.connections.as_ref().filter(|all| all.len() == 1).map(|all| all[0]),
            payload: self.payload,
            threads: self.threads,
            idle_connections: self.idle_connections,
            pipeline: self.pipeline,
            requests_per_connection: self.requests_per_connection,
            retry_closed: self.retry_closed.then_some(true),
            arrivals: self.poisson.then_some(Arrivals::Poisson),
            skip_late: self.skip_late.then_some(true),
            closed: self.delay.filter(Duration::is_zero).map(|_| true),
            delay: self.delay.filter(|delay| !delay.is_zero()),
            warmup: self.warmup,
            duration: self.duration,
            timeout: self.timeout,
            ..ShapePatch::default()
        };
        match self.requests {
            Some(Stop::Requests(count)) => patch.requests = Some(count),
            Some(Stop::RequestsPerConnection(count)) => patch.count_per_connection = Some(count),
            Some(Stop::After(_)) | None => {}
        }
        match self.rate.clone() {
            Some(RateCurve::Constant(rate)) => patch.rate = Some(rate),
            Some(RateCurve::Ramp(from, to)) => patch.ramp = Some((from, to)),
            Some(RateCurve::Steps(rates)) => patch.steps = Some(rates),
            None => {}
        }
        patch
    }
}

#[cfg(test)]
mod tests;
