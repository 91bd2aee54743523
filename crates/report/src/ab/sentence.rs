//! The verdict as one sentence, which is all that most readers will read: what was found, how sure
//! it is, and what to do where nothing can be said.

use std::time::Duration;
use wirebench_schema::{
    journal::{EndReason, Journal},
    suite::Phase,
    units::write_duration,
};
use wirebench_stats::MIN_BLOCKS;

use super::{Ab, Figure, Ratio, Verdict, side::State};
use crate::{
    analysis::{Claim, Metric, Reads},
    compare::words,
    table::count,
    table_units::thousands,
};

/// How a budget that was too short is made longer.
const LONGER: u32 = 3;

/// The words for a metric in a sentence.
struct Phrase {
    /// What a server does: `costs`.
    verb: &'static str,
    /// Behind a share, of a higher and of a lower value: `more`, `less`.
    than: (&'static str, &'static str),
    /// Between: `as much`, and `as` follows.
    equally: &'static str,
    /// What it is about.
    of: &'static str,
}

const fn phrase(metric: Metric) -> Phrase {
    let (verb, than, equally, of) = match metric {
        Metric::Cpu => ("costs", ("more", "less"), "as much", "CPU time per request"),
        Metric::Throughput => ("does", ("more", "fewer"), "as many", "requests/s"),
        Metric::LatencyP50 => ("answers", ("later", "sooner"), "as soon", "at the median"),
        Metric::LatencyP99 => ("answers", ("later", "sooner"), "as soon", "at p99"),
        Metric::LatencyP999 => ("answers", ("later", "sooner"), "as soon", "at p99.9"),
        _ => ("holds", ("more", "less"), "as much", "memory at its peak"),
    };
    Phrase { verb, than, equally, of }
}

