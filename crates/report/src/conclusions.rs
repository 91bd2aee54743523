//! What became of the conclusions of a suite's document: for each pair of rows whether it holds here, and how
//! large the published and the measured ratio are. What a ratio shows is what the analysis claims of it.

mod blocks;
mod judge;
mod words;

pub(crate) use self::{
    blocks::{pairs, table},
    judge::judge,
};

use crate::view::{Answer, ConclusionReport, PairReport};

wirebench_schema::names! {
    Answer: Reversed = "reversed", Differs = "differs", NoDifference = "no difference",
    Inconclusive = "inconclusive", SmallerEffect = "direction holds, effect smaller",
    LargerEffect = "direction holds, effect larger", Holds = "holds", NotMeasured = "not measured",
}

impl Answer {
    /// True where the same row has more as in the document.
    const fn confirms(self) -> bool {
        matches!(self, Self::SmallerEffect | Self::LargerEffect | Self::Holds)
    }
}

/// What follows from the answers of all pairs, of which one is enough for `some`.
fn answer(pairs: &[PairReport], some: bool) -> Answer {
    let number = |answer: Answer| pairs.iter().filter(|it| it.mean.answer == answer).count();
    let found = || Answer::ALL.into_iter().filter(|it| number(*it) > 0);
    let confirmed = found().filter(|it| it.confirms()).max_by_key(|it| (number(*it), *it));
    let otherwise = found().find(|it| !it.confirms() && *it != Answer::NotMeasured);
    let (first, second) = if some { (confirmed, otherwise) } else { (otherwise, confirmed) };
    first.or(second).unwrap_or(Answer::NotMeasured)
}

#[cfg(test)]
mod tests;
