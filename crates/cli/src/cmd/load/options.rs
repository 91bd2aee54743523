//! The options of `wirebench load`, and the configuration that they ask for. Nothing here does
//! anything.

use std::{path::PathBuf, time::Duration};
use wirebench_schema::{
    load::{
        Arrivals, Body, BodyCheck, EngineChoice, LatencyOrigin, LoadConfig, LoadModel, RateCurve,
        Stop, Trust, Waiting,
    },
    target::Target,
};

use crate::{exit::usage, value};

/// How long the window is when nothing else is asked.
const DEFAULT_WINDOW: Duration = Duration::from_secs(10);

/// Arguments of `wirebench load`.
#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Load",
    after_help = "Counts and rates take k, M and G, sizes KiB, MiB and GiB, durations us, ms, s, m and h; a bare \
                  duration is seconds. docs/load.md is the manual."
)]
pub(crate) struct Arguments {
    /// http://HOST:PORT/PATH, https://HOST:PORT/PATH, or for echo tcp://HOST:PORT or unix:PATH
    #[arg(value_name = "URL", help_heading = "Arguments")]
    target: Target,
    /// Threads, each with its share of the connections [default: 2, or fewer with fewer
    /// connections]
    #[arg(short, long, value_name = "N", value_parser = value::connections)]
    threads: Option<usize>,
    /// Connections in total
    #[arg(short, long, value_name = "N", default_value = "10", value_parser = value::connections)]
    connections: usize,
    /// Length of the measured window [default: 10s]
    #[arg(short, visible_short_alias = 'z', long, value_name = "DURATION", value_parser = value::duration)]
    duration: Option<Duration>,
    /// Stop after this many requests instead
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = value::count)]
    requests: Option<u64>,
    /// Stop when each connection has had this many requests instead
    #[arg(long, value_name = "COUNT", value_parser = value::count)]
    count_per_connection: Option<u64>,
    /// Load before the window, which is checked but not counted
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = value::duration)]
    warmup: Duration,
    /// How long a reply, or a connection being made, may take
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = value::duration)]
    timeout: Duration,
    /// The mechanism that moves the bytes: auto, io_uring or epoll
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = engine)]
    engine: EngineChoice,
    /// Seed of the random payload and of random arrivals
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    model: ModelOptions,
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(flatten)]
    message: MessageOptions,
    #[command(flatten)]
    trust: TrustOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// How requests are offered; without any of them each connection sends when it was answered.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model")]
struct ModelOptions {
    /// Requests per second in total, by a schedule that does not wait for replies
    #[arg(short = 'R', visible_short_alias = 'q', long, value_name = "N", value_parser = value::rate)]
    rate: Option<u64>,
    /// A rate that changes evenly from A to B over the window
    #[arg(long, value_name = "A:B", value_parser = value::ramp)]
    ramp: Option<value::Ramp>,
    /// Rates one after the other, each for an equal part of the window
    #[arg(long, value_name = "A,B,C", value_parser = value::steps)]
    steps: Option<value::Steps>,
    /// At a rate: random and independent arrivals instead of equal distances
    #[arg(long)]
    poisson: bool,
    /// At a rate: leave out what was due while no connection was free, and count latencies from the
    /// sending (coordinated omission, on purpose)
    #[arg(long)]
    closed: bool,
    /// A pause of each connection between a reply and the next request
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    delay: Option<Duration>,
    /// Requests in flight on one connection
    #[arg(short, long, value_name = "DEPTH", default_value = "1", value_parser = value::connections)]
    pipeline: usize,
    /// Never sleep until the next request is due: no wake-up adds to a latency
    #[arg(long)]
    spin: bool,
}

/// What becomes of connections, and from where to where they go.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connections")]
struct ConnectionOptions {
    /// Close a connection after this many requests, and make another one
    #[arg(long, value_name = "N", value_parser = value::count)]
    requests_per_connection: Option<u64>,
    /// Further connections that are made and then stay silent
    #[arg(long, value_name = "N", default_value = "0", value_parser = value::connections)]
    idle_connections: usize,
    /// Addresses of this host to connect from, in turn: A,B or A-B
    #[arg(long, value_name = "ADDRESSES", value_parser = value::sources)]
    source: Option<value::Sources>,
    /// For http:// and https://: connect to this Unix socket instead of the URL's host
    #[arg(long, value_name = "PATH")]
    unix_socket: Option<String>,
}

