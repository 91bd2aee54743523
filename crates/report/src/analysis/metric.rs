//! What reports say of each metric: its names, its unit, the phases that have it, its words, and its value in a run. It
//! computes nothing over several runs.

use serde::{Serialize, Serializer};
pub use wirebench_schema::metric::{LimitSide, Metric};
use wirebench_schema::{
    journal::{IdleMeasurement, Measurement, Outcome},
    load::LatencyFigure::{self, Max, Mean, P50, P75, P90, P95, P99},
    suggest::nearest,
    suite::Phase,
};

use crate::table_units::{bytes, latency, percent, thousands};

/// The figures of a load, and those of idle connections.
const OF_LOAD_AND_IDLE: (&[Metric], &[Metric]) = COMPARED.split_at(8);

/// Those of which runs have values that can be compared.
const COMPARED: [Metric; 12] = [
    Metric::Throughput,
    Metric::Cpu,
    Metric::P50,
    Metric::P99,
    Metric::P999,
    Metric::Switches,
    Metric::Memory,
    Metric::Ready,
    Metric::MemoryAtRest,
    Metric::MemoryIdle,
    Metric::MemoryPerConnection,
    Metric::IdleCpu,
];

/// The name in files, in sentences and column heads, and the unit in files.
const fn words(metric: Metric) -> (&'static str, &'static str, &'static str) {
    match metric {
        Metric::Throughput => ("requests_per_second", "requests/s", "requests/s"),
        Metric::Cpu => ("server_cpu_ns_per_request", "server CPU us/request", "ns/request"),
        Metric::P50 => ("latency_ns_p50", "p50", "ns"),
        Metric::Latency(P75) => ("latency_ns_p75", "p75", "ns"),
        Metric::Latency(P90) => ("latency_ns_p90", "p90", "ns"),
        Metric::Latency(P95) => ("latency_ns_p95", "p95", "ns"),
        Metric::P99 => ("latency_ns_p99", "p99", "ns"),
        Metric::P999 => ("latency_ns_p999", "p99.9", "ns"),
        Metric::Latency(LatencyFigure::P99WithoutStalls) => {
            ("latency_ns_p99_without_stalls", "p99 without stalls", "ns")
        }
        Metric::Latency(LatencyFigure::P999WithoutStalls) => {
            ("latency_ns_p999_without_stalls", "p99.9 without stalls", "ns")
        }
        Metric::Latency(Max) => ("latency_ns_max", "max", "ns"),
        Metric::Latency(Mean) => ("latency_ns_mean", "mean", "ns"),
        Metric::Switches => {
            ("context_switches_per_request", "switches/request", "switches/request")
        }
        Metric::Memory => ("memory_peak_bytes", "peak memory", "bytes"),
        Metric::Ready => ("ready_ns", "start-up", "ns"),
        Metric::MemoryAtRest => ("memory_rest_bytes", "memory at rest", "bytes"),
        Metric::MemoryIdle => ("memory_idle_bytes", "memory with all", "bytes"),
        Metric::MemoryPerConnection => {
            ("memory_bytes_per_connection", "memory/connection", "bytes/connection")
        }
        Metric::IdleCpu => ("idle_cpu_share", "idle CPU", "CPUs"),
        Metric::Errors => ("errors", "errors", "requests"),
        Metric::Achieved => ("achieved_share", "achieved", "share"),
        Metric::Unsent => ("unsent_requests", "unsent", "requests"),
    }
}

/// What reports say of a metric, and its value in a run.
pub trait MetricFacts: Copy {
    const ALL: [Metric; 12] = COMPARED;

    fn metric(self) -> Metric;

