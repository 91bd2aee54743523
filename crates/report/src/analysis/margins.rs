//! The margins: below which difference two servers count as the same. They are fixed before a run.

use wirebench_schema::{journal::Start, suite::Phase};

use super::metric::Metric;

/// Shares: 0.03 stands for ratios from 1 / 1.03 to 1.03.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// Throughput, and the cost of a request, of saturated servers.
    pub saturated: f64,
    /// The cost of a request at a rate.
    pub at_rate: f64,
}

impl Default for Margins {
    fn default() -> Self {
        Self { saturated: Phase::Saturate.usual_margin(), at_rate: Phase::Cost.usual_margin() }
    }
}

impl Margins {
    /// Those of a run. One that was asked for is that of throughput and cost.
    #[must_use]
    pub fn of_run(start: &Start) -> Self {
        let usual = Self::default();
        Self {
            saturated: start.margin.unwrap_or(usual.saturated),
            at_rate: start.margin.unwrap_or(usual.at_rate),
        }
    }

    #[must_use]
    pub const fn of(&self, metric: Metric, phase: Phase) -> f64 {
        match (metric, phase) {
            // Percentiles scatter more than costs and matter by their order of magnitude. A cohort has one
            // sample of the start-up time.
            (Metric::Latency(_) | Metric::Ready, _) => 0.10,
            (Metric::Throughput | Metric::Cpu, Phase::Saturate) => self.saturated,
            (Metric::Throughput | Metric::Cpu, Phase::Cost | Phase::Idle) => self.at_rate,
            // Memory, CPU time of idle connections, and context switches.
            _ => 0.05,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_a_wider_margin_at_a_rate_and_percentiles_the_widest() {
        let margins = Margins::default();
        for (metric, phase, percent) in [
            (Metric::Cpu, Phase::Saturate, 3),
            (Metric::Cpu, Phase::Cost, 5),
            (Metric::P99, Phase::Cost, 10),
            (Metric::Ready, Phase::Saturate, 10),
            (Metric::MemoryPerConnection, Phase::Idle, 5),
        ] {
            let found = (margins.of(metric, phase) * 100.0).round() as i32;
            assert_eq!(found, percent, "{metric} in {phase}");
        }
    }
}
