//! The options with which each block of a plan is measured apart, as on several machines.

use std::path::PathBuf;
use wirebench_experiment::experiment::{ExperimentPart, results_in};

use crate::{exit::usage, fleet::HEADING, value};

/// One block of several.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Block {
    /// From 1.
    number: u32,
    of: u32,
}

/// The options of a verb whose blocks can be measured apart.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BlockOptions {
    /// Measure only cohort K of a plan with N, such as 1/8; `wirebench join` puts the results together
    #[arg(long, value_name = "K/N", value_parser = block, requires = "seed",
          conflicts_with_all = ["count", "precision", "budget", "why"], help_heading = HEADING)]
    block: Option<Block>,
    /// With --block: take the rates from this result of block 1, instead of finding them
    #[arg(long, value_name = "FOLDER", requires = "block", help_heading = HEADING)]
    rates: Option<PathBuf>,
}

impl BlockOptions {
    /// The number of blocks in the plan, if it is given here.
    pub(crate) fn count(&self) -> Option<u32> {
        self.block.map(|block| block.of)
    }

    /// Takes no rates from elsewhere, because the journal has them.
    pub(crate) fn know_rates(&mut self) {
        self.rates = None;
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
    let (number, of) = (value::small_count(parts.0)?, value::small_count(parts.1)?);
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
