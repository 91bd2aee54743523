//! The facts of a run, which side was at its limit, and what that says of its rate.

use serde::{Deserialize, Serialize};
use wirebench_schema::{
    journal::{Bound, Cost, Placement, ProgramShare, Reason, ReasonKind, ToolReport, Weight},
    load::{LoadModel, LoadReport},
    suite::Phase,
    verification::Verification,
};

use crate::{
    instance::InstanceEvidence,
    load::{fell_behind, ready, verdict},
    neighbours::MachineUse,
    thresholds::{BUSY, KEPT, MOST_ARE_READY},
};

/// Which side was at its limit.
///
/// Two busy sides say little, because a side with time to spare spends it on looking more often for
/// less. Then the place tells where the requests of the closed loop waited: more than half of them
/// at one side make it the limit.
#[must_use]
pub(super) fn bound(cost: &Cost, ready_share: f64) -> Bound {
    // A thread that is busy all the time is a limit even when other workers have time to spare.
    let server = cost.cpu_share >= BUSY || cost.busiest_thread_share >= BUSY;
    let generator = cost.generator_cpu_share >= BUSY;
    match (server, generator) {
        (true, true) if ready_share > MOST_ARE_READY => Bound::Generator,
        (true, _) => Bound::Server,
        (false, true) => Bound::Generator,
        (false, false) => Bound::Neither,
    }
}

/// The same of a whole run. At a rate that was kept, or of which every request was sent in time, a
/// generator that never sleeps is early and not at its limit.
#[must_use]
pub(super) fn bound_of_run(cost: &Cost, ready_share: f64, load: &LoadReport) -> Bound {
    let demanded = load.demanded_requests_per_second();
    let in_time = |rate| load.requests_per_second >= KEPT * rate || !fell_behind(load);
    match (bound(cost, ready_share), demanded) {
        (Bound::Generator, Some(rate)) if in_time(rate) => Bound::Neither,
        // A server whose processes were not read may be busy.
        (Bound::Neither, _) if !cost.is_of_processes() => Bound::Unknown,
        (bound, _) => bound,
    }
}

/// The facts of a run: clocks and counts, and nothing that was judged before. So a recorded run can be judged again.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Evidence {
    pub phase: Phase,
    pub load: LoadReport,
    /// How many windows it counted in.
    pub windows: usize,
    /// The report of another generator than our own.
    pub tool: Option<ToolReport>,
    /// What both sides used.
    pub cost: Cost,
    pub placement: Placement,
    pub end: ServerEnd,
    /// What others took from the sides; nothing in a cohort, whose visits have clocks of their own.
    pub machine: MachineUse,
    /// The programs that were seen on the CPUs meanwhile.
    pub programs: Vec<ProgramShare>,
    /// Whether the server was checked before.
    pub verification: Verification,
    /// What became of the server's processes.
    pub processes: Processes,
    /// In a cohort: observations about the instance.
    pub instance: Option<InstanceEvidence>,
}

/// How a server ended, and what it left.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ServerEnd {
    /// Whether it ignored SIGTERM and was killed.
    pub forced: bool,
    /// Processes that it left, each with its number and name.
    pub left_behind: Vec<String>,
    /// Bytes that it wrote to its outputs; of a server in a cohort, within visits of the load.
    pub stderr_bytes: u64,
    /// Whether it was a service, which was neither started nor stopped.
    pub runs_on: bool,
}

/// What became of the server's processes in the window.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processes {
    #[default]
    Same,
    /// Some began or ended, and what they have used is known.
    Changed,
    /// Some began or ended, and what they have used in the window is not known.
    Unread,
    /// As many ended as this, and what they had used is not known.
    Lost(u64),
}

impl Processes {
    /// Whether the CPU time of all of them is known.
    #[must_use]
    pub const fn are_known(self) -> bool {
        matches!(self, Self::Same | Self::Changed)
    }
}

impl Evidence {
    /// Which side was at its limit.
    #[must_use]
    pub fn bound(&self) -> Bound {
        // Where the requests of another generator wait is not known; then its limit is the safe answer, which says that
        // the server may do more.
        let ready_share = if self.tool.is_some() { 1.0 } else { self.load.ready_share };
        bound_of_run(&self.cost, ready_share, &self.load)
    }

    /// That the rate is not the server's, in a phase whose figure is the rate.
    pub(super) fn limit(&self) -> Option<Reason> {
        let Self { phase, load, cost, tool, .. } = self;
        let bound = self.bound();
        let is_free = match &load.config.model {
            LoadModel::Closed => true,
            // Pauses are meant to set the rate; only a generator that cannot keep them is a limit.
            LoadModel::Think { .. } => bound == Bound::Generator,
            // A server that keeps a schedule shows only that, however busy it was.
            LoadModel::Rate { .. } => verdict(load).limit == Bound::Generator,
        };
        if *phase != Phase::Saturate || !is_free {
            return None;
        }
        match bound {
            Bound::Server | Bound::Schedule | Bound::Unknown => None,
            Bound::Generator => {
                // Where the requests of another generator wait is not known.
                let ready = if tool.is_some() { String::new() } else { ready(load, "were ") };
                let share = cost.generator_cpu_share;
                Some(ReasonKind::GeneratorBound.reason(Weight::Limit, Some(share), ready))
            }
            Bound::Neither => {
                let detail = format!("load generator at {:.0} %", cost.generator_cpu_share * 100.0);
                Some(ReasonKind::NeitherBound.reason(Weight::Note, Some(cost.cpu_share), detail))
            }
        }
    }
}
