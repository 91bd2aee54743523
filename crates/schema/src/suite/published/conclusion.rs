//! What a document concludes from its figures: a sentence, and the pairs of rows of which it says which one
//! has more, and by how much. A conclusion that the document's own figures contradict is refused.

mod check;
mod pair;
mod size;

pub use pair::{Pair, Relation};
pub use size::Size;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Column, PublishedFigures, PublishedTable, row::why};
use crate::id::VariantId;

/// `[[conclusion]]` in a file of figures.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Conclusion {
    /// The document's sentence, verbatim.
    pub quote: Option<String>,
    /// What the sentence is about, where it does not say so itself.
    pub context: Option<String>,
    /// What its tables or pictures show, where no sentence of it says so.
    pub says: Option<String>,
    /// What is compared.
    pub column: Column,
    /// The workloads in which it is compared.
    pub workloads: Vec<String>,
    /// The workload of each pair's second row, if it is another one.
    pub against: Option<String>,
    /// The row of the same workload by which both figures of a pair are divided first.
    pub relative_to: Option<VariantId>,
    /// The pairs of rows, each of which is claimed in every workload.
    pub pairs: Vec<Pair>,
    /// The first figure over the second one, where the sentence has it and no table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Whether one pair is enough, as for "in some cases".
    #[serde(default)]
    pub some: bool,
    /// How much more or less the first row has, on average over the pairs, as the document says it.
    pub by: Option<Size>,
    /// The first row in percent of the second one, as the document says it.
    pub to: Option<Size>,
    /// The same by the document's own figures, where its sentence differs from them.
    pub by_its_figures: Option<Size>,
    /// Why the size may differ here.
    pub reason: Option<String>,
    /// The command, the figure or the line of source that shows it; without, it is a guess.
    pub measured: Option<String>,
}

/// A pair of rows in a workload, of which a conclusion says which one has more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClaimedPair<'a> {
    /// The workload of the first row.
    pub workload: &'a str,
    /// That of the second one.
    pub against: &'a str,
    /// The first row.
    pub row: &'a VariantId,
    /// The second row.
    pub reference: &'a VariantId,
    /// The row by which both figures are divided first.
    pub relative_to: Option<&'a VariantId>,
    /// Which of them has more.
    pub relation: Relation,
    /// The first figure over the second one.
    pub published: f64,
}

impl Conclusion {
    /// The sentence after its context, with quotation marks if it is the document's own.
    #[must_use]
    pub fn sentence(&self) -> String {
        let context = self.context.as_ref().map_or_else(String::new, |it| format!("{it}: "));
        match (&self.quote, &self.says) {
            (Some(quote), _) => format!("{context}\"{quote}\""),
            (None, says) => context + says.as_deref().unwrap_or_default(),
        }
    }

    /// What the document says of the size, and what its figures say of it.
    #[must_use]
    pub fn said(&self) -> Option<String> {
        let by = self.by.as_ref().map(|it| format!("by {it}"));
        let said = by.or_else(|| self.to.as_ref().map(|it| format!("to {it}")))?;
        let figures = self.by_its_figures.as_ref();
        Some(said + &figures.map_or_else(String::new, |it| format!(" ({it} by its figures)")))
    }

    /// The rows whose ratio only the sentence has.
    pub(super) fn rows_without_figures(&self) -> impl Iterator<Item = &VariantId> {
        let pairs = self.pairs.iter().filter(|_| self.ratio.is_some());
        pairs.flat_map(|pair| [Some(&pair.row), pair.reference.as_ref()]).flatten()
    }

    /// Why the size may differ here.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        why(self.reason.as_deref(), self.measured.as_deref())
    }
}

impl PublishedFigures {
    /// The rows that have a figure in this column of a workload.
    fn rows_of<'a>(
        &'a self,
        workload: &'a str,
        column: Column,
    ) -> impl Iterator<Item = &'a VariantId> {
        let has = move |table: &&PublishedTable| table.cells().any(|it| it == (workload, column));
        self.tables.iter().filter(has).flat_map(|table| table.rows.keys())
    }

    /// The pairs of a conclusion, with the figures that the document has of them.
    #[must_use]
    pub fn pairs<'a>(&'a self, conclusion: &'a Conclusion) -> Vec<ClaimedPair<'a>> {
        let workloads = conclusion.workloads.iter();
        workloads.flat_map(|workload| self.pairs_in(conclusion, workload)).collect()
    }

    fn pairs_in<'a>(
        &'a self,
        conclusion: &'a Conclusion,
        workload: &'a str,
    ) -> impl Iterator<Item = ClaimedPair<'a>> {
        let against = conclusion.against.as_deref().unwrap_or(workload);
        let others = move |row: &'a VariantId| {
            let rows = self.rows_of(workload, conclusion.column);
            rows.filter(move |other| *other != row)
        };
        let named = conclusion.pairs.iter().flat_map(move |pair| {
            let all = pair.reference.is_none().then(|| others(&pair.row));
            let references = pair.reference.iter().chain(all.into_iter().flatten());
            references.map(move |reference| (pair, reference))
        });
        named.filter_map(move |(pair, reference)| {
            let figure = |workload, row| {
                let own = self.figure(workload, row, conclusion.column)?;
                let Some(base) = &conclusion.relative_to else { return Some(own) };
                Some(own / self.figure(workload, base, conclusion.column)?)
            };
            let published = match conclusion.ratio {
                Some(ratio) => ratio,
                None => figure(workload, &pair.row)? / figure(against, reference)?,
            };
            Some(ClaimedPair {
                workload,
                against,
                row: &pair.row,
                reference,
                relative_to: conclusion.relative_to.as_ref(),
                relation: pair.relation,
                published,
            })
        })
    }
}
