//! While a visit counts, wirebench's own threads sleep: counted are their turns on a CPU, which no other
//! program changes.

use std::{
    collections::BTreeMap,
    fs, thread,
    time::{Duration, Instant},
};

use crate::{cohorts::SHORT, world::World};

/// The time between two samples of all threads.
const BETWEEN_SAMPLES: Duration = Duration::from_millis(50);
/// The visit, and the time at either end of it that may lie outside: the same thread has loaded before.
const VISIT: Duration = Duration::from_secs(3);
const EDGE: Duration = Duration::from_millis(400);
/// The fewest samples within a visit that show something.
const FEWEST_SAMPLES: usize = 10;
/// How often a visit is looked for: on a busy machine the thread that loads may not run between two samples.
const ATTEMPTS: usize = 6;
/// Turns of all threads without load, within a visit of 3 s: each of the two that wait looks once a second.
const MOST_TURNS: u64 = 10;

/// One thread loads, so that it is the only one of the agent that runs.
const SUITE: &str = r#"
description = "An example."
entries = ["builtin/epoll"]
blocks = 1
[[workload]]
name = "hello"
scenario = "hello"
connections = 4
threads = 1
rate = 5000
phases = ["cost"]
duration = "1s"
"#;

/// CPU time in nanoseconds and turns of each thread, by process and thread.
type Sample = BTreeMap<(u32, u32), (u64, u64)>;

fn numbers(path: &str) -> Vec<u64> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn threads(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

/// The process `run`, its agent and the guards of its servers, but not the servers. The agent's threads are
/// those of the child that has `agent` for its argument.
fn sample(run: u32) -> (Sample, Option<u32>) {
    let of_thread = |tid: &u32| numbers(&format!("/proc/{run}/task/{tid}/children"));
    let children = threads(run).iter().flat_map(of_thread).collect::<Vec<_>>();
    let children = children.into_iter().filter_map(|pid| u32::try_from(pid).ok());
    let own: Vec<u32> = children.chain([run]).collect();
    let is_agent = |pid: &&u32| {
        let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.contains("\0agent")
    };
    let turns = |(pid, tid)| match numbers(&format!("/proc/{pid}/task/{tid}/schedstat"))[..] {
        [ran_ns, _, turns] => Some(((pid, tid), (ran_ns, turns))),
        _ => None,
    };
    let all = own.iter().flat_map(|pid| threads(*pid).into_iter().map(|tid| (*pid, tid)));
    (all.filter_map(turns).collect(), own.iter().find(is_agent).copied())
}

/// The thread of the agent that loads: the one that ran for a share of the time between two samples.
fn loading(pair: &[(Sample, Option<u32>)]) -> Option<(u32, u32)> {
    let [(before, _), (after, Some(agent))] = pair else { return None };
    let ran = after.iter().filter(|((pid, tid), _)| pid == agent && tid != agent);
    let ran = ran.filter_map(|(it, (now_ns, _))| Some((now_ns - before.get(it)?.0, *it)));
    let least_ns = u64::try_from(BETWEEN_SAMPLES.as_nanos() / 50).unwrap();
    ran.max().filter(|(ran_ns, _)| *ran_ns > least_ns).map(|(_, it)| it)
}

#[test]
fn threads_without_load_sleep_while_a_visit_counts() {
    assert!((0..ATTEMPTS).any(|_| is_seen_to_be_silent()), "no visit was seen");
}

/// Whether a visit was seen, in which the threads without load must sleep.
fn is_seen_to_be_silent() -> bool {
    let world = World::that_sends().with_suite("one.toml", SUITE);
    let words = ["run", "one", "--blocks=1", "--rounds=1", "--visit=3s"];
    let mut running = world.start(&[&words, &SHORT[..]].concat());
    let (mut samples, mut moments) = (Vec::new(), Vec::new());
    while running.child.try_wait().unwrap().is_none() {
        moments.push(Instant::now());
        samples.push(sample(running.child.id()));
        thread::sleep(BETWEEN_SAMPLES);
    }
    running.end().assert_reported();
    let loading: Vec<_> = samples.windows(2).map(loading).collect();
    let longest =
        loading.chunk_by(|one, other| one.is_some() && one == other).max_by_key(|it| it.len());
    let longest = longest.unwrap();
    let start = loading.windows(longest.len()).position(|it| it == longest).unwrap();
    let end = moments[start + longest.len()];
    let place = |moment| moments.partition_point(|it| *it < moment);
    let (first, last) = (place(end - VISIT + EDGE).max(start), place(end - EDGE));
    if longest[0].is_none() || last < first + FEWEST_SAMPLES {
        return false;
    }
    let ((before, _), (after, _)) = (&samples[first], &samples[last]);
    let others = after.iter().filter(|(it, _)| Some(**it) != longest[0]);
    let turns = others.filter_map(|(it, (_, now))| Some((it, now - before.get(it)?.1)));
    let turns: Vec<_> = turns.filter(|(_, turns)| *turns > 0).collect();
    let sum: u64 = turns.iter().map(|(_, turns)| turns).sum();
    assert!(sum <= MOST_TURNS, "{} own samples: {turns:?}", last - first);
    true
}
