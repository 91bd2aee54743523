//! Conditions under which a comparison fails, for machines that watch over changes.
//!
//! A condition is met only by a change that counts: what lies beyond it within the noise is told
//! and fails nothing. So a gate that has too few blocks lets everything pass, and says that it
//! does.
//!
//! Not here: what a change is, and whether it counts.

use std::{cmp::Ordering, fmt, str::FromStr};
use wirebench_stats::MIN_BLOCKS;

use super::{Cell, Change, LeftOut, Presence, judge::looked_at, words};
use crate::analysis::{Claim, Metric, Reads};

/// How a condition is written.
pub const GRAMMAR: &str = "write METRIC < -PERCENT or METRIC > +PERCENT, such as 'throughput < -3%' or \
                           'p99 > +10%'; METRIC is one of throughput, cpu, p50, p99, p999 and memory";

/// The metrics that a condition may name.
const METRICS: [Metric; 6] = [
    Metric::Throughput,
    Metric::Cpu,
    Metric::LatencyP50,
    Metric::LatencyP99,
    Metric::LatencyP999,
    Metric::Memory,
];

/// More than 1000 times as much is a mistake in writing.
const PERCENT_LIMIT: f64 = 100_000.0;

/// When a comparison fails: a metric changed by more than so much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// What must not change so. In an idle phase `cpu` and `memory` mean what they mean there.
    pub metric: Metric,
    /// In which direction.
    pub beyond: Beyond,
    /// New over old, less one: -0.03 is 3 % less.
    pub share: f64,
}

/// On which side of its limit a condition is met.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Beyond {
    /// Below it.
    Below,
    /// Above it.
    Above,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |reason: &str| format!("`{text}` is no condition: {reason}; {GRAMMAR}");
        let at =
            text.find(['<', '>']).ok_or_else(|| wrong("there is neither `<` nor `>` in it"))?;
        let (name, rest) = text.split_at(at);
        let (sign, limit) = rest.split_at(1);
        let metric = name.trim().parse::<Metric>().map_err(|reason| wrong(&reason))?;
        if !METRICS.contains(&metric) {
            return Err(wrong(&format!("`{metric}` is no metric of a condition")));
        }
        let limit = limit.trim();
        let number =
            limit.strip_suffix('%').ok_or_else(|| wrong("the `%` at its end is missing"))?;
        let percent: f64 =
            number.trim().parse().map_err(|_| wrong(&format!("`{limit}` is no percentage")))?;
        if !percent.is_finite() || percent.abs() > PERCENT_LIMIT {
            return Err(wrong(&format!("`{limit}` is no percentage")));
        }
        let beyond = if sign == "<" { Beyond::Below } else { Beyond::Above };
        match (beyond, percent) {
            (Beyond::Below, it) if it > 0.0 => Err(wrong("what has not changed would fail it")),
            (Beyond::Above, it) if it < 0.0 => Err(wrong("what has not changed would fail it")),
            (Beyond::Below, it) if it <= -100.0 => Err(wrong("nothing falls by more than 100 %")),
            _ => Ok(Self { metric, beyond, share: percent / 100.0 }),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric, beyond, share } = self;
        let percent = (share * 100.0 * 1e6).round() / 1e6;
        match beyond {
            Beyond::Below => write!(formatter, "{metric} < {percent}%"),
            Beyond::Above => write!(formatter, "{metric} > {percent:+}%"),
        }
    }
}

/// What became of all conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// In the order in which they were given.
    pub conditions: Vec<ConditionResult>,
    /// Cells that had figures and have none any more, or not one that a condition names, with the
    /// reason. Each fails the gate: what is worse than any figure must not pass for want of one.
    pub lost: Vec<(Cell, String)>,
    /// Why it cannot fail, or not everywhere, each as a sentence.
    pub warnings: Vec<String>,
}

/// What became of one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionResult {
    /// The condition.
    pub condition: Condition,
    /// Cells that have its figure.
    pub looked_at: usize,
    /// Of those, cells that do not meet it and have blocks enough to have met it.
    pub passed: usize,
    /// Cells that meet it beyond the noise.
    pub failed: Vec<Hit>,
    /// Cells that are beyond its limit, but within the noise.
    pub cannot_tell: Vec<Hit>,
}

/// A cell that is beyond the limit of a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The cell.
    pub cell: Cell,
    /// The metric as it is meant in its phase.
    pub metric: Metric,
    /// The change and what it follows from, as a sentence.
    pub why: String,
}

impl Gate {
    /// Whether no cell fails.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        self.lost.is_empty() && self.conditions.iter().all(|it| it.failed.is_empty())
    }
}

/// Looks at all conditions; none without conditions. Beside the changes it is told of cells that
/// were not compared, and of figures that are in the older result alone.
pub(crate) fn judge(
    conditions: &[Condition],
    changes: &[Change],
    (left_out, lost_figures): (&[LeftOut], &[(Cell, Metric)]),
) -> Option<Gate> {
    if conditions.is_empty() {
        return None;
    }
    let lost = left_out.iter().filter(|it| it.presence == Presence::Lost);
    let lost = lost.map(|it| (it.cell.clone(), it.reason.clone()));
    let is_named = |(cell, metric): &&(Cell, Metric)| {
        conditions.iter().any(|it| looked_at(it.metric, cell.phase) == Some(*metric))
    };
    let figures = lost_figures.iter().filter(is_named).map(|(cell, metric)| {
        (cell.clone(), format!("its {} is not known in the newer result", metric.title()))
    });
    let mut gate =
        Gate { conditions: Vec::new(), lost: lost.chain(figures).collect(), warnings: Vec::new() };
    for condition in conditions {
        let here = |change: &&Change| condition.concerns(change);
        let concerned: Vec<&Change> = changes.iter().filter(here).collect();
        gate.warnings.extend(condition.warning(&concerned));
        gate.warnings.extend(condition.beyond_floor(&concerned));
        let passed = concerned
            .iter()
            .filter(|it| it.estimate.interval.is_some() && !condition.is_beyond(it.share()));
        let mut result = ConditionResult {
            condition: *condition,
            looked_at: concerned.len(),
            passed: passed.count(),
            failed: Vec::new(),
            cannot_tell: Vec::new(),
        };
        for change in concerned.into_iter().filter(|it| condition.is_beyond(it.share())) {
            let (hits, why) = match doubt(change) {
                None => (&mut result.failed, words::change(change)),
                Some(doubt) => {
                    (&mut result.cannot_tell, format!("{}: {doubt}", words::change(change)))
                }
            };
            hits.push(Hit { cell: change.cell.clone(), metric: change.metric, why });
        }
        gate.conditions.push(result);
    }
    Some(gate)
}

