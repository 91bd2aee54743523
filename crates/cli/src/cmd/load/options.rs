//! The options of `wirebench load`, and the load configuration made from them. This file performs no
//! load.

use std::{path::PathBuf, slice, time::Duration};
use wirebench_schema::{
    load::{
        BodyCheck, ClientCertificate, EngineChoice, Expect, LoadConfig, LoadModel, RequestFile,
        SourceRange, Trust, Waiting,
    },
    scenario::HeavyConnections,
    secrets::REDACTED,
    suite::{Phase, Workload},
    target::Target,
};

use crate::{
    args::{
        fleet::FleetOptions,
        format::SecretsOption,
        gate::{FailIf, VALUES},
        idle::{IdleOption, NATURAL, one_mode},
        output::LabelOption,
        shape::ShapeArgs,
    },
    exit::usage,
    request_options::{RequestOptions, TrustOptions},
    results::loads,
    value,
};

/// Names of this program's standard input.
const STDIN: [&str; 3] = ["-", "/dev/stdin", "/dev/fd/0"];

const THREADS: &str = "Threads that share the connections [default: 2, or 1 with one connection]";

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Load",
    mut_arg("idle", |it| it.value_parser(one_mode).help(NATURAL).help_heading("Model")),
    mut_arg("fail_if", |it| it.help(VALUES)),
    mut_arg("threads", |it| it.help(THREADS).hide_short_help(false)),
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
        required_unless_present_any = ["requests_file", "config"]
    )]
    target: Option<Target>,
    /// Repeat the load of this result of `load`, a folder or load.json; other options change it
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
    #[command(flatten)]
    shape: ShapeArgs,
    /// I/O engine: io_uring, epoll, or auto for the best one available [default: auto]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    engine: Option<EngineChoice>,
    /// Seed for random payloads and arrivals [default: 1]
    #[arg(long, value_name = "NUMBER", hide_short_help = true)]
    seed: Option<u64>,
    /// Busy-wait for the next due request, so that no wake-up adds latency
    #[arg(long, help_heading = "Model", hide_short_help = true)]
    spin: bool,
    #[command(flatten)]
    idle: IdleOption,
    /// Print p99 and p99.9 also without stalls of this machine; needs the right to real-time priorities
    #[arg(long, help_heading = "Model", hide_short_help = true)]
    stalls: bool,
    /// Local addresses to connect from, in turn: 127.0.0.2,127.0.0.3 or 127.0.0.2-127.0.0.9
    #[arg(long, value_name = "ADDRESSES", help_heading = "Connections", value_parser = value::sources)]
    source: Option<value::List<SourceRange>>,
    /// HTTP: connect to this Unix socket; the URL still gives host and path
    #[arg(long, value_name = "PATH", help_heading = "Connections")]
    unix_socket: Option<String>,
    /// Connect to this address; the URL still gives the Host header and the name in TLS
    #[arg(long, value_name = "HOST:PORT", help_heading = "Connections", value_parser = value::address)]
    connect_to: Option<Target>,
    #[command(flatten)]
    request: RequestOptions,
    /// Let one connection in N request another path; latencies are those of the others
    #[arg(
        long,
        value_name = "N:PATH",
        help_heading = "Requests",
        conflicts_with = "requests_file"
    )]
    heavy: Option<HeavyConnections>,
    /// Longest head of a reply, at most 64MiB [default: 1MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Requests", value_parser = value::size)]
    head_limit: Option<usize>,
    #[command(flatten)]
    trust: TrustOptions,
    /// Certificate of the client, a PEM file, for a server that asks for one
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    cert: Option<String>,
    /// PEM file with the key of that certificate [default: the file of --cert]
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "cert")]
    key: Option<String>,
    #[command(flatten)]
    pub(crate) fleet: FleetOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) gate: FailIf,
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
    /// Length of an interval, a multiple of 100ms [default: 1s]
    #[arg(long, value_name = "DURATION", value_parser = value::duration, hide_short_help = true)]
    interval: Option<Duration>,
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
        let file = self.request.of_file()?;
        let stored = self.config.as_deref().map(loads::config).transpose()?;
        let target = self.target(stored.as_ref().map(|it| &it.target), file.as_ref())?;
        self.check(&target).map_err(usage)?;
        let Self { request, cert, key, .. } = self;
        let RequestOptions { body_file, expect_body_file, .. } = request;
        let mut files =
            [body_file, expect_body_file, &self.trust.ca, cert, key].into_iter().flatten();
        if !self.fleet.from.is_empty() && files.any(|path| STDIN.contains(&path.as_str())) {
            return Err(usage(
                "with --from, files are read on the other hosts, not from this standard input: copy the \
                 file there",
            ));
        }
        let base = stored.unwrap_or_else(|| LoadConfig::new(target.clone()));
        let base = LoadConfig { target, ..base };
        let shape = self.shaped(&base).map_err(usage)?;
        let expect = Some(request.expect()).filter(|it| *it != Expect::default());
        let expect = expect.unwrap_or_else(|| base.expect());
        let trust = Some(self.trust.trust()).filter(|it| *it != Trust::System);
        let body = request.request_body();
        // Requests of one kind replace those of the other.
        let has_own = request.method.is_some() || body.is_some();
        let (set, is_of_file) = (file.map(|file| file.set), request.requests_file.is_some());
        let config = LoadConfig {
            unix_socket: self.unix_socket.clone().or(base.unix_socket),
            connect_to: self.connect_to.clone().or(base.connect_to),
            engine: self.engine.unwrap_or(base.engine),
            waiting: if self.spin { Waiting::Spin } else { base.waiting },
            idle: self.idle.or(base.idle),
            stalls: self.stalls || base.stalls,
            sources: self.source.clone().unwrap_or(base.sources),
            interval: self.output.interval.unwrap_or(base.interval),
            method: request.method.clone().unwrap_or(base.method),
            headers: Some(request.headers.clone())
                .filter(|it| !it.is_empty())
                .unwrap_or(base.headers),
            requests: set.or(base.requests.filter(|_| !has_own)),
            heavy: self.heavy.clone().or(base.heavy.filter(|_| !is_of_file)),
            body: body.or(base.body.filter(|_| !is_of_file)),
            expect_body: expect.body,
            expect_body_file: expect.body_file,
            expect_contains: expect.contains,
            body_check: if expect.any { BodyCheck::Any } else { BodyCheck::Same },
            expect_status: expect.status,
            head_limit_bytes: self.head_limit.unwrap_or(base.head_limit_bytes),
            trust: trust.unwrap_or(base.trust),
            client_certificate: self.client_certificate().or(base.client_certificate),
            seed: self.seed.unwrap_or(base.seed),
            share: base.share,
            ..shape
        };
        config.check().map_err(usage)?;
        if self.config.is_some() && serde_json::to_string(&config)?.contains(REDACTED) {
            let hidden = "--config: the result hides secrets: give them, such as with -H, or add --show-secrets";
            return Err(usage(hidden));
        }
        Ok(config)
    }

    /// A load with the target of `base` and its shape, which the options change.
    fn shaped(&self, base: &LoadConfig) -> Result<LoadConfig, String> {
        let patch = self.shape.patch();
        let is_closed = patch.delay.is_some() || patch.closed.is_some();
        let has_rate = matches!(base.model, LoadModel::Rate { .. }) && !is_closed;
        let mut workload = Workload {
            phase: if patch.has_rate() || has_rate { Phase::Cost } else { Phase::Saturate },
            model: base.model.clone(),
            connections: base.connections,
            idle_connections: base.idle_connections,
            pipeline: base.pipeline,
            requests_per_connection: base.requests_per_connection,
            on_closed: base.on_closed,
            payload_bytes: base.payload_bytes,
            warmup: base.warmup,
            stop: base.stop,
            timeout: base.timeout,
            ..Workload::new(base.target.protocol().traits().builtin_scenario)
        };
        patch.apply_to_all(slice::from_mut(&mut workload))?;
        let shape = workload.load_config(base.target.clone(), base.threads, base.seed);
        Ok(LoadConfig { threads: self.shape.threads.unwrap_or(shape.threads), ..shape })
    }

    fn client_certificate(&self) -> Option<ClientCertificate> {
        let certificate = self.cert.clone()?;
        let key = self.key.clone().unwrap_or_else(|| certificate.clone());
        Some(ClientCertificate { certificate, key })
    }

    /// Refuses what means nothing to the target's protocol and cannot be seen in a configuration
    /// any more.
    fn check(&self, target: &Target) -> Result<(), String> {
        let traits = target.protocol().traits();
        let refuse = |option, reason| Err(format!("{option} does not apply to {target}: {reason}"));
        if self.shape.payload.is_some() && !traits.has_payload {
            return refuse("--payload", "use --body or --body-file for HTTP");
        }
        let RequestOptions { method, path, .. } = &self.request;
        for (option, value) in [("--method", method), ("--path", path)] {
            if value.is_some() && !traits.has_heads {
                return refuse(option, "it applies to http:// and https://");
            }
        }
        Ok(())
    }

    /// The URL, with the path of `--path`; without one, that of a stored load, or the server that a file of requests
    /// names.
    fn target(
        &self,
        stored: Option<&Target>,
        file: Option<&RequestFile>,
    ) -> anyhow::Result<Target> {
        let RequestOptions { path, requests_file, .. } = &self.request;
        match (self.target.as_ref().or(stored), path, file.map(|file| &file.target)) {
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

#[cfg(test)]
mod tests;