impl Ab<'_> {
    /// The verdict as one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match (&self.verdict, self.main()) {
            (Verdict::NotMeasured, _) => format!("not measured: {}", self.troubles()),
            (Verdict::NotValid, _) => format!("not valid: {}", self.troubles()),
            (Verdict::Claimed(claim), Some(Figure { ratio: Some(ratio), .. })) => {
                self.claimed(*claim, ratio)
            }
            (Verdict::Claimed(_), _) => {
                let [a, b] = self.names();
                format!("cannot tell: {a} and {b} have no block with figures of both")
            }
        }
    }

    fn names(&self) -> [&str; 2] {
        [self.sides[0].name, self.sides[1].name]
    }

    /// What keeps the sides from a verdict.
    fn troubles(&self) -> String {
        let told = self.sides.iter().filter_map(|side| match &side.state {
            State::NotMeasured(why) | State::NotValid(why) => Some(format!("{} {why}", side.name)),
            State::Valid => None,
        });
        told.collect::<Vec<_>>().join("; ")
    }

    fn claimed(&self, claim: Claim, ratio: &Ratio) -> String {
        let Phrase { verb, than, equally, of } = phrase(self.metric);
        let [a, b] = self.names();
        let known = self.known(ratio);
        let word = claim.words(self.metric);
        let share = (ratio.estimate.value - 1.0).abs() * 100.0;
        let floor = percent(ratio.floor.relative);
        match claim {
            Claim::Higher | Claim::Lower => {
                let more = if claim == Claim::Higher { than.0 } else { than.1 };
                let digits = if share < 99.95 { 1 } else { 0 };
                let bound = if ratio.reads == Reads::Exactly { "" } else { "at least " };
                format!("{b} {verb} {bound}{share:.digits$} % {more} {of} than {a} {known}: {word}")
            }
            Claim::Same => {
                let within = percent(ratio.floor.relative.min(0.05));
                format!("{b} {verb} {equally} {of} as {a} within {within} {known}: {word}")
            }
            Claim::NotHigher | Claim::NotLower => {
                let more = if claim == Claim::NotHigher { than.0 } else { than.1 };
                format!(
                    "{b} {verb} no more than {floor} {more} {of} than {a}, and the load generator \
                     was at its limit, so that the difference may be larger the other way {known}: \
                     {word}"
                )
            }
            Claim::CannotTell => self.cannot_tell(ratio, &known),
        }
    }

    /// How sure it is: `(95 % interval +4.6..+5.9 %, 14 pairs at 40 000 requests/s)`.
    fn known(&self, ratio: &Ratio) -> String {
        let pairs = count(u32::try_from(ratio.estimate.samples).unwrap_or(u32::MAX), "pair");
        let rate = match (self.rows.workload.phase, self.rows.rate) {
            (Phase::Cost, Some(rate)) => {
                format!(" at {} requests/s", thousands(rate.requests_per_second as f64))
            }
            _ => String::new(),
        };
        let interval = ratio.estimate.interval.map_or_else(
            || range("from", ratio.least, ratio.most),
            |it| range("95 % interval", it.low, it.high),
        );
        format!("({interval}, {pairs}{rate})")
    }

    fn cannot_tell(&self, ratio: &Ratio, known: &str) -> String {
        let Phrase { verb, than, of, .. } = phrase(self.metric);
        let [a, b] = self.names();
        let floor = percent(ratio.floor.relative);
        let next = self.next_step(ratio);
        let Some(interval) = ratio.estimate.interval else {
            return format!(
                "cannot tell: it takes {MIN_BLOCKS} pairs to tell a difference from noise {known}: \
                 {next}"
            );
        };
        if ratio.reads != Reads::Exactly {
            return format!(
                "cannot tell: the load generator was at its limit, so that this is only a bound \
                 {known}: compare what a request costs with --phase cost, or give the generator more \
                 CPUs"
            );
        }
        if interval.contains(1.0) || !ratio.floor.band().contains(ratio.estimate.value) {
            return format!(
                "cannot tell whether {b} {verb} {} or {} {of} than {a} {known}, and the noise floor \
                 is {floor}: {next}",
                than.0, than.1
            );
        }
        let more = if ratio.estimate.value > 1.0 { than.0 } else { than.1 };
        let share = percent((ratio.estimate.value - 1.0).abs());
        format!(
            "cannot tell: {b} {verb} {share} {more} {of} than {a} {known}, which is no more than the \
             noise floor of {floor}: {next}"
        )
    }

    /// What to do to learn more.
    fn next_step(&self, ratio: &Ratio) -> String {
        let start = &self.journal.start;
        match (ended(self.journal), start.goal.budget) {
            (Some(EndReason::Budget), Some(budget)) => {
                let longer = write_duration(whole(budget.saturating_mul(LONGER)));
                format!("give --budget {longer} or a quieter machine")
            }
            (None | Some(EndReason::Interrupted), _) => {
                "let it go on with `wirebench run --resume FOLDER`".to_owned()
            }
            (Some(EndReason::Precise), _) => {
                let goal = start.goal.precision.unwrap_or(ratio.floor.relative);
                format!("give --precision {}", percent(goal / 2.0).replace(' ', ""))
            }
            (Some(_), _) => {
                let least = u32::try_from(MIN_BLOCKS).unwrap_or(u32::MAX);
                let more = start.blocks.saturating_mul(2).max(least + 4);
                format!("give --blocks {more} or a quieter machine")
            }
        }
    }
}

fn ended(journal: &Journal) -> Option<EndReason> {
    journal.end.as_ref().map(|end| end.reason)
}

/// A duration that is easy to type.
fn whole(duration: Duration) -> Duration {
    Duration::from_secs(duration.as_secs().max(1))
}

/// A share with as many digits as it needs, such as `1.0 %` and `0.25 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let tenths = percent * 10.0;
    let digits = if (tenths - tenths.round()).abs() < 0.05 || percent > 0.95 { 1 } else { 2 };
    format!("{percent:.digits$} %")
}

/// Two ratios as changes, such as `95 % interval +4.6..+5.9 %`.
fn range(what: &str, low: f64, high: f64) -> String {
    let low = words::percent(low);
    let low = low.trim_end_matches(" %");
    format!("{what} {low}..{}", words::percent(high))
}
