//! From a document's conclusions and an analysis to an answer for each pair of rows.

use wirebench_schema::{
    id::VariantId,
    journal::Published,
    suite::{ClaimedPair, Column, Conclusion, PublishedRow, Relation},
};
use wirebench_stats::Interval;

use super::{Answer, ConclusionReport, PairReport, answer};
use crate::{
    analysis::{
        Analysis, Claim, Inconclusive, JudgedRatio, Metric, PairSide, Reads, WorkloadRows,
        compare_series, logs,
    },
    notes::Remark,
    published_rows::{self, name_of},
    shown::not_compared,
    view::{ClaimedWorkload, ComparedRatio},
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
        let mut series: Vec<Vec<ClaimedPair<'_>>> = Vec::new();
        for pair in self.published.figures.pairs(conclusion) {
            let is_same = |it: &&mut Vec<ClaimedPair<'_>>| {
                it[0].row == pair.row && it[0].reference == pair.reference
            };
            // Where one case is enough, each is one by itself.
            match series.iter_mut().find(is_same).filter(|_| !conclusion.some) {
                Some(found) => found.push(pair),
                None => series.push(vec![pair]),
            }
        }
        let metric = metric(conclusion.column);
        let comparisons = series.len().max(1);
        let pairs: Vec<PairReport> =
            series.iter().map(|it| self.series(it, metric, comparisons)).collect();
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

    /// Two rows in all workloads that the conclusion is about.
    fn series(
        &self,
        claimed: &[ClaimedPair<'_>],
        metric: Metric,
        comparisons: usize,
    ) -> PairReport {
        let first = &claimed[0];
        let sides: Vec<Sides<'j, 'a>> = claimed.iter().map(|it| self.sides(it, metric)).collect();
        // A single block says nothing of its noise.
        let is_known = |it: &[PairSide<'_, '_>; 2]| logs(it, metric).len() > 1;
        let known = claimed.iter().zip(&sides).filter_map(|(pair, sides)| {
            Some((pair.published, sides.clone().ok().filter(is_known)?))
        });
        let (there, measured): (Vec<f64>, Vec<_>) = known.unzip();
        let differs = self.differs(first);
        let compared = |published, ratio| {
            let ratio = compared(first.relation, published, ratio);
            match &differs {
                None => ratio,
                why => ComparedRatio { answer: Answer::NotMeasured, why: why.clone(), ..ratio },
            }
        };
        let workloads: Vec<ClaimedWorkload> = claimed
            .iter()
            .zip(sides)
            .map(|(pair, sides)| ClaimedWorkload {
                workload: pair.workload.to_owned(),
                against: (pair.against != pair.workload).then(|| pair.against.to_owned()),
                ratio: compared(
                    pair.published,
                    sides.and_then(|it| in_workload(it, metric, comparisons)),
                ),
            })
            .collect();
        let mean = match (workloads.as_slice(), measured.as_slice()) {
            ([only], _) => only.ratio.clone(),
            (all, []) => without_mean(all),
            (_, measured) => {
                let ratio = compare_series(measured, metric, comparisons);
                compared(mean(&there), ratio.ok_or_else(apart))
            }
        };
        PairReport {
            row: first.row.to_string(),
            relation: first.relation,
            reference: first.reference.to_string(),
            relative_to: first.relative_to.map(ToString::to_string),
            mean,
            workloads,
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

/// The answer where no workload has both sides in two blocks.
fn without_mean(workloads: &[ClaimedWorkload]) -> ComparedRatio {
    let published: Vec<f64> = workloads.iter().map(|it| it.ratio.published).collect();
    let is_measured = workloads.iter().any(|it| it.ratio.answer != Answer::NotMeasured);
    let (answer, why) = match is_measured {
        true => (Answer::Inconclusive, Some(Inconclusive::TooFewCohorts.name().into())),
        false => (Answer::NotMeasured, workloads[0].ratio.why.clone()),
    };
    ComparedRatio { published: mean(&published), measured: None, reads: None, answer, why }
}

/// The first side over the second one in a workload, or of two workloads.
fn in_workload(
    sides: [PairSide<'_, '_>; 2],
    metric: Metric,
    comparisons: usize,
) -> Result<JudgedRatio, Remark> {
    let [own, base] = sides;
    let is_one = own.rows.workload.name == base.rows.workload.name;
    let ratio = match is_one {
        true => own.rows.compare_pair(metric, [own.row, base.row]),
        false => compare_series(&[sides], metric, comparisons),
    };
    ratio.ok_or_else(apart)
}

fn apart() -> Remark {
    "the two were never measured together".into()
}

/// The geometric mean.
fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|it| it.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// The answer of a measured ratio to a published one.
fn compared(
    relation: Relation,
    published: f64,
    measured: Result<JudgedRatio, Remark>,
) -> ComparedRatio {
    let (answer, why) = match &measured {
        Ok(ratio) => judged(relation, published, ratio),
        Err(why) => (Answer::NotMeasured, Some(why.clone())),
    };
    let measured = measured.ok();
    ComparedRatio {
        published,
        measured: measured.as_ref().map(|it| it.estimate),
        reads: measured.as_ref().map(|it| it.reads),
        answer,
        why,
    }
}

/// The answer of a ratio to a claim, and why it has none.
pub(super) fn judged(
    relation: Relation,
    published: f64,
    ratio: &JudgedRatio,
) -> (Answer, Option<Remark>) {
    let claim = ratio.claim.unwrap_or(Claim::CannotTell);
    let answer = match (relation, claim) {
        (Relation::Same, Claim::Same) => Answer::Holds,
        (Relation::Same, _) => apart_from(published, ratio),
        (Relation::More, Claim::Higher) | (Relation::Fewer, Claim::Lower) => size(published, ratio),
        (Relation::More, Claim::Lower) | (Relation::Fewer, Claim::Higher) => Answer::Reversed,
        (_, Claim::Same) => Answer::NoDifference,
        _ => Answer::Inconclusive,
    };
    let why = match claim {
        Claim::NotHigher | Claim::NotLower => Inconclusive::Bound.name(),
        _ => ratio.inconclusive.unwrap_or(Inconclusive::WideInterval).name(),
    };
    (answer, (answer == Answer::Inconclusive).then(|| why.into()))
}

/// The true ratio, as far as it is known: the interval widened by the margin, without an end where the ratio is a
/// bound.
fn reach(ratio: &JudgedRatio) -> Option<Interval> {
    let interval = ratio.estimate.interval?;
    let margin = 1.0 + ratio.margin;
    let (low, high) = match ratio.reads {
        Reads::Exactly => (interval.low / margin, interval.high * margin),
        Reads::AtLeast => (interval.low / margin, f64::INFINITY),
        Reads::AtMost => (0.0, interval.high * margin),
        Reads::Either => (0.0, f64::INFINITY),
    };
    Some(Interval { low, high })
}

/// How far two rows are apart that a document calls the same.
fn apart_from(published: f64, ratio: &JudgedRatio) -> Answer {
    let there = published.ln().abs().max(ratio.margin.ln_1p());
    let there = Interval { low: (-there).exp(), high: there.exp() };
    let Some(here) = ratio.estimate.interval else { return Answer::Inconclusive };
    let is_known = ratio.inconclusive.is_none_or(|it| it == Inconclusive::WideInterval);
    match ratio.claim {
        Some(Claim::Higher) if here.low > there.high => Answer::Differs,
        Some(Claim::Lower) if here.high < there.low => Answer::Differs,
        _ if is_known && ratio.reads == Reads::Exactly && here.lies_within(&there) => Answer::Holds,
        _ => Answer::Inconclusive,
    }
}

/// The answer of a ratio of the published direction.
fn size(published: f64, ratio: &JudgedRatio) -> Answer {
    if reach(ratio).is_none_or(|it| it.contains(published)) {
        Answer::Holds
    } else if ratio.estimate.value.ln().abs() < published.ln().abs() {
        Answer::SmallerEffect
    } else {
        Answer::LargerEffect
    }
}
