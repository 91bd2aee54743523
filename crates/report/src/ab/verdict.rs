//! What can be said of B compared with A. The words for it are in `sentence`.

use super::{Figure, Side, side::State};
use crate::analysis::{CheckState, Claim};

/// What can be said of B compared with A.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// This, of the figure that was asked for.
    Claimed(Claim),
    /// Nothing, because most runs of a side are not valid.
    NotValid,
    /// Nothing, because a side has no figures.
    NotMeasured,
    /// Nothing, because the sides answer the same requests differently.
    NotComparable,
}

impl Verdict {
    /// Of a figure of `sides`, whose states are about this figure. Other work on the machine can hide a
    /// difference, but not cause one that the interval and both checks of equal instances show.
    pub(super) fn of(sides: &[Side<'_>; 2], figure: Option<&Figure>) -> Self {
        let is = |test: fn(&State) -> bool| sides.iter().any(|side| test(&side.state));
        if is(|it| matches!(it, State::NotMeasured(_))) {
            return Self::NotMeasured;
        }
        let ratio = figure.and_then(|figure| figure.ratio.as_ref());
        let is_sure = ratio.is_some_and(|ratio| {
            matches!(ratio.claim, Claim::Higher | Claim::Lower)
                && ratio.checks.iter().all(|check| check.state == CheckState::Passed)
        });
        let is_disturbed = is(|it| matches!(it, State::Disturbed(_)));
        if is(|it| matches!(it, State::NotValid(_))) || (is_disturbed && !is_sure) {
            return Self::NotValid;
        }
        Self::Claimed(ratio.map_or(Claim::CannotTell, |ratio| ratio.claim))
    }

    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Claimed(claim) => claim.name(),
            Self::NotValid => "not-valid",
            Self::NotMeasured => "not-measured",
            Self::NotComparable => "not-comparable",
        }
    }
}
