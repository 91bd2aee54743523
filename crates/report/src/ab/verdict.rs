//! What can be said of B compared with A. The words for it are in `sentence`.

use super::{Figure, Side, side::State};
use crate::analysis::{CheckState, Claim, SideRatio};

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

/// What a figure supports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Support {
    /// Every claim.
    All,
    /// A difference: other work on the machine can hide one, but not cause one that both checks and the
    /// interval exclude.
    Difference,
    /// Nothing, because most runs of a side are not valid.
    Nothing,
}

impl Support {
    /// Of a figure of `sides`, whose states are about this figure.
    pub(super) fn of(sides: &[Side<'_>; 2], figure: Option<&Figure>) -> Self {
        let is = |test: fn(&State) -> bool| sides.iter().any(|side| test(&side.state));
        let ratio = figure.and_then(|figure| figure.ratio.as_ref());
        if is(|it| matches!(it, State::NotValid(_))) {
            return Self::Nothing;
        }
        match is(|it| matches!(it, State::Disturbed(_))) {
            false => Self::All,
            true if ratio.is_some_and(is_sure_difference) => Self::Difference,
            true => Self::Nothing,
        }
    }
}

/// Whether the interval excludes "no difference", and both pairs of equal instances agree.
fn is_sure_difference(ratio: &SideRatio) -> bool {
    matches!(ratio.claim, Claim::Higher | Claim::Lower)
        && ratio.checks.iter().all(|check| check.state == CheckState::Passed)
}

impl Verdict {
    pub(super) fn of(sides: &[Side<'_>; 2], figures: &[Figure]) -> Self {
        if sides.iter().any(|side| matches!(side.state, State::NotMeasured(_))) {
            return Self::NotMeasured;
        }
        if Support::of(sides, figures.first()) == Support::Nothing {
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
