//! What other processes, the hypervisor's other guests and the limits of a control group did to the
//! sides of a run, from times that were read elsewhere.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use wirebench_schema::{
    journal::{Reason, ReasonKind, RunSide, Weight},
    load::LoadModel,
};

use crate::thresholds::PAUSE_AND_CATCHING_UP;

/// Share of the window from which on a neighbour makes the figures another thing.
const SPOILS_SHARE: f64 = 0.1;
/// Share of the window above which a neighbour that made a side wait is worth a note.
const NOTED_SHARE: f64 = 0.03;
/// Share of the window from which on those who made a side wait are the 99th percentile of the
/// requests that came at moments of their own.
const TAIL_SHARE: f64 = 0.01 / PAUSE_AND_CATCHING_UP;
/// Ticks of 10 ms in fewer than fifty do not tell one program from another.
const TICKS_TELL: Duration = Duration::from_millis(500);
/// Stolen and throttled time below which the clocks are too coarse to accuse anybody: two ticks.
const NOTICED_NS: f64 = 20e6;
/// Shares of the window from which on stolen time is worth a note, and from which on it spoils: the
/// machine is that much slower than it says.
const STOLEN_NOTED: f64 = 0.01;
const STOLEN_SPOILS: f64 = 0.05;
/// A hundredth of the window in one piece is the 99th percentile of the latencies in it.
const THROTTLED_SPOILS: f64 = 0.01;
/// From which clock the figure is.
const WAITED: &str = "which waited for it";

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrivals {
    /// When a reply has come: a pause meets as many requests as there are connections.
    AfterReplies,
    /// At moments of their own: a pause meets all that are due in it.
    AtMoments,
}

impl Arrivals {
    /// Those of a load.
    #[must_use]
    pub const fn of(model: &LoadModel) -> Self {
        match model {
            LoadModel::Rate { .. } => Self::AtMoments,
            LoadModel::Closed | LoadModel::Think { .. } => Self::AfterReplies,
        }
    }

    /// The share of the window from which on it is reported that a side waited.
    const fn noted(self) -> f64 {
        match self {
            Self::AfterReplies => NOTED_SHARE,
            Self::AtMoments => TAIL_SHARE,
        }
    }
}

/// What others took from both sides of a run, as clocks showed it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct MachineUse {
    pub elapsed: Duration,
    /// Time in which a control group held the sides back, summed over CPUs.
    pub throttled_ns: u64,
    /// Empty where the sides share CPUs: each is the other's neighbour.
    pub sides: Vec<SideUse>,
}

impl MachineUse {
    /// Findings about it.
    #[must_use]
    pub fn reasons(&self, arrivals: Arrivals) -> Vec<Reason> {
        let sides = self.sides.iter().flat_map(|side| side.reasons(arrivals));
        throttled(self.throttled_ns, self.elapsed).into_iter().chain(sides).collect()
    }
}

/// What others took from one side of a run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct SideUse {
    pub side: RunSide,
    pub cpus: usize,
    pub elapsed: Duration,
    /// CPU time of other programs on its CPUs.
    pub others_ns: u64,
    /// Share of the time in which a thread of it waited for others, 0 to 1.
    pub waited: f64,
    /// CPU time that the hypervisor gave to other guests.
    pub stolen_ns: u64,
}

impl SideUse {
    /// The finding about it.
    #[must_use]
    pub fn reasons(&self, arrivals: Arrivals) -> Vec<Reason> {
        [self.neighbour(arrivals), self.stolen(arrivals)].into_iter().flatten().collect()
    }

    /// What other programs did to a side, by the ticks and by its own waiting.
    fn neighbour(&self, arrivals: Arrivals) -> Option<Reason> {
        let Self { side, cpus, elapsed, others_ns, waited, .. } = *self;
        let elapsed_ns = elapsed.as_nanos() as f64;
        let used = others_ns as f64 / (elapsed_ns * cpus as f64);
        let used = (elapsed >= TICKS_TELL && used > ticks_accuse(elapsed, cpus)).then_some(used);
        let waited = (waited > arrivals.noted()).then_some(waited);
        let detail = match (used, waited) {
            (None, None) => return None,
            (Some(_), None) => String::new(),
            (None, Some(_)) => WAITED.to_owned(),
            (Some(_), Some(waited)) => {
                format!("which waited {:.1} % of the window for it", waited * 100.0)
            }
        };
        let share = used.unwrap_or(0.0).max(waited.unwrap_or(0.0));
        let weight = weight(share, SPOILS_SHARE, arrivals);
        Some(ReasonKind::Neighbour.reason(weight, Some(share), detail).of(side))
    }

