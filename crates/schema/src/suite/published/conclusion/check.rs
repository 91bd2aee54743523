//! The first mistake of a conclusion: rows and workloads that do not exist, and figures of the document
//! that say something else.

use super::{
    super::{PublishedFigures, row::check_texts},
    ClaimedPair, Conclusion, Relation, Size,
};
use crate::{
    id::VariantId,
    refuse::refuse_if,
    suggest,
    suite::{Column, Suite},
};

/// The largest difference of two figures that are claimed to be the same: the margin of saturated servers, and that of
/// latencies.
const SAME: [f64; 2] = [0.03, 0.10];

impl Conclusion {
    /// # Errors
    ///
    /// The first mistake.
    pub(in crate::suite::published) fn check(
        &self,
        figures: &PublishedFigures,
        suite: &Suite,
    ) -> Result<(), String> {
        self.check_keys()?;
        let known = || suite.workloads.iter().map(|it| it.name.as_str());
        let named = self.workloads.iter().chain(&self.against);
        if let Some(unknown) = named.into_iter().find(|name| known().all(|it| it != *name)) {
            return Err(suggest::unknown("workload", unknown, known()));
        }
        if let Some(row) = self.rows_without_figures().find(|row| !suite.names(row)) {
            return Err(format!("`{row}` is not an entry of the suite"));
        }
        for workload in &self.workloads {
            let against = self.against.as_ref().unwrap_or(workload);
            for pair in &self.pairs {
                let references = pair.reference.iter().map(|it| (against, it));
                let base = [workload, against].into_iter().zip(self.relative_to.iter().cycle());
                for (workload, row) in
                    [(workload, &pair.row)].into_iter().chain(references).chain(base)
                {
                    self.check_row(figures, workload, row)?;
                }
            }
        }
        let pairs = figures.pairs(self);
        refuse_if!(
            self.some && pairs.iter().all(|pair| !self.says_so(pair)),
            "the document's figures show none of its pairs"
        );
        for pair @ ClaimedPair { row, relation, reference, workload, published, .. } in &pairs {
            refuse_if!(
                !self.some && !self.says_so(pair),
                "the document's figures do not say `{row} {relation} {reference}` in `{workload}`: their ratio is \
                 {published:.3}"
            );
        }
        self.check_size(&pairs)
    }

    fn check_keys(&self) -> Result<(), String> {
        refuse_if!(
            self.quote.is_some() == self.says.is_some(),
            "write either its `quote`, verbatim, or what the table `says`"
        );
        let texts = [&self.quote, &self.context, &self.says, &self.reason, &self.measured];
        check_texts(&texts)?;
        let is_empty = self.workloads.is_empty() || self.pairs.is_empty();
        refuse_if!(is_empty, "write its workloads and its pairs");
        refuse_if!(
            !self.column.is_concluded(),
            "its column is one of requests_per_second, megabytes_per_second, and the percentiles 50, 99 and 99.9 of \
             latency"
        );
        // Messages of two workloads may have two sizes.
        let is_size = self.column == Column::MegabytesPerSecond && self.relative_to.is_none();
        refuse_if!(
            is_size && self.against.is_some(),
            "megabytes_per_second of two workloads need a `relative_to`"
        );
        let (has_by, has_to) = (self.by.is_some(), self.to.is_some());
        refuse_if!(has_by && has_to, "write at most one of `by` and `to`");
        let has_figures = self.by_its_figures.is_some();
        refuse_if!(has_figures && !has_by && !has_to, "`by_its_figures` needs a `by` or a `to`");
        Ok(())
    }

    fn check_row(
        &self,
        figures: &PublishedFigures,
        workload: &str,
        row: &VariantId,
    ) -> Result<(), String> {
        let is_known = self.ratio.is_some() && figures.rows.contains_key(row);
        if is_known || figures.figure(workload, row, self.column).is_some() {
            return Ok(());
        }
        let known: Vec<String> =
            figures.rows_of(workload, self.column).map(ToString::to_string).collect();
        refuse_if!(known.is_empty(), "no table of `{workload}` has its column");
        let known = known.iter().map(String::as_str);
        Err(format!("`{workload}`: {}", suggest::unknown("row", &row.to_string(), known)))
    }

    /// Whether the document's figures have the direction that is claimed.
    fn says_so(&self, pair: &ClaimedPair<'_>) -> bool {
        let [saturated, latency] = SAME;
        let margin = if self.column.is_latency() { latency } else { saturated };
        match pair.relation {
            Relation::More => pair.published > 1.0,
            Relation::Fewer => pair.published < 1.0,
            Relation::Same => (1.0 / (1.0 + margin)..=1.0 + margin).contains(&pair.published),
        }
    }

    fn check_size(&self, pairs: &[ClaimedPair<'_>]) -> Result<(), String> {
        let Some(said) = self.by.as_ref().or(self.to.as_ref()) else { return Ok(()) };
        let percent = |pair: &ClaimedPair<'_>| match (&self.to, pair.relation) {
            (Some(_), _) => pair.published * 100.0,
            (None, Relation::Fewer) => (1.0 - pair.published) * 100.0,
            (None, _) => (pair.published - 1.0) * 100.0,
        };
        let percentages: Vec<f64> = pairs.iter().map(percent).collect();
        let found = || {
            let sorted = percentages.iter().map(|it| format!("{it:.2}"));
            sorted.collect::<Vec<_>>().join(", ")
        };
        let agrees = |size: &Size| size.is_of(&percentages);
        match &self.by_its_figures {
            None if !agrees(said) => Err(format!(
                "the document's figures do not say {said}, but {} %: correct it, or write `by_its_figures`",
                found()
            )),
            Some(size) if !agrees(size) => {
                Err(format!("the document's figures do not say {size}, but {} %", found()))
            }
            Some(_) if agrees(said) => {
                Err(format!("the document's figures say {said}: omit `by_its_figures`"))
            }
            _ => Ok(()),
        }
    }
}
