//! What a load says of itself, as types; how it is found is not decided here.

use super::bound::Bound;

/// What a load says of itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verdict {
    /// What set the rate.
    pub limit: Bound,
    /// Why, each as a sentence with figures.
    pub reasons: Vec<String>,
    /// What a reader must know before trusting the figures, each as a sentence with figures.
    pub cautions: Vec<String>,
}
