//! Finds the one rate at which the cost of all variants is measured in a workload: each variant is
//! run once in a closed loop, and a rate is chosen that each of them can hold.
//!
//! Whether a variant holds it in the end is not decided here: every run says so itself.

use std::{
    collections::BTreeMap,
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    id::VariantId,
    journal::{Counts, FixedRate, Outcome, Run},
    load::{LoadModel, Rate, Stop},
    suite::{Phase, Workload},
    verification::Verification,
};

use crate::{
    measure::{Cell, RunSettings},
    plan,
};

/// The share of the slowest variant's rate that is asked of all. Half: a server that is busy half
/// of the time still has room when a neighbour or the hypervisor takes a third of its CPU away for
/// a while, and its requests seldom wait for each other, so that their latency is that of the
/// server and not of a queue.
const SHARE: f64 = 0.5;
/// A variant that reaches less than this share of the median rate may be left out. At a rate that
/// it could hold the others would be busy for less than a tenth of the time, and their cost would
/// be that of waking up.
const FAR_BELOW_MEDIAN: f64 = 0.2;
/// The share of the variants that may be left out. Where more of them are slow, or where few are
/// compared, a low rate is what the comparison needs.
const LEFT_OUT_SHARE: f64 = 0.25;
const WINDOW: Duration = Duration::from_millis(400);
/// The window of the second pilot of a variant whose first one failed: a request may take long.
const SECOND_WINDOW: Duration = Duration::from_secs(2);
/// How long a pilot warms up at most. It has to tell half of a rate from a tenth, no more.
const STEADY_WITHIN: Duration = Duration::from_millis(1000);

/// The search of one workload's rate.
#[derive(Clone, Copy, Debug)]
pub struct Pilot<'a> {
    pub settings: &'a RunSettings,
    /// The workload, in a phase `cost`.
    pub workload: &'a Workload,
    /// Subjects that will be measured in it.
    pub subjects: &'a [&'a Subject],
    /// Subjects that must hold the rate.
    pub baseline: Option<&'a VariantId>,
    /// Whether the conformance checks were made.
    pub verification: Verification,
}

/// The rate of a workload that says its rate itself.
#[must_use]
pub fn given(workload: &Workload) -> Option<FixedRate> {
    let rate = workload.model.constant_rate()?;
    (workload.phase == Phase::Cost).then(|| FixedRate {
        workload: workload.name.clone(),
        requests_per_second: rate,
        reason: "given by the suite or with --rate".to_owned(),
        reached: Vec::new(),
        too_slow: Vec::new(),
    })
}

/// The load of a pilot of `workload`.
#[must_use]
pub fn load(workload: &Workload) -> Workload {
    Workload {
        model: LoadModel::Closed,
        stop: Stop::After(WINDOW),
        steady_within: STEADY_WITHIN,
        warmup: Duration::ZERO,
        warmup_requests: None,
        ..workload.clone()
    }
}

/// How long the search of one variant takes, about.
#[must_use]
pub fn estimate(workload: &Workload) -> Duration {
    plan::estimate(&load(workload))
}

impl Pilot<'_> {
    /// Runs each variant once, unless `earlier` runs tell its rate already, and chooses. `made` is
    /// given each run before the next one begins, `next` the variant that comes next.
    ///
    /// None when a signal asked to end, or when no variant has shown a rate; the runs say why.
    pub fn find(
        &self,
        earlier: &[Run],
        stop: &AtomicBool,
        next: &mut dyn FnMut(&VariantId),
        made: &mut dyn FnMut(Run) -> io::Result<()>,
    ) -> io::Result<Option<FixedRate>> {
        let mut reached: BTreeMap<&VariantId, Result<f64, String>> = BTreeMap::new();
        for run in earlier {
            let is_entrant = self.subjects.iter().any(|it| it.variant.id == run.variant);
            let is_of_this = run.counts == Counts::Pilot && run.workload == self.workload.name;
            if let Ok(rate) = rate(run)
                && is_of_this
                && is_entrant
            {
                reached.insert(&run.variant, Ok(rate));
            }
        }
        for (position, subject) in (0..).zip(self.subjects) {
            let variant = &subject.variant.id;
            for window in [WINDOW, SECOND_WINDOW] {
                if matches!(reached.get(variant), Some(Ok(_))) {
                    break;
                }
                next(variant);
                let workload = Workload { stop: Stop::After(window), ..load(self.workload) };
                let cell = Cell {
                    subject,
                    copy: 0,
                    workload: &workload,
                    block: 0,
                    counts: Counts::Pilot,
                    position,
                    verification: self.verification,
                };
                let Some(run) = self.settings.run(&cell, stop) else { return Ok(None) };
                reached.insert(variant, rate(&run));
                made(run)?;
            }
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let reached: Vec<_> = reached.into_iter().map(|(id, rate)| (id.clone(), rate)).collect();
        Ok(choose(&self.workload.name, &reached, self.baseline))
    }
}

