//! What problems do to results, and which of them matter most.

use serde::Serialize;

/// What a problem does to results, the worst first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Nothing can be measured, or no row is valid.
    Prevents,
    /// Figures differ from run to run, or are bounds.
    Scatters,
    /// All figures differ from those of a machine with usual settings.
    Shifts,
    /// Some loads fail, or use more CPU time.
    Limits,
    /// Entries cannot be measured.
    Skips,
}

wirebench_schema::names! { Effect:
    Prevents = "no valid results", Scatters = "wider intervals, or rows that are not valid",
    Shifts = "figures that differ from those of other machines",
    Limits = "large loads that fail or use more CPU time", Skips = "entries that cannot be measured"
}

/// The names of findings by effect, each in the order of what matters most. All others are about single entries.
const ORDER: [(Effect, &[&str]); 4] = [
    (Effect::Prevents, &["servers", "cpus", "cgroup-cpus"]),
    (
        Effect::Scatters,
        &[
            "wirebench",
            "cgroup-throttled",
            "cgroup-cpu",
            "load",
            "steal",
            "speed",
            "distance",
            "awake",
            "smt",
            "isolation",
            "numa",
            "numa-balancing",
            "governor",
            "turbo",
            "temperature",
            "swap",
            "memory",
            "cgroup-memory",
            "clock",
            "huge-pages",
            "virtualisation",
        ],
    ),
    (
        Effect::Shifts,
        &[
            "kernel",
            "mitigations",
            "busy-poll",
            "congestion",
            "aslr",
            "loopback",
            "slow-start",
            "kernel-options",
            "processor",
        ],
    ),
    (
        Effect::Limits,
        &[
            "open-files",
            "cgroup",
            "processes",
            "overcommit",
            "locked-memory",
            "ports",
            "port-reuse",
            "tracking",
            "backlog",
            "syn-backlog",
            "file-max",
            "nr-open",
            "threads-max",
            "netdev-backlog",
            "netdev-budget",
            "receive-buffer",
            "send-buffer",
        ],
    ),
];

fn place(name: &str) -> Option<(Effect, usize)> {
    let of = |(effect, names): &(Effect, &[&str])| {
        Some((*effect, names.iter().position(|it| *it == name)?))
    };
    ORDER.iter().find_map(of)
}

pub(super) fn of(name: &str) -> Effect {
    place(name).map_or(Effect::Skips, |(effect, _)| effect)
}

/// Less for what matters more.
pub(super) fn rank(name: &str) -> (Effect, usize) {
    place(name).unwrap_or((Effect::Skips, 0))
}
