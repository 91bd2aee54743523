//! Which columns a table has, fit for what its workload is measured for, and what is in them. Nothing is
//! computed here but how many digits are shown.

use wirebench_schema::suite::Phase;
use wirebench_stats::Rank;

use crate::{
    analysis::{Inconclusive, Metric, MetricFacts, Role, WorkloadRows},
    document::{self, Align},
    figure_text::{factor, or_absent},
    shown::sign,
};

/// More do not fit a terminal.
const MOST: usize = 10;

/// Columns that narrow forms drop, in this order.
const DISPENSABLE: [Column; 7] = [
    Column::Class,
    Column::Value(Metric::P50),
    Column::Bound,
    Column::Value(Metric::Switches),
    Column::Value(Metric::P999),
    Column::Value(Metric::MemoryIdle),
    Column::Rank,
];

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
    use Metric::{Cpu, Switches, Throughput};
    let mut columns = vec![Rank, Entry, Class, Value(metric), Ratio, Verdict];
    let errors = rows.rows.iter().any(|row| row.errors() > 0);
    let values: &[Metric] = match rows.workload.phase {
        // In a closed loop the median follows from the rate; it goes first where room is short.
        Phase::Saturate if errors => &[Cpu, Throughput, Metric::P99],
        Phase::Saturate => &[Cpu, Throughput, Metric::P50, Metric::P99],
        Phase::Cost => &[Cpu, Metric::P50, Metric::P99, Metric::P999, Switches],
        Phase::Idle => Metric::of_phase(Phase::Idle),
    };
    columns.extend(values.iter().filter(|it| **it != metric).map(|it| Value(*it)));
    if rows.workload.phase == Phase::Saturate {
        columns.extend([Some(Bound), errors.then_some(Errors)].into_iter().flatten());
    }
    columns.truncate(MOST);
    columns
}

impl Column {
    pub(super) fn of(self, rows: &WorkloadRows<'_>, metric: Metric) -> document::Column {
        let is_words = matches!(self, Self::Entry | Self::Class | Self::Verdict | Self::Bound);
        let place = DISPENSABLE.iter().position(|column| *column == self);
        document::Column {
            align: if is_words { Align::Left } else { Align::Right },
            dispensable: place.and_then(|place| u8::try_from(place).ok()),
            ..document::Column::left(self.head(rows, metric))
        }
    }

    /// The head of the column, with `\n` where it may be broken into two lines.
    fn head(self, rows: &WorkloadRows<'_>, metric: Metric) -> String {
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

    /// The cell of the row at `index`, without notes.
    pub(super) fn cell(self, rows: &WorkloadRows<'_>, index: usize, metric: Metric) -> String {
        let row = &rows.rows[index];
        let ratio = rows.compare(metric).ratios[index].as_ref();
        let text = match self {
            Self::Rank => rows.ranks(metric)[index].map(rank),
            Self::Entry => {
                let mark = if row.invalid() + row.failed() > 0 { "! " } else { "" };
                Some(format!("{mark}{}", row.name()))
            }
            Self::Class => Some(row.class.map_or("own".to_owned(), |class| class.to_string())),
            Self::Value(value) => {
                row.median(value).map(|median| value.show(median) + sign(row, value))
            }
            Self::Ratio if row.role == Role::Baseline => {
                row.median(metric).map(|_| "1.00".to_owned())
            }
            Self::Ratio => ratio.map(factor),
            // The mark in front of the row says that its figures are void.
            Self::Verdict => ratio
                .filter(|it| it.inconclusive != Some(Inconclusive::NotValid))
                .and_then(|it| Some(it.claim?.words(metric))),
            Self::Bound => {
                let bound: Vec<String> = row.bound().iter().map(ToString::to_string).collect();
                Some(bound.join("/")).filter(|it| !it.is_empty())
            }
            Self::Errors => Some(row.errors().to_string()),
        };
        or_absent(text)
    }
}

fn rank(rank: Rank) -> String {
    if rank.first == rank.last {
        rank.first.to_string()
    } else {
        format!("{}-{}", rank.first, rank.last)
    }
}
