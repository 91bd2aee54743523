//! The tries of all differences as a table, below the sentence that says which difference comparisons find.

use super::{DetectedDifference, Detection};
use crate::{
    interval::change,
    table_units::{count, percent},
    wrap::{WIDTH, wrap},
};

/// Percentage of tries in which a named difference is found: 9 of 10, as in the page of `ab`.
const OFTEN: usize = 90;
/// Cohorts below which tries repeat each other.
const FEW_COHORTS: usize = 8;

impl Detection {
    /// The sentence, the table, and where the tries come from.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { cohorts, budget_s, cohort_s, .. } = self;
        let head = line(["extra work", "measured", "found in", "median time", ""]);
        let lines: String = self.differences.iter().map(|it| self.line(it)).collect();
        let margin = percent(self.margin);
        let mut origin = format!(
            "Each try is a comparison as `wirebench ab` makes it, with a margin of {margin} and a budget of \
             {budget_s:.0} s. Its cohorts, of {cohort_s:.1} s, are drawn with replacement from the {cohorts} of this \
             run, in which the built-in server and copies of it with more work per request ran side by side."
        );
        if *cohorts < FEW_COHORTS {
            origin += " With fewer than 8, tries repeat each other and find too much: give a longer --budget.";
        }
        let [sentence, origin] =
            [self.sentence(), origin].map(|text| wrap(&text, WIDTH, "").join("\n"));
        format!("{sentence}\n\n{head}{lines}\n{origin}")
    }

    /// The smallest difference that is found in 9 of 10 tries, and the false alarms.
    fn sentence(&self) -> String {
        let Self { tries, differences, .. } = self;
        let alarms = count(differences[0].found, "false alarm");
        let is_often = |it: &&DetectedDifference| 100 * it.found >= OFTEN * tries;
        let Some(it) = differences[1..].iter().find(is_often) else {
            return format!(
                "`wirebench ab` finds none of these differences in {OFTEN} % of tries, {alarms} in {tries}; \
                 `wirebench doctor` lists causes of noise"
            );
        };
        let DetectedDifference { intended, measured, found, median_s, .. } = it;
        let (intended, measured) = (percent(*intended), change(measured.value, measured.interval));
        format!(
            "`wirebench ab` finds {measured} ({intended} more work) in {median_s:.0} s in {found} of {tries} tries, \
             {alarms} in {tries}"
        )
    }

    fn line(&self, difference: &DetectedDifference) -> String {
        let DetectedDifference { intended, measured, found, median_s, .. } = difference;
        let remark = if *intended > 0.0 { "" } else { "false alarms" };
        let (found, time) =
            (format!("{found} of {} tries", self.tries), format!("{median_s:.0} s"));
        let measured = change(measured.value, measured.interval);
        line([&percent(*intended), &measured, &found, &time, remark])
    }
}

fn line([difference, measured, found, time, remark]: [&str; 5]) -> String {
    let line = format!("{difference:<12}{measured:<24}{found:<18}{time:<13}{remark}");
    line.trim_end().to_owned() + "\n"
}
