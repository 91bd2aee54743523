//! The metrics: every figure that can be compared with the baseline's, with its unit, its direction
//! and its words. It computes nothing over several runs.

use serde::{Serialize, Serializer};
use std::{fmt, str::FromStr};
use wirebench_schema::{
    gate::GateFigure,
    journal::{IdleMeasurement, Measurement, Outcome},
    load::LatencyFigure,
    suggest::nearest,
    suite::Phase,
};

use crate::{
    names::names,
    table_units::{bytes, latency, thousands},
};

/// A figure of a run. Its order is that in which they are shown.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Metric {
    /// Correct replies per second.
    Throughput,
    /// CPU time of the server's whole process tree per request, in nanoseconds.
    Cpu,
    /// Median latency in nanoseconds.
    LatencyP50,
    /// 99th percentile of latency in nanoseconds.
    LatencyP99,
    /// 99.9th percentile of latency in nanoseconds.
    LatencyP999,
    /// Context switches of the server's process tree per request, voluntary or not.
    Switches,
    /// The most memory that the server has held, in bytes.
    Memory,
    /// Time from the start of the server until it accepts connections, in nanoseconds.
    Ready,
    /// Memory of the server before the first connection, in bytes.
    MemoryAtRest,
    /// Memory of the server with all connections open and silent, in bytes.
    MemoryIdle,
    /// What the server's memory grows by for each silent connection, in bytes.
    MemoryPerConnection,
    /// CPU time of the server over the time, while all connections are silent. 1 is one CPU.
    IdleCpu,
}

/// Whether more of a metric is good.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// As of requests per second.
    MoreIsBetter,
    /// As of time, memory and CPU time.
    LessIsBetter,
}

/// The figures of a load, and those of silence.
const OF_LOAD_AND_SILENCE: (&[Metric], &[Metric]) = Metric::ALL.split_at(8);

names! {
    pub name of Metric: Throughput = "throughput", Cpu = "cpu", LatencyP50 = "p50", LatencyP99 = "p99",
        LatencyP999 = "p999", Switches = "switches", Memory = "memory", Ready = "ready",
        MemoryAtRest = "memory-at-rest", MemoryIdle = "memory-idle",
        MemoryPerConnection = "memory-per-connection", IdleCpu = "idle-cpu";
    /// The name in files: in full, with the unit last.
    pub field of Metric: Throughput = "requests_per_second", Cpu = "server_cpu_ns_per_request",
        LatencyP50 = "latency_ns_p50", LatencyP99 = "latency_ns_p99", LatencyP999 = "latency_ns_p999",
        Switches = "context_switches_per_request", Memory = "memory_peak_bytes", Ready = "ready_ns",
        MemoryAtRest = "memory_rest_bytes", MemoryIdle = "memory_idle_bytes",
        MemoryPerConnection = "memory_bytes_per_connection", IdleCpu = "idle_cpu_share";
    /// The name in sentences and column heads.
    pub title of Metric: Throughput = "requests/s", Cpu = "server CPU us/request", LatencyP50 = "p50",
        LatencyP99 = "p99", LatencyP999 = "p99.9", Switches = "switches/request", Memory = "peak memory",
        Ready = "start-up", MemoryAtRest = "memory at rest", MemoryIdle = "memory with all",
        MemoryPerConnection = "memory/connection", IdleCpu = "idle CPU";
    /// The unit of its value in files.
    pub unit of Metric: Throughput = "requests/s", Cpu = "ns/request", LatencyP50 = "ns", LatencyP99 = "ns",
        LatencyP999 = "ns", Switches = "switches/request", Memory = "bytes", Ready = "ns",
        MemoryAtRest = "bytes", MemoryIdle = "bytes", MemoryPerConnection = "bytes/connection",
        IdleCpu = "CPUs";
}

impl Metric {
    pub const ALL: [Self; 12] = [
        Self::Throughput,
        Self::Cpu,
        Self::LatencyP50,
        Self::LatencyP99,
        Self::LatencyP999,
        Self::Switches,
        Self::Memory,
        Self::Ready,
        Self::MemoryAtRest,
        Self::MemoryIdle,
        Self::MemoryPerConnection,
        Self::IdleCpu,
    ];

