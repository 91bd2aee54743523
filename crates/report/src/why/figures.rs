//! The figures of one profile per request, and their differences from another one. Pure; also their form in JSON.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::journal::{self, Profile, WhyOutcome};

use super::profile;

/// The end of the frames of the kernel.
const KERNEL: &str = "_[k]";
/// Of CPU time, in every profile.
const SAMPLES_PER_SECOND: f64 = 997.0;
/// A difference within this many standard errors of sampling is none.
const ERRORS: f64 = 2.0;

/// A profile, and what differs from that of the baseline. It counts in no other figure.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Why<'a> {
    /// The variant.
    pub variant: String,
    /// The workload's name.
    pub workload: &'a str,
    /// The variant that it is compared with; absent for that one itself, and without its profile.
    pub compared_with: Option<String>,
    /// What differs most, or why there is no profile.
    pub sentence: String,
    /// Why there is no profile; otherwise null.
    pub failure: Option<&'a str>,
    /// System calls per request by name, the most frequent first in `calls_differ`.
    pub calls_per_request: BTreeMap<&'a str, f64>,
    /// Context switches per request.
    pub context_switches_per_request: Option<f64>,
    /// CPU time per request while stacks were sampled, in nanoseconds.
    pub cpu_ns_per_request: Option<f64>,
    /// The part of it in the kernel.
    pub kernel_ns_per_request: Option<f64>,
    /// Functions by the CPU time that they take themselves, the most first.
    pub frames: Vec<Frame<'a>>,
    /// System calls per request that differ, the largest difference first: this variant minus the other one.
    pub calls_differ: Vec<(&'a str, f64)>,
    /// Functions that differ, the largest difference of their own time first.
    /// Differences within twice the standard error of sampling are absent.
    pub frames_differ: Vec<Frame<'a>>,
}

/// A function, or the difference of it between two profiles.
#[derive(Clone, Copy, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct Frame<'a> {
    /// Its symbol, or the file of one that has none; `_[k]` at the end means the kernel.
    pub symbol: &'a str,
    /// CPU time per request in the function itself, in nanoseconds.
    pub self_ns: f64,
    /// The same with all functions that it calls.
    pub total_ns: f64,
}

impl<'a> Why<'a> {
    /// The figures, without the sentence.
    pub(super) fn new(why: &'a journal::Why, reference: Option<&'a journal::Why>) -> Self {
        let reference = reference.filter(|it| it.variant != why.variant);
        let mut made = Self {
            variant: why.variant.to_string(),
            workload: &why.workload,
            compared_with: None,
            sentence: String::new(),
            failure: match &why.outcome {
                WhyOutcome::Failed(reason) => Some(reason),
                WhyOutcome::Profiled(_) => None,
            },
            calls_per_request: BTreeMap::new(),
            context_switches_per_request: None,
            cpu_ns_per_request: None,
            kernel_ns_per_request: None,
            frames: Vec::new(),
            calls_differ: Vec::new(),
            frames_differ: Vec::new(),
        };
        let Some(own) = profile(why) else { return made };
        made.calls_per_request = calls(own);
        let switches = own.context_switches as f64 / own.counted_requests.max(1) as f64;
        made.context_switches_per_request = Some(switches);
        let times = stacks(own);
        made.cpu_ns_per_request = Some(times.values().sum());
        let of_kernel = times.iter().filter(|(stack, _)| stack.ends_with(KERNEL));
        made.kernel_ns_per_request = Some(of_kernel.map(|(_, ns)| ns).sum());
        made.frames = sorted(frames(own).into_values());
        let other = reference.and_then(|it| Some((it, profile(it)?)));
        if let Some((reference, other)) = other {
            made.compared_with = Some(reference.variant.to_string());
            made.calls_differ = calls_differ(&made.calls_per_request, &calls(other));
            made.frames_differ = frames_differ(own, other);
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
    profile.calls.iter().map(|(name, count)| (name.as_str(), *count as f64 / requests)).collect()
}

/// The CPU time of a request by stack, in nanoseconds. All together are what the CPU clocks of the server show,
/// where these are known.
pub(super) fn stacks(profile: &Profile) -> BTreeMap<&str, f64> {
    let sampled = profile.stacks.values().sum::<u64>().max(1);
    let share = profile.cpu_ns.unwrap_or(sampled) as f64 / sampled as f64;
    let each = share / profile.sampled_requests.max(1) as f64;
    profile.stacks.iter().map(|(stack, ns)| (stack.as_str(), *ns as f64 * each)).collect()
}

fn frames(profile: &Profile) -> BTreeMap<&str, Frame<'_>> {
    let mut frames: BTreeMap<&str, Frame<'_>> = BTreeMap::new();
    for (stack, ns) in stacks(profile) {
        // The first one is the name of a thread.
        let symbols: Vec<&str> = stack.split(';').skip(1).collect();
        for symbol in symbols.iter().collect::<BTreeSet<_>>() {
            let frame = frames.entry(symbol).or_insert(Frame { symbol, ..Frame::default() });
            frame.total_ns += ns;
            if symbols.last() == Some(symbol) {
                frame.self_ns += ns;
            }
        }
    }
    frames
}

/// The frames with the most time first.
fn sorted<'a>(frames: impl Iterator<Item = Frame<'a>>) -> Vec<Frame<'a>> {
    let size = |it: &Frame<'_>| (it.self_ns.abs(), it.total_ns.abs());
    let mut frames: Vec<Frame<'a>> = frames.collect();
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

fn frames_differ<'a>(own: &'a Profile, other: &'a Profile) -> Vec<Frame<'a>> {
    let both = [own, other].map(|profile| (frames(profile), sample_ns(profile)));
    let symbols: BTreeSet<&&str> = both.iter().flat_map(|(frames, _)| frames.keys()).collect();
    let difference = |symbol: &&'a str| {
        let none = Frame { symbol, ..Frame::default() };
        let [a, b] = both.each_ref().map(|(frames, _)| frames.get(symbol).copied().unwrap_or(none));
        // Samples are rare and independent, so the variance of their number is the number.
        let variance = a.self_ns * both[0].1 + b.self_ns * both[1].1;
        let (self_ns, total_ns) = (a.self_ns - b.self_ns, a.total_ns - b.total_ns);
        (self_ns.abs() > ERRORS * variance.sqrt()).then_some(Frame { symbol, self_ns, total_ns })
    };
    sorted(symbols.into_iter().filter_map(difference))
}

/// What one sample stands for, in nanoseconds of CPU time per request.
fn sample_ns(profile: &Profile) -> f64 {
    let samples = profile.stacks.values().sum::<u64>() as f64 * SAMPLES_PER_SECOND / 1e9;
    stacks(profile).values().sum::<f64>() / samples.max(1.0)
}
