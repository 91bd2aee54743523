//! What became of the conclusions of a suite's document: for each pair of rows whether it holds here, and how
//! large the published and the measured ratio are. What a ratio shows is what the analysis claims of it.

mod blocks;
mod judge;
mod words;

pub(crate) use self::{
    blocks::{pairs, table},
    judge::judge,
};

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::suite::{Column, Relation};
use wirebench_stats::Estimate;

use crate::{analysis::Reads, names::names, notes::Remark};

/// What became of a conclusion, or of one of its pairs.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is so here too. A conclusion holds if all of its measured pairs do.
    Holds,
    /// It is the other way round. A conclusion is reversed by one pair.
    Reversed,
    /// The figures show neither.
    Inconclusive,
    /// A row was not measured, is not valid, or is another program.
    NotMeasured,
}

impl Answer {
    const ALL: [Self; 4] = [Self::Holds, Self::Reversed, Self::Inconclusive, Self::NotMeasured];
}

names! {
    pub(crate) name of Answer: Holds = "holds", Reversed = "reversed", Inconclusive = "inconclusive",
        NotMeasured = "not measured";
}

/// A conclusion of the document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ConclusionReport {
    /// The document's own sentence in quotation marks, or what its tables show.
    pub sentence: String,
    /// Whether it is the document's own.
    pub is_quote: bool,
    /// What is compared.
    pub column: Column,
    /// How much more or less the document says that it is, such as `by 60 %`.
    pub said: Option<String>,
    /// Whether one pair is enough.
    pub some: bool,
    /// What became of it.
    pub answer: Answer,
    /// Why sizes may differ, each with what shows it, or marked as a guess.
    pub reasons: Vec<String>,
    /// Its pairs of rows.
    pub pairs: Vec<PairReport>,
}

/// Two rows of which a conclusion says which one has more.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PairReport {
    /// The workload of the first row.
    pub workload: String,
    /// That of the second row, if it is another one.
    pub against: Option<String>,
    /// The variant of the first row.
    pub row: String,
    /// Which of the two has more.
    pub relation: Relation,
    /// The variant of the second row.
    pub reference: String,
    /// The variant by which both figures are divided first.
    pub relative_to: Option<String>,
    /// The first published figure over the second.
    pub published: f64,
    /// The same of the figures here; absent where they cannot be compared.
    pub measured: Option<Estimate>,
    /// How the measured ratio is to be read.
    pub reads: Option<Reads>,
    /// What became of it.
    pub answer: Answer,
    /// Why it is inconclusive or not measured.
    #[schemars(with = "Option<String>")]
    pub(crate) why: Option<Remark>,
}

impl ConclusionReport {
    fn count(&self, answer: Answer) -> usize {
        self.pairs.iter().filter(|pair| pair.answer == answer).count()
    }
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