    /// The headline figure of a load: what its rows are compared, ranked and sorted by in every form.
    /// Saturated servers too are compared by CPU time: requests/s are a bound where the load generator
    /// is the limit.
    #[must_use]
    pub const fn primary(phase: Phase) -> Self {
        match phase {
            Phase::Saturate | Phase::Cost => Self::Cpu,
            Phase::Idle => Self::MemoryPerConnection,
        }
    }

    /// The metric of which a condition's figure has changes.
    #[must_use]
    pub const fn of_gate(figure: GateFigure) -> Option<Self> {
        match figure {
            GateFigure::Throughput => Some(Self::Throughput),
            GateFigure::Cpu => Some(Self::Cpu),
            GateFigure::Latency(LatencyFigure::P50) => Some(Self::LatencyP50),
            GateFigure::Latency(LatencyFigure::P99) => Some(Self::LatencyP99),
            GateFigure::Latency(LatencyFigure::P999) => Some(Self::LatencyP999),
            GateFigure::Memory => Some(Self::Memory),
            GateFigure::Latency(_)
            | GateFigure::Errors
            | GateFigure::Achieved
            | GateFigure::Unsent => None,
        }
    }

    /// The metrics that a phase has.
    #[must_use]
    pub const fn of_phase(phase: Phase) -> &'static [Self] {
        match phase {
            Phase::Saturate | Phase::Cost => OF_LOAD_AND_SILENCE.0,
            Phase::Idle => OF_LOAD_AND_SILENCE.1,
        }
    }

    /// What it means in `phase`: of silent connections, memory is that of a connection, and CPU time
    /// that over the time. None where there is nothing like it: what has its name from silence is no
    /// figure of a load.
    #[must_use]
    pub fn in_phase(self, phase: Phase) -> Option<Self> {
        let meant = match (self, phase) {
            (Self::Cpu, Phase::Idle) => Self::IdleCpu,
            (Self::Memory, Phase::Idle) => Self::MemoryPerConnection,
            (other, _) => other,
        };
        Self::of_phase(phase).contains(&meant).then_some(meant)
    }

    /// Whether more of it is good.
    #[must_use]
    pub const fn direction(self) -> Direction {
        match self {
            Self::Throughput => Direction::MoreIsBetter,
            _ => Direction::LessIsBetter,
        }
    }

    /// Whether a generator at its limit makes it worse than the server is.
    #[must_use]
    pub const fn is_bounded_by_generator(self) -> bool {
        matches!(self, Self::Throughput | Self::LatencyP50 | Self::LatencyP99 | Self::LatencyP999)
    }

    /// Whether it is in the tail of the latencies: what happens rarely decides it.
    #[must_use]
    pub const fn is_tail(self) -> bool {
        matches!(self, Self::LatencyP99 | Self::LatencyP999)
    }

    /// What a row is whose value is higher than the baseline's, and what one whose value is lower.
    #[must_use]
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Throughput => ("faster", "slower"),
            Self::Cpu | Self::IdleCpu => ("more CPU", "less CPU"),
            Self::Switches => ("more", "fewer"),
            Self::LatencyP50 | Self::LatencyP99 | Self::LatencyP999 | Self::Ready => {
                ("longer", "shorter")
            }
            _ => ("larger", "smaller"),
        }
    }

    /// Its value in a run, if the run has one.
    #[must_use]
    pub fn of(self, outcome: &Outcome) -> Option<f64> {
        match outcome {
            Outcome::Measured(measurement) => self.of_load(measurement),
            Outcome::Idle(measurement) => self.of_silence(measurement),
            Outcome::Failed { .. } => None,
        }
    }

    fn of_load(self, measurement: &Measurement) -> Option<f64> {
        use LatencyFigure::{P50, P99, P999};
        let Measurement { load, tool, cost, instance, .. } = measurement;
        let of_tool = tool.as_ref().map(|it| &it.latency);
        let own = |figure: LatencyFigure| load.latency.as_ref().map(|it| figure.of(it));
        match self {
            Self::Throughput => Some(load.requests_per_second),
            Self::Cpu => cost.cpu_ns_per_request,
            // Latencies of any generator.
            Self::LatencyP50 => of_tool.map_or_else(|| own(P50), |it| it.latency_ns_p50),
            Self::LatencyP99 => of_tool.map_or_else(|| own(P99), |it| it.latency_ns_p99),
            Self::LatencyP999 => own(P999).filter(|_| of_tool.is_none()),
            Self::Switches => {
                let switches = cost.context_switches_voluntary + cost.context_switches_involuntary;
                // They were counted between the same two samples as the CPU time, so that they are
                // brought to the window and to its requests in the same proportion.
                let per_cpu_ns = (cost.cpu_ns > 0).then(|| switches as f64 / cost.cpu_ns as f64);
                Some(per_cpu_ns? * cost.cpu_ns_per_request?)
            }
            Self::Memory => cost.is_of_processes().then_some(cost.memory_peak_bytes as f64),
            // A service was not started.
            Self::Ready => instance.map(|it| it.ready_ns).filter(|ns| *ns > 0).map(|ns| ns as f64),
            _ => None,
        }
    }

    fn of_silence(self, measurement: &IdleMeasurement) -> Option<f64> {
        match self {
            Self::MemoryAtRest => Some(measurement.memory_rest_bytes as f64),
            Self::MemoryIdle => Some(measurement.memory_bytes as f64),
            Self::MemoryPerConnection => Some(measurement.memory_bytes_per_connection),
            Self::IdleCpu => (measurement.window_ns > 0)
                .then(|| measurement.cpu_ns as f64 / measurement.window_ns as f64),
            _ => None,
        }
    }

    /// A value with its unit, as tables show it under [`Self::title`].
    #[must_use]
    // Sizes are whole numbers far below 2^63, and a size below zero is shown with its sign.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Throughput => thousands(value),
            Self::Cpu => format!("{:.2}", value / 1000.0),
            Self::LatencyP50 | Self::LatencyP99 | Self::LatencyP999 | Self::Ready => latency(value),
            Self::Switches => format!("{value:.3}"),
            Self::Memory | Self::MemoryAtRest | Self::MemoryIdle | Self::MemoryPerConnection => {
                let sign = if value < 0.0 { "-" } else { "" };
                format!("{sign}{}", bytes(value.abs().round() as u64))
            }
            Self::IdleCpu => format!("{:.2} %", value * 100.0),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.field())
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The usual way to write it, and the usual way to say it.
        let text = if text == "p99.9" { "p999" } else { text };
        let found = Self::ALL.into_iter().find(|metric| metric.name() == text);
        found.ok_or_else(|| unknown(text, &Self::ALL))
    }
}