    /// The name in files: in full, with the unit last.
    #[must_use]
    fn field(self) -> &'static str {
        words(self.metric()).0
    }

    /// The name in sentences and column heads.
    #[must_use]
    fn title(self) -> &'static str {
        words(self.metric()).1
    }

    /// The unit of its value in files.
    #[must_use]
    fn unit(self) -> &'static str {
        words(self.metric()).2
    }

    /// The metric of this name, of those that are compared.
    fn read(name: &str) -> Result<Metric, String> {
        // The usual way to write it, and the usual way to say it.
        let name = if name == "p99.9" { "p999" } else { name };
        let found = COMPARED.into_iter().find(|metric| metric.name() == name);
        found.ok_or_else(|| {
            let known = COMPARED.map(Metric::name);
            let meant = nearest(name, &known).map(|it| format!("did you mean `{it}`? "));
            let meant = meant.unwrap_or_default();
            format!("unknown metric `{name}`: {meant}known: {}", known.join(", "))
        })
    }

    /// It, if it is one of those that are compared.
    #[must_use]
    fn compared(self) -> Option<Metric> {
        Some(self.metric()).filter(|it| COMPARED.contains(it))
    }

    /// Its place among those that are compared.
    fn place(self) -> usize {
        let metric = self.metric();
        COMPARED.iter().position(|it| *it == metric).expect("only compared metrics have a place")
    }

    /// The headline figure of a load: what its rows are compared, ranked and sorted by in every form.
    /// Saturated servers too are compared by CPU time: requests/s are a bound where the load generator
    /// is the limit.
    #[must_use]
    fn primary(phase: Phase) -> Metric {
        match phase {
            Phase::Saturate | Phase::Cost => Metric::Cpu,
            Phase::Idle => Metric::MemoryPerConnection,
        }
    }

    /// The metrics that a phase has.
    #[must_use]
    fn of_phase(phase: Phase) -> &'static [Metric] {
        match phase {
            Phase::Saturate | Phase::Cost => OF_LOAD_AND_IDLE.0,
            Phase::Idle => OF_LOAD_AND_IDLE.1,
        }
    }

    /// The metric that its name means in `phase`: of idle connections, memory is per connection, and CPU time is
    /// over the time. None if the phase has no such metric: idle metrics do not apply to load phases.
    #[must_use]
    fn in_phase(self, phase: Phase) -> Option<Metric> {
        let meant = match (self.metric(), phase) {
            (Metric::Cpu, Phase::Idle) => Metric::IdleCpu,
            (Metric::Memory, Phase::Idle) => Metric::MemoryPerConnection,
            (other, _) => other,
        };
        Self::of_phase(phase).contains(&meant).then_some(meant)
    }

    /// The same, if its changes are computed. At a fixed rate all that keep up have the same throughput.
    #[must_use]
    fn changes_in(self, phase: Phase) -> Option<Metric> {
        let meant = self.in_phase(phase)?;
        (meant != Metric::Throughput || phase != Phase::Cost).then_some(meant)
    }

    /// Whether more of it is good.
    #[must_use]
    fn more_is_better(self) -> bool {
        self.metric().worse() == LimitSide::Below
    }

    /// Whether a generator at its limit makes it worse than the server is.
    #[must_use]
    fn is_bounded_by_generator(self) -> bool {
        matches!(self.metric(), Metric::Throughput | Metric::Latency(_))
    }

    /// What a row is whose value is higher than the baseline's, and what one whose value is lower.
    #[must_use]
    fn words(self) -> (&'static str, &'static str) {
        match self.metric() {
            Metric::Throughput => ("faster", "slower"),
            Metric::Cpu | Metric::IdleCpu => ("more CPU", "less CPU"),
            Metric::Switches => ("more", "fewer"),
            Metric::Latency(_) | Metric::Ready => ("longer", "shorter"),
            _ => ("larger", "smaller"),
        }
    }

    /// Its value in a run, if the run has one.
    #[must_use]
    fn of(self, outcome: &Outcome) -> Option<f64> {
        match outcome {
            Outcome::Measured(measurement) => of_load(self.metric(), measurement),
            Outcome::Idle(measurement) => of_idle(self.metric(), measurement),
            Outcome::Failed { .. } => None,
        }
    }

    /// A value with its unit, as tables show it under [`Metric::title`].
    #[must_use]
    // Sizes are whole numbers far below 2^63, and a size below zero is shown with its sign.
    fn show(self, value: f64) -> String {
        match self.metric() {
            Metric::Throughput | Metric::Errors | Metric::Unsent => thousands(value),
            Metric::Achieved => percent(value),
            Metric::Cpu => format!("{:.2}", value / 1000.0),
            Metric::Latency(_) | Metric::Ready => latency(value),
            Metric::Switches => format!("{value:.3}"),
            Metric::Memory
            | Metric::MemoryAtRest
            | Metric::MemoryIdle
            | Metric::MemoryPerConnection => {
                let sign = if value < 0.0 { "-" } else { "" };
                format!("{sign}{}", bytes(value.abs().round() as u64))
            }
            Metric::IdleCpu => format!("{:.2} %", value * 100.0),
        }
    }
}

