//! The verdict as one sentence: the finding, its interval, and the next step where it is inconclusive. Also what waking
//! costs, which is in no verdict.

use jiff::Timestamp;
use std::time::Duration;
use wirebench_schema::{
    journal::{self, EndReason, Journal, Procedure, ReasonKind},
    suite::Phase,
    units::write_duration,
    verification::SAME_REPLIES,
};
use wirebench_stats::{Interval, MIN_COHORTS, median};

use super::{Ab, Side, Verdict};
use crate::{
    analysis::{CheckState, Claim, Inconclusive, Metric, MetricFacts, Reads},
    interval::ends,
    remarks::SHIFT,
    table_units::{asked_rate, count, percent},
    view::Ratio,
};

/// Cohorts that halve an interval, as a multiple of those that were made.
const TO_HALVE: u32 = 4;

/// The words for a metric in a sentence.
struct Phrase {
    /// A server's verb: `uses`.
    verb: &'static str,
    /// Of two servers.
    plural: &'static str,
    /// After a share, of a higher and of a lower value: `more`, `less`.
    than: (&'static str, &'static str),
    of: &'static str,
}

fn phrase(metric: Metric) -> Phrase {
    const MORE: (&str, &str) = ("more", "less");
    let (verb, plural, than, of) = match metric {
        Metric::Cpu => ("uses", "use", MORE, "CPU per request"),
        Metric::Throughput => ("handles", "handle", ("more", "fewer"), "requests/s"),
        Metric::Latency(_) => ("has a", "have", ("higher", "lower"), metric.title()),
        Metric::Ready => ("takes", "take", MORE, "time to start"),
        Metric::Memory => ("uses", "use", MORE, "peak memory"),
        _ => ("has", "have", MORE, metric.title()),
    };
    Phrase { verb, plural, than, of }
}

