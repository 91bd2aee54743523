//! Which request of a set is next.

use fastrand::Rng;
use wirebench_schema::load::RequestOrder;

use crate::codec::RequestId;

/// Picks the requests of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Picker {
    rule: Rule,
    random: Rng,
    seed: u64,
    /// The number of this one, and of all.
    thread: (u64, u64),
    picked: u64,
    /// Picks after which a thread would come back to the same requests, if it did not change its place.
    period: u64,
}

#[derive(Clone, Debug)]
enum Rule {
    InTurn {
        count: u64,
    },
    Shuffled {
        order: Vec<u32>,
        /// The round that has this order.
        round: Option<u64>,
    },
    /// By the alias method (Walker 1977, Vose 1991): each column holds its own request with a probability, else
    /// another one.
    Weighted {
        columns: Vec<Column>,
    },
}

#[derive(Clone, Copy, Debug)]
struct Column {
    probability: f64,
    other: u32,
}

impl Picker {
    /// Picks by the order of a set with these weights, of which there is at least one.
    pub(crate) fn new(order: RequestOrder, weights: &[u32], seed: u64) -> Self {
        let count = u32::try_from(weights.len()).unwrap_or(u32::MAX);
        let rule = match order {
            RequestOrder::InTurn => Rule::InTurn { count: count.into() },
            RequestOrder::Shuffled => Rule::Shuffled { order: (0..count).collect(), round: None },
            RequestOrder::Weighted => Rule::Weighted { columns: columns(weights) },
        };
        Self {
            rule,
            random: Rng::with_seed(seed),
            seed,
            thread: (0, 1),
            picked: 0,
            period: u64::MAX,
        }
    }

    /// The picks of one of all threads, which together make each request once per round, unless by weight.
    pub(crate) fn on_thread(&mut self, thread: usize, threads: usize) {
        self.thread = (thread as u64, threads.max(1) as u64);
        let count = match &self.rule {
            Rule::InTurn { count } => *count,
            Rule::Shuffled { order, .. } => order.len() as u64,
            Rule::Weighted { columns } => columns.len() as u64,
        };
        let divides = |it: &u64| count.is_multiple_of(*it) && self.thread.1.is_multiple_of(*it);
        self.period = count / (1..=self.thread.1).rev().find(divides).unwrap_or(1);
        self.random = seeded(self.seed, thread as u64);
    }

    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    #[inline]
    pub(crate) fn next(&mut self) -> RequestId {
        let (thread, threads) = self.thread;
        let first = self.picked * threads;
        // A thread changes its place, so that one that is faster makes no request more often than others.
        let place = first + (thread + self.picked / self.period) % threads;
        self.picked += 1;
        RequestId(match &mut self.rule {
            Rule::InTurn { count } => u32::try_from(place % *count).unwrap_or(0),
            Rule::Shuffled { order, round } => {
                let count = order.len() as u64;
                if *round != Some(place / count) {
                    *round = Some(place / count);
                    order.sort_unstable();
                    seeded(self.seed, place / count).shuffle(order);
                }
                order[usize::try_from(place % count).unwrap_or(0)]
            }
            Rule::Weighted { columns } => {
                let column = self.random.usize(..columns.len());
                let Column { probability, other } = columns[column];
                match self.random.f64() < probability {
                    true => u32::try_from(column).unwrap_or(0),
                    false => other,
                }
            }
        })
    }
}

/// Neighbouring seeds give unrelated sequences.
fn seeded(seed: u64, number: u64) -> Rng {
    Rng::with_seed(seed.wrapping_add(number).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[allow(clippy::cast_possible_truncation, reason = "a set has fewer requests than 2^32")]
fn columns(weights: &[u32]) -> Vec<Column> {
    let sum: f64 = weights.iter().map(|it| f64::from(*it)).sum();
    let count = weights.len();
    let mut scaled: Vec<f64> =
        weights.iter().map(|it| f64::from(*it) * count as f64 / sum).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..count).partition(|index| scaled[*index] < 1.0);
    let mut columns: Vec<Column> =
        (0..count).map(|index| Column { probability: 1.0, other: index as u32 }).collect();
    while let (Some(low), Some(&high)) = (small.pop(), large.last()) {
        columns[low] = Column { probability: scaled[low], other: high as u32 };
        scaled[high] -= 1.0 - scaled[low];
        if scaled[high] < 1.0 {
            large.pop();
            small.push(high);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(order: RequestOrder, weights: &[u32], picks: usize) -> Vec<usize> {
        let mut picker = Picker::new(order, weights, 7);
        let mut counts = vec![0; weights.len()];
        for _ in 0..picks {
            counts[picker.next().0 as usize] += 1;
        }
        counts
    }

    #[test]
    fn in_turn_and_shuffled_make_each_request_once_per_round() {
        assert_eq!(counts(RequestOrder::InTurn, &[9, 1, 1], 30), [10, 10, 10]);
        assert_eq!(counts(RequestOrder::Shuffled, &[9, 1, 1], 30), [10, 10, 10]);
        let mut picker = Picker::new(RequestOrder::Shuffled, &[1; 20], 7);
        let mut round = || [(); 20].map(|()| picker.next().0);
        assert_ne!(round(), round());
    }

    #[test]
    fn threads_share_each_round_and_each_makes_all_requests() {
        for (count, threads) in [(2, 2), (3, 2), (4, 2), (7, 3), (4, 4), (1, 3), (12, 8)] {
            for order in [RequestOrder::InTurn, RequestOrder::Shuffled] {
                let mut all = vec![0; count];
                for thread in 0..threads {
                    let mut picker = Picker::new(order, &vec![1; count], 7);
                    picker.on_thread(thread, threads);
                    let mut own = vec![0; count];
                    for _ in 0..count * threads * 8 {
                        own[picker.next().0 as usize] += 1;
                    }
                    assert!(!own.contains(&0), "{order:?} {count} {threads}: {own:?}");
                    all.iter_mut().zip(own).for_each(|(sum, it)| *sum += it);
                }
                assert_eq!(all, vec![threads * threads * 8; count], "{order:?} {count} {threads}");
            }
        }
    }

    #[test]
    fn weights_are_shares() {
        let found = counts(RequestOrder::Weighted, &[5, 0, 1, 2, 2], 100_000);
        for (count, weight) in found.into_iter().zip([5_u32, 0, 1, 2, 2]) {
            let expected = f64::from(weight) * 10_000.0;
            // Six standard deviations of a binomial.
            assert!(
                (count as f64 - expected).abs() <= 6.0 * expected.sqrt(),
                "{count} of {expected}"
            );
        }
        assert_eq!(counts(RequestOrder::Weighted, &[3], 10), [10]);
    }
}
