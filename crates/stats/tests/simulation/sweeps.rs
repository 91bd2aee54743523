//! Sweeps of equal cells. In each block one instance serves all cells of a group, as the server with
//! some number of workers does with every number of connections.
//!
//! The tests and the example `coverage` share this file. Not in this file: what is good enough.

use super::normal;
use fastrand::Rng;
use wirebench_stats::{Better, TwoWay, rank_levels};

/// A sweep, with the standard deviations of its noise.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    pub groups: usize,
    pub cells: usize,
    pub blocks: usize,
    /// Between the instances of a group.
    pub instance: f64,
    pub window: f64,
    /// The true ratio of the first cell to the others.
    pub first: f64,
}

impl Sweep {
    /// How many cells are ranked behind another one.
    pub fn behind(&self, margin: f64, random: &mut Rng) -> usize {
        let mut rows = vec![Vec::new(); self.groups * self.cells];
        for _ in 0..self.blocks {
            let block = 0.03 * normal(random);
            for group in rows.chunks_mut(self.cells) {
                let instance = self.instance * normal(random);
                for row in group {
                    row.push(block + instance + self.window * normal(random));
                }
            }
        }
        rows[0].iter_mut().for_each(|value| *value += self.first.ln());
        let items: Vec<Vec<usize>> = (0..rows.len()).map(|row| vec![row]).collect();
        let model = TwoWay::fit(&rows, &[]).expect("there are values");
        let ranks = rank_levels(&model, &items, Better::More, margin);
        ranks.iter().flatten().filter(|rank| rank.first > 1).count()
    }
}
