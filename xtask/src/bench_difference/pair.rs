//! Two servers compared by `wirebench ab`, and its JSON.

use anyhow::{Context, bail};
use serde::Deserialize;
use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use super::tally::Judged;
use crate::step::root;

/// The result of a comparison.
#[derive(Debug)]
pub(super) struct Pair {
    /// The verdict, as a sentence.
    pub(super) sentence: String,
    verdict: String,
    /// CPU time per request of both, in nanoseconds.
    pub(super) cpu_ns: [f64; 2],
    ratio: f64,
    half_width: Option<f64>,
    seconds: f64,
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
    /// Compares two programs that take the arguments of the server contract.
    pub(super) fn measure(
        wirebench: &Path,
        programs: [&Path; 2],
        budget: Duration,
    ) -> anyhow::Result<Self> {
        let [a, b] = programs.map(|program| {
            format!("{} {{scenario}} {{host}} {{port}} {{workers}}", program.display())
        });
        let mut command = Command::new(wirebench);
        command.args(["ab", "--a", &a, "--b", &b, "--json", "--quiet", "--no-verify"]);
        command.args(["--metric", "cpu", "--budget", &format!("{}s", budget.as_secs())]);
        let began = Instant::now();
        let output = command
            .current_dir(root())
            .output()
            .with_context(|| format!("{command:?} cannot be run"))?;
        if !output.status.success() {
            bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let pair = Self::read(&String::from_utf8_lossy(&output.stdout))?;
        Ok(Self { seconds: began.elapsed().as_secs_f64(), ..pair })
    }

    fn read(text: &str) -> anyhow::Result<Self> {
        let output: Output =
            serde_json::from_str(text).context("the output of `wirebench ab --json`")?;
        let Figure { a, b, ratio } = output.figures.server_cpu_ns_per_request;
        let interval = ratio.low.zip(ratio.high);
        Ok(Self {
            sentence: output.sentence,
            verdict: output.verdict,
            cpu_ns: [a, b],
            ratio: ratio.value,
            half_width: interval.map(|(low, high)| (high - low) / 2.0 / ratio.value),
            seconds: 0.0,
        })
    }

    /// For the counts.
    pub(super) fn judged(&self, slower_percent: f64) -> Judged {
        Judged {
            name: "B".to_owned(),
            slower_percent,
            claim: self.verdict.clone(),
            ratio: self.ratio,
            half_width: self.half_width,
            seconds: self.seconds,
        }
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
        assert_eq!((pair.cpu_ns, pair.judged(5.0).claim.as_str()), ([4500.5, 4725.0], "higher"));
        assert!((pair.half_width.unwrap() - 0.02).abs() < 1e-9);
        assert!(Pair::read(&text.replace("4500.5", "null")).is_err());
    }
}