/// The rate of a pilot, or why it has none.
fn rate(run: &Run) -> Result<f64, String> {
    match &run.outcome {
        Outcome::Measured(measured) => Ok(measured.load.requests_per_second),
        Outcome::Failed { reason, .. } => Err(reason.clone()),
        Outcome::Idle(_) => Err("its connections were silent".to_owned()),
    }
}

/// Chooses the rate from what each variant reached in a closed loop. None when no one has reached
/// anything. Pure.
///
/// It is half of what the slowest variant reached, rounded down to two digits, so that it is easy
/// to read and seldom another one the next time. Variants that are far slower than the median are
/// left out, up to a quarter of all and never the baseline, because one of them would bring all
/// others to a rate at which nothing of them is measured. So is a variant without a rate of its
/// own.
#[must_use]
pub fn choose(
    workload: &str,
    reached: &[(VariantId, Result<f64, String>)],
    baseline: Option<&VariantId>,
) -> Option<FixedRate> {
    let failed = reached.iter().filter_map(|(id, rate)| Some((id, rate.as_ref().err()?)));
    let mut too_slow: Vec<(VariantId, String)> =
        failed.map(|(id, why)| (id.clone(), format!("its pilot has no rate: {why}"))).collect();
    let rates = reached.iter().filter_map(|(id, rate)| Some((id, *rate.as_ref().ok()?)));
    let mut rates: Vec<(&VariantId, f64)> = rates.filter(|(_, rate)| *rate > 0.0).collect();
    rates.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(b.0)));
    let median = wirebench_stats::median(&rates.iter().map(|it| it.1).collect::<Vec<_>>())?;
    let of_baseline = rates.iter().find(|(id, _)| Some(*id) == baseline).map(|(_, rate)| *rate);
    // A subject faster than the baseline can hold the baseline's rate.
    let limit = (median * FAR_BELOW_MEDIAN).min(of_baseline.unwrap_or(f64::INFINITY));
    let most = (rates.len() as f64 * LEFT_OUT_SHARE) as usize;
    let left_out = rates.iter().take(most).take_while(|(_, rate)| *rate < limit).count();
    for (id, rate) in &rates[..left_out] {
        let text = format!(
            "it reached {rate:.0} requests/s in a closed loop, less than a fifth of the median of \
             {median:.0}: a rate that it can hold would leave the others nearly idle"
        );
        too_slow.push(((*id).clone(), text));
    }
    let (slowest, rate) = *rates.get(left_out)?;
    let requests_per_second = Rate::per_second(two_digits(rate * SHARE));
    let reason = format!(
        "half of the {rate:.0} requests/s that {slowest}, the slowest, reached in a closed loop, \
         rounded down to two digits"
    );
    let reached = rates.iter().map(|(id, rate)| ((*id).clone(), *rate)).collect();
    let workload = workload.to_owned();
    Some(FixedRate { workload, requests_per_second, reason, reached, too_slow })
}

