//! Parses the output of the generators. Strict: an output that is not fully understood is an error
//! that shows it, and nothing is guessed.

use anyhow::{Context, ensure};
use serde::Deserialize;
use std::{collections::BTreeMap, str::FromStr};

use super::contestant::Contestant;
use crate::programs::parse_load;

/// The figures that every generator has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub(crate) struct Counted {
    pub(crate) requests: u64,
    pub(crate) requests_per_second: f64,
    #[serde(default)]
    pub(crate) errors: u64,
}

impl Counted {
    fn within(seconds: f64, requests: u64, errors: u64) -> Self {
        Self { requests, requests_per_second: requests as f64 / seconds, errors }
    }
}

/// Understands the output of a contestant.
pub(crate) fn parse(contestant: Contestant, output: &str) -> anyhow::Result<Counted> {
    let counted = match contestant {
        Contestant::Wirebench | Contestant::WirebenchIoUring | Contestant::WirebenchEpoll => {
            ours(output)
        }
        Contestant::H2load => h2load(output),
        Contestant::Oha => oha(output),
        Contestant::Hey => hey(output),
        Contestant::Wrk | Contestant::BareIoUring | Contestant::BareEpoll => {
            let last = output.lines().last().unwrap_or_default();
            serde_json::from_str(last).map_err(anyhow::Error::from)
        }
    };
    let checked = counted.and_then(|counted| {
        let rate = counted.requests_per_second;
        ensure!(rate.is_finite() && rate >= 0.0, "its rate is {rate}");
        Ok(counted)
    });
    let name = contestant.name();
    checked.with_context(|| format!("the output of {name} was not understood:\n{output}"))
}

fn ours(output: &str) -> anyhow::Result<Counted> {
    let report = parse_load(output)?;
    let (requests, errors) = (report.requests, report.errors.total());
    Ok(Counted { requests, requests_per_second: report.requests_per_second, errors })
}

/// The rest of the first line that begins with `label`.
fn field<'a>(output: &'a str, label: &str) -> anyhow::Result<&'a str> {
    let mut lines = output.lines().filter_map(|line| line.trim_start().strip_prefix(label));
    lines.next().map(str::trim).with_context(|| format!("no line begins with `{label}`"))
}

fn number<T: FromStr>(text: &str) -> anyhow::Result<T> {
    text.trim().parse().ok().with_context(|| format!("`{text}` is not a number"))
}

/// `finished in 1.00s, 53813.00 req/s, 3.95MB/s` and `requests: 53813 total, 53821 started, …`. What came too late or
/// broke is among all that failed.
fn h2load(output: &str) -> anyhow::Result<Counted> {
    let rate = field(output, "finished in")?.split(',').nth(1).context("no rate")?;
    let rate: f64 = number(rate.trim().strip_suffix(" req/s").context("no `req/s`")?)?;
    let requests = field(output, "requests:")?;
    let count = |name: &str| {
        let mut counts = requests.split(',').filter_map(|part| part.trim().split_once(' '));
        let found = counts.find(|(_, it)| *it == name);
        number::<u64>(found.with_context(|| format!("no count of `{name}`"))?.0)
    };
    let (done, requests, errors) = (count("done")?, count("succeeded")?, count("failed")?);
    let requests_per_second = rate * requests as f64 / done.max(1) as f64;
    Ok(Counted { requests, requests_per_second, errors })
}

/// hey keeps the statuses of this many replies up to version 0.1.4; its rate has no such limit.
const HEY_LISTED_MOST: u64 = 1_000_000;

