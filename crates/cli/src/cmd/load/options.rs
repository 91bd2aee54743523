//! The options of `wirebench load`, and the load configuration made from them. This file performs no
//! load.

use std::{path::PathBuf, slice, time::Duration};
use wirebench_schema::{
    load::{
        BodyCheck, ClientCertificate, EngineChoice, LoadConfig, RequestFile, SourceRange, Waiting,
    },
    suite::{Phase, Workload},
    target::Target,
};

use super::message::MessageOptions;
use crate::{
    args::shape::ShapeArgs,
    exit::usage,
    fleet::FleetOptions,
    gate::{FailIf, VALUES},
    idle_option::{IdleOption, NATURAL, one_mode},
    options::{LabelOption, SecretsOption},
    request_options::{RequestOptions, TrustOptions},
    value,
};

const THREADS: usize = 2;

/// Names of this program's standard input.
const STDIN: [&str; 3] = ["-", "/dev/stdin", "/dev/fd/0"];

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Load",
    mut_arg("idle", |it| it.value_parser(one_mode).help(NATURAL)),
    mut_arg("fail_if", |it| it.help(VALUES)),
    mut_arg("threads", |it| it.help("Threads that share the connections [default: 2, or 1 with one connection]")),
    mut_arg("connections", |it| it.help("Connections in total that carry requests [default: 10]")),
    mut_arg("duration", |it| it.help("Measure for this long [default: 10s]")),
    mut_arg("rate", |it| it.visible_short_alias('q')),
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
    #[command(flatten)]
    shape: ShapeArgs,
    /// I/O engine: io_uring, epoll, or auto for the best one available
    #[arg(long, value_name = "NAME", default_value = "auto")]
    engine: EngineChoice,
    /// Seed for random payloads and arrivals
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
    certificate: CertificateOptions,
    #[command(flatten)]
    pub(crate) fleet: FleetOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) gate: FailIf,
}

/// How threads wait.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model")]
struct ModelOptions {
    /// Busy-wait for the next due request, so that no wake-up adds latency
    #[arg(long)]
    spin: bool,
    #[command(flatten)]
    idle: IdleOption,
}

/// Addresses of connections.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connections")]
struct ConnectionOptions {
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
    #[arg(long, value_name = "LIST", value_parser = value::percentiles)]
    pub(crate) percentiles: Option<value::List<f64>>,
    /// Print one JSON object, including the latency distribution
    #[arg(long, conflicts_with = "percentiles")]
    pub(crate) json: bool,
    /// Create a folder in this folder with the result: load.json, and report.html for a browser
    #[arg(short, long, value_name = "FOLDER", value_parser = value::result_folder)]
    pub(crate) output: Option<PathBuf>,
    /// Append a line per figure and setting to this file; a new file gets a header
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write the latency distribution to this file, for HdrHistogram plotters
    #[arg(long, value_name = "FILE")]
    pub(crate) hgrm: Option<PathBuf>,
    /// Write OpenMetrics text to this file, for Prometheus and Grafana; once per interval while the load runs
    #[arg(long, value_name = "FILE")]
    pub(crate) openmetrics: Option<PathBuf>,
    /// Write a JSON line per interval to this file while the load runs
    #[arg(long, value_name = "FILE")]
    pub(crate) intervals: Option<PathBuf>,
    /// Length of an interval, a multiple of 100ms
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = value::duration)]
    interval: Duration,
    /// Measure the generator's maximum throughput on a built-in null server before the load
    #[arg(long, conflicts_with = "from")]
    pub(crate) ceiling: bool,
    #[command(flatten)]
    secrets: SecretsOption,
    #[command(flatten)]
    pub(crate) label: LabelOption,
    /// Show no progress; -q is the rate
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print events as JSON lines, the result last
    #[arg(long, conflicts_with_all = ["json", "latency", "percentiles"])]
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
        self.message.check(&target, self.shape.payload).map_err(usage)?;
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
        let defaults = self.shaped(target).map_err(usage)?;
        let config = LoadConfig {
            unix_socket: self.connection.unix_socket.clone(),
            connect_to: self.connection.connect_to.clone(),
            engine: self.engine,
            waiting: if self.model.spin { Waiting::Spin } else { Waiting::Sleep },
            idle: self.model.idle.or_natural(),
            threads: self.shape.threads.unwrap_or(defaults.threads),
            sources: self.connection.source.clone().unwrap_or_default(),
            interval: self.output.interval,
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
            ..defaults
        };
        config.check().map_err(usage)?;
        Ok(config)
    }

    /// A load of the shape that the options say.
    fn shaped(&self, target: Target) -> Result<LoadConfig, String> {
        let patch = self.shape.patch();
        let mut workload = Workload::new(target.protocol().traits().builtin_scenario);
        workload.phase = if patch.has_rate() { Phase::Cost } else { Phase::Saturate };
        patch.apply_to_all(slice::from_mut(&mut workload))?;
        Ok(workload.load_config(target, THREADS, self.seed))
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
