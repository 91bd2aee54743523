//! Whether a server with one worker works on one thing at a time.
//!
//! What counts is how many of its threads want to run at the same moment: a thread that waits for a
//! CPU counts like one that has it, so even one CPU is enough. And no more count than share the CPU
//! time: on a busy machine a thread that only hands requests on waits long and runs for a moment.
//!
//! A thread that accepts, or that hands requests on, runs now and then beside the worker. It stays
//! below the bound on average. Compilers and collectors of the runtime do not count where they are
//! known by their names. V8 gives them no names before Node 22; they work while a program warms up,
//! so what counts is which rounds are more: the good ones or the bad ones. A single round decides
//! nothing, because two workers that are fast have good rounds too.

use rustix::{
    process::Pid,
    time::{ClockId, clock_gettime},
};
use std::{
    collections::BTreeMap,
    fs, io,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};
use wirebench_host::neighbours::CpuTimes;
use wirebench_schema::{
    entry::{Model, Variant},
    scenario::Protocol,
};
use wirebench_server::{launch::Server, parallel};
use wirebench_stats::median;

use super::{
    Verdict,
    flood::Flood,
    process::{KERNEL_THREAD_PREFIX, threads},
};

/// Clients at once. Together they leave no worker without something to do.
const CLIENTS: usize = 4;
/// Connections of each client: enough that each of too many workers gets some.
const CONNECTIONS: usize = 16;
/// How long one round puts load on the server.
const ROUND: Duration = Duration::from_millis(150);
/// The most rounds. Compilers that work while a program warms up are done long before half of
/// them are over.
const ROUNDS: usize = 40;
/// The good rounds decide once they are this many more than the bad ones. Two fast workers have one
/// good round in six; they get this far ahead in one check of two hundred.
const LEAD: usize = 3;
/// Between two looks. It only keeps the looking from being a load of its own.
const PAUSE: Duration = Duration::from_micros(200);
/// Looks at a server at work that a mean needs.
const LOOKS_LEAST: usize = 30;
/// The most threads that want to run on average while any does. Two even workers have two.
const RUNNING_MOST: f64 = 1.5;
/// The same where a runtime hands work over. Two workers have more than three.
const RUNNING_MOST_HANDING_OVER: f64 = 2.5;

/// Share of the server's CPUs that others may use before a failure says nothing of a runtime that
/// hands work over: it does so whenever a neighbour interrupts a thread in the kernel.
const OTHERS_MOST: f64 = 0.25;

/// How runtimes name their own compilers and collectors, cut off as the kernel does. They work while
/// a program warms up, and on a busy machine that takes longer than any check.
const HELPERS: [&str; 12] = [
    // Of the Java virtual machine.
    "C1 CompilerThre",
    "C2 CompilerThre",
    "GC Thread",
    "G1 ",
    "VM Thread",
    "VM Periodic",
    // Of .NET.
    ".NET Tiered",
    ".NET BGC",
    ".NET Server GC",
    ".NET Finalizer",
    // Of V8.
    "V8Worker",
    // Of the kernel, for io_uring.
    KERNEL_THREAD_PREFIX,
];

/// What the runtime of a server does with its threads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Threads {
    Keep,
    /// While a thread is in the kernel for long, the runtime gives its work to another one, and both
    /// want to run when it comes back.
    HandOver,
}

impl Threads {
    /// Go does so whatever the program is made of.
    pub(super) fn of(variant: &Variant) -> Self {
        let hands_over =
            variant.model == Model::Goroutines || variant.id.entry().starts_with("go/");
        if hands_over { Self::HandOver } else { Self::Keep }
    }

    const fn running_most(self) -> f64 {
        match self {
            Self::Keep => RUNNING_MOST,
            Self::HandOver => RUNNING_MOST_HANDING_OVER,
        }
    }
}

