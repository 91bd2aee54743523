//! The figures of one profile per request, and their differences from another one. Pure; also their form in JSON.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::journal::{self, Profile, WhyOutcome};

use super::{
    cause,
    names::{self, KERNEL},
    profile,
};
use crate::view::{Frame, Why};

/// With fewer samples, a function with a tenth of the CPU time has a third more or less of it by chance.
pub(super) const LEAST_SAMPLES: u64 = 100;
/// A difference within this many standard errors of sampling is none.
const ERRORS: f64 = 2.0;

impl<'a> Why<'a> {
    /// The figures, without the sentence.
    pub(super) fn new(why: &'a journal::Why, reference: Option<&'a journal::Why>) -> Self {
        let reference = reference.filter(|it| it.variant != why.variant);
        let mut made = Self {
            variant: why.variant.to_string(),
            workload: &why.workload,
            failure: match &why.outcome {
                WhyOutcome::Failed(reason) => Some(reason),
                WhyOutcome::Profiled(_) => None,
            },
            ..Self::default()
        };
        let Some(own) = profile(why) else { return made };
        made.calls_per_request = calls(own);
        let switches = own.context_switches as f64 / own.counted_requests.max(1) as f64;
        made.context_switches_per_request = Some(switches);
        let times = stacks(own);
        made.cpu_ns_per_request = Some(times.values().sum());
        made.samples = own.samples;
        let of_kernel = times.iter().filter(|(stack, _)| stack.ends_with(KERNEL));
        made.kernel_ns_per_request = Some(of_kernel.map(|(_, ns)| ns).sum());
        let other = reference.and_then(|it| Some((it, profile(it)?)));
        let both = both([Some(own), other.map(|(_, other)| other)].into_iter().flatten());
        let functions = functions(&both);
        let own_functions = functions.iter().filter(|(_, it)| it.total_ns[0] > 0.0);
        made.frames = sorted(own_functions.map(|(symbol, it)| it.frame(symbol, 0.0)));
        let Some((reference, other)) = other else { return made };
        made.compared_with = Some(reference.variant.to_string());
        made.calls_differ = calls_differ(&made.calls_per_request, &calls(other));
        let samples = [own, other].map(|it| it.samples);
        if samples.iter().all(|it| *it >= LEAST_SAMPLES) {
            let all = both.values().copied().fold([0.0; 2], added);
            let differ = functions.iter().filter(|(_, it)| differ(it.self_ns, all, samples));
            made.frames_differ = sorted(differ.map(|(symbol, it)| it.frame(symbol, 1.0)));
            made.cause = cause::cause(both.clone(), all, samples);
        }
        made
    }

    /// All system calls of a request.
    pub(super) fn all_calls(&self) -> f64 {
        self.calls_per_request.values().sum()
    }
}

fn calls(profile: &Profile) -> BTreeMap<&str, f64> {
    let requests = profile.counted_requests.max(1) as f64;
    let mut calls = BTreeMap::new();
    for (name, count) in &profile.calls {
        *calls.entry(names::call(name)).or_default() += *count as f64 / requests;
    }
    calls
}

/// The CPU time of a request by stack, in nanoseconds. All together are what the CPU clocks of the server show,
/// where these are known.
pub(super) fn stacks(profile: &Profile) -> BTreeMap<String, f64> {
    let sampled = profile.stacks.values().sum::<u64>().max(1);
    let share = profile.cpu_ns.unwrap_or(sampled) as f64 / sampled as f64;
    let each = share / profile.sampled_requests.max(1) as f64;
    let mut stacks = BTreeMap::new();
    for (stack, ns) in &profile.stacks {
        let (thread, frames) = stack.split_once(';').unwrap_or((stack, ""));
        let frames: Vec<String> = frames.split(';').map(names::function).collect();
        *stacks.entry(format!("{thread};{}", frames.join(";"))).or_default() += *ns as f64 * each;
    }
    stacks
}

/// The CPU time of a request of up to two profiles by stack, without the names of threads, so that equal frames meet.
pub(super) fn both<'a>(profiles: impl IntoIterator<Item = &'a Profile>) -> Stacks {
    let mut both = Stacks::new();
    for (side, profile) in profiles.into_iter().enumerate() {
        for (stack, ns) in stacks(profile) {
            let frames = stack.split_once(';').map_or("", |(_, frames)| frames);
            both.entry(frames.to_owned()).or_default()[side] += ns;
        }
    }
    both
}

pub(super) type Stacks = BTreeMap<String, [f64; 2]>;

/// The CPU time of a function in two profiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    self_ns: [f64; 2],
    pub(super) total_ns: [f64; 2],
    /// The number of its callers.
    pub(super) depth: usize,
}

impl Function {
    /// Without a part of the second profile.
    fn frame(&self, symbol: &str, part: f64) -> Frame {
        let [self_ns, total_ns] = [self.self_ns, self.total_ns].map(|it| it[0] - part * it[1]);
        Frame { symbol: symbol.to_owned(), self_ns, total_ns }
    }
}

pub(super) fn functions(stacks: &Stacks) -> BTreeMap<&str, Function> {
    let mut functions: BTreeMap<&str, Function> = BTreeMap::new();
    for (stack, ns) in stacks {
        let symbols: Vec<&str> = stack.split(';').collect();
        for (depth, symbol) in symbols.iter().enumerate() {
            let function = functions.entry(symbol).or_default();
            if !symbols[..depth].contains(symbol) {
                function.total_ns = added(function.total_ns, *ns);
                function.depth = function.depth.max(depth);
            }
            if depth + 1 == symbols.len() {
                function.self_ns = added(function.self_ns, *ns);
            }
        }
    }
    functions
}

pub(super) fn added(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

/// The frames with the most time first.
fn sorted(frames: impl Iterator<Item = Frame>) -> Vec<Frame> {
    let size = |it: &Frame| (it.self_ns.abs(), it.total_ns.abs());
    let mut frames: Vec<Frame> = frames.collect();
    frames.sort_by(|a, b| size(b).partial_cmp(&size(a)).unwrap_or(std::cmp::Ordering::Equal));
    frames
}

fn calls_differ<'a>(
    own: &BTreeMap<&'a str, f64>,
    other: &BTreeMap<&'a str, f64>,
) -> Vec<(&'a str, f64)> {
    let names: BTreeSet<&&str> = own.keys().chain(other.keys()).collect();
    let of = |calls: &BTreeMap<&str, f64>, name| calls.get(name).copied().unwrap_or(0.0);
    let difference = |name: &&'a str| (*name, of(own, *name) - of(other, *name));
    let mut calls: Vec<_> = names.into_iter().map(difference).collect();
    calls.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    calls
}

/// Compares two times of a function with the error of sampling, by those of all functions.
pub(super) fn differ(ns: [f64; 2], all: [f64; 2], samples: [u64; 2]) -> bool {
    // Samples are independent, so their number in a function is binomial.
    let variance = |side: usize| ns[side] * (all[side] - ns[side]) / samples[side] as f64;
    (ns[0] - ns[1]).abs() > ERRORS * (variance(0) + variance(1)).max(0.0).sqrt()
}
