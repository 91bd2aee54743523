//! Latency objectives as users write them: `p99 < 2ms`. Parses them and compares them with a load;
//! generates no load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, time::Duration};

pub use crate::load::LatencyFigure;

use crate::{
    load::LatencySummary,
    units::{parse_duration, spaced_duration},
};

/// A figure of latency that must stay below a limit.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Objective {
    /// The figure.
    pub figure: LatencyFigure,
    /// The limit.
    pub below: Duration,
}

crate::names::as_text!(Objective);

impl Objective {
    /// Whether `latency` is known to stay below the limit.
    #[must_use]
    pub fn holds(&self, latency: &LatencySummary) -> bool {
        self.figure.of(latency) < self.limit_ns() && !self.figure.is_lower_bound(latency)
    }

    /// The limit as people read it, such as `2 ms`.
    #[must_use]
    pub fn limit_text(&self) -> String {
        spaced_duration(self.below)
    }

    /// The limit in nanoseconds.
    #[must_use]
    pub fn limit_ns(&self) -> f64 {
        self.below.as_nanos() as f64
    }
}

impl fmt::Display for Objective {
    /// With a space before the unit, which parsing accepts too.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} < {}", self.figure, self.limit_text())
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |reason: &str| format!("`{text}` is not an objective: {reason}");
        let (figure, limit) = text.split_once('<').ok_or_else(|| {
            wrong("write a figure of latency, `<` and a duration, such as 'p99 < 2ms'")
        })?;
        let limit = limit.trim();
        if limit.starts_with('=') {
            return Err(wrong("write `<` instead of `<=`, such as 'p99 < 2ms'"));
        }
        let figure = figure.trim();
        // A search does not watch for stalls.
        let is_known = |it: &LatencyFigure| !it.is_without_stalls();
        let names: Vec<_> =
            LatencyFigure::ALL.into_iter().filter(is_known).map(LatencyFigure::name).collect();
        let figure = LatencyFigure::named(figure).filter(is_known).ok_or_else(|| {
            wrong(&format!("unknown figure of latency `{figure}`; known: {}", names.join(", ")))
        })?;
        if limit.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(wrong("the limit has no unit: write for example 'p99 < 2ms'"));
        }
        let below = parse_duration(limit).map_err(|error| wrong(&error))?;
        if below.is_zero() {
            return Err(wrong("nothing is faster than 0: write for example 'p99 < 2ms'"));
        }
        Ok(Self { figure, below })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_reads_back_as_it_was_written() {
        for (text, shown) in [
            ("p99 < 2ms", "p99 < 2 ms"),
            ("p99.9<250us", "p999 < 250 us"),
            ("max < 1.5s", "max < 1500 ms"),
            (" mean<10ms", "mean < 10 ms"),
        ] {
            let objective: Objective = text.parse().unwrap();
            assert_eq!(objective.to_string(), shown);
            assert_eq!(shown.parse(), Ok(objective));
            let json = serde_json::to_string(&objective).unwrap();
            assert_eq!(serde_json::from_str::<Objective>(&json).unwrap(), objective);
        }
        for figure in LatencyFigure::ALL.into_iter().filter(|it| !it.is_without_stalls()) {
            assert!(format!("{figure} < 1ms").parse::<Objective>().is_ok(), "{figure}");
        }
    }

    #[test]
    fn each_mistake_is_answered_with_what_to_write() {
        let texts = [
            "",
            "p99",
            "p99 > 2ms",
            "p99 <= 2ms",
            "p98 < 2ms",
            "p99 < 2",
            "p99 < 2 parsecs",
            "p99 < 0ms",
        ];
        let text = crate::mistakes::of_texts::<Objective>(&texts);
        expect_test::expect_file!["golden/objective.txt"].assert_eq(&text);
    }
}
