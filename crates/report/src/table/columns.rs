//! Which columns a table has: fit for what its workload is measured for, and for a terminal.

use wirebench_schema::suite::Phase;

use crate::analysis::{Metric, Row, WorkloadRows};

/// More do not fit a terminal.
const MOST: usize = 10;

/// A longer name of a metric and the word ratio are more than a ratio with its interval.
const LONG: usize = 14;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Column {
    /// The ranks that a row may have.
    Rank,
    Entry,
    /// Raw, library or framework.
    Class,
    Value(Metric),
    /// The ratio by which the rows are compared.
    Ratio,
    Verdict,
    Bound,
    Errors,
}

/// The columns of a table whose rows are compared by `metric`.
pub(super) fn columns(rows: &WorkloadRows<'_>, metric: Metric) -> Vec<Column> {
    use Column::{Bound, Class, Entry, Errors, Rank, Ratio, Value, Verdict};
    let mut columns = vec![Rank, Entry, Class, Value(metric), Ratio, Verdict];
    let mut add = |column: Column| {
        if column != Value(metric) {
            columns.push(column);
        }
    };
    match rows.workload.phase {
        Phase::Saturate => {
            let errors = rows.rows.iter().any(|row| row.errors() > 0);
            add(Value(Metric::Cpu));
            add(Value(Metric::Throughput));
            // In a closed loop the median follows from the rate; it goes first where room is short.
            if !errors {
                add(Value(Metric::LatencyP50));
            }
            add(Value(Metric::LatencyP99));
            add(Bound);
            if errors {
                add(Errors);
            }
        }
        Phase::Cost => [
            Metric::Cpu,
            Metric::LatencyP50,
            Metric::LatencyP99,
            Metric::LatencyP999,
            Metric::Switches,
        ]
        .into_iter()
        .for_each(|metric| add(Value(metric))),
        Phase::Idle => Metric::of_phase(Phase::Idle).iter().for_each(|metric| add(Value(*metric))),
    }
    columns.truncate(MOST);
    columns
}

impl Column {
    /// The head of the column, with `\n` where it may be broken into two lines.
    pub(super) fn head(self, rows: &WorkloadRows<'_>, metric: Metric) -> String {
        match self {
            Self::Rank => "rank".to_owned(),
            Self::Entry => "entry".to_owned(),
            Self::Class => "class".to_owned(),
            Self::Value(value) => match value {
                Metric::MemoryIdle => format!("with {}", rows.workload.connections),
                Metric::Cpu => "CPU us/\nrequest".to_owned(),
                Metric::Switches => "switches\n/request".to_owned(),
                Metric::MemoryPerConnection => "memory\n/connection".to_owned(),
                Metric::MemoryAtRest => "memory \nat rest".to_owned(),
                other => other.title().to_owned(),
            },
            Self::Ratio if metric == Metric::primary(rows.workload.phase) => "ratio".to_owned(),
            Self::Ratio if metric.name().len() > LONG => format!("{} \nratio", metric.name()),
            Self::Ratio => format!("{} ratio", metric.name()),
            Self::Verdict => "verdict".to_owned(),
            Self::Bound => "bound by".to_owned(),
            Self::Errors => "errors".to_owned(),
        }
    }

    pub(super) const fn is_words(self) -> bool {
        matches!(self, Self::Entry | Self::Class | Self::Verdict | Self::Bound)
    }
}

/// Whether so few samples lie beyond a percentile in a run of `row` that single ones decide it.
pub(crate) fn has_few_samples(row: &Row<'_>, metric: Metric) -> bool {
    let share = match metric {
        Metric::LatencyP99 => 0.01,
        Metric::LatencyP999 => 0.001,
        _ => return false,
    };
    let counts = row.measurements().filter_map(|it| it.load.latency.as_ref()).map(|it| it.count);
    // More by a trace, because a hundredth is none in binary.
    let beyond = |count: u64| (count as f64 * share + 1e-6).floor();
    counts.min().is_some_and(|count| beyond(count) < crate::distribution::ENOUGH_BEYOND as f64)
}