/// Puts load on a server that was started with one worker on `cpus`, and counts the threads that want
/// to run.
pub(super) fn check(
    server: &Server,
    protocol: Protocol,
    (threads, cpus): (Threads, &[u32]),
) -> Result<Verdict, String> {
    let most = threads.running_most();
    let (times, clients_ns) = (CpuTimes::read(), own_time_ns());
    let mut server_ns = 0;
    let mut rounds = Vec::new();
    for left in (0..ROUNDS).rev() {
        let (looks, ran_ns) = round(server, protocol)?;
        server_ns += ran_ns.iter().sum::<u64>();
        // Only workers both want to run at the same time and get CPU time: a thread that hands
        // requests on waits long for a CPU on a busy machine, and then works for a moment.
        let wanting = mean_while_running(&looks);
        rounds
            .extend(wanting.zip(equal_threads(&ran_ns)).map(|(wanting, equal)| wanting.min(equal)));
        if is_decided(&rounds, most, left) {
            break;
        }
    }
    let known_ns = server_ns + own_time_ns().saturating_sub(clients_ns);
    let others = CpuTimes::read().others_since(&times, cpus, known_ns);
    Ok(discount(judge(&rounds, most), threads, others))
}

/// The CPU time of this process, whose threads are the clients.
fn own_time_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).map_or(0, |time| time.as_nanos() as u64)
}

/// The verdict, given the share of the CPUs that others used.
fn discount(verdict: Verdict, threads: Threads, others: f64) -> Verdict {
    match verdict {
        Verdict::Fail { .. } if threads == Threads::HandOver && others > OTHERS_MOST => {
            let share = others * 100.0;
            let reason = format!(
                "other programs used {share:.0} % of its CPUs, and its runtime hands work over whenever they \
                 interrupt it: stop them and check again"
            );
            Verdict::Skip { reason }
        }
        verdict => verdict,
    }
}

/// How many of the rounds were good and how many bad.
fn count(rounds: &[f64], most: f64) -> (usize, usize) {
    let good = rounds.iter().filter(|mean| **mean <= most).count();
    (good, rounds.len() - good)
}

/// Whether the rounds that are left are not needed: the good ones lead, or the bad ones would remain
/// at least as many even if all that are left were good.
fn is_decided(rounds: &[f64], most: f64, left: usize) -> bool {
    let (good, bad) = count(rounds, most);
    good >= bad + LEAD || bad >= good + left
}

fn judge(rounds: &[f64], most: f64) -> Verdict {
    let (good, bad) = count(rounds, most);
    match median(rounds) {
        None => Verdict::Skip {
            reason: "it was never seen at work: its threads or the machine gave no chance to look"
                .into(),
        },
        Some(_) if good > bad => Verdict::Pass,
        Some(middle) => Verdict::Fail {
            finding: format!(
                "it was started with one worker, but under {} busy connections {middle:.1} of its threads wanted \
                 to run at the same time on average: WORKERS must bound how many threads or processes do the work",
                CLIENTS * CONNECTIONS
            ),
        },
    }
}

/// How many threads wanted to run, at each of many moments of load, and for how long each ran.
fn round(server: &Server, protocol: Protocol) -> Result<(Vec<usize>, Vec<u64>), String> {
    let clients: Result<Vec<Flood>, String> =
        (0..CLIENTS).map(|_| Flood::open(protocol, server.address(), CONNECTIONS)).collect();
    let clients = clients?;
    let pids = server.tree();
    let working = AtomicUsize::new(clients.len());
    let load = |mut flood: Flood| {
        let outcome = flood.keep_full(ROUND);
        working.fetch_sub(1, Ordering::Relaxed);
        outcome
    };
    let load = &load;
    thread::scope(|scope| {
        let start = |flood| parallel::spawn_in(scope, move || load(flood));
        let clients: io::Result<Vec<_>> = clients.into_iter().map(start).collect();
        let clients = clients.map_err(|error| error.to_string())?;
        let before = ran(&pids);
        let mut looks = Vec::new();
        while working.load(Ordering::Relaxed) == CLIENTS {
            looks.push(running(&pids));
            thread::sleep(PAUSE);
        }
        let ran_ns = ran_since(&before, &pids);
        for client in clients {
            client.join().map_err(|_| "a client of the check has panicked")??;
        }
        Ok((looks, ran_ns))
    })
}

