//! Checks a configuration: one sentence for each contradiction, with the option that resolves it.

use std::time::Duration;

use super::{Body, BodyCheck, LatencyOrigin, LoadConfig, LoadModel, Stop, Trust};
use crate::{
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
        if self.connections == 0 {
            return refuse("0 connections send nothing: give -c at least 1");
        }
        if self.threads == 0 {
            return refuse("0 threads send nothing: give -t at least 1");
        }
        if self.threads > THREADS_LIMIT {
            return Err(format!(
                "{} threads are more than one load can have: give -t at most {THREADS_LIMIT}",
                self.threads
            ));
        }
        if self.threads > self.connections {
            return Err(format!(
                "{} threads cannot share {} connections: give -c at least as many as -t",
                self.threads, self.connections
            ));
        }
        if self.pipeline == 0 || self.pipeline > PIPELINE_LIMIT {
            return Err(format!(
                "{} requests cannot be in flight on a connection: give -p from 1 to {PIPELINE_LIMIT}",
                self.pipeline
            ));
        }
        if self.requests_per_connection == Some(0) {
            return refuse(
                "a connection without a request measures nothing: give --requests-per-connection \
                 at least 1",
            );
        }
        for range in &self.sources {
            if range.first.is_ipv4() != range.last.is_ipv4() || range.first > range.last {
                return Err(format!(
                    "{}-{} is not a range of addresses: write --source 127.0.0.2-127.0.0.9",
                    range.first, range.last
                ));
            }
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), String> {
        match self.stop {
            Stop::After(window) if window < SHORTEST_WINDOW => {
                return Err(format!(
                    "a window of {} measures nothing: give -d at least {}, better 10s",
                    write_duration(window),
                    write_duration(SHORTEST_WINDOW)
                ));
            }
            Stop::Requests(0) => {
                return refuse("0 requests measure nothing: give -n at least 1");
            }
            Stop::RequestsPerConnection(0) => {
                return refuse(
                    "0 requests measure nothing: give --count-per-connection at least 1",
                );
            }
            Stop::RequestsPerConnection(count)
                if !self.warmup.is_zero() && count < self.pipeline as u64 =>
            {
                return Err(format!(
                    "when the warm-up ends a connection may have {} requests in flight, more than its \
                     count of {count}: give a --count-per-connection of at least -p, or no --warmup",
                    self.pipeline
                ));
            }
            Stop::After(_) | Stop::Requests(_) | Stop::RequestsPerConnection(_) => {}
        }
        if self.timeout.is_zero() {
            return refuse("with a timeout of 0 s every reply is late: give --timeout 2s");
        }
        let pieces = self.interval.as_nanos() % INTERVAL_PIECE.as_nanos();
        if self.interval.is_zero() || pieces != 0 {
            return Err(format!(
                "an interval of {} is not a multiple of 100ms: give --interval 100ms or 1s",
                write_duration(self.interval)
            ));
        }
        Ok(())
    }

    fn check_model(&self) -> Result<(), String> {
        match &self.model {
            LoadModel::Think { delay } if delay.is_zero() => {
                refuse("--delay must be above 0: omit it, or use 1ms")
            }
            LoadModel::Think { .. } if self.pipeline > 1 => refuse(
                "a connection that pauses between requests has only one in flight: omit -p or \
                 --delay",
            ),
            LoadModel::Closed | LoadModel::Think { .. } => Ok(()),
            LoadModel::Rate { curve, latency_from, .. } => {
                let rates = curve.rates();
                if rates.is_empty() || rates.len() > STEPS_LIMIT {
                    return Err(format!(
                        "a rate has 1 to {STEPS_LIMIT} steps, not {}: change --steps",
                        rates.len()
                    ));
                }
                if let Some(rate) =
                    rates.iter().find(|rate| !(RATE_LEAST..=RATE_LIMIT).contains(*rate))
                {
                    return Err(format!(
                        "{rate} requests/s is not a rate: give from {RATE_LEAST} to {RATE_LIMIT} requests/s"
                    ));
                }
                if rates.len() > 1 && !matches!(self.stop, Stop::After(_)) {
                    return refuse(
                        "a rate that changes needs a time to change in: give -d instead of a count",
                    );
                }
                if matches!(self.stop, Stop::RequestsPerConnection(_)) {
                    return refuse(
                        "at a rate any free connection takes the next request, so none has a count \
                         of its own: give -n or -d",
                    );
                }
                if *latency_from == LatencyOrigin::Sent && rates.len() > 1 {
                    return refuse(
                        "--closed lets the schedule slip, so the rate cannot change by time: give -R",
                    );
                }
                Ok(())
            }
        }
    }

    /// Options that mean nothing to the way to this target.
    fn check_way(&self) -> Result<(), String> {
        let trust = match &self.trust {
            Trust::System => self.client_certificate.as_ref().map(|_| "--cert"),
            Trust::File(_) => Some("--ca"),
            Trust::Anybody => Some("--insecure"),
        };
        if let Some(option) = trust.filter(|_| !self.target.is_tls()) {
            return Err(format!("{option} does not apply to {}: use https://", self.target));
        }
        let unix = self.unix_socket.is_some() || self.target.unix_path().is_some();
        if unix && !self.sources.is_empty() {
            return refuse("--source does not apply to a Unix socket: omit it");
        }
        if unix && self.connect_to.is_some() {
            return refuse("--connect-to does not apply to a Unix socket: omit it");
        }
        Ok(())
    }

    fn check_http(&self) -> Result<(), String> {
        for (name, value) in &self.headers {
            let name_ok = http::HeaderName::from_bytes(name.as_bytes()).is_ok();
            if !name_ok || http::HeaderValue::from_str(value).is_err() {
                return Err(format!("`{name}: {value}` is not a header: write -H 'Name: value'"));
            }
            let frames = ["content-length", "transfer-encoding"];
            if frames.iter().any(|frame| name.eq_ignore_ascii_case(frame)) {
                return Err(format!(
                    "`{name}` is written by wirebench itself: give the body with --body or --body-file"
                ));
            }
        }
        let hosts = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        match hosts.count() {
            0 | 1 => {}
            // RFC 9112, 3.2: a server answers 400 to a request with several.
            several => return Err(format!("{several} Host headers are given: give one with -H")),
        }
        if http::Method::from_bytes(self.method.as_bytes()).is_err() {
            return Err(format!("`{}` is not an HTTP method: write GET or POST", self.method));
        }
        if self.method == "CONNECT" {
            return refuse("CONNECT opens a tunnel and has no reply to check: write GET or POST");
        }
        self.check_replies()?;
        self.check_retries()?;
        self.heavy.iter().try_for_each(|heavy| self.check_heavy(heavy))?;
        if self.expect_body.is_some() && self.body_check == BodyCheck::Any {
            return refuse("--expect-body and --any-body contradict each other: omit one");
        }
        Ok(())
    }

    fn check_heavy(&self, heavy: &HeavyConnections) -> Result<(), String> {
        let HeavyConnections { every, path } = heavy;
        let (usual, connections) = (self.target.path(), self.connections);
        if format!("http://localhost{path}").parse().as_ref().map(Target::path).ok() != Some(path) {
            return Err(format!("`{path}` is not a path: write --heavy {every}:/100"));
        }
        if path.len() != usual.len() {
            return Err(format!(
                "`{path}` and the path of the target, `{usual}`, differ in length: pad the shorter one, such as /000 \
                 for /100"
            ));
        }
        if connections < *every {
            return Err(format!(
                "none of {connections} connections is one in {every}: give -c at least {every}, or a smaller --heavy"
            ));
        }
        Ok(())
    }

    fn check_echo(&self) -> Result<(), String> {
        if self.payload_bytes == 0 {
            return refuse("an echo of 0 bytes has no reply: give --payload at least 1");
        }
        if self.payload_bytes > PAYLOAD_LIMIT_BYTES {
            return Err(format!(
                "a message of {} bytes is too large: give --payload at most 1GiB",
                self.payload_bytes
            ));
        }
        let given = [
            (self.unix_socket.is_some(), "--unix-socket", "write unix:PATH for an echo"),
            (self.method != "GET", "--method", "it belongs to http://"),
            (!self.headers.is_empty(), "-H", "it belongs to http://"),
            (self.heavy.is_some(), "--heavy", "it belongs to http://"),
            (!self.on_closed.is_fail(), "--retry-closed", "it belongs to http://"),
            (self.body.is_some(), "--body", "give --payload for an echo"),
            (self.expect_body.is_some(), "--expect-body", "an echo expects what it sent"),
            (self.body_check == BodyCheck::Any, "--any-body", "an echo expects what it sent"),
            (!self.expect_status.is_empty(), "--expect-status", "an echo has no status"),
            (
                self.head_limit_bytes != Self::USUAL_HEAD_LIMIT_BYTES,
                "--head-limit",
                "an echo has no head",
            ),
        ];
        match given.iter().find(|(given, ..)| *given) {
            Some((_, option, reason)) => {
                Err(format!("{option} does not apply to {}: {reason}", self.target))
            }
            None => Ok(()),
        }
    }

    /// The text of the request's body, when it is in the configuration itself.
    #[must_use]
    pub fn body_text(&self) -> Option<&str> {
        match &self.body {
            Some(Body::Text(text)) => Some(text),
            Some(Body::File(_)) | None => None,
        }
    }
}

fn refuse(reason: &str) -> Result<(), String> {
    Err(reason.to_owned())
}

#[cfg(test)]
mod tests;