    fn stolen(&self, arrivals: Arrivals) -> Option<Reason> {
        let stolen = self.stolen_ns as f64;
        let share = stolen / (self.elapsed.as_nanos() as f64 * self.cpus as f64);
        let weight = weight(share, STOLEN_SPOILS, arrivals);
        let says = stolen > NOTICED_NS && share > STOLEN_NOTED;
        says.then(|| ReasonKind::Stolen.reason(weight, Some(share), "").of(self.side))
    }
}

/// What must be said where a side waited for this share of the loads that count.
#[must_use]
pub fn waited(side: RunSide, share: f64, arrivals: Arrivals) -> Option<Reason> {
    let weight = weight(share, SPOILS_SHARE, arrivals);
    let reason = || ReasonKind::Neighbour.reason(weight, Some(share), WAITED).of(side);
    (share > arrivals.noted()).then(reason)
}

/// The share of the CPU time of a side that ticks must show before they accuse: three times the
/// standard deviation of a share that is found by looking a hundred times a second.
fn ticks_accuse(elapsed: Duration, cpus: usize) -> f64 {
    let looks = elapsed.as_secs_f64() * 100.0 * cpus as f64;
    SPOILS_SHARE.max(3.0 * 0.5 / looks.sqrt())
}

/// What it does to the figures of a run that something held a side back for this share of the
/// window.
fn weight(share: f64, spoils: f64, arrivals: Arrivals) -> Weight {
    match arrivals {
        _ if share > spoils => Weight::Invalid,
        Arrivals::AtMoments if share > TAIL_SHARE => Weight::Tail,
        Arrivals::AtMoments | Arrivals::AfterReplies => Weight::Note,
    }
}

/// The finding about a control group that held the sides back for so long.
#[must_use]
pub fn throttled(ns: u64, elapsed: Duration) -> Option<Reason> {
    let is_long = ns as f64 > THROTTLED_SPOILS * elapsed.as_nanos() as f64;
    let weight = if is_long { Weight::Invalid } else { Weight::Note };
    let reason = || ReasonKind::Throttled.reason(weight, Some(ns as f64), "summed over CPUs");
    (ns > 0).then(reason)
}

/// Where a CPU limit of the control group spoils a run, it is named first, and what follows from it is not: other
/// programs and the server have no part in it.
pub(crate) fn throttled_first(reasons: &mut Vec<Reason>) {
    const FOLLOWS: [ReasonKind; 10] = [
        ReasonKind::LowerBound,
        ReasonKind::ConnectionsBusy,
        ReasonKind::Unanswered,
        ReasonKind::NeitherBound,
        ReasonKind::ScheduleLag,
        ReasonKind::LittlesLaw,
        ReasonKind::Unfair,
        ReasonKind::ServerStall,
        ReasonKind::GeneratorStall,
        ReasonKind::Neighbour,
    ];
    let spoils = |it: &Reason| it.kind == ReasonKind::Throttled && it.weight == Weight::Invalid;
    if reasons.iter().any(spoils) {
        reasons.retain(|reason| !FOLLOWS.contains(&reason.kind));
        reasons.sort_by_key(|reason| reason.kind != ReasonKind::Throttled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::journal::{Owner, ProgramShare};

    const MS: u64 = 1_000_000;

    #[test]
    fn a_limit_of_the_group_weighs_by_its_share() {
        let second = Duration::from_secs(1);
        assert_eq!(throttled(0, second), None);
        assert_eq!(throttled(9 * MS, second).unwrap().weight, Weight::Note);
        let long = throttled(300 * MS, second).unwrap();
        assert_eq!((long.kind, long.weight), (ReasonKind::Throttled, Weight::Invalid));
    }

    #[test]
    fn a_reason_names_the_programs_and_asks_to_stop_only_those_that_were_seen() {
        let program =
            |name: &str, owner, share| ProgramShare { name: name.to_owned(), owner, share };
        let rustc = program("rustc", Owner::Other, 0.55);
        let kernel = program("kernel threads", Owner::Kernel, 0.25);
        let text = |programs: &[ProgramShare]| {
            let reason = waited(RunSide::Server, 0.2, Arrivals::AfterReplies).unwrap();
            reason.by(programs).text().replace("; ", "\n") + "\n"
        };
        let users = program("other users", Owner::OtherUsers, 0.5);
        expect_test::expect![[r#"
            other work took 20 % of the CPU time of the server (which waited for it
            rustc 55.0 %
            other work took 75.0 % of a CPU that cannot be stopped from here: kernel threads, other users)
            stop these programs and measure again
            other work took 20 % of the CPU time of the server (which waited for it
            other work took 25.0 % of a CPU that cannot be stopped from here: kernel threads)
            measure for longer, or on another machine
            other work took 20 % of the CPU time of the server (which waited for it
            no program was seen: the hypervisor or interrupts took the time)
            measure for longer, or on another machine
        "#]]
        .assert_eq(&[text(&[kernel.clone(), rustc, users]), text(&[kernel]), text(&[])].concat());
    }
}
