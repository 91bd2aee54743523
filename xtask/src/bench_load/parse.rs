//! Parses the output of the generators. Strict: an output that is not fully understood is an error
//! that shows it, and nothing is guessed.

use anyhow::{Context, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use wirebench_schema::journal::Generator;

use super::contestant::Contestant;
use crate::bench::parse_load;

/// The figures that every generator has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counted {
    pub(crate) requests: u64,
    pub(crate) requests_per_second: f64,
    pub(crate) errors: u64,
}

/// Understands the output of a contestant.
pub(crate) fn parse(contestant: Contestant, output: &str) -> anyhow::Result<Counted> {
    let counted = match contestant {
        Contestant::Wirebench | Contestant::WirebenchIoUring | Contestant::WirebenchEpoll => {
            let result = parse_load(output)?;
            return checked(Counted {
                requests: result.requests,
                requests_per_second: result.requests_per_second,
                errors: result.error_count(),
            });
        }
        Contestant::Wrk => wrk(output),
        Contestant::H2load => h2load(output),
        Contestant::Oha => oha(output),
        Contestant::Hey => hey(output),
        Contestant::BareIoUring | Contestant::BareEpoll => bare(output),
    };
    let name = contestant.name();
    counted
        .and_then(checked)
        .with_context(|| format!("the output of {name} was not understood:\n{output}"))
}

fn checked(counted: Counted) -> anyhow::Result<Counted> {
    let rate = counted.requests_per_second;
    ensure!(rate.is_finite() && rate >= 0.0, "its rate is {rate}");
    Ok(counted)
}

/// The text after `label` at the beginning of exactly one line.
fn field<'a>(output: &'a str, label: &str) -> anyhow::Result<&'a str> {
    let mut lines = output.lines().filter_map(|line| line.trim_start().strip_prefix(label));
    let first = lines.next().with_context(|| format!("no line begins with `{label}`"))?;
    ensure!(lines.next().is_none(), "several lines begin with `{label}`");
    Ok(first.trim())
}

fn number<T: std::str::FromStr>(text: &str) -> anyhow::Result<T> {
    text.trim().parse().ok().with_context(|| format!("`{text}` is no number"))
}

/// The numbers of `1 total, 2 started`, by their names.
fn named_counts(text: &str) -> anyhow::Result<BTreeMap<&str, u64>> {
    text.split(',')
        .map(|part| {
            let (count, name) =
                part.trim().split_once(' ').with_context(|| format!("`{part}` has no name"))?;
            Ok((name, number(count)?))
        })
        .collect()
}

/// `  171204 requests in 1.10s, 12.57MB read` and `Requests/sec: 155612.84`. Lines with failures
/// are there only when there are some.
fn wrk(output: &str) -> anyhow::Result<Counted> {
    let requests = output
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .context("no line says how many requests there were")?;
    let mut errors = 0;
    if let Ok(text) = field(output, "Socket errors:") {
        // The name stands before the number here.
        for part in text.split(',') {
            let (_, count) = part.trim().split_once(' ').context("a socket error has no count")?;
            errors += number::<u64>(count)?;
        }
    }
    if let Ok(text) = field(output, "Non-2xx or 3xx responses:") {
        errors += number::<u64>(text)?;
    }
    Ok(Counted {
        requests: number(requests.0)?,
        requests_per_second: number(field(output, "Requests/sec:")?)?,
        errors,
    })
}

/// `finished in 1.00s, 1378080.00 req/s, 101.20MB/s`, `requests: 5 total, 5 started, …` and
/// `status codes: 5 2xx, 0 3xx, …`.
fn h2load(output: &str) -> anyhow::Result<Counted> {
    let finished = field(output, "finished in")?;
    let rate = finished.split(',').nth(1).and_then(|part| part.trim().strip_suffix(" req/s"));
    let requests = named_counts(field(output, "requests:")?)?;
    let statuses = named_counts(field(output, "status codes:")?)?;
    let of = |counts: &BTreeMap<&str, u64>, name: &str| {
        counts.get(name).copied().with_context(|| format!("it does not count `{name}`"))
    };
    let succeeded = of(&requests, "succeeded")?;
    ensure!(of(&statuses, "2xx")? == succeeded, "its successes differ from its status codes");
    Ok(Counted {
        requests: succeeded,
        requests_per_second: number(rate.context("its first line has no `req/s`")?)?,
        errors: of(&requests, "failed")? + of(&requests, "errored")? + of(&requests, "timeout")?,
    })
}

/// The required fields of oha's JSON.
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
    Ok(Counted {
        requests,
        requests_per_second: requests as f64 / result.summary.total,
        errors: sum(&result.status_code_distribution, "200")
            + sum(&result.error_distribution, CUT_OFF),
    })
}

/// hey is understood as in `wirebench run --generator hey`, which knows where its lists end.
fn hey(output: &str) -> anyhow::Result<Counted> {
    let told = wirebench_runner::tool::parse(Generator::Hey, output).map_err(anyhow::Error::msg)?;
    let requests_per_second = number(field(output, "Requests/sec:")?)?;
    Ok(Counted { requests: told.requests, requests_per_second, errors: told.errors.total() })
}

/// The output of the bare loop.
#[derive(Deserialize)]
struct Bare {
    requests: u64,
    requests_per_second: f64,
}

fn bare(output: &str) -> anyhow::Result<Counted> {
    let Bare { requests, requests_per_second } = serde_json::from_str(output)?;
    Ok(Counted { requests, requests_per_second, errors: 0 })
}

#[cfg(test)]
mod tests;
