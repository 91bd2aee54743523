//! What differs most between two profiles, as one sentence.

use std::collections::BTreeMap;
use wirebench_schema::journal::Profile;

use super::{figures::LEAST_SAMPLES, names::KERNEL};
use crate::{table_units::latency, view::Why};

/// Calls that do the same for a server: one in place of another is no difference.
const PURPOSES: [(&str, &[&str]); 3] = [
    ("reads", &["read", "readv", "recvfrom", "recvmsg", "recvmmsg"]),
    ("writes", &["write", "writev", "sendto", "sendmsg", "sendmmsg", "sendfile"]),
    (
        "waits",
        &["epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6"],
    ),
];

/// A smaller difference of the calls of a request says nothing: visits differ by as much.
const CALLS: f64 = 0.05;
/// The share of the difference of CPU time from which a system call is its first cause.
const CALLS_SHARE: f64 = 0.5;
/// Samples per second of CPU time, and the share of that time in samples below which the kernel has dropped some.
const RATE: f64 = 997.0;
const SAMPLED: f64 = 0.7;

/// Names of variants as users write them; those of `ab` are the names of its sides.
pub(super) fn name(variant: &str) -> &str {
    let entry = variant.split_once(':').map_or(variant, |(entry, _)| entry);
    entry.strip_prefix("ab/").unwrap_or(variant)
}

/// Of a profile, compared with the other one if there is one.
pub(super) fn sentence(why: &Why<'_>, other: Option<&Why<'_>>) -> String {
    match other {
        _ if why.failure.is_some() => failed(why),
        Some(other) => difference(why, other),
        None => alone(why),
    }
}

fn failed(why: &Why<'_>) -> String {
    let reason = why.failure.unwrap_or_default();
    format!("{} under {} has no profile: {reason}", name(&why.variant), why.workload)
}

fn alone(why: &Why<'_>) -> String {
    format!(
        "{} makes {:.2} system calls per request and uses {} of CPU time",
        name(&why.variant),
        why.all_calls(),
        latency(why.cpu_ns_per_request.unwrap_or(0.0))
    )
}

