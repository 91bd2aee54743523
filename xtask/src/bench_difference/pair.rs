//! Two servers compared by `wirebench ab`, and its JSON.

use anyhow::Context;
use serde::Deserialize;
use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::tally::Judged;
use crate::step::{at_root, output};

#[derive(Debug)]
pub(super) struct Pair {
    pub(super) sentence: String,
    /// CPU time per request of both, in nanoseconds.
    pub(super) cpu_ns: [f64; 2],
    pub(super) judged: Judged,
}

#[derive(Deserialize)]
struct Output {
    sentence: String,
    verdict: String,
    figures: Figures,
}

#[derive(Deserialize)]
struct Figures {
    server_cpu_ns_per_request: Figure,
}

#[derive(Deserialize)]
struct Figure {
    a: f64,
    b: f64,
    ratio: Ratio,
}

#[derive(Deserialize)]
struct Ratio {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl Pair {
    /// Compares two programs that take the arguments of the server contract; B is slower by `slower_percent`.
    pub(super) fn measure(
        wirebench: &Path,
        programs: [&Path; 2],
        budget: Duration,
        slower_percent: f64,
    ) -> anyhow::Result<Self> {
        let [a, b] = programs.map(|program| {
            format!("{} {{scenario}} {{host}} {{port}} {{workers}}", program.display())
        });
        let words = ["ab", "--a", &a, "--b", &b, "--json", "--quiet", "--no-verify"];
        let mut command = at_root(wirebench, words);
        command.args(["--metric", "cpu", "--budget", &format!("{}s", budget.as_secs())]);
        let began = Instant::now();
        let mut pair = Self::read(&output(&mut command)?)?;
        pair.judged.seconds = began.elapsed().as_secs_f64();
        pair.judged.slower_percent = slower_percent;
        Ok(pair)
    }

    fn read(text: &str) -> anyhow::Result<Self> {
        let output: Output =
            serde_json::from_str(text).context("the output of `wirebench ab --json`")?;
        let Figure { a, b, ratio } = output.figures.server_cpu_ns_per_request;
        let interval = ratio.low.zip(ratio.high);
        let judged = Judged {
            name: "B".to_owned(),
            slower_percent: 0.0,
            claim: output.verdict,
            ratio: ratio.value,
            half_width: interval.map(|(low, high)| (high - low) / 2.0 / ratio.value),
            seconds: 0.0,
        };
        Ok(Self { sentence: output.sentence, cpu_ns: [a, b], judged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_with_both_costs() {
        let text = r#"{"sentence": "B uses more", "verdict": "higher", "pairs": 6,
            "figures": {"server_cpu_ns_per_request": {"a": 4500.5, "b": 4725.0,
            "ratio": {"value": 1.05, "low": 1.029, "high": 1.071}}}}"#;
        let pair = Pair::read(text).unwrap();
        assert_eq!((pair.cpu_ns, pair.judged.claim.as_str()), ([4500.5, 4725.0], "higher"));
        assert!((pair.judged.half_width.unwrap() - 0.02).abs() < 1e-9);
        assert!(Pair::read(&text.replace("4500.5", "null")).is_err());
    }
}
