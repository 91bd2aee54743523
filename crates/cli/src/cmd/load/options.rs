//! The options of `wirebench load`, and the load configuration made from them. This file performs no
//! load.

use std::{path::PathBuf, time::Duration};
use wirebench_schema::{
    load::{
        Arrivals, BodyCheck, ClientCertificate, ClosedPolicy, EngineChoice, GeneratorShare,
        LatencyOrigin, LoadConfig, LoadModel, RateCurve, RequestFile, SourceRange, Stop, Waiting,
    },
    target::Target,
};

use super::message::MessageOptions;
use crate::{
    args::{
        fleet::FleetOptions,
        format::SecretsOption,
        gate::{FailIf, VALUES},
        idle::{IdleOption, NATURAL, one_mode},
        output::LabelOption,
    },
    exit::usage,
    request_options::{RequestOptions, TrustOptions},
    value::{self, only},
};

const DEFAULT_WINDOW: Duration = Duration::from_secs(10);

/// Names of this program's standard input.
const STDIN: [&str; 3] = ["-", "/dev/stdin", "/dev/fd/0"];

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Load",
    mut_arg("idle", |it| it.value_parser(one_mode).help(NATURAL)),
    mut_arg("fail_if", |it| it.help(VALUES)),
    after_help = "Units: k, M, G for counts and rates; KiB, MiB, GiB for sizes; us, ms, s, m, h for durations \
                  (default s).\n\n\
                  Exit codes: 0 success, 1 no valid reply or the load stopped early, 2 usage, 3 not valid, 4 a \
                  condition of --fail-if is violated, 129/130/143 interrupted with a report.\n\n\
                  Manual: docs/load.md"
)]
pub(crate) struct Arguments {
    /// http://HOST:PORT/PATH, https://HOST:PORT/PATH, or for echo servers tcp://HOST:PORT or unix:PATH
    /// [default: the server that the file of --requests names]
    #[arg(
        value_name = "URL",
        help_heading = "Arguments",
        required_unless_present = "requests_file"
    )]
    target: Option<Target>,
    /// Threads that share the connections [default: 2, or 1 with one connection]
    #[arg(short, long, value_name = "N", value_parser = value::connections)]
    threads: Option<usize>,
    /// Connections in total that carry requests
    #[arg(short, long, value_name = "N", default_value = "10", value_parser = value::connections)]
    connections: usize,
    /// Measure for this long [default: 10s]
    #[arg(short, visible_short_alias = 'z', long, value_name = "DURATION", value_parser = value::duration)]
    duration: Option<Duration>,
    /// Measure this many requests instead, failed ones included
    #[arg(short = 'n', long = "count", value_name = "COUNT", value_parser = value::count)]
    requests: Option<u64>,
    /// Measure this many requests on each connection instead
    #[arg(long, value_name = "COUNT", value_parser = value::count, hide_short_help = true)]
    count_per_connection: Option<u64>,
    /// Load before the window, checked but not counted
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = value::duration)]
    warmup: Duration,
    /// Timeout of replies and of connecting
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = value::duration)]
    timeout: Duration,
    /// I/O engine: io_uring, epoll, or auto for the best one available
    #[arg(long, value_name = "NAME", default_value = "auto", hide_short_help = true)]
    engine: EngineChoice,
    /// Seed for random payloads and arrivals
    #[arg(long, value_name = "NUMBER", default_value_t = 1, hide_short_help = true)]
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
    certificate: CertificateOptions,
    #[command(flatten)]
    pub(crate) fleet: FleetOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) gate: FailIf,
}

/// How requests are scheduled; by default each connection sends its next request after a reply.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model")]
struct ModelOptions {
    /// Requests per second in total, sent on schedule without waiting for replies
    #[arg(short = 'R', visible_short_alias = 'q', long, value_name = "N", value_parser = value::rate)]
    rate: Option<RateCurve>,
    /// Rate that changes linearly from A to B over the window
    #[arg(long, value_name = "A:B", value_parser = value::ramp)]
    ramp: Option<RateCurve>,
    /// Sequence of rates, each for an equal part of the window
    #[arg(long, value_name = "A,B,C", value_parser = value::steps)]
    steps: Option<RateCurve>,
    /// At a rate: Poisson arrivals instead of equal intervals
    #[arg(long, hide_short_help = true)]
    poisson: bool,
    /// At a rate: skip requests that are due while no connection is free, and measure latency from
    /// sending (deliberate coordinated omission)
    #[arg(long, hide_short_help = true)]
    closed: bool,
    /// Think time of each connection between a reply and its next request
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    delay: Option<Duration>,
    /// Requests in flight on each connection
    #[arg(short, long, value_name = "DEPTH", default_value = "1", value_parser = value::connections)]
    pipeline: usize,
    /// Busy-wait for the next due request, so that no wake-up adds latency
    #[arg(long, hide_short_help = true)]
    spin: bool,
    #[command(flatten)]
    idle: IdleOption,
}

