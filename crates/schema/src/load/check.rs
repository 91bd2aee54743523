//! Checks a configuration: one sentence for each contradiction, with the option that resolves it.

use std::time::Duration;

use super::{
    Body, ClosedPolicy, LatencyOrigin, LoadConfig, LoadModel, SourceRange, Stop, Trust,
    request::EXPECT_OPTIONS, requests::check_head,
};
use crate::{
    refuse::refuse_if,
    scenario::{HeavyConnections, Protocol},
    target::Target,
    units::write_duration,
};

/// The most threads of one load: more than any machine has CPUs for, and few enough to be made.
pub const THREADS_LIMIT: usize = 1024;

/// The shortest window with meaningful figures.
pub const SHORTEST_WINDOW: Duration = Duration::from_millis(10);

/// Intervals are made of pieces of this length.
const INTERVAL_PIECE: Duration = Duration::from_millis(100);

/// The most requests in flight on one connection.
const PIPELINE_LIMIT: usize = 4096;

/// The lowest rate, and the highest: one request per nanosecond, the resolution of the schedule.
const RATE_LEAST: f64 = 0.001;
const RATE_LIMIT: f64 = 1e9;

/// The most steps of a rate.
const STEPS_LIMIT: usize = 1000;

/// The largest message of an echo.
const PAYLOAD_LIMIT_BYTES: usize = 1 << 30;

impl LoadConfig {
    /// The first reason why this cannot be carried out, as a sentence with the next step.
    pub fn check(&self) -> Result<(), String> {
        self.check_connections()?;
        self.check_times()?;
        self.check_model()?;
        self.check_way()?;
        match self.target.protocol() {
            Protocol::Http1 => self.check_http(),
            Protocol::Echo => self.check_echo(),
        }
    }

