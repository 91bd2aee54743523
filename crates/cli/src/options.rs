//! Options of the load that several verbs share, each group with the code that interprets it.

use std::{slice, time::Duration};
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::plan::set_payload;
use wirebench_schema::{scenario::Scenario, suite::Workload};

use crate::{
    exit::usage,
    request_options::{CONTRADICTION, OwnOptions, of_entries},
    value,
};

/// Gives a workload the scenario or the requests that were asked for, or those that `entries` name.
pub(crate) fn set_requests(
    workload: &mut Workload,
    scenario: Option<Scenario>,
    own: &OwnOptions,
    entries: &[Subject],
) -> anyhow::Result<()> {
    match (own.asked(entries)?, scenario) {
        (Some(asked), None | Some(Scenario::Requests)) => asked.apply(workload),
        (Some(_), Some(_)) => return Err(usage(CONTRADICTION)),
        (None, scenario) => {
            let needs_requests = entries.iter().any(|it| it.variant.answers_only_requests());
            let usual = if needs_requests { Scenario::Requests } else { workload.scenario };
            workload.scenario = scenario.unwrap_or(usual);
            if workload.scenario == Scenario::Requests {
                workload.requests = of_entries(entries)?;
            }
        }
    }
    Ok(())
}

/// The length of messages.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct PayloadOption {
    /// Message size of echo loads, up to 1GiB [default: from the suite; 64]
    #[arg(long, value_name = "SIZE", value_parser = value::size, hide_short_help = true)]
    pub(crate) payload: Option<usize>,
}

impl PayloadOption {
    pub(crate) fn apply(self, workload: &mut Workload) -> anyhow::Result<()> {
        set_payload(slice::from_mut(workload), self.payload).map_err(usage)
    }
}

/// How one run of a server goes. `tune` asks for lists of this instead.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RunOptions {
    /// Length of the measurement window
    #[arg(short, long, value_name = "DURATION", value_parser = value::window)]
    pub(crate) duration: Option<Duration>,
    /// Warm-up load before the window, not counted
    #[arg(long, value_name = "DURATION", value_parser = value::duration, hide_short_help = true)]
    pub(crate) warmup: Option<Duration>,
    /// Server threads, processes or event loops [default: one per server CPU]
    #[arg(long, value_name = "N", value_parser = value::small_count, hide_short_help = true)]
    pub(crate) workers: Option<u32>,
}