/// The calls of a request that differ most, each side in words, and the difference of the time in them; those of one
/// purpose are one kind.
fn calls_differ(sides: [&Why<'_>; 2]) -> Option<([String; 2], f64)> {
    let purpose = |call| PURPOSES.iter().find(|(_, calls)| calls.contains(&call));
    let mut kinds: BTreeMap<&str, [Vec<(&str, f64)>; 2]> = BTreeMap::new();
    for (side, why) in sides.into_iter().enumerate() {
        for (call, per_request) in &why.calls_per_request {
            let kind = purpose(*call).map_or(*call, |(kind, _)| *kind);
            kinds.entry(kind).or_default()[side].push((*call, *per_request));
        }
    }
    let sum = |calls: &[(&str, f64)]| calls.iter().fold(0.0, |sum, (_, it)| sum + it);
    let differ = |[own, others]: &[Vec<_>; 2]| (sum(own) - sum(others)).abs();
    let (kind, calls) = kinds.iter().max_by(|a, b| differ(a.1).total_cmp(&differ(b.1)))?;
    if differ(calls) < CALLS {
        return None;
    }
    let time = |side: usize| calls[side].iter().map(|it| time_in(sides[side], it.0)).sum::<f64>();
    let ns = time(0) - time(1);
    // What rounds to nothing has no name.
    let names = calls.each_ref().map(|of_side| {
        let shown = of_side.iter().filter(|(_, it)| *it >= 0.005);
        shown.map(|(call, _)| *call).collect::<Vec<_>>()
    });
    let first = names.iter().flatten().next().copied().unwrap_or(kind);
    if names.iter().flatten().all(|it| *it == first) {
        let per_request = format!("{:.2} {first} per request", sum(&calls[0]));
        return Some(([per_request, format!("{:.2}", sum(&calls[1]))], ns));
    }
    let named = |side: usize| match names[side].as_slice() {
        [] => String::new(),
        names => format!(" ({})", names.join(", ")),
    };
    let per_request = format!("{:.2} {kind} per request{}", sum(&calls[0]), named(0));
    Some(([per_request, format!("{:.2}{}", sum(&calls[1]), named(1))], ns))
}

/// The time of a request in a system call. Functions such as `__x64_sys_read` and `ksys_read` call each other.
fn time_in(why: &Why<'_>, call: &str) -> f64 {
    let name = |symbol: &str| symbol.strip_suffix(KERNEL)?.rsplit("sys_").next().map(str::to_owned);
    let frames = why.frames.iter().filter(|it| name(&it.symbol).is_some_and(|it| it == call));
    frames.map(|it| it.total_ns).fold(0.0, f64::max)
}

fn difference(why: &Why<'_>, other: &Why<'_>) -> String {
    let sides = [why, other];
    let [own_name, other_name] = sides.map(|it| name(&it.variant));
    let cpu = sides.map(|it| it.cpu_ns_per_request.unwrap_or(0.0));
    let explains = |share: f64| {
        let difference = (cpu[0] / cpu[1].max(f64::MIN_POSITIVE) - 1.0) * 100.0;
        // More than all is balanced by other functions.
        let share =
            if share < 0.995 { format!("{:.0} %", share * 100.0) } else { "all".to_owned() };
        format!("explains {share} of {difference:+.0} % CPU time per request")
    };
    let calls = calls_differ(sides);
    let share = calls.as_ref().map_or(0.0, |(_, ns)| ns / (cpu[0] - cpu[1]));
    let are_first = share >= CALLS_SHARE || why.cause.is_none();
    let calls = calls.map(|([own, others], _)| {
        let text = format!("{own_name} makes {own}, {other_name} {others}");
        let is_cause = are_first && why.cause.is_some();
        if is_cause { format!("{text}, which {}", explains(share)) } else { text }
    });
    // The time of a call is that of functions of the kernel.
    let is_call = are_first && calls.is_some();
    let cause = why.cause.as_ref().filter(|it| !(is_call && it.symbol.ends_with(KERNEL)));
    let function = cause.map(|it| {
        let instead = it.instead_of.as_ref().map(|it| format!(" (in {other_name}: {it})"));
        let [own, others] = it.total_ns.map(latency);
        let (symbol, instead) = (&it.symbol, instead.unwrap_or_default());
        let explains = explains(it.share);
        format!("{symbol}{instead} {explains}: {own_name} spends {own} per request in it, {other_name} {others}")
    });
    let samples = sides.map(|it| it.samples);
    let too_few = samples.iter().any(|it| *it < LEAST_SAMPLES).then(|| {
        format!(
            "too few samples to name a function ({own_name} {}, {other_name} {}, at least {LEAST_SAMPLES} are needed): \
             increase the load, such as with --rate or --connections",
            samples[0], samples[1]
        )
    });
    let mut causes = [calls, function.or(too_few)];
    causes.rotate_left(usize::from(!are_first));
    let causes = causes.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let all = sides.map(Why::all_calls);
    let times = cpu.map(latency);
    let alike = format!(
        "{own_name} and {other_name} make as many system calls, and no function explains a difference"
    );
    let causes = if causes.is_empty() { alike } else { causes };
    format!(
        "{causes} (system calls in all: {:.2}, {:.2}; CPU time: {}, {})",
        all[0], all[1], times[0], times[1]
    )
}

/// Note on a rate of samples that the kernel has reduced; empty otherwise.
pub(super) fn reduced<'a>(profiles: impl Iterator<Item = &'a Profile>) -> String {
    let rate = |profile: &Profile| {
        let sampled = profile.stacks.values().sum::<u64>().max(1);
        let all = profile.cpu_ns.filter(|it| (sampled as f64) < SAMPLED * *it as f64);
        profile.samples as f64 * 1e9 / all.unwrap_or(sampled) as f64
    };
    let least = profiles.filter(|it| it.samples > 0).map(rate).fold(RATE, f64::min);
    let text = format!(
        "; perf took {least:.0} samples per second of CPU time instead of {RATE}: raise \
         kernel.perf_event_max_sample_rate"
    );
    if least < 0.99 * RATE { text } else { String::new() }
}