/// The mean over the looks that saw the server at work; absent when there were too few.
fn mean_while_running(looks: &[usize]) -> Option<f64> {
    let busy: Vec<usize> = looks.iter().copied().filter(|&running| running > 0).collect();
    let sum: usize = busy.iter().sum();
    (busy.len() >= LOOKS_LEAST).then(|| sum as f64 / busy.len() as f64)
}

/// The CPU time of all threads over that of the one that ran most: as many threads that ran equally
/// long would have used the same. None when none ran.
fn equal_threads(ran_ns: &[u64]) -> Option<f64> {
    let most = ran_ns.iter().copied().max().filter(|most| *most > 0)?;
    Some(ran_ns.iter().sum::<u64>() as f64 / most as f64)
}

/// How many threads of the processes run or wait for a CPU now.
fn running(pids: &[Pid]) -> usize {
    let all = threads(pids).into_iter();
    let stats = all.filter_map(|(_, folder)| fs::read_to_string(format!("{folder}/stat")).ok());
    stats.filter(|stat| wants_to_run(stat)).count()
}

/// The CPU time of each thread that is no helper, in nanoseconds.
pub(super) fn ran(pids: &[Pid]) -> BTreeMap<PathBuf, u64> {
    times(pids, |ran_ns, _| ran_ns)
}

/// For how long all threads that are no helpers ran or waited for a CPU, in nanoseconds.
pub(super) fn wanted_cpu_ns(pids: &[Pid]) -> u64 {
    times(pids, |ran_ns, waited_ns| ran_ns + waited_ns).values().sum()
}

fn times(pids: &[Pid], of: impl Fn(u64, u64) -> u64) -> BTreeMap<PathBuf, u64> {
    let time = |(_, folder): (_, String)| {
        let stat = fs::read_to_string(format!("{folder}/stat")).ok()?;
        let times = fs::read_to_string(format!("{folder}/schedstat")).ok()?;
        let mut times = times.split(' ').map(str::parse);
        let (ran_ns, waited_ns) = (times.next()?.ok()?, times.next()?.ok()?);
        (!is_helper(&stat)).then(|| (PathBuf::from(folder), of(ran_ns, waited_ns)))
    };
    threads(pids).into_iter().filter_map(time).collect()
}

/// For how long each thread that is no helper ran after `before`, in nanoseconds.
pub(super) fn ran_since(before: &BTreeMap<PathBuf, u64>, pids: &[Pid]) -> Vec<u64> {
    let since = |(thread, now): (PathBuf, u64)| {
        now.saturating_sub(before.get(&thread).copied().unwrap_or(0))
    };
    ran(pids).into_iter().map(since).collect()
}

/// Whether the line of a thread says that it wants to run and is nobody's helper.
fn wants_to_run(stat: &str) -> bool {
    // A name may have any characters, also brackets; the state follows the last one.
    let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    state.starts_with('R') && !is_helper(stat)
}