/// Lifetime and addresses of connections.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connections")]
struct ConnectionOptions {
    /// Close and reopen a connection after this many requests [default: never]
    #[arg(long, value_name = "N", value_parser = value::count)]
    requests_per_connection: Option<u64>,
    /// HTTP: repeat a request on a new connection if the server closed a reused one before its reply
    #[arg(long)]
    retry_closed: bool,
    /// Additional connections that stay idle during the load
    #[arg(long, value_name = "N", default_value = "0", value_parser = value::connections)]
    idle_connections: usize,
    /// Local addresses to connect from, in turn: 127.0.0.2,127.0.0.3 or 127.0.0.2-127.0.0.9
    #[arg(long, value_name = "ADDRESSES", value_parser = value::sources)]
    source: Option<value::List<SourceRange>>,
    /// HTTP: connect to this Unix socket; the URL still gives host and path
    #[arg(long, value_name = "PATH")]
    unix_socket: Option<String>,
    /// Connect to this address; the URL still gives the Host header and the name in TLS
    #[arg(long, value_name = "HOST:PORT", value_parser = value::address)]
    connect_to: Option<Target>,
}

/// The certificate of this side.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "TLS")]
struct CertificateOptions {
    /// Certificate of the client, a PEM file, for a server that asks for one
    #[arg(long, value_name = "FILE")]
    cert: Option<String>,
    /// PEM file with the key of that certificate [default: the file of --cert]
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<String>,
}

/// Output and files.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputOptions {
    /// Print all details, such as the engine, checks, and CPU use of the generator
    #[arg(short = 'L', long)]
    pub(crate) latency: bool,
    /// Percentiles to print, such as 50,90,99.9; implies -L [default: 50,75,90,99,99.9]
    #[arg(long, value_name = "LIST", value_parser = value::percentiles, hide_short_help = true)]
    pub(crate) percentiles: Option<value::List<f64>>,
    /// Print one JSON object, including the latency distribution
    #[arg(long, conflicts_with = "percentiles")]
    pub(crate) json: bool,
    /// Create a folder in this folder with the result: load.json, and report.html for a browser
    #[arg(short, long, value_name = "FOLDER", value_parser = value::result_folder)]
    pub(crate) output: Option<PathBuf>,
    /// Append a line per figure to this file; a new file gets a header
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the latency distribution to this file, for HdrHistogram plotters
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) hgrm: Option<PathBuf>,
    /// Write OpenMetrics text to this file, for Prometheus and Grafana; once per interval while the load runs
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) openmetrics: Option<PathBuf>,
    /// Write a JSON line per interval to this file while the load runs
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) intervals: Option<PathBuf>,
    /// Length of an interval, a multiple of 100ms
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = value::duration, hide_short_help = true)]
    interval: Duration,
    /// Measure the generator's maximum throughput on a built-in null server before the load
    #[arg(long, conflicts_with = "from", hide_short_help = true)]
    pub(crate) ceiling: bool,
    #[command(flatten)]
    secrets: SecretsOption,
    #[command(flatten)]
    pub(crate) label: LabelOption,
    /// Show no progress; -q is the rate
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print events as JSON lines, the result last
    #[arg(long, conflicts_with_all = ["json", "latency", "percentiles"], hide_short_help = true)]
    pub(crate) events: bool,
}

impl OutputOptions {
    /// Whether a form of the result has the label and the revision.
    pub(crate) const fn records_labels(&self) -> bool {
        self.json || self.output.is_some() || self.csv.is_some()
    }
}

