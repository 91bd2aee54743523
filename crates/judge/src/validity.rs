//! What a run says of itself: which side was at its limit, and what a reader must know before
//! trusting the figures. What a load says of itself is decided in `load`.

mod load;
mod sides;

pub(crate) use sides::not_verified;

use serde::{Deserialize, Serialize};
use wirebench_schema::{
    journal::{Bound, Cost, Placement, ProgramShare, Reason, ReasonKind, ToolReport, Weight},
    load::LoadReport,
    suite::Phase,
    verification::Verification,
};

use crate::{
    instance::InstanceEvidence,
    load::{fell_behind, gave_up, reasons},
    neighbours::{Arrivals, MachineUse, throttled_first},
    thresholds::{BUSY, KEPT, MOST_ARE_READY},
};

/// Which side was at its limit.
///
/// Two busy sides say little, because a side with time to spare spends it on looking more often for
/// less. Then the place tells where the requests of the closed loop waited: more than half of them
/// at one side make it the limit.
#[must_use]
fn bound(cost: &Cost, ready_share: f64) -> Bound {
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
fn bound_of_run(cost: &Cost, ready_share: f64, load: &LoadReport) -> Bound {
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
    /// What others took from the sides; nothing in a cohort, whose slices have clocks of their own.
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
    /// Bytes that it wrote to its outputs; of a server in a cohort, within slices of the load.
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

    /// Findings that a reader must know before trusting the figures, each with the next step.
    #[must_use]
    pub fn reasons(&self) -> Vec<Reason> {
        let mut reasons = match &self.tool {
            None => reasons(&self.load, self.phase, self.windows),
            Some(tool) => load::by_another_generator(&self.load, tool),
        };
        let others = self.disturbances();
        // A side that waited for a CPU did not wait for the other side.
        let bound = load::bound(self).filter(|reason| {
            reason.kind != ReasonKind::NeitherBound
                || Weight::heaviest(&others) != Some(Weight::Invalid)
        });
        reasons.extend(bound);
        reasons.extend(sides::placement(&self.placement));
        reasons.extend(sides::not_verified(self.verification));
        reasons.extend(sides::cost(self));
        reasons.extend(sides::end(&self.end));
        reasons.extend(others);
        blame_output(&mut reasons);
        throttled_first(&mut reasons);
        let named = |reason: Reason| match reason.kind {
            ReasonKind::Neighbour | ReasonKind::GeneratorStall => reason.by(&self.programs),
            _ => reason,
        };
        let (request_ns, connections) =
            (self.cost.cpu_ns_per_request, self.load.config.connections);
        let of_instance = self.instance.iter();
        let of_instance =
            of_instance.flat_map(|it| it.reasons(&self.placement, request_ns, connections));
        reasons.into_iter().map(named).chain(of_instance).collect()
    }

    /// What others did on the CPUs in the window, or in the slices that count.
    fn disturbances(&self) -> Vec<Reason> {
        let arrivals = Arrivals::of(&self.load.config.model);
        match &self.instance {
            None => self.machine.reasons(arrivals),
            Some(instance) => instance.disturbances(&self.placement, &self.programs, arrivals),
        }
    }
}

/// wirebench reads what a server writes, and to the clocks that is another program. The output is then
/// the reason, with the weight of that program.
fn blame_output(reasons: &mut Vec<Reason>) {
    let programs = reasons.iter().filter(|it| it.kind == ReasonKind::Neighbour);
    let weight = programs.map(|it| it.weight).max();
    let output = reasons.iter_mut().find(|it| it.kind == ReasonKind::Stderr);
    if let Some((output, weight)) = output.zip(weight) {
        output.weight = output.weight.max(weight);
        reasons.retain(|it| it.kind != ReasonKind::Neighbour);
    }
}

/// What the end of a server says against it, whatever was measured with it.
#[must_use]
pub fn end_reasons(end: &ServerEnd) -> Vec<Reason> {
    sides::end(end)
}

/// Why a load has no figures: nothing was answered correctly.
#[must_use]
pub fn nothing_answered(load: &LoadReport) -> String {
    let mut reason = "no valid reply in the window".to_owned();
    let examples: Vec<String> =
        load.error_examples.iter().map(ToString::to_string).chain(gave_up(load)).collect();
    for example in &examples {
        reason += &format!(": {example}");
    }
    if examples.is_empty() && load.errors.total() > 0 {
        reason += &format!(": {}", load::error_kinds(load));
    }
    reason
}

#[cfg(test)]
mod tests;
