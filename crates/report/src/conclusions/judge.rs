//! From a document's conclusions and an analysis to an answer for each pair of rows.

use wirebench_schema::{
    id::VariantId,
    journal::Published,
    suite::{ClaimedPair, Column, Conclusion, PublishedRow, Relation},
};

use super::{Answer, ConclusionReport, PairReport, answer};
use crate::{
    analysis::{
        Analysis, Claim, Inconclusive, JudgedRatio, Metric, PairSide, WorkloadRows,
        compare_workloads,
    },
    notes::Remark,
    published_rows::{self, name_of},
    shown::not_compared,
};

/// The conclusions of the document; none without one.
pub(crate) fn judge(analysis: &Analysis<'_>) -> Vec<ConclusionReport> {
    let Some(published) = published_rows::document(analysis.journal) else { return Vec::new() };
    let judge = Judge { analysis, published };
    published.figures.conclusions.iter().map(|it| judge.conclusion(it)).collect()
}

struct Judge<'j, 'a> {
    analysis: &'j Analysis<'a>,
    published: &'j Published,
}

/// Two rows of the run, or why they cannot be compared.
type Sides<'j, 'a> = Result<[PairSide<'j, 'a>; 2], Remark>;

impl<'j, 'a> Judge<'j, 'a> {
    fn conclusion(&self, conclusion: &Conclusion) -> ConclusionReport {
        let claimed = self.published.figures.pairs(conclusion);
        // Only those of two workloads are a family of their own.
        let comparisons = claimed.len().max(1);
        let metric = metric(conclusion.column);
        let pairs: Vec<PairReport> =
            claimed.iter().map(|pair| self.pair(pair, metric, comparisons)).collect();
        ConclusionReport {
            sentence: conclusion.sentence(),
            is_quote: conclusion.quote.is_some(),
            column: conclusion.column,
            said: conclusion.said(),
            some: conclusion.some,
            answer: answer(&pairs, conclusion.some),
            reasons: self.reasons(conclusion),
            pairs,
        }
    }

    /// The conclusion's own reason, and those of the rows that it names.
    fn reasons(&self, conclusion: &Conclusion) -> Vec<String> {
        let mut reasons: Vec<String> = conclusion.why().into_iter().collect();
        let named = conclusion.pairs.iter().flat_map(|it| [Some(&it.row), it.reference.as_ref()]);
        for variant in named.flatten() {
            let row = self.published.figures.rows.get(variant);
            let why = row.and_then(PublishedRow::why);
            let why = why.map(|why| format!("{}: {why}", name_of(self.published, variant)));
            reasons.extend(why.filter(|why| !reasons.contains(why)));
        }
        reasons
    }

    fn pair(&self, pair: &ClaimedPair<'_>, metric: Metric, comparisons: usize) -> PairReport {
        let ratio = self.sides(pair, metric).and_then(|sides| {
            let [own, base] = sides;
            let ratio = match pair.workload == pair.against {
                true => own.rows.compare_pair(metric, [own.row, base.row]),
                false => compare_workloads(sides, metric, comparisons),
            };
            ratio.ok_or_else(|| Remark::from("the two were never measured together"))
        });
        let (answer, why) = match (self.differs(pair), &ratio) {
            (Some(why), _) => (Answer::NotMeasured, Some(why)),
            (None, Ok(ratio)) => judged(pair.relation, ratio),
            (None, Err(why)) => (Answer::NotMeasured, Some(why.clone())),
        };
        let ratio = ratio.ok();
        PairReport {
            workload: pair.workload.to_owned(),
            against: (pair.against != pair.workload).then(|| pair.against.to_owned()),
            row: pair.row.to_string(),
            relation: pair.relation,
            reference: pair.reference.to_string(),
            relative_to: pair.relative_to.map(ToString::to_string),
            published: pair.published,
            measured: ratio.as_ref().map(|it| it.estimate),
            reads: ratio.as_ref().map(|it| it.reads),
            answer,
            why,
        }
    }

    /// That a row of the pair is another program here than in the document, if one is.
    fn differs(&self, pair: &ClaimedPair<'_>) -> Option<Remark> {
        let figures = &self.published.figures;
        let mut rows = [pair.row, pair.reference].into_iter().chain(pair.relative_to);
        let variant = rows.find(|variant| !figures.is_comparable(variant))?;
        let clause = figures.rows.get(variant).and_then(|row| row.clause.clone());
        let clause = clause.map_or_else(String::new, |clause| format!(": {clause}"));
        Some(format!("{} is another program here{clause}", name_of(self.published, variant)).into())
    }

    fn sides(&self, pair: &ClaimedPair<'_>, metric: Metric) -> Sides<'j, 'a> {
        let side = |workload: &str, variant: &VariantId| {
            let mut workloads = self.analysis.workloads.iter();
            let rows = workloads.find(|rows| rows.workload.name == workload);
            let rows = rows.ok_or_else(|| format!("{workload} is not part of this run"))?;
            let place = |variant| self.row(rows, variant, metric);
            let relative_to = pair.relative_to.map(place).transpose()?;
            Ok::<_, Remark>(PairSide { rows, row: place(variant)?, relative_to })
        };
        Ok([side(pair.workload, pair.row)?, side(pair.against, pair.reference)?])
    }

    /// The place of a row with valid figures, or why it has none.
    fn row(
        &self,
        rows: &WorkloadRows<'a>,
        variant: &VariantId,
        metric: Metric,
    ) -> Result<usize, Remark> {
        let name = || name_of(self.published, variant);
        let index = rows.first_of(variant).filter(|index| rows.rows[*index].measured() > 0);
        let index = index.ok_or_else(|| {
            let why = published_rows::reason(self.analysis.journal, variant);
            let none = || format!("it has no figures in {}", rows.workload.name);
            format!("{}: {}", name(), why.unwrap_or_else(none))
        })?;
        match not_compared(&rows.rows[index], metric) {
            Some(why) => Err(why.prefixed(&format!("{} is not valid: ", name()))),
            None => Ok(index),
        }
    }
}

/// The metric of a run that is in a column of a document.
const fn metric(column: Column) -> Metric {
    match column {
        Column::LatencyNsP50 | Column::LatencyMsP50 => Metric::P50,
        Column::LatencyNsP99 | Column::LatencyMsP99 => Metric::P99,
        Column::LatencyNsP999 => Metric::P999,
        // Of messages of one size, bytes are in the proportion of requests.
        _ => Metric::Throughput,
    }
}

/// What a ratio says of a claim, and why it says nothing.
fn judged(relation: Relation, ratio: &JudgedRatio) -> (Answer, Option<Remark>) {
    let answer = match (relation, ratio.claim.unwrap_or(Claim::CannotTell)) {
        (Relation::More, Claim::Higher)
        | (Relation::Fewer, Claim::Lower)
        | (Relation::Same, Claim::Same) => Answer::Holds,
        (Relation::More, Claim::Lower)
        | (Relation::Fewer, Claim::Higher)
        | (Relation::Same, Claim::Higher | Claim::Lower) => Answer::Reversed,
        _ => Answer::Inconclusive,
    };
    let why = match ratio.claim.unwrap_or(Claim::CannotTell) {
        Claim::Same => "the difference is smaller than the margin",
        Claim::NotHigher | Claim::NotLower => Inconclusive::Bound.name(),
        _ => ratio.inconclusive.map_or("", Inconclusive::name),
    };
    (answer, (answer == Answer::Inconclusive).then(|| why.into()))
}
