//! How many cohorts are measured, how each is, and which of them here.

use std::{path::PathBuf, time::Duration};
use wirebench_experiment::{
    cut::Cut,
    experiment::{ExperimentPart, results_in},
};
use wirebench_schema::journal::Procedure;

use super::{fleet::HEADING, why::WhyOption};
use crate::{exit::usage, value};

/// How many cohorts there are, how each is measured, and what counts as the same.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Cohorts")]
pub(crate) struct CohortArgs {
    /// Cohorts of fresh server instances, or blocks of runs [default: from the suite]
    #[arg(long = "cohorts", visible_alias = "blocks", value_name = "N", value_parser = count)]
    pub(crate) count: Option<CohortCount>,
    /// Visits per load and server in a cohort [default: as many as fill the window]
    #[arg(long, value_name = "N", value_parser = value::positive_count::<u32>, hide_short_help = true)]
    pub(crate) rounds: Option<u32>,
    /// Counted part of each visit [default: 20ms]
    #[arg(long, value_name = "DURATION", value_parser = value::window, hide_short_help = true)]
    pub(crate) visit: Option<Duration>,
    /// Keep all servers of a cohort running (cohorts), or start one process per run (process) [default: cohorts;
    /// process with --scale paper; of ab for --metric p999 and memory, and for --scenario hello-timeout]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) procedure: Option<Procedure>,
    /// Margin within which servers count as equal, such as 2% [default: 3% saturated, 5% at a rate; of ab: 0.5%]
    #[arg(long, value_name = "PERCENT", value_parser = value::precision, hide_short_help = true)]
    pub(crate) margin: Option<f64>,
    /// Add pairs of cohorts until the interval of every ratio is within this, such as 1%
    #[arg(long, value_name = "PERCENT", value_parser = value::precision)]
    pub(crate) precision: Option<f64>,
    /// Start no cohort that would end later than this after the first run
    #[arg(long, value_name = "DURATION", value_parser = value::budget)]
    pub(crate) budget: Option<Duration>,
    #[command(flatten)]
    pub(crate) why: WhyOption,
    /// Measure only cohort K of a plan with N, such as 1/8; `wirebench join` puts the results together
    #[arg(long, value_name = "K/N", value_parser = block, requires = "seed",
          conflicts_with_all = ["count", "precision", "budget", "why"], help_heading = HEADING)]
    block: Option<Block>,
    /// With --block: take the rates from this result of block 1, instead of finding them
    #[arg(long, value_name = "FOLDER", requires = "block", help_heading = HEADING)]
    pub(crate) rates: Option<PathBuf>,
}

/// How many cohorts were asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CohortCount {
    Exactly(u32),
    /// Until a look at which every server has a verdict.
    UntilDecided,
}

fn count(text: &str) -> Result<CohortCount, String> {
    match text {
        "until-decided" => Ok(CohortCount::UntilDecided),
        _ => value::number::<u32>(text).map(CohortCount::Exactly),
    }
}

/// One block of several.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Block {
    /// From 1.
    number: u32,
    of: u32,
}

impl CohortArgs {
    pub(crate) const fn cut(&self) -> Cut {
        Cut { visit: self.visit, rounds: self.rounds }
    }

    pub(crate) fn is_until_decided(&self) -> bool {
        self.count == Some(CohortCount::UntilDecided)
    }

    /// The cohorts of the plan, if their number was asked for.
    pub(crate) fn planned(&self) -> Option<u32> {
        match self.count {
            Some(CohortCount::Exactly(count)) => Some(count),
            Some(CohortCount::UntilDecided) => None,
            None => self.block.map(|block| block.of),
        }
    }

    /// What is measured here; none if it is everything.
    pub(crate) fn part(&self) -> anyhow::Result<Option<ExperimentPart>> {
        let Some(Block { number: block, .. }) = self.block else { return Ok(None) };
        let rates = self.rates.as_ref().map(|folder| {
            let newest = results_in(folder).pop();
            newest.ok_or_else(|| {
                let folder = folder.display();
                usage(format!("--rates {folder}: no result is in it; give the folder of block 1"))
            })
        });
        Ok(Some(ExperimentPart { block, rates: rates.transpose()? }))
    }
}

/// A block, as `K/N`.
fn block(text: &str) -> Result<Block, String> {
    let parts = text.split_once('/').ok_or_else(|| format!("`{text}` is not like 1/8"))?;
    let (number, of) = (value::number::<u32>(parts.0)?, value::number::<u32>(parts.1)?);
    if !(1..=of).contains(&number) {
        return Err(format!("`{text}` is not one of the blocks 1 to {of}"));
    }
    Ok(Block { number, of })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_one_of_those_of_the_plan() {
        assert_eq!(block("2/8"), Ok(Block { number: 2, of: 8 }));
        for text in ["", "2", "0/8", "9/8", "1/0", "1/2/3", "-1/2", "a/b"] {
            assert!(block(text).is_err(), "{text}");
        }
    }
}
