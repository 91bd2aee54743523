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
    Answer: Holds = "holds", Reversed = "reversed", Inconclusive = "inconclusive", NotMeasured = "not measured",
}

/// What follows from the answers of all pairs.
fn answer(pairs: &[PairReport], some: bool) -> Answer {
    let measured = || pairs.iter().map(|it| it.answer).filter(|it| *it != Answer::NotMeasured);
    let (any, all) = match some {
        true => (Answer::Holds, Answer::Reversed),
        false => (Answer::Reversed, Answer::Holds),
    };
    if measured().next().is_none() {
        Answer::NotMeasured
    } else if measured().any(|it| it == any) {
        any
    } else if measured().all(|it| it == all) {
        all
    } else {
        Answer::Inconclusive
    }
}

#[cfg(test)]
mod tests;
