//! Latencies of replies and ages of requests without one, and the distribution that both together make.
//!
//! A request that is in flight when the load ends, that fails, that times out, or that could not be sent is a
//! right-censored sample: its latency is only known to exceed its age. Counting it at its age could lower a
//! percentile. Ignoring it would hide a server that has stopped. The product-limit estimator (Kaplan, Meier 1958,
//! J. Amer. Statist. Assoc. 53, 457-481) avoids both. It is computed in its equivalent form of redistribution to
//! the right (Efron 1967, Proc. Fifth Berkeley Symp. 4, 831-853): the weight of a censored sample is shared equally
//! among all samples above it. Weight left above the largest reply is placed at the largest age.
//!
//! Estimates cannot be added up. Samples of threads, windows and hosts are, and the estimate is made of the sum.

use hdrhistogram::Histogram;

/// Latencies and ages, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Latencies of replies.
    pub replies: Histogram<u64>,
    /// Absent until the first, because most parts of a load have none.
    ages: Option<Histogram<u64>>,
}

impl Samples {
    /// Those of these replies.
    #[must_use]
    pub const fn new(replies: Histogram<u64>) -> Self {
        Self { replies, ages: None }
    }

    /// The ages of requests without a reply, if there are any.
    #[must_use]
    pub fn ages(&self) -> Option<&Histogram<u64>> {
        self.ages.as_ref().filter(|ages| !ages.is_empty())
    }

    /// A reply took this long.
    #[inline]
    pub fn reply(&mut self, latency_ns: u64) {
        self.replies.saturating_record(latency_ns);
    }

    /// This many requests had no reply after this time.
    pub fn unanswered(&mut self, age_ns: u64, count: u64) {
        let ages = self.ages.get_or_insert_with(|| Histogram::new_from(&self.replies));
        ages.saturating_record_n(age_ns, count);
    }

    /// Adds those of another thread, window or host.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.replies, &other.replies);
        if let Some(ages) = other.ages() {
            self.add_ages(ages);
        }
    }

    /// Adds ages alone.
    pub(super) fn add_ages(&mut self, ages: &Histogram<u64>) {
        add(self.ages.get_or_insert_with(|| Histogram::new_from(ages)), ages);
    }

    /// Forgets them, but keeps the memory.
    pub fn clear(&mut self) {
        self.replies.reset();
        if let Some(ages) = self.ages.as_mut().filter(|ages| !ages.is_empty()) {
            ages.reset();
        }
    }

    /// The distribution of all requests.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        match self.ages() {
            Some(ages) => redistribute(&self.replies, ages),
            None => Estimate { histogram: self.replies.clone(), lower_bounds: 0 },
        }
    }
}

/// Those of one load have the same bounds; those of several windows or hosts may not, and a histogram that grows
/// takes any value.
fn add(sum: &mut Histogram<u64>, part: &Histogram<u64>) {
    if sum.add(part).is_err() {
        sum.auto(true);
        let _ = sum.add(part);
    }
}

/// A distribution of replies and of requests without one.
#[derive(Debug)]
pub struct Estimate {
    /// As many samples as there were requests.
    pub histogram: Histogram<u64>,
    /// Number of samples above the largest reply: their value is a lower bound.
    pub lower_bounds: u64,
}

impl Estimate {
    /// Whether this percentile is only known to be at least its value.
    #[must_use]
    pub fn is_lower_bound(&self, percent: f64) -> bool {
        let count = self.histogram.len();
        rank(count, percent) > count - self.lower_bounds
    }
}

/// Which of `count` samples, counted from the smallest, is this percentile.
// Samples are far below 2^53, and the rank is from 0 to their number.
pub(super) fn rank(count: u64, percent: f64) -> u64 {
    // Less a trace, because 99.9 % of 1000 is a little more than 999 in binary.
    let rank = (count as f64 * percent / 100.0 - 1e-6).ceil() as u64;
    rank.min(count)
}

/// The distribution of all requests, of which some have an age.
// Counts are far below 2^53, and their sums not negative.
fn redistribute(replies: &Histogram<u64>, ages: &Histogram<u64>) -> Estimate {
    let all = replies.len() + ages.len();
    let wider = if ages.high() > replies.high() { ages } else { replies };
    let mut histogram = Histogram::new_from(wider);
    let (mut at_risk, mut weight) = (all, 1.0_f64);
    let (mut exact, mut placed) = (0.0_f64, 0);
    let mut censored = ages.iter_recorded().peekable();
    for step in replies.iter_recorded() {
        let value = step.value_iterated_to();
        while let Some(age) = censored.next_if(|age| age.value_iterated_to() < value) {
            let count = age.count_since_last_iteration();
            weight *= at_risk as f64 / (at_risk - count) as f64;
            at_risk -= count;
        }
        let count = step.count_since_last_iteration();
        at_risk -= count;
        exact += weight * count as f64;
        // Rounded down, because a percentile must not be lowered; less a trace for the sums.
        let until = if at_risk == 0 { all } else { (exact + 1e-6) as u64 };
        place(&mut histogram, value, until - placed);
        placed = until;
    }
    place(&mut histogram, ages.max(), all - placed);
    Estimate { histogram, lower_bounds: all - placed }
}