impl MetricFacts for Metric {
    fn metric(self) -> Metric {
        self
    }
}

fn of_load(metric: Metric, measurement: &Measurement) -> Option<f64> {
    let Measurement { load, tool, cost, instance, .. } = measurement;
    let of_tool = tool.as_ref().map(|it| &it.latency);
    let own = |figure: LatencyFigure| load.latency_of(figure).map(|it| figure.of(it));
    match metric {
        Metric::Throughput => Some(load.requests_per_second),
        Metric::Cpu => cost.cpu_ns_per_request,
        // Latencies of any generator.
        Metric::P50 => of_tool.map_or_else(|| own(P50), |it| it.latency_ns_p50),
        Metric::P99 => of_tool.map_or_else(|| own(P99), |it| it.latency_ns_p99),
        Metric::Latency(figure) => own(figure).filter(|_| of_tool.is_none()),
        Metric::Switches => {
            let switches = cost.context_switches_voluntary + cost.context_switches_involuntary;
            // They were counted between the same two samples as the CPU time, so that they are
            // brought to the window and to its requests in the same proportion.
            let per_cpu_ns = (cost.cpu_ns > 0).then(|| switches as f64 / cost.cpu_ns as f64);
            Some(per_cpu_ns? * cost.cpu_ns_per_request?)
        }
        Metric::Memory => cost.is_of_processes().then_some(cost.memory_peak_bytes as f64),
        Metric::Achieved => load.achieved_share(),
        Metric::Unsent => load.offered.map(|it| it.owed_at_end as f64),
        // A service was not started.
        Metric::Ready => instance.map(|it| it.ready_ns).filter(|ns| *ns > 0).map(|ns| ns as f64),
        _ => None,
    }
}

fn of_idle(metric: Metric, measurement: &IdleMeasurement) -> Option<f64> {
    match metric {
        Metric::MemoryAtRest => Some(measurement.memory_rest_bytes as f64),
        Metric::MemoryIdle => Some(measurement.memory_bytes as f64),
        Metric::MemoryPerConnection => Some(measurement.memory_bytes_per_connection),
        Metric::IdleCpu => (measurement.window_ns > 0)
            .then(|| measurement.cpu_ns as f64 / measurement.window_ns as f64),
        _ => None,
    }
}

/// Writes the name in files, or null.
pub(crate) fn field<S: Serializer>(
    metric: &(impl Copy + Into<Option<Metric>>),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let metric: Option<Metric> = (*metric).into();
    metric.map(MetricFacts::field).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_reads_back_from_its_name_and_has_a_field_of_its_own() {
        let fields: std::collections::BTreeSet<_> = Metric::ALL.map(Metric::field).into();
        assert_eq!(fields.len(), Metric::ALL.len());
        for metric in Metric::ALL {
            assert_eq!(Metric::read(metric.name()), Ok(metric));
        }
        assert_eq!(Metric::read("p99.9"), Ok(Metric::P999));
        let names = Metric::ALL.map(Metric::name).join(", ");
        for (name, meant) in [("thruput", "did you mean `throughput`? "), ("x", "")] {
            let expected = format!("unknown metric `{name}`: {meant}known: {names}");
            assert_eq!(Metric::read(name), Err(expected));
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
                assert_eq!(metric.in_phase(phase), None, "{metric} is an idle metric");
            }
        }
        assert_eq!(Metric::P99.in_phase(Phase::Idle), None);
    }
}