impl Condition {
    fn concerns(&self, change: &Change) -> bool {
        looked_at(self.metric, change.cell.phase) == Some(change.metric)
    }

    fn is_beyond(&self, share: f64) -> bool {
        let order = share.partial_cmp(&self.share);
        match self.beyond {
            Beyond::Below => order == Some(Ordering::Less),
            Beyond::Above => order == Some(Ordering::Greater),
        }
    }

    /// Why it can never be met here, or not in all cells that it concerns.
    fn warning(&self, concerned: &[&Change]) -> Option<String> {
        let all = concerned.len();
        let short: Vec<&&Change> =
            concerned.iter().filter(|it| it.estimate.samples < MIN_BLOCKS).collect();
        if all == 0 {
            return Some(format!(
                "'{self}' can never fail here: no cell of both results has its figure"
            ));
        }
        let shortest = short.iter().map(|it| it.estimate.samples).min()?;
        let scope = if short.len() == all {
            "can never fail here".to_owned()
        } else {
            format!("cannot fail in {} of {all} cells", short.len())
        };
        Some(format!(
            "'{self}' {scope}: it takes {MIN_BLOCKS} blocks on each side to tell a change from \
             noise, and there are as few as {shortest} with figures: give --blocks 10"
        ))
    }

    /// That changes beyond it must be larger still to count, where the noise is larger than it. A
    /// limit of nothing asks for any change that counts.
    fn beyond_floor(&self, concerned: &[&Change]) -> Option<String> {
        let asked = (1.0 + self.share).ln().abs();
        let higher = |change: &&&Change| asked > 0.0 && change.floor.relative.ln_1p() > asked;
        let hidden: Vec<&&Change> = concerned.iter().filter(higher).collect();
        let floors = hidden.iter().map(|it| it.floor);
        let largest = floors.max_by(|a, b| a.relative.total_cmp(&b.relative))?;
        Some(format!(
            "'{self}' asks for less than the noise floor of {} of {} cells, which is up to {}: what is \
             smaller than that fails nothing",
            hidden.len(),
            concerned.len(),
            words::floor(&largest)
        ))
    }
}

/// Why a change that is beyond a limit does not count; none if it does.
fn doubt(change: &Change) -> Option<String> {
    let moved = matches!(change.claim, Claim::Higher | Claim::Lower);
    let Some(interval) = change.estimate.interval else {
        let blocks = change.estimate.samples;
        return Some(format!("{blocks} of the {MIN_BLOCKS} blocks that are needed"));
    };
    if moved {
        return None;
    }
    let is_within_floor = change.floor.band().contains(change.estimate.value);
    Some(if interval.contains(1.0) {
        "the interval includes no change".to_owned()
    } else if is_within_floor {
        format!("within the noise floor of {}", words::floor(&change.floor))
    } else if change.reads != Reads::Exactly {
        "the load generator was at its limit, so that this is only a bound".to_owned()
    } else {
        let p = change.p_adjusted.unwrap_or(1.0);
        format!("not significant among all that was compared, p = {p:.2}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Condition {
        text.parse().unwrap()
    }

    #[test]
    fn conditions_read_with_and_without_spaces_and_show_themselves_again() {
        for (text, shown) in [
            ("throughput < -3%", "throughput < -3%"),
            ("throughput<-3%", "throughput < -3%"),
            (" p999 >  +12.5 % ", "p999 > +12.5%"),
            ("memory > 5%", "memory > +5%"),
            ("cpu>0%", "cpu > +0%"),
        ] {
            assert_eq!(read(text).to_string(), shown);
            assert_eq!(read(shown), read(text));
        }
        let three = read("throughput < -3%");
        assert!(three.is_beyond(-0.031) && !three.is_beyond(-0.029) && !three.is_beyond(0.2));
        assert!(!three.is_beyond(f64::NAN));
    }

    #[test]
    fn what_is_no_condition_gets_its_reason_and_the_grammar() {
        for (text, reason) in [
            ("throughput", "neither `<` nor `>`"),
            ("", "neither `<` nor `>`"),
            ("thruput < -3%", "did you mean `throughput`?"),
            ("switches > 3%", "`switches` is no metric of a condition"),
            ("throughput < -3", "the `%` at its end is missing"),
            ("throughput < three%", "`three%` is no percentage"),
            ("throughput < nan%", "`nan%` is no percentage"),
            ("throughput < 3%", "what has not changed would fail it"),
            ("cpu > -3%", "what has not changed would fail it"),
            ("throughput < -100%", "nothing falls by more than 100 %"),
            ("cpu >= 3%", "`= 3%` is no percentage"),
        ] {
            let message = text.parse::<Condition>().unwrap_err();
            assert!(message.contains(reason) && message.contains(GRAMMAR), "{text}: {message}");
        }
    }
}
