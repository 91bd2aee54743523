//! Two servers compared by `wirebench ab`, and what it says in JSON.

use anyhow::{Context, bail};
use serde::Deserialize;
use std::{path::Path, process::Command, time::Duration};

use crate::step::root;

/// What became of a comparison.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The verdict, as a sentence.
    pub(crate) sentence: String,
    verdict: String,
    /// CPU time per request of both, in nanoseconds.
    pub(crate) cpu_ns: [f64; 2],
}

#[derive(Deserialize)]
struct Said {
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
    a: Option<f64>,
    b: Option<f64>,
}

impl Pair {
    /// Compares the programs `a` and `b`, which take the arguments of the server contract.
    pub(crate) fn measure(
        wirebench: &Path,
        a: &Path,
        b: &Path,
        budget: Duration,
    ) -> anyhow::Result<Self> {
        let server = |program: &Path| {
            format!("{} {{scenario}} {{host}} {{port}} {{workers}}", program.display())
        };
        let mut command = Command::new(wirebench);
        command.args(["ab", "--a", &server(a), "--b", &server(b), "--json", "--quiet"]);
        command.args(["--budget", &format!("{}s", budget.as_secs())]).current_dir(root());
        println!("$ {command:?}");
        let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
        if !output.status.success() {
            bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Self::read(&String::from_utf8_lossy(&output.stdout))
    }

    fn read(text: &str) -> anyhow::Result<Self> {
        let said: Said =
            serde_json::from_str(text).context("what `wirebench ab --json` printed")?;
        let Figure { a, b } = said.figures.server_cpu_ns_per_request;
        let (Some(a), Some(b)) = (a, b) else {
            bail!("no CPU time per request: {}", said.sentence)
        };
        Ok(Self { sentence: said.sentence, verdict: said.verdict, cpu_ns: [a, b] })
    }

    /// Whether either was called better.
    pub(crate) fn is_different(&self) -> bool {
        ["higher", "lower"].contains(&self.verdict.as_str())
    }

    /// Whether the second was told to cost more.
    pub(crate) fn is_dearer(&self) -> bool {
        self.verdict == "higher"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_with_both_costs() {
        let text = r#"{"sentence": "B costs more", "verdict": "higher", "pairs": 6,
            "figures": {"server_cpu_ns_per_request": {"a": 4500.5, "b": 4725.0, "ratio": null}}}"#;
        let pair = Pair::read(text).unwrap();
        assert_eq!((pair.cpu_ns, pair.is_dearer()), ([4500.5, 4725.0], true));
        assert!(pair.is_different());
        assert!(Pair::read(&text.replace("4500.5", "null")).is_err());
        assert!(!Pair::read(&text.replace("higher", "same")).unwrap().is_different());
    }
}
