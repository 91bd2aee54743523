//! The looks at a comparison that ends when it is decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A look at the figures while more cohorts may come. Its errors are a part of those of the whole comparison.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct InterimLook {
    /// Cohorts, or blocks, that count and were complete.
    pub cohorts: u32,
    /// The share of the budget that had passed; 1 at the last look.
    pub share: f64,
}

impl InterimLook {
    /// The numbers of cohorts after which there is a look: after each at first, then after every second and every
    /// fourth.
    #[must_use]
    pub const fn is_due(cohorts: u32) -> bool {
        match cohorts {
            0..3 => false,
            3..=6 => true,
            7..=12 => cohorts.is_multiple_of(2),
            _ => cohorts.is_multiple_of(4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_rarer() {
        let due: Vec<u32> = (0..25).filter(|it| InterimLook::is_due(*it)).collect();
        assert_eq!(due, [3, 4, 5, 6, 8, 10, 12, 16, 20, 24]);
    }
}
