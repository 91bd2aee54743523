//! A pair of rows as a file of figures writes it: `c/epoll > c/threads`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

use crate::id::VariantId;

/// Stands for every other row of the workload's tables.
const ALL: &str = "*";
const HOW_TO_WRITE: &str =
    "write `ROW > ROW`, `ROW < ROW` or `ROW = ROW`, with `*` for all other rows";

/// Which of two rows has more.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// The first one.
    More,
    /// The second one.
    Fewer,
    /// None by more than the margin.
    Same,
}

crate::names! { Relation: More = ">", Fewer = "<", Same = "=" }

/// Two rows, and which of them has more.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Pair {
    /// The first row.
    pub row: VariantId,
    /// Which of them has more.
    pub relation: Relation,
    /// The second row; all other rows of the workload's tables if there is none.
    pub reference: Option<VariantId>,
}

crate::names::as_text!(Pair);

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a pair of rows: {HOW_TO_WRITE}");
        let words: Vec<&str> = text.split_whitespace().collect();
        let [row, relation, reference] = words.as_slice() else { return Err(wrong()) };
        let relation = Relation::ALL.into_iter().find(|it| it.name() == *relation);
        let relation = relation.ok_or_else(wrong)?;
        let reference = (*reference != ALL).then(|| reference.parse()).transpose()?;
        Ok(Self { row: row.parse()?, relation, reference })
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reference = self.reference.as_ref().map_or(ALL.to_owned(), ToString::to_string);
        write!(formatter, "{} {} {reference}", self.row, self.relation)
    }
}