impl Ab<'_> {
    #[must_use]
    pub fn sentence(&self) -> String {
        match (&self.verdict, self.ratio()) {
            (Verdict::NotComparable, _) => {
                let all = &mut self.journal.verified.iter().flat_map(|it| &it.failed);
                let why = all.find(|(check, _)| check == SAME_REPLIES).map(|(_, finding)| finding);
                let why = why.map_or("", String::as_str);
                format!(
                    "not comparable: {why}; next step: make them alike, or add --replies-differ"
                )
            }
            (Verdict::NotMeasured, _) => format!("not measured: {}", self.troubles().join("; ")),
            (Verdict::NotValid, _) => format!("not valid: {}", self.troubles().join("; ")),
            (Verdict::Claimed(claim), Some(ratio)) => {
                // Other work meets both sides alike, so one of them explains it.
                let warning = self.troubles().into_iter().next();
                let warning =
                    warning.map_or_else(String::new, |it| format!("; warning: {SHIFT}: {it}"));
                format!("{}{warning}", self.claimed(*claim, ratio))
            }
            (Verdict::Claimed(_), None) => {
                let ([a, b], noun, of) = (self.names(), self.noun(), phrase(self.metric).of);
                let reasons = self.journal.runs.iter().flat_map(|run| run.outcome.reasons());
                let why = reasons.into_iter().find(|it| it.kind == ReasonKind::NoCost);
                let why = why.map_or_else(String::new, |why| format!(": {}", why.brief()));
                format!("inconclusive: no {noun} has the {of} of both {a} and {b}{why}")
            }
        }
    }

    pub(super) fn names(&self) -> [&str; 2] {
        [self.sides[0].name, self.sides[1].name]
    }

    /// Why there is no verdict on the sides, or one with a warning.
    fn troubles(&self) -> Vec<String> {
        let trouble = |side: &Side<'_>| Some(format!("{} {}", side.name, side.why.as_ref()?));
        self.sides.iter().filter_map(trouble).collect()
    }

    fn claimed(&self, claim: Claim, ratio: &Ratio) -> String {
        let Phrase { verb, plural, than, of } = phrase(self.metric);
        let [a, b] = self.names();
        let known = self.known(ratio);
        let margin = percent(ratio.judged.margin);
        match claim {
            Claim::Higher | Claim::Lower => format!("{} {known}", self.difference(ratio)),
            Claim::Same => {
                let known = self.known_by("90 % interval", ratio.judged.plain_interval, ratio);
                format!("{a} and {b} {plural} the same {of} within {margin} {known}")
            }
            Claim::NotHigher | Claim::NotLower => {
                let more = if claim == Claim::NotHigher { than.0 } else { than.1 };
                format!(
                    "{b} {verb} at most {margin} {more} {of} than {a} {known}; the load generator was \
                     saturated, so the difference in the other direction may be larger"
                )
            }
            Claim::CannotTell => format!("inconclusive: {}", self.inconclusive(ratio, &known)),
        }
    }

    /// `B uses 5.2 % more CPU per request than A`.
    fn difference(&self, ratio: &Ratio) -> String {
        let Phrase { verb, than, of, .. } = phrase(self.metric);
        let [a, b] = self.names();
        let share = (ratio.judged.estimate.value - 1.0) * 100.0;
        let more = if share >= 0.0 { than.0 } else { than.1 };
        let digits = if share.abs() < 99.95 { 1 } else { 0 };
        let bound = if ratio.judged.reads == Reads::Exactly { "" } else { "at least " };
        format!("{b} {verb} {bound}{:.digits$} % {more} {of} than {a}", share.abs())
    }

    /// The interval and what it is made of: `(95 % interval +4.6 to +5.9 %, 7 cohorts)`.
    fn known(&self, ratio: &Ratio) -> String {
        self.known_by("95 % interval", ratio.judged.estimate.interval, ratio)
    }

    fn known_by(&self, what: &str, interval: Option<Interval>, ratio: &Ratio) -> String {
        let start = &self.journal.start;
        let cohorts = count(ratio.judged.estimate.samples, self.noun());
        let rate = match (self.rows.workload.phase, self.rows.rate) {
            (Phase::Cost, Some(rate)) => {
                format!(" at {} requests/s", asked_rate(rate.requests_per_second))
            }
            _ => String::new(),
        };
        let procedure = match start.procedure {
            Procedure::Short => "",
            Procedure::Whole => ", a process per run",
        };
        let range = interval.map_or_else(String::new, |it| format!("{what} {}, ", ends(it)));
        let looks = self.journal.looks.len();
        let looks = match ended(self.journal) {
            Some(EndReason::Decided) => format!(", decided at look {looks}"),
            _ => String::new(),
        };
        format!("({range}{cohorts}{rate}{procedure}{looks})")
    }

    /// Why there is no outcome, and the next step.
    fn inconclusive(&self, ratio: &Ratio, known: &str) -> String {
        let (difference, noun) = (self.difference(ratio), self.noun());
        let next = self.next_step(ratio);
        match ratio.judged.inconclusive {
            Some(Inconclusive::TooFewCohorts) => {
                format!("a verdict needs {MIN_COHORTS} {noun}s; {difference} {known}; {next}")
            }
            Some(Inconclusive::BaselineCheckFailed) => format!(
                "{}, so noise may explain any difference; next step: {}",
                self.suspicious_checks(ratio),
                self.what_disturbed()
            ),
            Some(Inconclusive::Bound) => format!(
                "the load generator was saturated, so the ratio of {} is a bound {known}; next step: \
                 compare CPU per request, or give the generator more CPUs",
                phrase(self.metric).of
            ),
            Some(Inconclusive::WideInterval | Inconclusive::NotValid) | None => {
                let margin = percent(ratio.judged.margin);
                format!("{difference} {known}, with a margin of {margin}; {next}")
            }
        }
    }

    /// The next step about programs that ran at the same time as the servers.
    fn what_disturbed(&self) -> &'static str {
        let runs = self.rows.rows.iter().flat_map(|row| &row.runs);
        let reasons = runs.flat_map(|run| run.outcome.reasons());
        journal::next_step(reasons.flat_map(|reason| reason.programs.iter().flatten()))
    }

    /// `two instances of A differ by 2.1 % (99 % interval +0.8 to +3.4 %)`.
    fn suspicious_checks(&self, ratio: &Ratio) -> String {
        let checks = self.names().into_iter().zip(&ratio.judged.checks);
        let suspicious = checks.filter(|(_, check)| check.state == CheckState::Suspicious);
        let text = suspicious.filter_map(|(name, check)| {
            let found = check.second_over_first?;
            let share = percent((found.value - 1.0).abs());
            let interval = found
                .interval
                .map_or_else(String::new, |it| format!(" (99 % interval {})", ends(it)));
            Some(format!("two instances of {name} differ by {share}{interval}"))
        });
        text.collect::<Vec<_>>().join(", ")
    }

    /// Cost of waking for each side, where both idle modes were measured.
    pub(super) fn waking(&self) -> Option<String> {
        let added = |side: &Side<'_>| {
            let rows = self.instances(side);
            median(&rows.filter_map(|it| Some(it.waking?.cpu_ns)).collect::<Vec<_>>())
        };
        let [a, b] = self.sides.each_ref().map(added);
        let names = self.names();
        Some(format!(
            "waking idle CPUs adds {:.1} us of CPU to a request of {}, and {:.1} us to one of {}",
            a? / 1000.0,
            names[0],
            b? / 1000.0,
            names[1]
        ))
    }

    /// The next step towards a narrower interval.
    fn next_step(&self, ratio: &Ratio) -> String {
        let start = &self.journal.start;
        let step = match (ended(self.journal), start.goal.budget) {
            (None | Some(EndReason::Interrupted), _) => {
                return "next step: resume it with `wirebench run --resume FOLDER`".to_owned();
            }
            (Some(EndReason::Budget), Some(budget)) => {
                // The fewest cohorts may have taken longer.
                let spent = self.spent().unwrap_or_default().max(budget);
                let enough = Duration::from_secs((spent.saturating_mul(TO_HALVE)).as_secs().max(1));
                format!("--budget {}", write_duration(enough))
            }
            (Some(EndReason::Precise), _) => {
                let goal = start.goal.precision.unwrap_or(ratio.judged.margin);
                format!("--precision {}", percent(goal / 2.0).replace(' ', ""))
            }
            (Some(_), _) => {
                let enough = ratio.judged.estimate.samples * TO_HALVE as usize;
                format!("--{}s {}", self.noun(), enough.max(MIN_COHORTS))
            }
        };
        format!("next step: {step} to halve the interval")
    }

    /// Time from the first run to the end, of a run without a pause.
    fn spent(&self) -> Option<Duration> {
        let time = |text: &str| text.parse::<Timestamp>().ok();
        let Journal { runs, end, resumed, .. } = self.journal;
        let (first, end) = runs.first().zip(end.as_ref()).filter(|_| resumed.is_empty())?;
        time(&end.ended)?.duration_since(time(&first.started)?).try_into().ok()
    }
}

fn ended(journal: &Journal) -> Option<EndReason> {
    journal.end.as_ref().map(|end| end.reason)
}
