//! Who else used the CPUs on which a run was made: other programs, the hypervisor's other guests,
//! and the limits of a control group. It tells who was there, and never who was right.
//!
//! Two clocks tell of other programs. The kernel counts the time of a CPU in ticks of 10 ms, and
//! most kernels only look at each tick who runs, so small shares of short windows do not show. It
//! also counts, in nanoseconds, how long each thread was ready to run while another one had its
//! CPU. That shows what a neighbour did to the side in windows of any length, unless the side's own
//! threads compete for its CPUs.

mod before;
mod cpu_times;
mod threads;
mod throttle;

use rustix::process::Pid;
use std::time::Duration;
use wirebench_schema::journal::{PAUSE_AND_CATCHING_UP, Placement, Reason, ReasonKind, Weight};

pub(crate) use before::busy_before;
pub(crate) use cpu_times::CpuTimes;
pub(crate) use threads::Threads;
use throttle::Throttled;

/// Share of the window from which on a neighbour makes the figures another thing.
const SPOILS_SHARE: f64 = 0.1;
/// Share of the window above which a neighbour that made a side wait is worth a word.
const NOTED_SHARE: f64 = 0.03;
/// Share of the window from which on those who made a side wait are the 99th percentile of the
/// requests that came at moments of their own.
const TAIL_SHARE: f64 = 0.01 / PAUSE_AND_CATCHING_UP;
/// Ticks of 10 ms in fewer than fifty do not tell one program from another.
const TICKS_TELL: Duration = Duration::from_millis(500);
/// Stolen and throttled time below which the clocks are too coarse to accuse anybody: two ticks.
const NOTICED_NS: f64 = 20e6;
/// Shares of the window from which on stolen time is worth a word, and from which on it spoils: the
/// machine is that much slower than it says.
const STOLEN_NOTED: f64 = 0.01;
const STOLEN_SPOILS: f64 = 0.05;
/// A hundredth of the window in one piece is the 99th percentile of the latencies in it.
const THROTTLED_SPOILS: f64 = 0.01;

/// When requests come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Arrivals {
    /// When a reply has come: a pause meets as many requests as there are connections.
    AfterReplies,
    /// At moments of their own: a pause meets all that are due in it.
    AtMoments,
}

/// The clocks of the machine at one moment, as far as they tell of others.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    cpus: CpuTimes,
    throttled: Throttled,
    generator: Threads,
    /// What a wake-up takes of each wait of a thread.
    wake_up_ns: u64,
}

/// One side of a run.
struct Side<'a> {
    name: &'static str,
    cpus: &'a [u32],
    /// What it used by its own account.
    own_ns: u64,
    /// Its threads, before and after.
    threads: (&'a Threads, &'a Threads),
}

impl Machine {
    /// Reads them. What cannot be read accuses no process.
    pub(crate) fn read(generator: Option<Pid>) -> Self {
        Self {
            cpus: CpuTimes::read(),
            throttled: Throttled::read(),
            generator: Threads::of(generator.as_slice()),
            wake_up_ns: threads::wake_up_ns(),
        }
    }

    /// What must be said of the time since `before`. The sides have used `server_ns` and
    /// `generator_ns` of CPU time by their own account. The server's threads were looked at before
    /// the load and after it.
    pub(crate) fn reasons(
        &self,
        before: &Self,
        placement: &Placement,
        (server_ns, generator_ns): (u64, u64),
        server_threads: (&Threads, &Threads),
        arrivals: Arrivals,
    ) -> Vec<Reason> {
        let elapsed = self.cpus.since(&before.cpus);
        let mut reasons: Vec<Reason> =
            throttled(self.throttled.ns_since(&before.throttled), elapsed).into_iter().collect();
        // Without CPUs of their own, the sides are each other's neighbours.
        if !placement.pinned || !placement.disjoint {
            return reasons;
        }
        let sides = [
            Side {
                name: "server",
                cpus: &placement.server_cpus,
                own_ns: server_ns,
                threads: server_threads,
            },
            Side {
                name: "generator",
                cpus: &placement.generator_cpus,
                own_ns: generator_ns,
                threads: (&before.generator, &self.generator),
            },
        ];
        for side in sides {
            let used = self.cpus.used_since(&before.cpus, side.cpus);
            let others_ns = used.busy_ns.saturating_sub(side.own_ns);
            let found = [
                neighbour(&side, elapsed, others_ns, side.waited(self.wake_up_ns), arrivals),
                stolen(&side, elapsed, used.stolen_ns, arrivals),
            ];
            reasons.extend(found.into_iter().flatten());
        }
        reasons
    }
}

/// What others took from the sides of one slice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Taken {
    /// Share of the load in which a thread of the server waited for others, 0 to 1.
    pub(crate) server_waited: f64,
    /// The same of the generator.
    pub(crate) generator_waited: f64,
    /// CPU time that the hypervisor gave to other guests.
    pub(crate) stolen_ns: u64,
    /// Time in which a control group held the sides back.
    pub(crate) throttled_ns: u64,
}