    fn check_connections(&self) -> Result<(), String> {
        let Self { threads, connections, pipeline, .. } = self;
        refuse_if!(*connections == 0, "0 connections send nothing: give -c at least 1");
        refuse_if!(*threads == 0, "0 threads send nothing: give -t at least 1");
        refuse_if!(
            *threads > THREADS_LIMIT,
            "{threads} threads are more than one load can have: give -t at most {THREADS_LIMIT}"
        );
        refuse_if!(
            threads > connections,
            "{threads} threads cannot share {connections} connections: give -c at least as many as -t"
        );
        refuse_if!(
            !(1..=PIPELINE_LIMIT).contains(pipeline),
            "{pipeline} requests cannot be in flight on a connection: give -p from 1 to {PIPELINE_LIMIT}"
        );
        refuse_if!(
            self.requests_per_connection == Some(0),
            "a connection without a request measures nothing: give --requests-per-connection at least 1"
        );
        for SourceRange { first, last } in &self.sources {
            refuse_if!(
                first.is_ipv4() != last.is_ipv4() || first > last,
                "{first}-{last} is not a range of addresses: write --source 127.0.0.2-127.0.0.9"
            );
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), String> {
        let Self { stop, warmup, pipeline, .. } = self;
        refuse_if!(
            matches!(stop, Stop::Requests(0) | Stop::RequestsPerConnection(0)),
            "0 requests measure nothing: give -n at least 1"
        );
        match *stop {
            Stop::After(window) => refuse_if!(
                window < SHORTEST_WINDOW,
                "a window of {} measures nothing: give -d at least {}, better 10s",
                write_duration(window),
                write_duration(SHORTEST_WINDOW)
            ),
            Stop::RequestsPerConnection(count) => refuse_if!(
                !warmup.is_zero() && count < *pipeline as u64,
                "when the warm-up ends a connection may have {pipeline} requests in flight, more than its count of \
                 {count}: give -n at least {pipeline}/connection, or no --warmup"
            ),
            Stop::Requests(_) => {}
        }
        refuse_if!(
            self.timeout.is_zero(),
            "with a timeout of 0 s every reply is late: give --timeout 2s"
        );
        let pieces = self.interval.as_nanos() % INTERVAL_PIECE.as_nanos();
        refuse_if!(
            self.interval.is_zero() || pieces != 0,
            "an interval of {} is not a multiple of 100ms: give --interval 100ms or 1s",
            write_duration(self.interval)
        );
        Ok(())
    }

    fn check_model(&self) -> Result<(), String> {
        let (curve, latency_from) = match &self.model {
            LoadModel::Closed => return Ok(()),
            LoadModel::Think { delay } => {
                refuse_if!(delay.is_zero(), "a delay must be above 0: omit it, or use 1ms");
                refuse_if!(
                    self.pipeline > 1,
                    "a connection that pauses between requests has only one in flight: omit -p or --delay"
                );
                return Ok(());
            }
            LoadModel::Rate { curve, latency_from, .. } => (curve, *latency_from),
        };
        let rates = curve.rates();
        refuse_if!(
            rates.is_empty() || rates.len() > STEPS_LIMIT,
            "a rate has 1 to {STEPS_LIMIT} steps, not {}: change --rate",
            rates.len()
        );
        for rate in &rates {
            refuse_if!(
                !(RATE_LEAST..=RATE_LIMIT).contains(rate),
                "{rate} requests/s is not a rate: give from {RATE_LEAST} to {RATE_LIMIT} requests/s"
            );
        }
        refuse_if!(
            rates.len() > 1 && !matches!(self.stop, Stop::After(_)),
            "a rate that changes needs a time to change in: give -d instead of a count"
        );
        refuse_if!(
            matches!(self.stop, Stop::RequestsPerConnection(_)),
            "at a rate any free connection takes the next request, so none has a count of its own: give -n or -d"
        );
        refuse_if!(
            latency_from == LatencyOrigin::Sent && rates.len() > 1,
            "--skip-late lets the schedule slip, so the rate cannot change by time: give one -R"
        );
        Ok(())
    }

    /// Options that mean nothing to the way to this target.
    fn check_way(&self) -> Result<(), String> {
        let trust = match &self.trust {
            Trust::System => self.client_certificate.as_ref().map(|_| "--cert"),
            Trust::File(_) => Some("--ca"),
            Trust::Anybody => Some("--insecure"),
        };
        if let Some(option) = trust {
            let target = &self.target;
            refuse_if!(!target.is_tls(), "{option} does not apply to {target}: use https://");
        }
        if self.unix_socket.is_some() || self.target.unix_path().is_some() {
            let source = !self.sources.is_empty();
            refuse_if!(source, "--source does not apply to a Unix socket: omit it");
            let connect_to = self.connect_to.is_some();
            refuse_if!(connect_to, "--connect-to does not apply to a Unix socket: omit it");
        }
        Ok(())
    }

    fn check_http(&self) -> Result<(), String> {
        check_head(&self.method, &self.headers)?;
        refuse_if!(
            self.requests.is_some() && (self.body.is_some() || self.heavy.is_some()),
            "the requests of --requests have paths and bodies of their own: omit --body, --body-file and --heavy"
        );
        let is_stdin = |file: &Option<String>| file.as_deref() == Some("-");
        refuse_if!(
            self.body == Some(Body::File("-".to_owned())) && is_stdin(&self.expect_body_file),
            "--body-file and --expect-body-file cannot both be standard input: give one of them a file"
        );
        self.check_replies()?;
        self.check_retries()?;
        self.heavy.iter().try_for_each(|heavy| self.check_heavy(heavy))?;
        Ok(())
    }

    fn check_heavy(&self, heavy: &HeavyConnections) -> Result<(), String> {
        let HeavyConnections { every, path } = heavy;
        let (usual, connections) = (self.target.path(), self.connections);
        refuse_if!(
            format!("http://localhost{path}").parse().as_ref().map(Target::path).ok() != Some(path),
            "`{path}` is not a path: write --heavy {every}:/100"
        );
        refuse_if!(
            path.len() != usual.len(),
            "`{path}` and the path of the target, `{usual}`, differ in length: pad the shorter one, such as /000 \
             for /100"
        );
        refuse_if!(
            connections < *every,
            "none of {connections} connections is one in {every}: give -c at least {every}, or a smaller --heavy"
        );
        Ok(())
    }

    fn check_echo(&self) -> Result<(), String> {
        let bytes = self.payload_bytes;
        refuse_if!(bytes == 0, "an echo of 0 bytes has no reply: give --payload at least 1");
        refuse_if!(
            bytes > PAYLOAD_LIMIT_BYTES,
            "a message of {bytes} bytes is too large: give --payload at most 1GiB"
        );
        let given = [
            (self.unix_socket.is_some(), "--unix-socket", "write unix:PATH for an echo"),
            (self.method != "GET", "--method", "it belongs to http://"),
            (!self.headers.is_empty(), "-H", "it belongs to http://"),
            (self.requests.is_some(), "--requests", "it belongs to http://"),
            (self.heavy.is_some(), "--heavy", "it belongs to http://"),
            (self.on_closed != ClosedPolicy::Fail, "--retry-closed", "it belongs to http://"),
            (self.body.is_some(), "--body", "give --payload for an echo"),
            (!self.expect_status.is_empty(), "--expect-status", "an echo has no status"),
            (
                self.head_limit_bytes != Self::USUAL_HEAD_LIMIT_BYTES,
                "--head-limit",
                "an echo has no head",
            ),
        ];
        let expectations = self.expect().of_body(&EXPECT_OPTIONS).into_iter();
        let expectations =
            expectations.map(|option| (true, option, "an echo expects what it sent"));
        for (is_given, option, reason) in given.into_iter().chain(expectations) {
            refuse_if!(is_given, "{option} does not apply to {}: {reason}", self.target);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
