//! Differences that comparisons find on one machine, from a run in which each cohort has equal servers and servers with
//! more work. A try is a comparison with looks, limits and instances as `wirebench ab` has them. Its cohorts are drawn
//! from those of the run. The text is in `detect/words.rs`.

mod words;

use fastrand::Rng;
use serde::Serialize;
use std::{mem, time::Duration};
use wirebench_schema::journal::Journal;
use wirebench_stats::{Bounds, Estimate, MIN_COHORTS, PlannedLook, bounds, median};

use super::{INSTANCES, MARGIN, Side, outlook::looks_of};
use crate::analysis::{Claim, Metric, Reads, judge_both, rows};

/// The suite's name in such a journal.
pub const SUITE: &str = "detect";
/// The servers in the order of the journal's head: the name of each, and the share of CPU time that it uses more.
pub const SERVERS: [(&str, f64); 6] = [
    ("plain", 0.0),
    ("plain-again", 0.0),
    ("plus-0.5", 0.005),
    ("plus-1", 0.01),
    ("plus-2", 0.02),
    ("plus-5", 0.05),
];
/// Tries of each difference.
pub const TRIES: usize = 100;
/// The seed of all tries, so that one journal has one result.
const SEED: u64 = 1;

/// The time that a comparison has on this machine.
#[derive(Clone, Copy, Debug)]
pub struct TryTime {
    /// Of a cohort of two servers.
    pub cohort: Duration,
    pub budget: Duration,
}

/// Differences that tries find.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Detection {
    /// Tries of each difference.
    pub tries: usize,
    /// Cohorts of the run, which have valid figures of all servers.
    pub cohorts: usize,
    /// Time of a cohort of two servers.
    pub cohort_s: f64,
    /// The limit of a try.
    pub budget_s: f64,
    /// The difference below which two servers count as the same, as a share.
    pub margin: f64,
    /// Results, that of equal servers first.
    pub differences: Vec<DetectedDifference>,
}

/// Result of the tries of one difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DetectedDifference {
    /// Additional CPU time per request that was intended, as a share; 0 of equal servers.
    pub intended: f64,
    /// Ratio in all cohorts of the run, with an interval of 95 % confidence.
    pub measured: Estimate,
    /// Tries that call the difference higher. Of equal servers, tries that call it higher or lower: false alarms.
    pub found: usize,
    /// Tries that call the servers the same.
    pub same: usize,
    /// Median time of all tries, found or not.
    pub median_s: f64,
}

impl Detection {
    /// The tries of a run of [`SERVERS`]. A reason where too few cohorts are valid.
    pub fn of(journal: &Journal, time: TryTime) -> Result<Self, String> {
        let too_few = |count: usize| {
            format!(
                "{count} cohorts have valid figures of every server, at least {MIN_COHORTS} are needed"
            )
        };
        let mut rows = rows(journal).pop().ok_or_else(|| too_few(0))?;
        rows.margins.saturated = MARGIN;
        let sides: Vec<Side<'_>> =
            (0..SERVERS.len()).map(|it| Side::of(journal, &rows, it, Metric::Cpu)).collect();
        if let Some(side) = sides.iter().find(|it| !it.standing.is_compared()) {
            return Err(format!("{} {}", side.name, side.trouble()));
        }
        let cells = rows.complete_cells(Metric::Cpu);
        let cohorts = cells.first().map_or(0, Vec::len);
        let has_pairs = sides.iter().all(|side| side.instances.len() == INSTANCES as usize);
        if cohorts < MIN_COHORTS || !has_pairs {
            return Err(too_few(cohorts));
        }
        let [first, again] = [0, 1].map(|it| sides[it].instances.as_slice());
        let plain = [first, again].concat();
        let tries = Tries::new(&cells, plain.clone(), time);
        let mut random = Rng::with_seed(SEED);
        let mut difference = |at: usize| {
            let second = sides[at].instances.as_slice();
            let (reference, slower) = if at == 1 { (first, &[][..]) } else { (&plain[..], second) };
            let ratio = rows.versus([reference, second], Metric::Cpu, 1)?;
            Some(tries.difference((SERVERS[at].1, ratio.estimate), slower, &mut random))
        };
        let differences: Option<_> = (1..SERVERS.len()).map(&mut difference).collect();
        Ok(Self {
            tries: TRIES,
            cohorts,
            cohort_s: time.cohort.as_secs_f64(),
            budget_s: time.budget.as_secs_f64(),
            margin: MARGIN,
            differences: differences.ok_or_else(|| too_few(cohorts))?,
        })
    }
}

