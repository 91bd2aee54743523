//! When an experiment is over. Pure: what has been done goes in, the next thing to do comes out.
//!
//! It stops on precision and on time, never on what the figures say: who stops as soon as a
//! difference looks real finds one where there is none.

use std::time::Duration;
use wirebench_schema::journal::{EndReason, Goal};

/// The most blocks that a precision can ask for. What is not distinguished by then would need hundreds
/// more, because an interval narrows with the square root of the blocks.
pub const MOST_BLOCKS_FOR_PRECISION: u32 = 200;

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Blocks that count, without a precision; the least with one.
    pub(super) blocks: u32,
    /// Blocks that are made whatever the budget; at least one is.
    pub(super) least: u32,
    pub(super) goal: Goal,
}

/// What has been done between two blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) blocks: u32,
    /// Time since the first run began, without the time in which nothing ran.
    pub(super) spent: Duration,
    /// How long the next block takes, about.
    pub(super) next_block: Duration,
    /// Half of the width of the widest interval over its ratio; none as long as it is not known.
    pub(super) widest: Option<f64>,
    /// Blocks that are complete in the state of the machine that is compared, if it has several.
    pub(super) complete: Option<u32>,
}

impl Limits {
    /// Why it ends here; none if another block is to be made.
    pub(super) fn end(&self, done: &Done) -> Option<EndReason> {
        if done.blocks < self.least.min(self.blocks).max(1) {
            return None;
        }
        let planned = done.blocks >= self.blocks;
        let whole_pair = done.blocks.is_multiple_of(2);
        let ending = match self.goal.precision {
            None => (planned && !self.needs_pair(done)).then_some(EndReason::Complete),
            // Every cell has had the same mean position only after a whole pair of blocks.
            Some(_) if !planned || !whole_pair => None,
            Some(goal) if done.widest.is_some_and(|widest| widest <= goal) => {
                Some(EndReason::Precise)
            }
            Some(_) => (done.blocks >= MOST_BLOCKS_FOR_PRECISION).then_some(EndReason::Complete),
        };
        ending.or_else(|| self.out_of_time(done).then_some(EndReason::Budget))
    }

    /// Whether a pair is added because the machine changed its state, at most half as many as were planned. Only the
    /// probe decides.
    fn needs_pair(&self, done: &Done) -> bool {
        let further = done.blocks.saturating_sub(self.blocks);
        let lacks = done.complete.is_some_and(|complete| complete < self.blocks);
        lacks && (further % 2 == 1 || further < self.blocks / 2)
    }

    fn out_of_time(&self, done: &Done) -> bool {
        let further = done.blocks >= self.blocks && done.blocks.is_multiple_of(2);
        // Beyond those that were planned blocks come in pairs.
        let next = done.next_block * if further { 2 } else { 1 };
        self.goal.budget.is_some_and(|budget| done.spent.saturating_add(next) > budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn done(blocks: u32, seconds: u32, widest: Option<f64>) -> Done {
        Done { blocks, spent: SECOND * seconds, next_block: SECOND * 10, widest, complete: None }
    }

    fn limits(blocks: u32, precision: Option<f64>, budget_s: Option<u64>) -> Limits {
        Limits {
            blocks,
            least: 1,
            goal: Goal { precision, budget: budget_s.map(Duration::from_secs), ..Goal::default() },
        }
    }

    #[test]
    fn an_experiment_ends_when_its_blocks_its_precision_or_its_budget_says_so() {
        use EndReason::{Budget, Complete, Precise};
        let budget = limits(10, None, Some(35));
        let least = Limits { least: 3, ..limits(9, None, Some(1)) };
        let precise = limits(6, Some(0.01), None);
        let both = limits(6, Some(0.01), Some(100));
        let (planned, most) = (limits(3, None, None), MOST_BLOCKS_FOR_PRECISION);
        for (what, limits, done, expected) in [
            ("none of the planned", planned, done(0, 999, Some(0.0)), None),
            ("not all of the planned", planned, done(2, 999, Some(0.0)), None),
            ("all of the planned", planned, done(3, 999, Some(0.0)), Some(Complete)),
            ("the first is made whatever the budget", budget, done(0, 1000, None), None),
            ("room for one more", budget, done(2, 25, None), None),
            ("no room for one more", budget, done(2, 26, None), Some(Budget)),
            ("no room and all of them", budget, done(10, 26, None), Some(Complete)),
            ("the least whatever the budget", least, done(0, 999, None), None),
            ("nearly the least", least, done(2, 999, None), None),
            ("the least", least, done(3, 999, None), Some(Budget)),
            ("fewer asked for", Limits { blocks: 2, ..least }, done(2, 0, None), Some(Complete)),
            ("narrow by chance before the planned", precise, done(4, 0, Some(0.001)), None),
            ("narrow in the middle of a pair", precise, done(7, 0, Some(0.001)), None),
            ("too wide", precise, done(6, 0, Some(0.02)), None),
            ("of unknown width", precise, done(6, 0, None), None),
            ("narrow", precise, done(8, 0, Some(0.01)), Some(Precise)),
            ("too wide for too long", precise, done(most, 0, Some(0.02)), Some(Complete)),
            ("room for a pair", both, done(6, 80, Some(0.02)), None),
            ("no room for a pair", both, done(6, 81, Some(0.02)), Some(Budget)),
            ("room for the second of a pair", both, done(7, 90, Some(0.02)), None),
            ("narrow at the end", both, done(8, 99, Some(0.01)), Some(Precise)),
        ] {
            assert_eq!(limits.end(&done), expected, "{what}");
        }
    }

    #[test]
    fn pairs_are_added_while_blocks_lack_visits_in_the_state_that_is_compared() {
        let ends = |limits: Limits, blocks, complete| {
            limits.end(&Done { complete, ..done(blocks, 9, None) })
        };
        let four = limits(4, None, None);
        let added = [4, 5, 6].map(|blocks| ends(four, blocks, Some(2)));
        assert_eq!(added, [None, None, Some(EndReason::Complete)]);
        for complete in [None, Some(4)] {
            assert_eq!(ends(four, 4, complete), Some(EndReason::Complete), "{complete:?}");
        }
        assert_eq!(ends(limits(1, None, None), 1, Some(0)), Some(EndReason::Complete));
        let budget = limits(4, None, Some(20));
        assert_eq!(ends(budget, 4, Some(2)), Some(EndReason::Budget));
    }
}
