//! Counts verdicts over repetitions.

use std::collections::{BTreeMap, BTreeSet};

use crate::table::{self, middle};

/// One of this many tries with equal servers may find a difference.
const TRIES_PER_FALSE_DIFFERENCE: usize = 20;

const HEAD: &str = "slower by | rows | higher | lower | same | inconclusive | median ratio | median half width | \
    median seconds";

#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) name: String,
    /// How much slower it was made, in percent.
    pub(super) slower_percent: f64,
    /// The name of the claim in JSON.
    pub(super) claim: String,
    pub(super) ratio: f64,
    /// Of the 95 % interval, relative to the ratio.
    pub(super) half_width: Option<f64>,
    pub(super) seconds: f64,
}

/// All verdicts, by the number of the try.
#[derive(Debug, Default)]
pub(super) struct Tally {
    judged: Vec<(u32, Judged)>,
}

impl Tally {
    /// Adds a try and prints it in one line.
    pub(super) fn add(&mut self, number: u32, judged: Vec<Judged>) {
        let one = |it: &Judged| {
            let half = it.half_width.map_or("-".to_owned(), |half| format!("{:.1}", half * 100.0));
            format!("{:+.1}±{half} {}", (it.ratio - 1.0) * 100.0, it.claim)
        };
        let all: Vec<String> = judged.iter().map(one).collect();
        println!("{number:>3}: {}", all.join(", "));
        self.judged.extend(judged.into_iter().map(|it| (number, it)));
    }

    /// Rows that are slower by the same amount, counted together.
    pub(super) fn table(&self) -> String {
        let mut by_percent: BTreeMap<String, Vec<&Judged>> = BTreeMap::new();
        for (_, it) in &self.judged {
            by_percent.entry(format!("{} %", it.slower_percent)).or_default().push(it);
        }
        let line = |(percent, rows): (String, Vec<&Judged>)| {
            let counted = |claim: &str| rows.iter().filter(|it| it.claim == claim).count();
            let [higher, lower, same] = ["higher", "lower", "same"].map(counted);
            let counts = [rows.len(), higher, lower, same, rows.len() - higher - lower - same];
            let mut cells = vec![percent];
            cells.extend(counts.map(|it| it.to_string()));
            cells.push(middle(&rows, 4, |it| Some(it.ratio)));
            cells.push(middle(&rows, 4, |it| it.half_width));
            cells.push(middle(&rows, 0, |it| Some(it.seconds)));
            cells
        };
        table::text(HEAD, usize::MAX, by_percent.into_iter().map(line).collect())
    }

    /// The errors: more differences of equal servers than chance explains. A missed difference is
    /// counted but is not an error, because it depends on the machine's noise.
    pub(super) fn false_differences(&self) -> Vec<String> {
        let equal = || self.judged.iter().filter(|(_, it)| it.slower_percent == 0.0);
        let wrong = || equal().filter(|(_, it)| ["higher", "lower"].contains(&it.claim.as_str()));
        let tries = equal().map(|(number, _)| number).collect::<BTreeSet<_>>().len();
        let wrong_tries = wrong().map(|(number, _)| number).collect::<BTreeSet<_>>().len();
        if tries > 0 {
            println!("{wrong_tries} of {tries} tries called an equal server different");
        }
        if wrong_tries <= tries.div_ceil(TRIES_PER_FALSE_DIFFERENCE) {
            return Vec::new();
        }
        wrong()
            .map(|(number, it)| format!("try {number} called {} {}", it.name, it.claim))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(slower_percent: f64, claim: &str) -> Judged {
        let name = "own/plain #1".to_owned();
        let claim = claim.to_owned();
        Judged { name, slower_percent, claim, ratio: 1.0, half_width: Some(0.02), seconds: 9.0 }
    }

    #[test]
    fn one_false_difference_in_twenty_tries_is_chance_and_two_are_an_error_and_rows_are_counted() {
        let mut tally = Tally::default();
        for number in 1..=20 {
            let claim = if number == 7 { "higher" } else { "same" };
            tally.add(number, vec![judged(0.0, claim), judged(5.0, "higher")]);
        }
        assert_eq!(tally.false_differences(), [""; 0]);
        tally.add(20, vec![judged(0.0, "lower"), judged(5.0, "cannot-tell")]);
        assert_eq!(tally.false_differences().len(), 2);
        let table = tally.table();
        let cells =
            |line: &str| line.split_whitespace().skip(2).take(5).collect::<Vec<_>>().join(" ");
        let counts: Vec<String> = table.lines().skip(1).map(cells).collect();
        assert_eq!(counts, ["21 1 1 19 0", "21 20 0 0 1"]);
    }
}
