//! What can be said of B compared with A. The words for it are in `sentence`.

use super::{Figure, Side, side::State};
use crate::analysis::Claim;

/// What can be said of B compared with A.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// This, of the figure that was asked for.
    Claimed(Claim),
    /// Nothing, because most runs of a side are not valid.
    NotValid,
    /// Nothing, because a side has no figures.
    NotMeasured,
}

impl Verdict {
    pub(super) fn of(sides: &[Side<'_>; 2], figures: &[Figure]) -> Self {
        let is = |test: fn(&State) -> bool| sides.iter().any(|side| test(&side.state));
        if is(|it| matches!(it, State::NotMeasured(_))) {
            return Self::NotMeasured;
        }
        if is(|it| matches!(it, State::NotValid(_))) {
            return Self::NotValid;
        }
        let ratio = figures.first().and_then(|figure| figure.ratio.as_ref());
        Self::Claimed(ratio.map_or(Claim::CannotTell, |ratio| ratio.claim))
    }

    /// The name in files.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Claimed(claim) => claim.name(),
            Self::NotValid => "not-valid",
            Self::NotMeasured => "not-measured",
        }
    }
}
