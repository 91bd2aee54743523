//! Parses the output of the generators. Strict: an output that is not fully understood is an error
//! that shows it, and nothing is guessed.

use anyhow::{Context, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use wirebench_schema::journal::Generator;

use super::contestant::Contestant;
use crate::{bare_load::Counts, bench::parse_load};

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
                errors: result.errors.total(),
            });
        }
        Contestant::Wrk => third_party(Generator::Wrk, output),
        Contestant::H2load => third_party(Generator::H2load, output),
        Contestant::Oha => oha(output),
        Contestant::Hey => third_party(Generator::Hey, output),
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

/// A report that `wirebench run --generator` reads too.
fn third_party(generator: Generator, output: &str) -> anyhow::Result<Counted> {
    let told = wirebench_experiment::tool::parse(generator, output).map_err(anyhow::Error::msg)?;
    let requests_per_second = told.requests as f64 / told.window_ns as f64 * 1e9;
    Ok(Counted { requests: told.requests, requests_per_second, errors: told.errors.total() })
}

/// What is needed of oha's JSON.
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

fn bare(output: &str) -> anyhow::Result<Counted> {
    let Counts { requests, requests_per_second } = serde_json::from_str(output)?;
    Ok(Counted { requests, requests_per_second, errors: 0 })
}

#[cfg(test)]
mod tests;
