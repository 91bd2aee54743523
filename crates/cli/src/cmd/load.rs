//! `wirebench load`: load on one server, with wrk's letters and wrk's layout.

use std::time::Duration;
use wirebench_loadgen as loadgen;
use wirebench_report::load_text;
use wirebench_schema::{
    load::{EngineChoice, LoadConfig, LoadEvent, LoadReport, Stop},
    target::Target,
};

use crate::{
    exit::{Exit, usage},
    interrupt::Interrupt,
    out, value,
};

/// Arguments of `wirebench load`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Counts take k and M, sizes KiB and MiB, durations us, ms, s, m and h; a bare duration is seconds."
)]
pub(crate) struct Arguments {
    /// Threads, each with its share of the connections [default: 2, or fewer with fewer
    /// connections]
    #[arg(short, long, value_name = "N", value_parser = value::connections)]
    threads: Option<usize>,
    /// Connections in total
    #[arg(short, long, value_name = "N", default_value = "10", value_parser = value::connections)]
    connections: usize,
    /// Length of the measured window [default: 10s]
    #[arg(short, long, value_name = "DURATION", conflicts_with = "requests", value_parser = value::duration)]
    duration: Option<Duration>,
    /// Stop after this many requests instead
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = value::count)]
    requests: Option<u64>,
    /// Load before the window, which is checked but not counted
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = value::duration)]
    warmup: Duration,
    /// How long a reply, or a connection being made, may take
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = value::duration)]
    timeout: Duration,
    /// For tcp://: bytes a message
    #[arg(long, value_name = "SIZE", default_value = "64", value_parser = value::size)]
    payload: usize,
    /// For http://: the method
    #[arg(long, value_name = "NAME", default_value = "GET")]
    method: String,
    /// For http://: a header line 'Name: value'; may be given more than once
    #[arg(short = 'H', long = "header", value_name = "LINE", value_parser = value::header)]
    headers: Vec<(String, String)>,
    /// For http://: the body that every reply must have, instead of the first reply's
    #[arg(long, value_name = "TEXT")]
    expect_body: Option<String>,
    /// Seed of the random payload
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// The mechanism that moves the bytes: auto or epoll
    #[arg(long, default_value = "auto", value_parser = engine)]
    engine: EngineChoice,
    /// Print the distribution of latency
    #[arg(short = 'L', long)]
    latency: bool,
    /// Print the result as one JSON object
    #[arg(long, conflicts_with = "latency")]
    json: bool,
    /// Print events as JSON lines, the result last; what `run` reads
    #[arg(long, conflicts_with_all = ["json", "latency"])]
    events: bool,
    /// http://HOST:PORT/PATH, or tcp://HOST:PORT for echo
    #[arg(value_name = "URL")]
    target: Target,
}

fn engine(text: &str) -> Result<EngineChoice, String> {
    let found = EngineChoice::ALL.into_iter().find(|engine| engine.name() == text);
    let names = EngineChoice::ALL.map(EngineChoice::name);
    found.ok_or_else(|| wirebench_schema::suggest::unknown("engine", text, names))
}

impl Arguments {
    fn config(&self) -> anyhow::Result<LoadConfig> {
        let stop = match (self.duration, self.requests) {
            (_, Some(requests)) => Stop::Requests(requests),
            (Some(duration), None) => Stop::After(duration),
            (None, None) => Stop::After(Duration::from_secs(10)),
        };
        let config = LoadConfig {
            engine: self.engine,
            threads: self.threads.unwrap_or_else(|| self.connections.clamp(1, 2)),
            connections: self.connections,
            warmup: self.warmup,
            stop,
            timeout: self.timeout,
            payload_bytes: self.payload,
            method: self.method.clone(),
            headers: self.headers.clone(),
            expect_body: self.expect_body.clone(),
            seed: self.seed,
            ..LoadConfig::new(self.target.clone())
        };
        config.check().map_err(usage)?;
        Ok(config)
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let config = arguments.config()?;
    let interrupt = Interrupt::listen()?;
    let mut observe = |event: LoadEvent| match event {
        event if arguments.events => print_event(&event),
        // By now the target has answered: what cannot be loaded gets an error and no heading.
        LoadEvent::Connected { .. } if !arguments.json => {
            out::result(&load_text::heading(&config));
        }
        _ => {}
    };
    match loadgen::run(&config, interrupt.flag(), &mut observe) {
        Ok(report) => {
            print(arguments, &report)?;
            let failed = report.requests == 0 && !report.interrupted;
            if failed {
                let reasons = report.error_examples.join("; ");
                let reasons = if reasons.is_empty() {
                    "no reply came within the window, give a longer -d".to_owned()
                } else {
                    reasons
                };
                out::error(&format!("no request was answered correctly: {reasons}"));
            }
            let exit = if failed { Exit::Failed } else { Exit::Fine };
            Ok(interrupt.exit().unwrap_or(exit))
        }
        Err(error) => {
            if arguments.events {
                print_event(&LoadEvent::Failed { reason: error.to_string() });
            }
            match interrupt.exit() {
                Some(exit) => Ok(exit),
                None => Err(error.into()),
            }
        }
    }
}

fn print(arguments: &Arguments, report: &LoadReport) -> anyhow::Result<()> {
    if arguments.events {
        print_event(&LoadEvent::Report(Box::new(report.clone())));
    } else if arguments.json {
        out::result(&serde_json::to_string_pretty(report)?);
    } else {
        out::result(&load_text::results(report, arguments.latency));
    }
    Ok(())
}

/// An event is plain data; it can always be written.
fn print_event(event: &LoadEvent) {
    if let Ok(line) = serde_json::to_string(event) {
        out::result(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use wirebench_runner::generate::load_arguments;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        load: Arguments,
    }

    #[test]
    fn the_arguments_that_the_runner_gives_mean_the_configuration_that_it_wants() {
        let mut http = LoadConfig::new("http://[::1]:80/x?y".parse().unwrap());
        http.stop = Stop::Requests(5000);
        http.warmup = Duration::from_millis(200);
        http.headers = vec![("Accept".into(), "text/plain".into())];
        http.expect_body = Some("Hello world!".into());
        http.engine = EngineChoice::Epoll;
        let mut echo = LoadConfig::new("tcp://127.0.0.1:80".parse().unwrap());
        echo.payload_bytes = 1 << 20;
        echo.seed = 7;
        for config in [http, echo] {
            let words = ["wirebench".to_owned()].into_iter().chain(load_arguments(&config));
            let program = Program::try_parse_from(words).unwrap();
            assert_eq!(program.load.config().unwrap(), config);
        }
    }
}
