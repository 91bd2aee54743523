//! What differs most between two profiles, as one sentence.

use super::figures::Why;
use crate::table_units::latency;

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
    if let Some((call, _)) = why.calls_differ.first().filter(|(_, it)| it.abs() >= CALLS) {
        let [own, others] =
            [why, other].map(|it| it.calls_per_request.get(call).copied().unwrap_or(0.0));
        return format!(
            "{own_name} makes {own:.2} {call} per request, {other_name} {others:.2} ({of_all})"
        );
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
        "{own_name} and {other_name} make the same system calls, and spend CPU time alike ({of_all})"
    )
}