/// What is sent, and what must come back.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "HTTP")]
struct MessageOptions {
    /// For echo: bytes a message [default: 64]
    #[arg(long, value_name = "SIZE", help_heading = "Load", value_parser = value::size)]
    payload: Option<usize>,
    /// The method [default: GET]
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// A header line 'Name: value'; may be given more than once
    #[arg(short = 'H', long = "header", value_name = "LINE", value_parser = value::header, allow_hyphen_values = true)]
    headers: Vec<(String, String)>,
    /// The body of the request
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// A file with the body of the request
    #[arg(long, value_name = "FILE")]
    body_file: Option<String>,
    /// The body that every reply must have, instead of the first reply's
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    expect_body: Option<String>,
    /// Take any body in a reply; its length is still checked
    #[arg(long)]
    any_body: bool,
}

/// Whom to trust.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "TLS")]
struct TrustOptions {
    /// Take any certificate
    #[arg(long)]
    insecure: bool,
    /// Take certificates of the authorities in this PEM file instead of the system's
    #[arg(long, value_name = "FILE")]
    ca: Option<String>,
}

/// What is written, and where to.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputOptions {
    /// Print the distribution of latency, and what else there is to tell
    #[arg(short = 'L', long)]
    pub(crate) latency: bool,
    /// The percentiles to print, such as 50,90,99.9; means -L [default: 50,75,90,99]
    #[arg(long, value_name = "LIST", value_parser = value::percentiles)]
    pub(crate) percentiles: Option<value::Percentiles>,
    /// Print the result as one JSON object, which always has the distribution of latency
    #[arg(long, conflicts_with = "percentiles")]
    pub(crate) json: bool,
    /// Add a row of figures to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the distribution of latency to this file, as HdrHistogram's plotters read it
    #[arg(long, value_name = "FILE")]
    pub(crate) hgrm: Option<PathBuf>,
    /// Write a JSON line for each interval to this file while the load runs
    #[arg(long, value_name = "FILE")]
    pub(crate) intervals: Option<PathBuf>,
    /// Length of the intervals, a multiple of 100ms
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = value::duration)]
    interval: Duration,
    /// Before the load, measure what the generator reaches on a built-in server that does nothing
    /// but answer
    #[arg(long)]
    pub(crate) ceiling: bool,
    /// Show nothing while the load runs
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print events as JSON lines, the result last; what `run` reads
    #[arg(long, conflicts_with_all = ["json", "latency", "percentiles"])]
    pub(crate) events: bool,
    /// Wait with the load for a line of JSON that names the server's processes, and read their CPU
    /// clocks at the edges of the window; for `run`
    #[arg(long, hide = true, requires = "events")]
    pub(crate) observed: bool,
}

fn engine(text: &str) -> Result<EngineChoice, String> {
    let found = EngineChoice::ALL.into_iter().find(|engine| engine.name() == text);
    let names = EngineChoice::ALL.map(EngineChoice::name);
    found.ok_or_else(|| wirebench_schema::suggest::unknown("engine", text, names))
}

impl Arguments {
    /// The configuration, or a sentence on what contradicts what.
    pub(crate) fn config(&self) -> anyhow::Result<LoadConfig> {
        self.message.check(&self.target).map_err(usage)?;
        let defaults = LoadConfig::new(self.target.clone());
        let config = LoadConfig {
            unix_socket: self.connection.unix_socket.clone(),
            engine: self.engine,
            model: self.model.model().map_err(usage)?,
            waiting: if self.model.spin { Waiting::Spin } else { Waiting::Sleep },
            threads: self.threads.unwrap_or_else(|| self.connections.clamp(1, 2)),
            connections: self.connections,
            idle_connections: self.connection.idle_connections,
            sources: self.connection.source.clone().map_or_else(Vec::new, |sources| sources.0),
            pipeline: self.model.pipeline,
            requests_per_connection: self.connection.requests_per_connection,
            warmup: self.warmup,
            stop: self.stop().map_err(usage)?,
            timeout: self.timeout,
            interval: self.output.interval,
            payload_bytes: self.message.payload.unwrap_or(defaults.payload_bytes),
            method: self.message.method.clone().unwrap_or(defaults.method),
            headers: self.message.headers.clone(),
            body: self.message.body().map_err(usage)?,
            expect_body: self.message.expect_body.clone(),
            body_check: if self.message.any_body { BodyCheck::Any } else { BodyCheck::Same },
            trust: self.trust.trust().map_err(usage)?,
            seed: self.seed,
            target: defaults.target,
        };
        config.check().map_err(usage)?;
        Ok(config)
    }