impl Arguments {
    /// The configuration, or a sentence on what contradicts what.
    pub(crate) fn config(&self) -> anyhow::Result<LoadConfig> {
        let file = self.message.request.of_file()?;
        let target = self.target(file.as_ref())?;
        self.message.check(&target).map_err(usage)?;
        let (request, CertificateOptions { cert, key }) =
            (&self.message.request, &self.certificate);
        let RequestOptions { body_file, expect_body_file, .. } = request;
        let mut files =
            [body_file, expect_body_file, &self.trust.ca, cert, key].into_iter().flatten();
        if !self.fleet.from.is_empty() && files.any(|path| STDIN.contains(&path.as_str())) {
            return Err(usage(
                "with --from, files are read on the other hosts, not from this standard input: copy the \
                 file there",
            ));
        }
        let defaults = LoadConfig::new(target);
        let config = LoadConfig {
            unix_socket: self.connection.unix_socket.clone(),
            connect_to: self.connection.connect_to.clone(),
            engine: self.engine,
            model: self.model.model().map_err(usage)?,
            waiting: if self.model.spin { Waiting::Spin } else { Waiting::Sleep },
            idle: self.model.idle.or_natural(),
            threads: self.threads.unwrap_or_else(|| self.connections.clamp(1, 2)),
            connections: self.connections,
            idle_connections: self.connection.idle_connections,
            sources: self.connection.source.clone().unwrap_or_default(),
            pipeline: self.model.pipeline,
            requests_per_connection: self.connection.requests_per_connection,
            on_closed: self.connection.on_closed(),
            warmup: self.warmup,
            stop: self.stop().map_err(usage)?,
            timeout: self.timeout,
            interval: self.output.interval,
            payload_bytes: self.message.payload.unwrap_or(defaults.payload_bytes),
            method: request.method.clone().unwrap_or(defaults.method),
            headers: request.headers.clone(),
            requests: file.map(|file| file.set),
            heavy: self.message.heavy.clone(),
            body: request.request_body().map_err(usage)?,
            expect_body: request.expect_body.clone(),
            expect_body_file: request.expect_body_file.clone(),
            expect_contains: request.expect_contains.clone(),
            body_check: if request.any_body { BodyCheck::Any } else { BodyCheck::Same },
            expect_status: request.expect_status.clone().unwrap_or_default(),
            head_limit_bytes: self.message.head_limit.unwrap_or(defaults.head_limit_bytes),
            trust: self.trust.trust(),
            client_certificate: self.certificate.client_certificate(),
            seed: self.seed,
            share: GeneratorShare::default(),
            target: defaults.target,
        };
        config.check().map_err(usage)?;
        Ok(config)
    }

    /// The URL, with the path of `--path`; without one, the server that a file of requests names.
    fn target(&self, file: Option<&RequestFile>) -> anyhow::Result<Target> {
        let RequestOptions { path, requests_file, .. } = &self.message.request;
        match (&self.target, path, file.map(|file| &file.target)) {
            (Some(url), Some(path), _) => url.with_path(path).map_err(usage),
            (Some(url), None, _) => Ok(url.clone()),
            (None, _, Some(Ok(Some(named)))) => named.with_path("/").map_err(usage),
            (None, _, Some(Err(several))) => {
                let file = requests_file.as_deref().unwrap_or_default();
                Err(usage(format!("--requests {file}, {several}, as the URL of the load")))
            }
            (None, ..) => {
                let file = requests_file.as_deref().unwrap_or_default();
                Err(usage(format!(
                    "--requests {file} names no server: give its URL too, such as http://127.0.0.1:8080/"
                )))
            }
        }
    }

    fn stop(&self) -> Result<Stop, String> {
        let given = [
            ("-d", self.duration.map(Stop::After)),
            ("-n", self.requests.map(Stop::Requests)),
            ("--count-per-connection", self.count_per_connection.map(Stop::RequestsPerConnection)),
        ];
        match only(&given, "set when the load ends")? {
            Some((_, stop)) => Ok(stop),
            None => Ok(Stop::After(DEFAULT_WINDOW)),
        }
    }
}

impl ModelOptions {
    fn model(&self) -> Result<LoadModel, String> {
        let given = [
            ("-R", self.rate.clone()),
            ("--ramp", self.ramp.clone()),
            ("--steps", self.steps.clone()),
        ];
        let curve = only(&given, "set the rate")?;
        let (option, curve) = match (curve, self.delay) {
            (Some((option, _)), Some(_)) => {
                return Err(format!("{option} and --delay exclude each other: omit one of them"));
            }
            (Some(found), None) => found,
            (None, delay) => {
                let lone = [(self.poisson, "--poisson"), (self.closed, "--closed")];
                if let Some((_, option)) = lone.iter().find(|(given, _)| *given) {
                    return Err(format!("{option} needs a rate: add -R"));
                }
                return Ok(delay.map_or(LoadModel::Closed, |delay| LoadModel::Think { delay }));
            }
        };
        if self.closed && option != "-R" {
            return Err(format!(
                "{option} and --closed exclude each other: use -R for a constant rate"
            ));
        }
        Ok(LoadModel::Rate {
            curve,
            arrivals: if self.poisson { Arrivals::Poisson } else { Arrivals::Even },
            latency_from: if self.closed { LatencyOrigin::Sent } else { LatencyOrigin::Due },
        })
    }
}

impl ConnectionOptions {
    const fn on_closed(&self) -> ClosedPolicy {
        if self.retry_closed { ClosedPolicy::Retry } else { ClosedPolicy::Fail }
    }
}

impl CertificateOptions {
    fn client_certificate(&self) -> Option<ClientCertificate> {
        let certificate = self.cert.clone()?;
        let key = self.key.clone().unwrap_or_else(|| certificate.clone());
        Some(ClientCertificate { certificate, key })
    }
}

#[cfg(test)]
mod tests;
