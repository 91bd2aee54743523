//! Two servers compared by `wirebench ab`, and its JSON.

use anyhow::Context;
use serde_json::Value;
use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::tally::Judged;
use crate::programs::{command, output};

#[derive(Debug)]
pub(super) struct Pair {
    pub(super) sentence: String,
    /// CPU time per request of both, in nanoseconds.
    pub(super) cpu_ns: [f64; 2],
    pub(super) judged: Judged,
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
        let mut command = command(wirebench, words);
        command.args(["--metric", "cpu", "--budget", &format!("{}s", budget.as_secs())]);
        let began = Instant::now();
        let mut pair = Self::read(&output(&mut command)?)?;
        pair.judged.seconds = began.elapsed().as_secs_f64();
        pair.judged.slower_percent = slower_percent;
        Ok(pair)
    }

    fn read(text: &str) -> anyhow::Result<Self> {
        let output: Value =
            serde_json::from_str(text).context("the output of `wirebench ab --json`")?;
        let figure = &output["figures"]["server_cpu_ns_per_request"];
        let number = |value: &Value, name| value.as_f64().with_context(|| format!("no {name}"));
        let text = |name| output[name].as_str().unwrap_or_default().to_owned();
        let ratio = number(&figure["ratio"]["value"], "ratio")?;
        let interval = figure["ratio"]["low"].as_f64().zip(figure["ratio"]["high"].as_f64());
        let judged = Judged {
            name: "B".to_owned(),
            slower_percent: 0.0,
            claim: text("verdict"),
            ratio,
            half_width: interval.map(|(low, high)| (high - low) / 2.0 / ratio),
            seconds: 0.0,
        };
        let cpu_ns = [number(&figure["a"], "figure of A")?, number(&figure["b"], "figure of B")?];
        Ok(Self { sentence: text("sentence"), cpu_ns, judged })
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