/// The basis of all tries.
struct Tries<'a> {
    /// Logarithms of all instances of the run, by cohort.
    cells: &'a [Vec<f64>],
    /// Instances of equal servers.
    plain: Vec<usize>,
    looks: Vec<(PlannedLook, Bounds)>,
    cohort: Duration,
}

impl<'a> Tries<'a> {
    fn new(cells: &'a [Vec<f64>], plain: Vec<usize>, time: TryTime) -> Self {
        let looks = looks(time);
        let looks = looks.iter().copied().zip(bounds(&looks, 1)).collect();
        Self { cells, plain, looks, cohort: time.cohort }
    }

    fn difference(
        &self,
        (intended, measured): (f64, Estimate),
        slower: &[usize],
        random: &mut Rng,
    ) -> DetectedDifference {
        let ends: Vec<(Claim, usize)> = (0..TRIES).map(|_| self.make_one(slower, random)).collect();
        let count = |claim: Claim| ends.iter().filter(|it| it.0 == claim).count();
        let false_lower = if slower.is_empty() { count(Claim::Lower) } else { 0 };
        let cohorts: Vec<f64> = ends.iter().map(|it| it.1 as f64).collect();
        DetectedDifference {
            intended,
            measured,
            found: count(Claim::Higher) + false_lower,
            same: count(Claim::Same),
            median_s: median(&cohorts).unwrap_or_default() * self.cohort.as_secs_f64(),
        }
    }

    /// One comparison of equal servers with those in `slower`, or with each other without any: the claim with which it
    /// ends, and its cohorts by then.
    fn make_one(&self, slower: &[usize], random: &mut Rng) -> (Claim, usize) {
        let mut cells = vec![Vec::new(); 2 * INSTANCES as usize];
        let mut made = 0;
        for (look, bounds) in &self.looks {
            for _ in mem::replace(&mut made, look.cohorts)..look.cohorts {
                let cohort = random.usize(..self.cells[0].len());
                let instances = self.deal(slower, random);
                for (row, instance) in cells.iter_mut().zip(instances) {
                    row.push(self.cells[instance][cohort]);
                }
            }
            let (sides, reads): ([&[usize]; 2], _) = ([&[0, 1], &[2, 3]], Reads::Exactly);
            let ratio = judge_both(&cells, sides, Some(*bounds), 1, MARGIN, reads, None);
            match ratio.and_then(|it| it.claim) {
                None | Some(Claim::CannotTell) => {}
                Some(claim) => return (claim, made),
            }
        }
        (Claim::CannotTell, made)
    }

    /// Both instances of A in a cohort, and both of B. Equal ones are dealt at random, because a difference between
    /// them in this run is an accident that the tries must not repeat.
    fn deal(&self, slower: &[usize], random: &mut Rng) -> Vec<usize> {
        let (mut plain, mut slower) = (self.plain.clone(), slower.to_vec());
        random.shuffle(&mut plain);
        random.shuffle(&mut slower);
        if !slower.is_empty() {
            plain.truncate(INSTANCES as usize);
        }
        [plain, slower].concat()
    }
}

/// The looks at a comparison that uses up its budget.
fn looks(TryTime { cohort, budget }: TryTime) -> Vec<PlannedLook> {
    let most = (budget.as_secs_f64() / cohort.as_secs_f64()) as u32;
    looks_of(most.max(MIN_COHORTS as u32))
}

#[cfg(test)]
mod tests;