/// `Total: 0.1000 secs`, `Requests/sec: 2000.5`, `[200] 2000 responses` and `[11] Get "…": EOF`.
fn hey(output: &str) -> anyhow::Result<Counted> {
    let seconds = field(output, "Total:")?.strip_suffix("secs").context("no `secs`")?;
    let (seconds, rate): (f64, f64) = (number(seconds)?, number(field(output, "Requests/sec:")?)?);
    let (statuses, failures) = output.split_once("Error distribution:").unwrap_or((output, ""));
    let statuses = statuses.split_once("Status code distribution:").map_or("", |(_, it)| it);
    let bracketed = |line: &str| -> Option<(u64, String)> {
        let (number, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
        Some((number.parse().ok()?, rest.trim().to_owned()))
    };
    let (mut good, mut listed) = (0, 0);
    for (status, rest) in statuses.lines().filter_map(bracketed) {
        let count = number::<u64>(rest.strip_suffix("responses").context("no `responses`")?)?;
        listed += count;
        good += if matches!(status, 200..=299) { count } else { 0 };
    }
    let failed: u64 = failures.lines().filter_map(bracketed).map(|(count, _)| count).sum();
    ensure!(listed + failed > 0, "it counts neither replies nor errors");
    let mut replies = listed;
    if listed >= HEY_LISTED_MOST {
        // The replies that are not listed are taken to have the same statuses.
        replies = listed.max(((rate * seconds).round() as u64).saturating_sub(failed));
        good = (replies as f64 * good as f64 / listed as f64).round() as u64;
    }
    Ok(Counted::within(seconds, good, replies - good + failed))
}

/// The keys of oha's JSON that are needed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Oha {
    summary: OhaSummary,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct OhaSummary {
    /// Seconds.
    total: f64,
}

fn oha(output: &str) -> anyhow::Result<Counted> {
    // The requests in flight at the end of a duration, which the other tools do not count as failures.
    const CUT_OFF: &str = "aborted due to deadline";
    let result: Oha = serde_json::from_str(output)?;
    let sum = |counts: &BTreeMap<String, u64>, excluded: &str| -> u64 {
        counts.iter().filter(|(name, _)| *name != excluded).map(|(_, count)| count).sum()
    };
    let requests = result.status_code_distribution.get("200").copied().unwrap_or(0);
    let errors =
        sum(&result.status_code_distribution, "200") + sum(&result.error_distribution, CUT_OFF);
    Ok(Counted::within(result.summary.total, requests, errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRK: &str =
        "Requests/sec: 99.84\n\n{\"requests\":100,\"requests_per_second\":50,\"errors\":3}\n";
    const BARE: &str = r#"{"requests":7,"requests_per_second":3.5}"#;
    const H2LOAD: &str = "finished in 2.00s, 50.00 req/s, 5.58KB/s\n\
        requests: 120 total, 111 started, 100 done, 97 succeeded, 23 failed, 20 errored, 0 timeout\n";
    const HEY: &str = "Summary:\n  Total:\t2.0000 secs\n  Requests/sec:\t100.0000\n\nStatus code distribution:\n  \
        [200]\t95 responses\n  [404]\t94 responses\n\nError distribution:\n  [11]\tGet \"http://x/\": EOF\n";
    const OHA: &str = r#"{
      "summary": { "successRate": 1.0, "total": 0.5, "requestsPerSec": 1010.0, "totalData": 6000 },
      "responseTimeHistogram": {},
      "statusCodeDistribution": { "200": 500, "503": 2 },
      "errorDistribution": { "aborted due to deadline": 5, "connection refused": 4 }
    }"#;

    #[test]
    fn requests_rates_and_failures_are_found_in_the_output_of_each_program() {
        let million = HEY.replace("95 ", "999000 ").replace("94 ", "1000 ");
        let million = million.replace("100.0000", "1000011").replace("[11]", "[22]");
        for (contestant, output, requests, rate, errors) in [
            (Contestant::Wrk, WRK, 100, 50.0, 3),
            (Contestant::BareEpoll, BARE, 7, 3.5, 0),
            (Contestant::H2load, H2LOAD, 97, 48.5, 23),
            (Contestant::Hey, HEY, 95, 47.5, 105),
            (Contestant::Hey, &million, 1_998_000, 999_000.0, 2022),
            (Contestant::Oha, OHA, 500, 1000.0, 6),
        ] {
            let expected = Counted { requests, requests_per_second: rate, errors };
            assert_eq!(parse(contestant, output).unwrap(), expected, "{contestant:?}");
        }
    }

    #[test]
    fn whatever_is_not_understood_is_an_error_that_shows_it() {
        for (contestant, output) in [
            (Contestant::Wirebench, "{}".to_owned()),
            (Contestant::Wrk, WRK.replace("100", "many")),
            (Contestant::H2load, H2LOAD.replace("req/s", "req/min")),
            (Contestant::H2load, H2LOAD.replace("failed", "lost")),
            (Contestant::Hey, HEY.replace("responses", "replies")),
            (Contestant::Hey, HEY.replace(['[', ']'], "")),
            (Contestant::Oha, OHA.replace("total\"", "sum\"")),
            (Contestant::BareIoUring, String::new()),
        ] {
            let message = format!("{:#}", parse(contestant, &output).unwrap_err());
            assert!(message.contains(&contestant.name()) && message.contains(&output), "{message}");
        }
    }
}