impl Machine {
    /// What others took since `before` from a load of this length.
    pub(crate) fn taken(
        &self,
        before: &Self,
        placement: &Placement,
        server_threads: (&Threads, &Threads),
        load_ns: u64,
    ) -> Taken {
        let waited = |(before, after): (&Threads, &Threads), cpus: &[u32]| {
            let waited_ns = after.waited_since(before, cpus.len(), self.wake_up_ns);
            (waited_ns as f64 / load_ns.max(1) as f64).min(1.0)
        };
        let stolen = |cpus: &[u32]| self.cpus.used_since(&before.cpus, cpus).stolen_ns;
        let is_apart = placement.pinned && placement.disjoint;
        let Placement { server_cpus, generator_cpus, .. } = placement;
        Taken {
            // Without CPUs of their own, the sides are each other's neighbours.
            server_waited: if is_apart { waited(server_threads, server_cpus) } else { 0.0 },
            generator_waited: match is_apart {
                true => waited((&before.generator, &self.generator), generator_cpus),
                false => 0.0,
            },
            stolen_ns: stolen(server_cpus) + stolen(generator_cpus),
            throttled_ns: self.throttled.ns_since(&before.throttled),
        }
    }
}

/// What must be said where a side waited for this share of the loads that count.
pub(crate) fn waited(side: &'static str, share: f64, arrivals: Arrivals) -> Option<Reason> {
    let noted = match arrivals {
        Arrivals::AfterReplies => NOTED_SHARE,
        Arrivals::AtMoments => TAIL_SHARE,
    };
    let text = format!(
        "the {side} waited {:.1} % of the window for CPUs that other programs used",
        share * 100.0
    );
    let weight = weight(share, SPOILS_SHARE, arrivals);
    (share > noted).then(|| ReasonKind::Neighbour.reason(weight, Some(share), text))
}

impl Side<'_> {
    /// The share of the time in which a thread of it waited for others.
    fn waited(&self, wake_up_ns: u64) -> f64 {
        let (before, after) = self.threads;
        let waited_ns = after.waited_since(before, self.cpus.len(), wake_up_ns);
        let elapsed_ns = after.since(before).as_nanos().max(1);
        // The kernel counts a wait when it ends, so one that began before may be longer.
        (waited_ns as f64 / elapsed_ns as f64).min(1.0)
    }
}

/// The share of the CPU time of a side that ticks must show before they accuse: three times the
/// standard deviation of a share that is found by looking a hundred times a second.
fn ticks_accuse(elapsed: Duration, cpus: usize) -> f64 {
    let looks = elapsed.as_secs_f64() * 100.0 * cpus as f64;
    SPOILS_SHARE.max(3.0 * 0.5 / looks.sqrt())
}

/// What other programs did to a side, by the ticks and by its own waiting.
fn neighbour(
    side: &Side<'_>,
    elapsed: Duration,
    others_ns: u64,
    waited: f64,
    arrivals: Arrivals,
) -> Option<Reason> {
    let Side { name, cpus, .. } = side;
    let elapsed_ns = elapsed.as_nanos() as f64;
    let used = others_ns as f64 / (elapsed_ns * cpus.len() as f64);
    let used = (elapsed >= TICKS_TELL && used > ticks_accuse(elapsed, cpus.len())).then_some(used);
    let noted = match arrivals {
        Arrivals::AfterReplies => NOTED_SHARE,
        Arrivals::AtMoments => TAIL_SHARE,
    };
    let waited = (waited > noted).then_some(waited);
    let of = |share: f64| share * 100.0;
    let text = match (used, waited) {
        (None, None) => return None,
        (Some(used), None) => {
            format!("other programs used {:.0} % of the {name}'s CPUs in the window", of(used))
        }
        (None, Some(waited)) => {
            format!(
                "the {name} waited {:.1} % of the window for CPUs that other programs used",
                of(waited)
            )
        }
        (Some(used), Some(waited)) => format!(
            "other programs used {:.0} % of the {name}'s CPUs in the window, and it waited {:.1} % \
             of the window for them",
            of(used),
            of(waited)
        ),
    };
    let share = used.unwrap_or(0.0).max(waited.unwrap_or(0.0));
    let weight = weight(share, SPOILS_SHARE, arrivals);
    Some(ReasonKind::Neighbour.reason(weight, Some(share), text))
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

fn stolen(
    side: &Side<'_>,
    elapsed: Duration,
    stolen_ns: u64,
    arrivals: Arrivals,
) -> Option<Reason> {
    let stolen = stolen_ns as f64;
    let share = stolen / (elapsed.as_nanos() as f64 * side.cpus.len() as f64);
    let weight = weight(share, STOLEN_SPOILS, arrivals);
    let text = format!(
        "the hypervisor took {:.0} % of the {}'s CPUs in the window",
        share * 100.0,
        side.name
    );
    let says = stolen > NOTICED_NS && share > STOLEN_NOTED;
    says.then(|| ReasonKind::Stolen.reason(weight, Some(share), text))
}

fn throttled(ns: u64, elapsed: Duration) -> Option<Reason> {
    let is_long = ns as f64 > THROTTLED_SPOILS * elapsed.as_nanos() as f64;
    let weight = if is_long { Weight::Invalid } else { Weight::Note };
    let text = format!(
        "the CPU limit of the control group paused server or generator for {:.1} ms in the window, summed \
         over CPUs",
        ns as f64 / 1e6
    );
    (ns > 0).then(|| ReasonKind::Throttled.reason(weight, Some(ns as f64), text))
}

#[cfg(test)]
mod tests;
