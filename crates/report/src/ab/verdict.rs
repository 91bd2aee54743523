//! What can be said of B compared with A. The words for it are in `sentence`.

use wirebench_judge::standing::Standing;

use super::side::Side;
use crate::{analysis::Claim, view::Ratio};

/// What can be said of B compared with A.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// This, of the figure that was asked for.
    Claimed(Claim),
    /// Nothing, because too few cohorts of a side are valid.
    NotValid,
    /// Nothing, because a side has no figures.
    NotMeasured,
    /// Nothing, because the sides answer the same requests differently.
    NotComparable,
}

impl Verdict {
    /// Of the ratio of `sides`, whose standings are about its figures.
    pub(super) fn of(sides: &[Side<'_>; 2], ratio: Option<&Ratio>) -> Self {
        match sides.each_ref().map(|side| side.standing).iter().min() {
            Some(Standing::NotMeasured) => return Self::NotMeasured,
            Some(Standing::Hidden | Standing::NotCompared) => return Self::NotValid,
            _ => {}
        }
        Self::Claimed(ratio.and_then(|it| it.judged.claim).unwrap_or(Claim::CannotTell))
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
