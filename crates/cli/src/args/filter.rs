//! The options that choose what of a run is compared and shown.

use wirebench_report::{
    analysis::{Analysis, Sort},
    filter::JournalFilter,
};
use wirebench_schema::journal::Journal;

use crate::exit::usage;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ViewOptions {
    /// Server that ratios refer to [default: from the suite]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Exclude servers by name or pattern, such as 'java/*'; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// Sort rows by name or by a metric, such as p99, the best first [default: the primary metric of each phase]
    #[arg(long, value_name = "COLUMN", hide_short_help = true)]
    sort: Option<Sort>,
}

impl ViewOptions {
    /// The first option that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            (self.baseline.is_some(), "--baseline"),
            (!self.exclude.is_empty(), "--exclude"),
            (self.sort.is_some(), "--sort"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }

    /// A stored run as it is to be shown.
    pub(crate) fn of(&self, journal: Journal) -> anyhow::Result<Journal> {
        let filter = JournalFilter { baseline: self.baseline.as_deref(), exclude: &self.exclude };
        filter.of(journal).map_err(usage)
    }

    /// Its analysis, with the rows in order.
    pub(crate) fn analysis<'a>(&self, journal: &'a Journal) -> Analysis<'a> {
        Analysis::of(journal).sorted(self.sort)
    }
}