    fn stop(&self) -> Result<Stop, String> {
        let given = [
            ("-d", self.duration.map(Stop::After)),
            ("-n", self.requests.map(Stop::Requests)),
            ("--count-per-connection", self.count_per_connection.map(Stop::RequestsPerConnection)),
        ];
        match only(&given, "say when the load ends")? {
            Some((_, stop)) => Ok(stop),
            None => Ok(Stop::After(DEFAULT_WINDOW)),
        }
    }
}

impl ModelOptions {
    fn model(&self) -> Result<LoadModel, String> {
        let given = [
            ("-R", self.rate.map(RateCurve::Constant)),
            ("--ramp", self.ramp.map(|ramp| RateCurve::Ramp(ramp.0, ramp.1))),
            ("--steps", self.steps.clone().map(|steps| RateCurve::Steps(steps.0))),
        ];
        let curve = only(&given, "say how many requests are due in a second")?;
        let (option, curve) = match (curve, self.delay) {
            (Some((option, _)), Some(_)) => {
                return Err(format!(
                    "{option} and --delay contradict each other: requests are due by a schedule or \
                     a while after the replies; leave one away"
                ));
            }
            (Some(found), None) => found,
            (None, delay) => {
                let lone = [(self.poisson, "--poisson"), (self.closed, "--closed")];
                if let Some((_, option)) = lone.iter().find(|(given, _)| *given) {
                    return Err(format!("{option} means nothing without a rate: give -R too"));
                }
                return Ok(delay.map_or(LoadModel::Closed, |delay| LoadModel::Think { delay }));
            }
        };
        if self.closed && option != "-R" {
            return Err(format!(
                "{option} and --closed contradict each other: what was due is left out, so the rate \
                 cannot follow the time; give -R"
            ));
        }
        Ok(LoadModel::Rate {
            curve,
            arrivals: if self.poisson { Arrivals::Poisson } else { Arrivals::Even },
            latency_from: if self.closed { LatencyOrigin::Sent } else { LatencyOrigin::Due },
        })
    }
}

impl MessageOptions {
    /// Refuses what means nothing to the target's protocol and cannot be seen in a configuration
    /// any more.
    fn check(&self, target: &Target) -> Result<(), String> {
        let traits = target.protocol().traits();
        let refuse = |option, reason| Err(format!("{option} means nothing to {target}: {reason}"));
        if self.payload.is_some() && !traits.has_payload {
            return refuse("--payload", "give --body or --body-file for HTTP");
        }
        if self.method.is_some() && !traits.has_heads {
            return refuse("--method", "it belongs to http://");
        }
        Ok(())
    }

    fn body(&self) -> Result<Option<Body>, String> {
        let given = [
            ("--body", self.body.clone().map(Body::Text)),
            ("--body-file", self.body_file.clone().map(Body::File)),
        ];
        Ok(only(&given, "give the body of the request")?.map(|(_, body)| body))
    }
}

impl TrustOptions {
    fn trust(&self) -> Result<Trust, String> {
        let given = [
            ("--insecure", self.insecure.then_some(Trust::Anybody)),
            ("--ca", self.ca.clone().map(Trust::File)),
        ];
        let given = only(&given, "say whom to trust")?;
        Ok(given.map_or(Trust::System, |(_, trust)| trust))
    }
}

/// The one option that was given out of several of which each says the same.
fn only<T: Clone>(
    options: &[(&'static str, Option<T>)],
    meaning: &str,
) -> Result<Option<(&'static str, T)>, String> {
    let mut given = options.iter().filter_map(|(name, value)| Some((*name, value.clone()?)));
    match (given.next(), given.next()) {
        (Some((one, _)), Some((other, _))) => {
            Err(format!("{one} and {other} both {meaning}: leave one away"))
        }
        (first, _) => Ok(first),
    }
}

#[cfg(test)]
mod tests;
