//! One sentence about a document: how many of the differences that it published hold here.
//!
//! A difference is one of two rows in the same workload, by requests per second or, where the document
//! gives none, by the median latency. Whether it holds is what the analysis claims of the same pair. Only
//! programs that are the same, or of the same design, can confirm or refute it.

use std::collections::BTreeSet;
use wirebench_schema::{id::VariantId, journal::Published};

use crate::{
    analysis::{Claim, WorkloadRows},
    published_rows::{COLUMNS, few},
};

/// What became of a published difference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Holds,
    Reversed,
    Same,
    Inconclusive,
}

/// Cases and rows that are named; more are counted.
const NAMED: usize = 3;

/// The sentence; none for a document without differences that were measured here.
pub(in crate::table) fn conclusion(
    published: &Published,
    workloads: &[WorkloadRows<'_>],
) -> Option<String> {
    let mut excluded = BTreeSet::new();
    let fates: Vec<(Fate, String)> =
        workloads.iter().flat_map(|rows| of_workload(published, rows, &mut excluded)).collect();
    let of = |fate: Fate| -> Vec<&str> {
        fates.iter().filter(|(it, _)| *it == fate).map(|(_, name)| name.as_str()).collect()
    };
    let (held, reversed) = (of(Fate::Holds).len(), of(Fate::Reversed));
    let named = match reversed.len() {
        1..=NAMED => format!(" ({})", reversed.join(", ")),
        _ => String::new(),
    };
    let excluded: Vec<String> = excluded.iter().map(ToString::to_string).collect();
    let excluded = match excluded.is_empty() {
        true => String::new(),
        false => {
            format!("; not counted, because the programs differ: {}", few(&excluded, NAMED, "rows"))
        }
    };
    (!fates.is_empty()).then(|| {
        format!(
            "published differences: {held} of {} hold here, {} reversed{named}, {} smaller than the margin, {} \
             inconclusive{excluded}",
            fates.len(),
            reversed.len(),
            of(Fate::Same).len(),
            of(Fate::Inconclusive).len()
        )
    })
}

/// The published differences between the rows of a workload and its baseline. Measured rows that cannot
/// be compared with the document go to `excluded`.
fn of_workload<'a>(
    published: &Published,
    rows: &WorkloadRows<'a>,
    excluded: &mut BTreeSet<&'a VariantId>,
) -> Vec<(Fate, String)> {
    let Some(baseline) = rows.baseline else { return Vec::new() };
    let name = &rows.workload.name;
    let base = rows.rows[baseline].variant;
    let mut fates = Vec::new();
    for (column, metric) in COLUMNS {
        let comparison = rows.compare(metric);
        for (row, compared) in
            rows.rows.iter().zip(&comparison.rows).filter(|(row, _)| row.copy == 0)
        {
            let there = published.figures.ratio(name, row.variant, base, column);
            let ratio = compared.as_ref().and_then(|it| it.ratio.as_ref());
            let (Some(there), Some(claim)) = (there, ratio.and_then(|it| it.claim)) else {
                continue;
            };
            if (there - 1.0).abs() <= comparison.margin {
                continue;
            }
            let mut programs = [base, row.variant].into_iter();
            if let Some(apart) = programs.find(|it| !published.figures.is_comparable(it)) {
                excluded.insert(apart);
            } else {
                fates.push((fate(there > 1.0, claim), format!("{} in {name}", row.variant)));
            }
        }
        if !fates.is_empty() {
            break;
        }
    }
    fates
}

/// What becomes of a difference upwards or downwards.
const fn fate(is_higher: bool, claim: Claim) -> Fate {
    match (claim, is_higher) {
        (Claim::Higher, true) | (Claim::Lower, false) => Fate::Holds,
        (Claim::Higher, false) | (Claim::Lower, true) => Fate::Reversed,
        (Claim::Same, _) => Fate::Same,
        (Claim::NotHigher | Claim::NotLower | Claim::CannotTell, _) => Fate::Inconclusive,
    }
}
