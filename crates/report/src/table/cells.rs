//! The cells of a row. Nothing is computed here but how many digits are shown.

use wirebench_stats::Rank;

use super::columns::{Column, has_few_samples};
use crate::{
    analysis::{Compared, RatioToBaseline, Role, Row},
    interval::factor,
    notes::references,
};

/// A row, what is known of it, and its marks.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) row: &'a Row<'a>,
    /// By the metric of the table.
    pub(super) compared: Option<&'a Compared>,
    pub(super) rank: Option<Rank>,
    /// The numbers of its notes.
    pub(super) notes: Vec<usize>,
}

impl Line<'_> {
    /// The cell of `column`.
    pub(super) fn cell(&self, column: Column) -> String {
        let dash = || "-".to_owned();
        match column {
            Column::Rank => self.rank.map_or_else(dash, rank),
            Column::Entry => self.name(),
            Column::Class => self.row.class.map_or("own".to_owned(), |class| class.to_string()),
            Column::Value(value) => self.row.median(value).map_or_else(dash, |median| {
                let few = if has_few_samples(self.row, value) { "?" } else { "" };
                let spoiled = value.is_tail() && self.row.tail_invalid() > 0;
                let invalid = if spoiled { "!" } else { "" };
                format!("{}{few}{invalid}", value.show(median))
            }),
            Column::Ratio => match (self.row.role, self.compared.map(|it| &it.ratio)) {
                (Role::Baseline, Some(_)) => "1.00".to_owned(),
                (_, Some(Some(it))) => ratio(it),
                _ => dash(),
            },
            Column::Verdict => {
                let ratio = self.compared.and_then(|it| it.ratio.as_ref());
                ratio.and_then(|it| it.verdict.clone()).unwrap_or_else(dash)
            }
            Column::Bound => {
                let bound: Vec<String> = self.row.bound().iter().map(ToString::to_string).collect();
                if bound.is_empty() { dash() } else { bound.join("/") }
            }
            Column::Errors => self.row.errors().to_string(),
        }
    }

    fn name(&self) -> String {
        let invalid = self.row.invalid() + self.row.failed() > 0;
        let mark = if invalid { "! " } else { "" };
        let name = self.row.name();
        if self.notes.is_empty() {
            return format!("{mark}{name}");
        }
        format!("{mark}{name} [{}]", references(self.notes.iter().copied()))
    }
}

fn rank(rank: Rank) -> String {
    if rank.first == rank.last {
        rank.first.to_string()
    } else {
        format!("{}-{}", rank.first, rank.last)
    }
}

/// A ratio with its sign, and with its interval in round brackets or its range in square ones.
fn ratio(ratio: &RatioToBaseline) -> String {
    let (sign, value) = (ratio.reads.sign(), ratio.estimate.value);
    match ratio.estimate.interval {
        Some(interval) => format!("{sign}{}", factor(value, Some(interval))),
        None => format!("{sign}{value:.2} [{:.2}..{:.2}]", ratio.least, ratio.most),
    }
}
