//! `--why`: whether `perf` can profile the servers of a verb, found out before anything is measured.

use wirebench_catalogue::subject::Subject;
use wirebench_experiment::experiment::has_profile;
use wirebench_schema::suite::Suite;
use wirebench_server::perf::Perf;

use crate::{args::services::have_processes, context::Context, exit::usage};

/// The option for profiles.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct WhyOption {
    /// Profile each server after the counted runs, with perf: system calls and CPU time per request, and
    /// flame graphs; see docs/why.md
    #[arg(long, conflicts_with = "from", hide_short_help = true)]
    pub(crate) why: bool,
}

impl WhyOption {
    /// `perf`, if profiles were asked for and can be made.
    pub(crate) fn perf(
        self,
        context: &Context,
        suite: &Suite,
        services: &[Subject],
    ) -> anyhow::Result<Option<Perf>> {
        if !self.why {
            return Ok(None);
        }
        if !have_processes(services) {
            return Err(usage(
                "--why needs the processes of each service on this host: add --pid PID, or omit --why",
            ));
        }
        if !suite.workloads.iter().any(has_profile) {
            return Err(usage(
                "--why needs a load that is measured in visits, in a closed loop or at a rate: omit --why",
            ));
        }
        Perf::find(context.interrupt.flag()).map(Some).map_err(usage)
    }
}
