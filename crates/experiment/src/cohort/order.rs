//! The order of the visits within a round: shuffled, and in every second round mirrored, so that what
//! changes evenly over two rounds favours no instance. Pure.

/// The order of `count` instances in each round.
#[derive(Debug)]
pub(super) struct Order {
    random: fastrand::Rng,
    last: Vec<usize>,
    round: u32,
}

impl Order {
    pub(super) fn new(count: usize, seed: u64) -> Self {
        Self { random: fastrand::Rng::with_seed(seed), last: (0..count).collect(), round: 0 }
    }

    /// The order of the next round.
    pub(super) fn next(&mut self) -> Vec<usize> {
        if self.round.is_multiple_of(2) {
            self.random.shuffle(&mut self.last);
        } else {
            self.last.reverse();
        }
        self.round += 1;
        self.last.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_round_mirrors_the_one_before() {
        let mut order = Order::new(9, 7);
        let rounds: Vec<Vec<usize>> = (0..4).map(|_| order.next()).collect();
        for pair in rounds.chunks(2) {
            let mirrored: Vec<usize> = pair[0].iter().rev().copied().collect();
            assert_eq!(pair[1], mirrored);
        }
        assert_ne!(rounds[0], rounds[2]);
        let mut sorted = rounds[2].clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..9).collect::<Vec<_>>());
    }
}