/// That there is no metric of a name: which one may have been meant, and all that there are.
fn unknown(name: &str, metrics: &[Metric]) -> String {
    let known: Vec<&str> = metrics.iter().map(|metric| metric.name()).collect();
    let meant =
        nearest(name, &known).map_or_else(String::new, |it| format!("did you mean `{it}`? "));
    format!("unknown metric `{name}`: {meant}known: {}", known.join(", "))
}

/// That a phase has no figure of the name that was asked for, those that it `has`, and what it is
/// compared by `instead`.
pub(crate) fn absent(phase: Phase, wanted: Metric, has: &[Metric], instead: Metric) -> String {
    let names: Vec<&str> = has.iter().map(|metric| metric.name()).collect();
    format!(
        "the phase {phase} has no {wanted}, but {}: compared by {}",
        names.join(", "),
        instead.title()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_reads_back_from_its_name_and_has_a_field_of_its_own() {
        let fields: std::collections::BTreeSet<_> = Metric::ALL.map(Metric::field).into();
        assert_eq!(fields.len(), Metric::ALL.len());
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
        }
        assert_eq!("p99.9".parse(), Ok(Metric::LatencyP999));
        let names = Metric::ALL.map(Metric::name).join(", ");
        for (name, meant) in [("thruput", "did you mean `throughput`? "), ("x", "")] {
            let expected = format!("unknown metric `{name}`: {meant}known: {names}");
            assert_eq!(name.parse::<Metric>(), Err(expected));
        }
    }

    #[test]
    fn each_phase_has_its_primary_metric_and_its_own_meaning_of_cpu_and_memory() {
        for phase in Phase::ALL {
            assert!(Metric::of_phase(phase).contains(&Metric::primary(phase)));
        }
        assert_eq!(Metric::Cpu.in_phase(Phase::Idle), Some(Metric::IdleCpu));
        assert_eq!(Metric::Memory.in_phase(Phase::Idle), Some(Metric::MemoryPerConnection));
        for phase in [Phase::Saturate, Phase::Cost] {
            for metric in Metric::of_phase(Phase::Idle) {
                assert_eq!(metric.in_phase(phase), None, "{metric} is a figure of silence");
            }
        }
        assert_eq!(Metric::LatencyP99.in_phase(Phase::Idle), None);
    }
}
