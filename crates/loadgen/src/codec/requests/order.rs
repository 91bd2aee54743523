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
}

#[derive(Clone, Debug)]
enum Rule {
    InTurn {
        next: u32,
        count: u32,
    },
    Shuffled {
        round: Vec<u32>,
        next: usize,
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
            RequestOrder::InTurn => Rule::InTurn { next: 0, count },
            RequestOrder::Shuffled => Rule::Shuffled { round: (0..count).collect(), next: 0 },
            RequestOrder::Weighted => Rule::Weighted { columns: columns(weights) },
        };
        Self { rule, random: Rng::with_seed(seed), seed }
    }

    /// The picks of this thread: it begins at another place of the turn, and with another random number.
    pub(crate) fn on_thread(&mut self, thread: usize) {
        if let Rule::InTurn { next, count } = &mut self.rule {
            *next = u32::try_from(thread % *count as usize).unwrap_or(0);
        }
        // Neighbouring seeds give unrelated sequences.
        let seed = self.seed.wrapping_add(thread as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.random = Rng::with_seed(seed);
    }

    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    #[inline]
    pub(crate) fn next(&mut self) -> RequestId {
        RequestId(match &mut self.rule {
            Rule::InTurn { next, count } => {
                let now = *next;
                *next = if now + 1 == *count { 0 } else { now + 1 };
                now
            }
            Rule::Shuffled { round, next } => {
                if *next == 0 {
                    self.random.shuffle(round);
                }
                let now = round[*next];
                *next = (*next + 1) % round.len();
                now
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
        let mut picker = Picker::new(RequestOrder::InTurn, &[1; 3], 7);
        picker.on_thread(1);
        assert_eq!([(); 4].map(|()| picker.next().0), [1, 2, 0, 1]);
        let mut picker = Picker::new(RequestOrder::Shuffled, &[1; 20], 7);
        let mut round = || [(); 20].map(|()| picker.next().0);
        assert_ne!(round(), round());
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
