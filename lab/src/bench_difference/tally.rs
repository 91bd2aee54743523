//! Counts verdicts over repetitions.

use std::collections::BTreeMap;

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

impl Judged {
    fn is_wrong(&self) -> bool {
        self.slower_percent == 0.0 && ["higher", "lower"].contains(&self.claim.as_str())
    }
}

/// All verdicts, by try.
#[derive(Debug, Default)]
pub(super) struct Tally(Vec<Vec<Judged>>);

impl Tally {
    /// Adds a try and prints it in one line.
    pub(super) fn add(&mut self, judged: Vec<Judged>) {
        let one = |it: &Judged| {
            let half = table::figure(it.half_width.map(|half| half * 100.0), 1);
            format!("{:+.1}±{half} {}", (it.ratio - 1.0) * 100.0, it.claim)
        };
        let all: Vec<String> = judged.iter().map(one).collect();
        self.0.push(judged);
        println!("{:>3}: {}", self.0.len(), all.join(", "));
    }

    /// Rows that are slower by the same amount, counted together.
    pub(super) fn table(&self) -> String {
        let mut by_percent: BTreeMap<String, Vec<&Judged>> = BTreeMap::new();
        for it in self.0.iter().flatten() {
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
        let tries = |of: fn(&Judged) -> bool| self.0.iter().filter(|it| it.iter().any(of)).count();
        let (equal, wrong) = (tries(|it| it.slower_percent == 0.0), tries(Judged::is_wrong));
        if equal > 0 {
            println!("{wrong} of {equal} tries called an equal server different");
        }
        if wrong <= equal.div_ceil(TRIES_PER_FALSE_DIFFERENCE) {
            return Vec::new();
        }
        let all =
            (1..).zip(&self.0).flat_map(|(number, rows)| rows.iter().map(move |it| (number, it)));
        all.filter(|(_, it)| it.is_wrong())
            .map(|(number, it): (u32, _)| format!("try {number} called {} {}", it.name, it.claim))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(slower_percent: f64, claim: &str) -> Judged {
        let (name, claim) = ("own/plain #1".to_owned(), claim.to_owned());
        Judged { name, slower_percent, claim, ratio: 1.0, half_width: Some(0.02), seconds: 9.0 }
    }

    #[test]
    fn one_false_difference_in_twenty_tries_is_chance_and_two_are_an_error_and_rows_are_counted() {
        let mut tally = Tally::default();
        for number in 1..=19 {
            let claim = if number == 7 { "higher" } else { "same" };
            tally.add(vec![judged(0.0, claim), judged(5.0, "higher")]);
        }
        assert_eq!(tally.false_differences(), [""; 0]);
        tally.add(vec![judged(0.0, "lower"), judged(5.0, "cannot-tell")]);
        assert_eq!(tally.false_differences()[1], "try 20 called own/plain #1 lower");
        let table = tally.table();
        let rows: Vec<Vec<&str>> =
            table.lines().map(|it| it.split_whitespace().collect()).collect();
        assert_eq!(rows[1][2..7], ["20", "1", "1", "18", "0"]);
        assert_eq!(rows[2][2..7], ["20", "19", "0", "0", "1"]);
    }
}
