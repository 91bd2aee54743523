//! The cells of the first screen: figures, outcomes of comparisons, and what is hidden.

use wirebench_schema::{
    load::LoadModel,
    suite::{Phase, Workload},
};

use super::{
    figures::{HIDDEN, figure, one_digit},
    model::Group,
};
use crate::{
    analysis::{Claim, Inconclusive, Metric, MetricFacts, Reads, Role, Row},
    document::{Cell, Shade},
    figure_text::ABSENT,
    interval,
    shown::{Shown, shown},
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Column {
    Figure(Metric),
    /// The outcome of the comparison with the baseline.
    Outcome,
    /// CPU time that waking adds to a request, in nanoseconds.
    Waking,
}

/// Result of the comparison of a row with the baseline.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    Reference,
    /// Any difference lies within the margin.
    Same,
    /// The difference is significant and not within the margin.
    More,
    Less,
    Inconclusive,
    /// Figures exist, and may not be compared.
    Withheld,
}

impl Column {
    /// The columns that a load may have.
    pub(super) fn of(workload: &Workload) -> Vec<Self> {
        use Metric::{MemoryAtRest, Throughput};
        let others: &[Metric] = match (workload.phase, &workload.model) {
            (Phase::Idle, _) => &[MemoryAtRest],
            (Phase::Saturate, LoadModel::Closed | LoadModel::Think { .. }) => {
                &[Throughput, Metric::P50, Metric::P99]
            }
            _ => &[Metric::P50, Metric::P99],
        };
        let main = Self::Figure(Metric::primary(workload.phase));
        let others = others.iter().copied().map(Self::Figure);
        [main, Self::Outcome, Self::Waking].into_iter().chain(others).collect()
    }
}

impl Group<'_> {
    /// Whether a column has a figure, or an outcome of a comparison.
    pub(super) fn has(&self, column: Column) -> bool {
        (0..self.places.len()).any(|row| match column {
            Column::Outcome => self.outcome(row).is_some_and(|it| it != Outcome::Reference),
            _ => self.cell(row, column).figure.is_some(),
        })
    }

    pub(super) fn cells(&self, row: usize) -> impl Iterator<Item = Cell> {
        self.columns.iter().map(move |column| self.cell(row, *column))
    }

    /// A cell; an empty one where the server does not take part.
    pub(super) fn cell(&self, row: usize, column: Column) -> Cell {
        match (column, self.row(row)) {
            (_, None) => Cell::default(),
            (Column::Figure(metric), Some(of)) => of_figure(of, metric, self.is_vague(row, metric)),
            (Column::Outcome, Some(_)) => self.of_outcome(row),
            (Column::Waking, Some(row)) => match row.waking {
                None => faint(ABSENT),
                Some(_) if !shown(row).is_compared() => faint(HIDDEN),
                Some(waking) => Cell {
                    // Zero has one sign, also where a little less is rounded.
                    text: format!("{:+.1}", (waking.cpu_ns / 100.0).round() / 10.0 + 0.0),
                    figure: Some(waking.cpu_ns),
                    ..Cell::default()
                },
            },
        }
    }

    fn of_outcome(&self, row: usize) -> Cell {
        let ratio = self.ratio(row).map(|it| it.estimate);
        let change = ratio.map_or_else(String::new, |it| interval::change(it.value, it.interval));
        let cell = match self.outcome(row) {
            None => faint(ABSENT),
            Some(Outcome::Reference) => Cell::from("reference"),
            Some(Outcome::Same) => Cell::from("same"),
            Some(Outcome::Inconclusive) => faint("inconclusive"),
            Some(Outcome::Withheld) => faint(HIDDEN),
            Some(Outcome::More) => Cell { shade: Shade::Worse, ..Cell::from(change) },
            Some(Outcome::Less) => Cell { shade: Shade::Better, ..Cell::from(change) },
        };
        let is_reference = self.outcome(row) == Some(Outcome::Reference);
        let figure = if is_reference { Some(1.0) } else { ratio.map(|it| it.value) };
        Cell { figure, ..cell }
    }

    pub(super) fn outcome(&self, row: usize) -> Option<Outcome> {
        let of = self.row(row)?;
        if of.role == Role::Baseline {
            of.median(self.metric())?;
            let is_compared = shown(of).is_compared();
            return Some(if is_compared { Outcome::Reference } else { Outcome::Withheld });
        }
        let ratio = self.comparison().ratios[self.places[row]?].as_ref()?;
        Some(match ratio.claim {
            _ if ratio.inconclusive.is_some_and(Inconclusive::is_withheld) => Outcome::Withheld,
            Some(Claim::Higher) => Outcome::More,
            Some(Claim::Lower) => Outcome::Less,
            Some(Claim::Same) => Outcome::Same,
            _ => Outcome::Inconclusive,
        })
    }

    /// A tail was compared, and nothing was found out of it: then its digits say nothing.
    fn is_vague(&self, row: usize, metric: Metric) -> bool {
        let ratios = &self.load.compare(metric).ratios;
        let own = self.places[row].and_then(|place| ratios[place].as_ref());
        let meant = own.map_or_else(|| ratios.iter().flatten().collect(), |own| vec![own]);
        let mut claims = meant.iter().filter_map(|it| it.claim).peekable();
        metric.is_tail() && claims.peek().is_some() && claims.all(|it| it == Claim::CannotTell)
    }

    /// The rows with this outcome.
    pub(super) fn with(&self, wanted: Outcome) -> impl Iterator<Item = usize> {
        (0..self.places.len()).filter(move |row| self.outcome(*row) == Some(wanted))
    }
}

fn of_figure(row: &Row<'_>, metric: Metric, is_vague: bool) -> Cell {
    let Some(median) = row.median(metric) else { return faint(ABSENT) };
    match shown(row) {
        Shown::Nothing => faint(HIDDEN),
        Shown::NoTail | Shown::NotCompared if metric.is_tail() => faint(HIDDEN),
        Shown::NoTail | Shown::NotCompared | Shown::Shifted | Shown::All => {
            let p50 = row.median(Metric::P50).unwrap_or(0.0);
            let sign = Reads::of(metric, row.is_limited(), false).sign();
            let text = match is_vague {
                // Rounded, it is no shorter than the median latency.
                true => format!("~{}", figure(metric, one_digit(median).max(p50))),
                false => format!("{sign}{}", figure(metric, median)),
            };
            Cell { text, figure: Some(median), ..Cell::default() }
        }
    }
}

fn faint(text: &str) -> Cell {
    Cell { shade: Shade::Faint, ..Cell::from(text) }
}