/// The largest number with two digits that count and not above `value`; at least 1.
fn two_digits(value: f64) -> u64 {
    let whole = value as u64;
    let mut unit = 1;
    while whole / unit >= 100 {
        unit *= 10;
    }
    (whole / unit * unit).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> VariantId {
        name.parse().unwrap()
    }

    fn chosen(rates: &[(&str, f64)], baseline: &str) -> FixedRate {
        let reached: Vec<_> = rates.iter().map(|(name, rate)| (id(name), Ok(*rate))).collect();
        choose("hello-cost", &reached, Some(&id(baseline))).unwrap()
    }

    fn left_out(rate: &FixedRate) -> Vec<String> {
        rate.too_slow.iter().map(|(id, _)| id.to_string()).collect()
    }

    #[test]
    fn the_rate_is_half_of_what_the_slowest_reaches_in_two_digits() {
        let rate = chosen(&[("c/epoll", 210_400.0), ("go/net", 139_900.0)], "c/epoll");
        assert_eq!((rate.requests_per_second.as_f64(), rate.too_slow.len()), (69_000.0, 0));
        assert_eq!(rate.reached[0], (id("go/net"), 139_900.0));
        let begin = "half of the 139900 requests/s that go/net, the slowest, reached";
        assert!(rate.reason.starts_with(begin), "{}", rate.reason);
        for (value, expected) in [(0.2, 1), (9.9, 9), (99.9, 99), (100.0, 100), (1999.0, 1900)] {
            assert_eq!(two_digits(value), expected, "{value}");
        }
    }

    #[test]
    fn one_that_is_far_slower_than_the_others_is_left_out_with_a_sentence() {
        let rates = [
            ("c/epoll", 200_000.0),
            ("rust/tokio", 180_000.0),
            ("go/net", 120_000.0),
            ("cpp/cpprestsdk", 20_000.0),
        ];
        let rate = chosen(&rates, "c/epoll");
        assert_eq!(
            (rate.requests_per_second.as_f64(), left_out(&rate)),
            (60_000.0, vec!["cpp/cpprestsdk".into()])
        );
        assert_eq!(
            rate.too_slow[0].1,
            "it reached 20000 requests/s in a closed loop, less than a fifth of the median of \
             150000: a rate that it can hold would leave the others nearly idle"
        );
        assert_eq!(rate.reached.len(), 4);
        // As slow as that is the baseline itself: then it is what is asked for.
        let rate = chosen(&rates, "cpp/cpprestsdk");
        assert_eq!((rate.requests_per_second.as_f64(), rate.too_slow.len()), (10_000.0, 0));
    }

    #[test]
    fn who_is_not_slower_than_a_slow_baseline_stays() {
        let rates = [
            ("a/a", 9.0),
            ("a/b", 10.0),
            ("a/c", 11.0),
            ("a/d", 1e3),
            ("a/e", 1e3),
            ("a/f", 1e3),
            ("a/g", 1e3),
            ("a/h", 1e3),
        ];
        let rate = chosen(&rates, "a/b");
        assert_eq!((rate.requests_per_second.as_f64(), left_out(&rate)), (5.0, vec!["a/a".into()]));
    }

    #[test]
    fn of_few_variants_none_is_left_out_and_of_many_at_most_a_quarter() {
        let rate = chosen(&[("c/epoll", 1e5), ("a/slow", 1e3), ("go/net", 1e5)], "c/epoll");
        assert_eq!((rate.requests_per_second.as_f64(), rate.too_slow.len()), (500.0, 0));
        let names: Vec<String> = (0..8).map(|number| format!("a/x{number}")).collect();
        let rates: Vec<(&str, f64)> = names
            .iter()
            .enumerate()
            .map(|(n, name)| (name.as_str(), if n < 3 { 1e3 } else { 1e5 }))
            .collect();
        let rate = chosen(&rates, "a/x7");
        assert_eq!((rate.requests_per_second.as_f64(), rate.too_slow.len()), (500.0, 2));
    }

    #[test]
    fn who_has_no_rate_is_not_measured_and_says_why() {
        let reached = [(id("c/epoll"), Ok(2e4)), (id("a/b"), Err("the server ended".to_owned()))];
        let rate = choose("w", &reached, None).unwrap();
        assert_eq!((rate.requests_per_second.as_f64(), rate.reached.len()), (10_000.0, 1));
        assert_eq!(
            rate.too_slow,
            [(id("a/b"), "its pilot has no rate: the server ended".to_owned())]
        );
        assert_eq!(choose("w", &reached[1..], None), None);
    }

    #[test]
    fn a_rate_that_the_suite_gives_is_taken() {
        let suite = "duration = \"1s\"\nphases = [\"cost\"]\n";
        let parse = crate::fixtures::workload;
        assert_eq!(given(&parse(suite)), None);
        let rate = given(&parse(&format!("{suite}rate = 12345\n"))).unwrap();
        assert_eq!(
            (rate.requests_per_second.as_f64(), rate.reason.as_str()),
            (12_345.0, "given by the suite or with --rate")
        );
        let saturate = suite.replace("cost", "saturate");
        assert_eq!(given(&parse(&saturate)), None);
        let load = load(&parse(suite));
        assert_eq!((load.model, load.steady_within), (LoadModel::Closed, STEADY_WITHIN));
    }
}
