//! One run of one contestant against the server of its block, with the CPU time of both sides.

use anyhow::Context as _;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path, time::Duration};
use wirebench_experiment::tool;
use wirebench_schema::load::LoadResult;

use super::contestant::{Contestant, Shape};
use crate::{
    bare_load::Counted,
    bench::{Bench, until_answered},
    process::Server,
};

/// The contestants that share a server, fresh for them.
pub(crate) struct Block<'a> {
    pub(crate) number: u32,
    pub(crate) shape: Shape,
    pub(crate) server: Server,
    pub(crate) bench: &'a Bench,
    /// The build of `--against`.
    pub(crate) other: &'a Path,
    pub(crate) window: Duration,
    pub(crate) is_smoke: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Sample {
    pub(crate) block: u32,
    pub(crate) shape: &'static str,
    pub(crate) contestant: Contestant,
    #[serde(flatten)]
    pub(crate) counted: Counted,
    /// User and system time of the whole process, from its start to its end.
    pub(crate) generator_cpu_us_per_request: f64,
    pub(crate) server_cpu_us_per_request: f64,
    /// Share of the process's life in which the server did nothing, 0 to 1.
    pub(crate) server_idle: f64,
}

impl Block<'_> {
    pub(crate) fn measure(&self, contestant: Contestant) -> anyhow::Result<Sample> {
        let Self { shape, server, .. } = self;
        let program = match contestant {
            Contestant::Against => self.other.to_owned(),
            Contestant::BareIoUring | Contestant::BareEpoll => std::env::current_exe()?,
            _ if contestant.is_ours() => self.bench.wirebench.clone(),
            _ => contestant.name().into(),
        };
        let attempt = |duration| {
            let line = contestant.line(*shape, duration, server.address);
            let before = server.cpu()?;
            let finished = self.bench.run(&program, &line, duration)?;
            let server_cpu = server.cpu()?.saturating_sub(before);
            let (elapsed, cpu) = (finished.elapsed, finished.cpu);
            let counted = parse(contestant, &finished.output()?)?;
            // Without any request there is no cost of one; the rate of 0 says it all.
            let requests = counted.requests.max(1) as f64;
            let per_request = |time: Duration| time.as_secs_f64() * 1e6 / requests;
            Ok(Sample {
                block: self.number,
                shape: shape.name,
                contestant,
                counted,
                generator_cpu_us_per_request: per_request(cpu),
                server_cpu_us_per_request: per_request(server_cpu),
                server_idle: 1.0 - server_cpu.div_duration_f64(elapsed).min(1.0),
            })
        };
        until_answered(self.is_smoke, self.window, attempt, |it| it.counted.requests)
    }
}

/// Understands the output of a contestant. Strict: one that is not fully understood is an error that shows it.
fn parse(contestant: Contestant, output: &str) -> anyhow::Result<Counted> {
    let counted = match contestant {
        Contestant::Oha => oha(output),
        Contestant::BareIoUring | Contestant::BareEpoll => {
            serde_json::from_str(output).map_err(Into::into)
        }
        _ if contestant.is_ours() => {
            let report = LoadResult::parse(output).and_then(Result::ok).map(|it| it.report);
            let report = report.context("no report of a load");
            report.map(|it| Counted::of(it.requests, it.errors.total(), it.window_ns as f64 / 1e9))
        }
        // `wirebench load --generator` reads the reports of the others too.
        _ => {
            let figures = contestant.name().parse().and_then(|it| tool::parse(it, output));
            let figures = figures.map_err(anyhow::Error::msg);
            figures.map(|it| Counted::of(it.requests, it.errors.total(), it.window_ns as f64 / 1e9))
        }
    };
    let name = contestant.name();
    counted.with_context(|| format!("the output of {name} was not understood:\n{output}"))
}

fn oha(output: &str) -> anyhow::Result<Counted> {
    let result: Value = serde_json::from_str(output)?;
    let seconds = result["summary"]["total"].as_f64().filter(|it| *it > 0.0).context("no total")?;
    let counts = |key| BTreeMap::<String, u64>::deserialize(&result[key]);
    let (mut statuses, mut failures) =
        (counts("statusCodeDistribution")?, counts("errorDistribution")?);
    let requests = statuses.remove("200").unwrap_or(0);
    // The requests in flight at the end of a duration, which the other tools do not count as failures.
    failures.remove("aborted due to deadline");
    Ok(Counted::of(requests, statuses.values().chain(failures.values()).sum(), seconds))
}

#[cfg(test)]
mod tests {
    use super::{Contestant as C, *};

    const OHA: &str = r#"{
      "summary": { "total": 0.5, "requestsPerSec": 1010.0 },
      "statusCodeDistribution": { "200": 500, "503": 2 },
      "errorDistribution": { "aborted due to deadline": 5, "connection refused": 4 }
    }"#;

    #[test]
    fn requests_rates_and_failures_are_found_and_an_output_that_is_not_understood_is_shown() {
        let expected = Counted { requests: 500, requests_per_second: 1000.0, errors: 6 };
        assert_eq!(parse(C::Oha, OHA).unwrap(), expected);
        for (contestant, output) in [
            (C::Wirebench, "{}".to_owned()),
            (C::Wrk, "{}".to_owned()),
            (C::Oha, OHA.replace("0.5", "0")),
        ] {
            let message = format!("{:#}", parse(contestant, &output).unwrap_err());
            assert!(message.contains(&contestant.name()) && message.contains(&output), "{message}");
        }
    }
}
