//! Requests whose latency is only known to exceed some age, and their effect on a distribution of
//! latencies.
//!
//! A request that is in flight when the load ends, that fails, or that could not be sent is a
//! right-censored sample. Counting it at its age could lower a percentile. Ignoring it would hide a
//! server that has stopped. The product-limit estimator (Kaplan, Meier 1958, J. Amer. Statist.
//! Assoc. 53, 457-481) avoids both. It is computed in its equivalent form of redistribution to the
//! right (Efron 1967, Proc. Fifth Berkeley Symp. 4, 831-853): the weight of a censored sample is
//! shared equally among all samples above it. Weight left above the largest reply is placed at the
//! largest age.

use hdrhistogram::Histogram;

/// Ages at which requests were last seen without a reply, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Unanswered {
    /// Since the request was due; in a closed loop, since it was begun.
    pub(crate) latency: Histogram<u64>,
    /// Since it was begun, where that is measured too.
    pub(crate) service: Option<Histogram<u64>>,
}

impl Unanswered {
    /// Adds those of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        // All histograms of a load have the same bounds.
        let _ = self.latency.add(&other.latency);
        if let (Some(sum), Some(part)) = (&mut self.service, &other.service) {
            let _ = sum.add(part);
        }
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        self.latency.reset();
        if let Some(service) = &mut self.service {
            service.reset();
        }
    }
}

/// A distribution of replies and of requests without one.
#[derive(Debug)]
pub(crate) struct Distribution {
    /// As many samples as there were requests.
    pub(crate) histogram: Histogram<u64>,
    /// Number of samples above the largest reply: their value is a lower bound.
    pub(crate) above_replies: u64,
}

/// The distribution of all requests. Both histograms have the same bounds.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are far below 2^53, and their sums not negative"
)]
pub(crate) fn redistribute(replies: &Histogram<u64>, ages: &Histogram<u64>) -> Distribution {
    if ages.is_empty() {
        return Distribution { histogram: replies.clone(), above_replies: 0 };
    }
    let all = replies.len() + ages.len();
    let mut histogram = Histogram::new_from(replies);
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
    Distribution { histogram, above_replies: all - placed }
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

    fn values(distribution: &Distribution) -> Vec<(u64, u64)> {
        let steps = distribution.histogram.iter_recorded();
        steps.map(|step| (step.value_iterated_to(), step.count_since_last_iteration())).collect()
    }

    #[test]
    fn without_censored_samples_nothing_changes() {
        let distribution = redistribute(&of(&[5, 5, 9]), &of(&[]));
        assert_eq!((values(&distribution), distribution.above_replies), (vec![(5, 2), (9, 1)], 0));
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
        assert_eq!((values(&distribution), distribution.above_replies), (expected, 2100));
    }

    #[test]
    fn a_server_that_stops_shows_above_all_replies_and_a_quick_failure_nowhere_below() {
        let distribution = redistribute(&of(&[7; 1000]), &of(&[600_000; 64]));
        assert_eq!(distribution.above_replies, 64);
        assert!(distribution.histogram.max() >= 600_000);
        let distribution = redistribute(&of(&[7; 1000]), &of(&[1; 64]));
        assert_eq!((values(&distribution), distribution.above_replies), (vec![(7, 1064)], 0));
    }

    #[test]
    fn where_nothing_was_answered_all_is_a_lower_bound() {
        let distribution = redistribute(&of(&[]), &of(&[3, 8]));
        assert_eq!((values(&distribution), distribution.above_replies), (vec![(8, 2)], 2));
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
