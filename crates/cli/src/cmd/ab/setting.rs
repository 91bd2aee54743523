//! From options to an experiment of two sides and one workload.

use std::time::Duration;
use wirebench_report::{
    ab::{METRICS, SUITE, half_width, has},
    analysis::{Metric, widest_interval},
};
use wirebench_runner::{
    experiment::{Experiment, Verification},
    measure::Bench,
};
use wirebench_schema::{
    journal::{Goal, Journal, Procedure},
    load::Stop,
    suite::{Phase, Scale, Suite, Workload},
};

use super::Arguments;
use crate::{
    cmd::run::{FEWEST_BLOCKS, Setting},
    context::{Context, command_line},
    exit::usage,
    files, options, out,
};

/// The load, but for what the options say.
const TEMPLATE: &str = r#"
description = "Made by wirebench ab."
blocks = 6
[[workload]]
name = "ab"
scenario = "hello"
connections = 64
warmup = "200ms"
steady_within = "5s"
duration = "1s"
"#;

/// Half of the floor below which nothing is called a difference: of two equal servers an interval
/// of that half width nearly always lies within the floor, so that they can be called the same.
const PRECISION: f64 = 0.005;

const BUDGET: Duration = Duration::from_secs(600);

impl Arguments {
    /// What is to be carried out, and with whom.
    pub(crate) fn setting(&self, context: &Context) -> anyhow::Result<Setting> {
        let phase = self.phase()?;
        let metric = self.metric(phase)?;
        let workload = self.workload(phase)?;
        context.require_files()?;
        let sides = self.sides(context)?;
        let placement = options::placement(&self.conditions.wish())?;
        let bench = self.conditions.bench(context, placement)?;
        if let Some(shortage) = files::shortage(&workload, &bench) {
            return Err(usage(shortage));
        }
        let workers = self.each_run.workers.unwrap_or(bench.workers);
        let mut suite = Suite::parse(SUITE, TEMPLATE)?;
        suite.baselines = vec![sides[0].variant.id.to_string()];
        // The pairs show by themselves how far apart two runs of the same server are.
        (suite.blocks, suite.baseline_copies) = (self.whole_pairs(), 1);
        suite.workloads = vec![workload];
        let experiment = Experiment {
            scale: Scale::Machine,
            published: None,
            left_out: Vec::new(),
            suite,
            bench: Bench { workers, ..bench },
            project: self.telling.project(context)?,
            procedure: Procedure::Process,
            margin: None,
            command: command_line(),
            verification: self.conditions.verification(Verification::AllOrNothing),
            goal: self.goal()?,
            precision: precision_of(metric),
        };
        Ok(Setting { experiment, subjects: sides.into(), missing: Vec::new() })
    }

    fn phase(&self) -> anyhow::Result<Phase> {
        let of_metric = match self.metric {
            Some(Metric::Throughput) => Phase::Saturate,
            _ => Phase::Cost,
        };
        match self.phase.unwrap_or(of_metric) {
            Phase::Idle => Err(usage(
                "silent connections are compared by `wirebench run --phase idle --server A --server \
                 B`; ab has the phases cost and saturate",
            )),
            Phase::Saturate if self.rate.is_some() => Err(usage(
                "--rate is for the phase cost: at saturation the servers themselves are the limit",
            )),
            phase => Ok(phase),
        }
    }

    /// What the verdict is about. Conditions must be about figures that are compared, too.
    fn metric(&self, phase: Phase) -> anyhow::Result<Metric> {
        let wanted = self.metric.unwrap_or(Metric::primary(phase));
        let of_conditions = self.fail_if.iter().map(|condition| condition.metric);
        for metric in std::iter::once(wanted).chain(of_conditions) {
            if has(phase, metric).is_some() {
                continue;
            }
            return Err(usage(if metric == Metric::Throughput {
                "in the phase cost both servers do as many requests/s as they are asked for: give \
                 --phase saturate, or compare cpu"
                    .to_owned()
            } else {
                let names = METRICS.map(Metric::name).join(", ");
                format!("`{metric}` is not compared here: it is one of {names}")
            }));
        }
        Ok(wanted)
    }

    fn workload(&self, phase: Phase) -> anyhow::Result<Workload> {
        let mut workload = Suite::parse(SUITE, TEMPLATE)?.workloads.remove(0);
        workload.name = self.scenario.to_string();
        workload.scenario = self.scenario;
        workload.phase = phase;
        workload.connections = self.connections.unwrap_or(workload.connections);
        workload.warmup = self.each_run.warmup.unwrap_or(workload.warmup);
        workload.steady_within = self.steady.unwrap_or(workload.steady_within);
        if let Some(duration) = self.each_run.duration {
            workload.stop = Stop::After(duration);
        }
        options::set_payload(&mut workload, self.payload)?;
        if let Some(rate) = self.rate {
            workload = workload.at_rate(rate);
        }
        workload.check().map_err(usage)?;
        Ok(workload)
    }

    /// Only in whole pairs each side has had the same mean place in time.
    fn whole_pairs(&self) -> u32 {
        let Some(asked) = self.blocks else { return FEWEST_BLOCKS };
        let blocks = asked.max(1).next_multiple_of(2);
        if blocks != asked && !self.telling.quiet {
            out::note(&format!("blocks are made in mirrored pairs: {blocks} instead of {asked}"));
        }
        blocks
    }

    fn goal(&self) -> anyhow::Result<Goal> {
        if self.budget.is_some_and(|budget| budget.is_zero()) {
            return Err(usage("a budget of 0s leaves no time: give one such as --budget 10m"));
        }
        Ok(match self.blocks {
            Some(_) => Goal { precision: None, budget: self.budget },
            None => Goal {
                precision: Some(self.precision.unwrap_or(PRECISION)),
                budget: Some(self.budget.unwrap_or(BUDGET)),
            },
        })
    }
}

/// How well B/A is known by `metric`.
fn precision_of(metric: Metric) -> fn(&Journal) -> Option<f64> {
    match metric {
        Metric::Cpu => |journal| half_width(journal, Metric::Cpu),
        Metric::Throughput => |journal| half_width(journal, Metric::Throughput),
        Metric::LatencyP50 => |journal| half_width(journal, Metric::LatencyP50),
        Metric::LatencyP99 => |journal| half_width(journal, Metric::LatencyP99),
        Metric::LatencyP999 => |journal| half_width(journal, Metric::LatencyP999),
        Metric::Memory => |journal| half_width(journal, Metric::Memory),
        // No verdict is about any other.
        _ => widest_interval,
    }
}
