//! What differs most between two profiles, as one sentence.

use std::collections::BTreeMap;

use super::figures::Why;
use crate::table_units::latency;

/// Calls that do the same for a server: one in place of another is no difference.
const PURPOSES: [(&str, &[&str]); 3] = [
    ("reads", &["read", "readv", "recvfrom", "recvmsg", "recvmmsg"]),
    ("writes", &["write", "writev", "sendto", "sendmsg", "sendmmsg", "sendfile"]),
    (
        "waits",
        &["epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6"],
    ),
];

/// A smaller difference of the calls of a request says nothing: slices differ by as much.
const CALLS: f64 = 0.05;
/// The same of the time of a function, as a share of the CPU time of a request.
const TIME_SHARE: f64 = 0.03;

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

/// The calls of a request that differ most, each side in words; those of one purpose are one kind.
fn calls_differ(sides: [&Why<'_>; 2]) -> Option<[String; 2]> {
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
    // What rounds to nothing has no name.
    let names = calls.each_ref().map(|of_side| {
        let shown = of_side.iter().filter(|(_, it)| *it >= 0.005);
        shown.map(|(call, _)| *call).collect::<Vec<_>>()
    });
    let first = names.iter().flatten().next().copied().unwrap_or(kind);
    if names.iter().flatten().all(|it| *it == first) {
        return Some([
            format!("{:.2} {first} per request", sum(&calls[0])),
            format!("{:.2}", sum(&calls[1])),
        ]);
    }
    let named = |side: usize| match names[side].as_slice() {
        [] => String::new(),
        names => format!(" ({})", names.join(", ")),
    };
    Some([
        format!("{:.2} {kind} per request{}", sum(&calls[0]), named(0)),
        format!("{:.2}{}", sum(&calls[1]), named(1)),
    ])
}

fn difference(why: &Why<'_>, other: &Why<'_>) -> String {
    let [own_name, other_name] = [why, other].map(|it| name(&it.variant));
    let cpu = [why, other].map(|it| it.cpu_ns_per_request.unwrap_or(0.0));
    let all = [why, other].map(Why::all_calls);
    let of_all = format!(
        "system calls in all: {:.2}, {:.2}; CPU time: {}, {}",
        all[0],
        all[1],
        latency(cpu[0]),
        latency(cpu[1])
    );
    if let Some(calls) = calls_differ([why, other]) {
        return format!("{own_name} makes {}, {other_name} {} ({of_all})", calls[0], calls[1]);
    }
    let least = TIME_SHARE * cpu[1];
    if let Some(frame) = why.frames_differ.first().filter(|it| it.self_ns.abs() >= least) {
        let [own, others] = [why, other].map(|it| {
            let frame = it.frames.iter().find(|it| it.symbol == frame.symbol);
            latency(frame.map_or(0.0, |it| it.self_ns))
        });
        let symbol = frame.symbol;
        return format!(
            "{own_name} spends {own} per request in {symbol}, {other_name} {others} ({of_all})"
        );
    }
    format!(
        "{own_name} and {other_name} make as many system calls, and spend CPU time alike ({of_all})"
    )
}
