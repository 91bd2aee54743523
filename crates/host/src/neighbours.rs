//! What else used the CPUs during a run: other programs, the hypervisor's other guests,
//! and the limits of a control group. It tells who was there, and never who was right.
//!
//! Two clocks tell of other programs. The kernel counts the time of a CPU in ticks of 10 ms, and
//! most kernels only look at each tick who runs, so small shares of short windows do not show. It
//! also counts, in nanoseconds, how long each thread was ready to run while another one had its
//! CPU. That shows what a neighbour did to the side in windows of any length, unless the side's own
//! threads compete for its CPUs.

mod cpu_times;
mod programs;
mod throttle;

use rustix::process::Pid;
use wirebench_judge::neighbours::{MachineUse, SideUse};
use wirebench_schema::journal::{Placement, RunSide};
use wirebench_server::threads::{self, Threads};

pub use cpu_times::CpuTimes;
pub use programs::Programs;
pub use throttle::Throttled;

/// The clocks of the machine at one moment, as far as they tell of others.
#[derive(Clone, Debug)]
pub struct Machine {
    cpus: CpuTimes,
    throttled: Throttled,
    generator: Threads,
    /// What a wake-up takes of each wait of a thread.
    wake_up_ns: u64,
}

struct Side<'a> {
    side: RunSide,
    cpus: &'a [u32],
    /// What it used by its own account.
    own_ns: u64,
    threads: (&'a Threads, &'a Threads),
}

impl Machine {
    /// Reads them. What cannot be read accuses no process.
    pub fn read(generator: Option<Pid>) -> Self {
        Self {
            cpus: CpuTimes::read(),
            throttled: Throttled::read(),
            generator: Threads::of(generator.as_slice()),
            wake_up_ns: threads::wake_up_ns(),
        }
    }

    /// What others took since `before`. The sides have used `server_ns` and
    /// `generator_ns` of CPU time by their own account. The server's threads were looked at before
    /// the load and after it.
    pub fn used(
        &self,
        before: &Self,
        placement: &Placement,
        (server_ns, generator_ns): (u64, u64),
        server_threads: (&Threads, &Threads),
    ) -> MachineUse {
        let elapsed = self.cpus.since(&before.cpus);
        let throttled_ns = self.throttled.ns_since(&before.throttled);
        if !placement.pinned || !placement.disjoint {
            return MachineUse { elapsed, throttled_ns, sides: Vec::new() };
        }
        let sides = [
            Side {
                side: RunSide::Server,
                cpus: &placement.server_cpus,
                own_ns: server_ns,
                threads: server_threads,
            },
            Side {
                side: RunSide::Generator,
                cpus: &placement.generator_cpus,
                own_ns: generator_ns,
                threads: (&before.generator, &self.generator),
            },
        ];
        let sides = sides.map(|side| {
            let used = self.cpus.used_since(&before.cpus, side.cpus);
            SideUse {
                side: side.side,
                cpus: side.cpus.len(),
                elapsed,
                others_ns: used.busy_ns.saturating_sub(side.own_ns),
                waited: side.waited(self.wake_up_ns, throttled_ns),
                stolen_ns: used.stolen_ns,
            }
        });
        MachineUse { elapsed, throttled_ns, sides: sides.to_vec() }
    }
}

/// What others took from the sides of one visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VisitInterference {
    /// Share of the load in which a thread of the server waited for others, 0 to 1.
    pub server_waited: f64,
    pub generator_waited: f64,
    /// CPU time that the hypervisor gave to other guests.
    pub stolen_ns: u64,
    /// Time in which a control group held the sides back.
    pub throttled_ns: u64,
}

impl Machine {
    /// What others took since `before` from a load of this length, of whose window the generator waited so long.
    pub fn taken(
        &self,
        before: &Self,
        placement: &Placement,
        server_threads: (&Threads, &Threads),
        load_ns: u64,
        (generator_waited_ns, window_ns): (u64, u64),
    ) -> VisitInterference {
        let throttled_ns = self.throttled.ns_since(&before.throttled);
        let share = |waited_ns: u64, of_ns: u64| {
            (waited_ns.saturating_sub(throttled_ns) as f64 / of_ns.max(1) as f64).min(1.0)
        };
        let stolen = |cpus: &[u32]| self.cpus.used_since(&before.cpus, cpus).stolen_ns;
        let is_apart = placement.pinned && placement.disjoint;
        let Placement { server_cpus, generator_cpus, .. } = placement;
        let (threads_before, threads_after) = server_threads;
        let server_waited_ns =
            threads_after.waited_since(threads_before, server_cpus.len(), self.wake_up_ns);
        VisitInterference {
            // Without CPUs of their own, the sides are each other's neighbours.
            server_waited: if is_apart { share(server_waited_ns, load_ns) } else { 0.0 },
            generator_waited: if is_apart { share(generator_waited_ns, window_ns) } else { 0.0 },
            stolen_ns: stolen(server_cpus) + stolen(generator_cpus),
            throttled_ns,
        }
    }
}

impl Side<'_> {
    /// The share of the time in which a thread of it waited for others. While the control group is held back, its
    /// threads wait for no other program.
    fn waited(&self, wake_up_ns: u64, throttled_ns: u64) -> f64 {
        let (before, after) = self.threads;
        let waited_ns = after.waited_since(before, self.cpus.len(), wake_up_ns);
        let waited_ns = waited_ns.saturating_sub(throttled_ns);
        let elapsed_ns = after.since(before).as_nanos().max(1);
        // The kernel counts a wait when it ends, so one that began before may be longer.
        (waited_ns as f64 / elapsed_ns as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests;