fn is_helper(stat: &str) -> bool {
    let name = stat.split_once('(').map_or("", |(_, rest)| rest);
    HELPERS.iter().any(|helper| name.starts_with(helper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_want_to_run_are_distinguished_from_those_that_wait() {
        assert!(wants_to_run("12 (server) R 1 12 12 0"));
        assert!(wants_to_run("12 (a) S (b)) R 1 12 12 0"));
        assert!(!wants_to_run("12 (server) S 1 12 12 0"));
        assert!(!wants_to_run("12 (iou-wrk-12) R 1 12 12 0"));
        assert!(!wants_to_run("12 (GC Thread#1) R 1 12 12 0"));
        assert!(!wants_to_run(""));
        // This very thread runs while it looks.
        assert!(running(&[rustix::process::getpid()]) >= 1);
        assert_eq!(running(&[]), 0);
    }

    /// The verdict of a check in whose rounds this many threads wanted to run.
    fn verdict(means: &[f64]) -> Verdict {
        let needed = (1..=ROUNDS)
            .find(|count| is_decided(&means[..*count], RUNNING_MOST, ROUNDS - count))
            .unwrap_or(ROUNDS);
        judge(&means[..needed], RUNNING_MOST)
    }

    fn rounds(first: &[f64], others: f64) -> Vec<f64> {
        let mut all = first.to_vec();
        all.resize(ROUNDS, others);
        all
    }

    #[test]
    fn a_runtime_that_warms_up_does_not_make_one_worker_two() {
        assert_eq!(verdict(&rounds(&[], 1.1)), Verdict::Pass);
        assert_eq!(verdict(&rounds(&[3.5, 3.7, 2.7, 1.9, 1.6], 1.1)), Verdict::Pass);
        assert_eq!(verdict(&rounds(&[3.5; 18], 1.1)), Verdict::Pass);
    }

    #[test]
    fn two_workers_are_not_one_because_of_a_few_good_rounds() {
        for lucky in [&[][..], &[1.1], &[1.4, 1.9, 1.3], &[1.9, 1.2, 1.2, 1.9]] {
            let Verdict::Fail { finding } = verdict(&rounds(lucky, 1.8)) else {
                panic!("{lucky:?} hides two workers");
            };
            let expected = "it was started with one worker, but under 64 busy connections 1.8 of its \
                            threads wanted to run at the same time on average: WORKERS must bound \
                            how many threads or processes do the work";
            assert_eq!(finding, expected);
        }
        let mut last = rounds(&[], 1.8);
        last[ROUNDS - 1] = 1.0;
        assert!(matches!(verdict(&last), Verdict::Fail { .. }));
    }

    #[test]
    fn a_failure_of_a_runtime_that_hands_work_over_needs_a_machine_without_neighbours() {
        let fail = || judge(&[2.6; 3], RUNNING_MOST_HANDING_OVER);
        assert!(matches!(fail(), Verdict::Fail { .. }));
        assert_eq!(discount(fail(), Threads::HandOver, 0.2), fail());
        assert_eq!(discount(fail(), Threads::Keep, 0.9), fail());
        let Verdict::Skip { reason } = discount(fail(), Threads::HandOver, 0.6) else {
            panic!("the neighbours count");
        };
        assert!(reason.starts_with("other programs used 60 % of its CPUs"), "{reason}");
        assert_eq!(discount(Verdict::Pass, Threads::HandOver, 0.9), Verdict::Pass);
    }

    #[test]
    fn no_more_rounds_are_made_than_are_needed() {
        assert!(is_decided(&[1.0; 3], RUNNING_MOST, ROUNDS - 3));
        assert!(!is_decided(&[1.0; 2], RUNNING_MOST, ROUNDS - 2));
        assert!(!is_decided(&[1.8; 19], RUNNING_MOST, ROUNDS - 19));
        assert!(is_decided(&[1.8; 20], RUNNING_MOST, ROUNDS - 20));
        assert!(matches!(judge(&[], RUNNING_MOST), Verdict::Skip { .. }));
    }

    #[test]
    fn a_thread_that_hardly_runs_is_no_worker_however_long_it_waits_for_a_cpu() {
        assert_eq!(equal_threads(&[100, 100, 0]), Some(2.0));
        assert_eq!(equal_threads(&[100, 8, 2]), Some(1.1));
        assert_eq!(equal_threads(&[0, 0]), None);
        assert!(!ran(&[rustix::process::getpid()]).is_empty());
    }

    #[test]
    fn only_looks_at_a_server_at_work_count_and_there_must_be_enough() {
        let mut looks = vec![0; 1000];
        assert_eq!(mean_while_running(&looks), None);
        looks.extend(vec![1; LOOKS_LEAST]);
        looks.extend(vec![2; LOOKS_LEAST]);
        let mean = mean_while_running(&looks).unwrap();
        assert!((mean - 1.5).abs() < 1e-9, "{mean}");
    }
}
