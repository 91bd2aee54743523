//! What a run says of itself: which side was at its limit, and what a reader must know before
//! trusting the figures. Pure: the clocks are read elsewhere, and what a load says of itself is
//! decided where its report is defined.

mod load;
mod sides;

use wirebench_schema::{
    journal::{Bound, Cost, KEPT, Placement, Reason, ReasonKind, ToolReport, Weight},
    load::{LoadReport, MOST_ARE_READY},
    suite::Phase,
};

use crate::{experiment::Verification, launch::Stopped};

/// A side that was busy for this share of the window was at its limit.
pub(crate) const BUSY: f64 = 0.95;

/// Which side was at its limit.
///
/// Two busy sides say little, because a side with time to spare spends it on looking more often for
/// less. Then the place tells where the requests of the closed loop waited: more than half of them
/// at one side make it the limit.
pub(crate) fn bound(cost: &Cost, ready_share: f64) -> Bound {
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
pub(crate) fn bound_of_run(cost: &Cost, ready_share: f64, load: &LoadReport) -> Bound {
    let demanded = load.demanded_requests_per_second();
    let in_time = |rate| load.requests_per_second >= KEPT * rate || !load.fell_behind();
    match (bound(cost, ready_share), demanded) {
        (Bound::Generator, Some(rate)) if in_time(rate) => Bound::Neither,
        (bound, _) => bound,
    }
}

/// All that was seen of a run.
pub(crate) struct Evidence<'a> {
    pub(crate) phase: Phase,
    pub(crate) load: &'a LoadReport,
    /// The report of another generator than our own.
    pub(crate) tool: Option<&'a ToolReport>,
    pub(crate) cost: &'a Cost,
    pub(crate) bound: Bound,
    pub(crate) placement: &'a Placement,
    pub(crate) stopped: &'a Stopped,
    /// What others did on the CPUs before the run and in its window.
    pub(crate) others: Vec<Reason>,
    pub(crate) verification: Verification,
    pub(crate) processes: Processes,
}

/// What became of the server's processes in the window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Processes {
    Same,
    /// Some began or ended.
    Changed,
    /// As many ended as this, and what they had used is not known.
    Lost(u64),
}

impl Evidence<'_> {
    /// What a reader must know before trusting the figures, each with the next step.
    pub(crate) fn reasons(self) -> Vec<Reason> {
        let mut reasons = match self.tool {
            None => self.load.reasons(self.phase),
            Some(tool) => load::by_another_generator(self.load, tool),
        };
        // Who waited for a CPU that others had did not wait for the other side.
        let bound = load::bound(&self).filter(|reason| {
            reason.kind != ReasonKind::NeitherBound
                || Weight::heaviest(&self.others) != Some(Weight::Invalid)
        });
        reasons.extend(bound);
        reasons.extend(sides::placement(self.placement));
        reasons.extend(sides::verification(self.verification));
        reasons.extend(sides::cost(&self));
        reasons.extend(sides::end(self.stopped));
        reasons.extend(self.others);
        reasons.into_iter().map(Reason::with_next_step).collect()
    }
}

/// What the end of a server says against it, whatever was measured with it.
pub(crate) fn end_reasons(stopped: &Stopped) -> Vec<Reason> {
    sides::end(stopped).into_iter().map(Reason::with_next_step).collect()
}

/// Why a load has no figures: nothing was answered correctly.
pub(crate) fn nothing_answered(load: &LoadReport) -> String {
    let mut reason = "no valid reply in the window".to_owned();
    for example in &load.error_examples {
        reason += &format!(": {example}");
    }
    if load.error_examples.is_empty() && load.errors.total() > 0 {
        reason += &format!(": {}", load::error_kinds(load));
    }
    reason
}

#[cfg(test)]
mod tests;