/// A histogram takes the value of a count of 0 for its smallest or largest.
fn place(histogram: &mut Histogram<u64>, value: u64, count: u64) {
    if count > 0 {
        histogram.saturating_record_n(value, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(samples: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, 1_000_000, 3).unwrap();
        samples.iter().for_each(|sample| histogram.record(*sample).unwrap());
        histogram
    }

    fn values(distribution: &Estimate) -> Vec<(u64, u64)> {
        let steps = distribution.histogram.iter_recorded();
        steps.map(|step| (step.value_iterated_to(), step.count_since_last_iteration())).collect()
    }

    #[test]
    fn without_censored_samples_nothing_changes() {
        let distribution = redistribute(&of(&[5, 5, 9]), &of(&[]));
        assert_eq!((values(&distribution), distribution.lower_bounds), (vec![(5, 2), (9, 1)], 0));
    }

    #[test]
    fn the_survival_function_is_that_of_the_textbook() {
        // Kaplan and Meier's own example: deaths at 0.8, 3.1, 5.4 and 9.2 months, losses at 1.0,
        // 2.7, 7.0 and 12.1. They print S = 7/8, 7/10, 21/40 and 21/80. 8000 samples make the
        // counts readable.
        let copies = |samples: &[u64]| {
            let mut histogram = of(&[]);
            samples.iter().for_each(|sample| histogram.record_n(*sample, 1000).unwrap());
            histogram
        };
        let replies = copies(&[8, 31, 54, 92]);
        let distribution = redistribute(&replies, &copies(&[10, 27, 70, 121]));
        let expected = vec![(8, 1000), (31, 1400), (54, 1400), (92, 2100), (121, 2100)];
        assert_eq!((values(&distribution), distribution.lower_bounds), (expected, 2100));
    }

    #[test]
    fn a_server_that_stops_shows_above_all_replies_and_a_quick_failure_nowhere_below() {
        let distribution = redistribute(&of(&[7; 1000]), &of(&[600_000; 64]));
        assert_eq!(distribution.lower_bounds, 64);
        assert!(distribution.histogram.max() >= 600_000);
        let distribution = redistribute(&of(&[7; 1000]), &of(&[1; 64]));
        assert_eq!((values(&distribution), distribution.lower_bounds), (vec![(7, 1064)], 0));
    }

    #[test]
    fn where_nothing_was_answered_all_is_a_lower_bound() {
        let distribution = redistribute(&of(&[]), &of(&[3, 8]));
        assert_eq!((values(&distribution), distribution.lower_bounds), (vec![(8, 2)], 2));
    }

    proptest! {
        #[test]
        fn censored_samples_lower_no_percentile_of_the_replies_and_none_is_lost(
            replies in proptest::collection::vec(1_u64..500, 0..60),
            ages in proptest::collection::vec(1_u64..600, 0..60),
        ) {
            let before = of(&replies);
            let after = redistribute(&before, &of(&ages)).histogram;
            prop_assert_eq!(after.len(), (replies.len() + ages.len()) as u64);
            for percent in 0..=1000 {
                let quantile = f64::from(percent) / 1000.0;
                let (low, high) =
                    (before.value_at_quantile(quantile), after.value_at_quantile(quantile));
                prop_assert!(low <= high, "p{}: {} became {}", percent, low, high);
            }
            prop_assert!(replies.is_empty() || after.min() >= before.min());
        }

        #[test]
        fn one_more_censored_sample_lowers_no_percentile_by_more_than_a_rank(
            replies in proptest::collection::vec(1_u64..500, 1..60),
            mut ages in proptest::collection::vec(1_u64..600, 0..60),
            one_more in 1_u64..700,
        ) {
            let before = redistribute(&of(&replies), &of(&ages)).histogram;
            ages.push(one_more);
            let after = redistribute(&of(&replies), &of(&ages)).histogram;
            let rank = 1.0 / f64::from(u32::try_from(before.len()).unwrap());
            for percent in 0..=1000 {
                let quantile = f64::from(percent) / 1000.0;
                let low = before.value_at_quantile(quantile);
                // Counts are whole, so a percentile is known to one rank.
                let high = after.value_at_quantile((quantile + rank).min(1.0));
                prop_assert!(low <= high, "p{}: {} became {}", percent, low, high);
            }
        }
    }
}
