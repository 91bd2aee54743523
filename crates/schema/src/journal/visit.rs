//! The visits of a run in a cohort, and the observations about its instance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reason::ReasonKind;

/// How the runs of an experiment are made. A workload that needs a process per measurement gets one
/// with either.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// A fresh process and one window for each run. All journals before version 0.2 are like this.
    #[default]
    #[serde(rename = "process")]
    Whole,
    /// A block is a cohort: fresh instances of all variants live at the same time and are loaded in
    /// turn, in short visits.
    #[serde(rename = "cohorts")]
    Short,
}

crate::names! { Procedure "procedure": Short = "cohorts", Whole = "process" }

impl Procedure {
    /// One repetition of everything, which `--cohorts` and `--blocks` count.
    #[must_use]
    pub const fn repetition(self) -> &'static str {
        match self {
            Self::Whole => "block",
            Self::Short => "cohort",
        }
    }
}

/// The time of a round trip of a cache line between CPUs of both sides, for each pair of CPUs that was probed.
/// With the load from another host: between CPUs of the server. Without a probe both are empty.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Distances {
    /// Before the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distance_ns_before: Vec<u32>,
    /// After it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distance_ns_after: Vec<u32>,
}

impl Distances {
    /// Both readings, if there are two.
    #[must_use]
    pub fn readings(&self) -> Option<[&[u32]; 2]> {
        let both = [self.distance_ns_before.as_slice(), &self.distance_ns_after];
        both.iter().all(|it| !it.is_empty()).then_some(both)
    }
}

/// One visit of a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Visit {
    /// The round, from 0: each instance has one visit of the workload in it.
    pub round: u32,
    /// Its start on the monotonic clock of the load generator, shared by all visits of a cohort.
    pub start_ns: u64,
    /// Length of the discard.
    pub discard_ns: u64,
    /// Length of the counted part, until the last reply to a request of it.
    pub length_ns: u64,
    /// Correct replies in it.
    pub requests: u64,
    /// Replies per second. In a closed loop that is from latencies, which edges do not cut; absent in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_second: Option<f64>,
    /// CPU time of the server in it, with its share of what ended children used; absent if unknown.
    pub cpu_ns: Option<u64>,
    /// Median latency; absent without a reply.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile of the latency. Both are absent where they are only lower bounds.
    pub latency_ns_p99: Option<u64>,
    /// At a rate: 99th percentile of how late requests were sent.
    pub lag_ns_p99: Option<u64>,
    /// CPU time of the load generator in it, over all threads.
    pub generator_cpu_ns: u64,
    /// Time that the generator waited before it until no server used CPU time.
    pub rest_ns: u64,
    /// Share of its time in which the server waited for a CPU that others had, 0 to 1.
    pub server_waited: f64,
    /// The same of the generator, as a share of the counted part.
    pub generator_waited: f64,
    /// CPU time that the hypervisor took from the CPUs of both sides.
    pub stolen_ns: u64,
    /// How long a CPU limit of the control group held the sides back, from before it until after it, summed
    /// over CPUs; absent if for no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// Times that a thread of the server gave up its CPU to wait.
    pub switches_voluntary: u64,
    /// Times that a thread of the server lost its CPU.
    pub switches_involuntary: u64,
    /// CPU time that the other servers of the cohort used meanwhile, beyond what they use at rest.
    pub parked_cpu_ns: u64,
    /// The lowest frequency of the server's CPUs right after it, in kHz; absent where the kernel does
    /// not show it, as on most virtual machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_khz: Option<u64>,
    /// How far the sides' CPUs were from each other.
    #[serde(flatten)]
    pub distances: Distances,
    /// Why it counts for nothing, if so. The decision rests on clocks alone, never on the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<ReasonKind>,
}

impl Visit {
    /// The visits of a run that count: those that were not dropped. If these are less than half, the half counts
    /// in which a side waited least: it waited a little nearly all of the time, and how long decides whether the
    /// run is valid. Visits that were dropped for anything else fill up that half last, and the run is not valid.
    #[must_use]
    pub fn counted(visits: &[Self]) -> Vec<&Self> {
        let order = |visit: &Self| match visit.dropped {
            None => (0, 0.0),
            Some(ReasonKind::Neighbour) => (1, visit.server_waited.max(visit.generator_waited)),
            Some(_) => (2, 0.0),
        };
        let mut best: Vec<usize> = (0..visits.len()).collect();
        best.sort_by(|a, b| {
            let [(first, waited), (other, longer)] = [a, b].map(|index| order(&visits[*index]));
            first.cmp(&other).then(waited.total_cmp(&longer))
        });
        let free = visits.iter().filter(|visit| visit.dropped.is_none()).count();
        best.truncate(free.max(visits.len().div_ceil(2)));
        best.sort_unstable();
        best.into_iter().map(|index| &visits[index]).collect()
    }

    /// CPU time per request in nanoseconds; absent where it is not known.
    #[must_use]
    pub fn cpu_ns_per_request(&self) -> Option<f64> {
        let cpu_ns = self.cpu_ns.filter(|_| self.requests > 0)?;
        Some(cpu_ns as f64 / self.requests as f64)
    }

    /// Replies per second; absent where it has no length.
    #[must_use]
    pub fn requests_per_second(&self) -> Option<f64> {
        if self.requests_per_second.is_some() {
            return self.requests_per_second;
        }
        (self.length_ns > 0).then(|| self.requests as f64 * 1e9 / self.length_ns as f64)
    }
}

/// The logarithm of a figure in each round. None where the visit is missing, does not count, is not one to `keep`
/// or has no such figure.
#[must_use]
pub fn logarithms_by_round(
    visits: &[Visit],
    figure: fn(&Visit) -> Option<f64>,
    keep: impl Fn(&Visit) -> bool,
) -> Vec<Option<f64>> {
    let rounds = visits.iter().map(|visit| visit.round as usize + 1).max().unwrap_or(0);
    let mut values = vec![None; rounds];
    for visit in Visit::counted(visits).into_iter().filter(|visit| keep(visit)) {
        values[visit.round as usize] = figure(visit).filter(|it| *it > 0.0).map(f64::ln);
    }
    values
}

/// Observations about one instance over its life in a cohort.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Instance {
    /// From its start until it accepted connections; 0 of a service that ran already.
    pub ready_ns: u64,
    /// CPU time in user mode over its life; the kernel counts it in ticks of 10 ms.
    pub user_ns: u64,
    /// CPU time in kernel mode over its life.
    pub kernel_ns: u64,
    /// Share of a CPU that it uses at rest, with its connections open.
    pub rest_share: f64,
    /// Time after a rest until its CPU time per request is steady.
    pub settle_ns: u64,
    /// Load before the first round, over all of its visits.
    pub warm_up_ns: u64,
    /// CPU time from the first round on, by when it was used; absent in older journals and of a service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
}

/// CPU time of one instance from the first round on, by when it was used.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Balance {
    /// In its visits, discards included.
    #[serde(alias = "slices_ns")]
    pub visits_ns: u64,
    /// Between its visits, beyond what it may use at rest.
    pub between_ns: u64,
    /// From its last visit until it was stopped, beyond what it may use at rest.
    pub after_ns: u64,
    /// From then until it had ended.
    pub end_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_visits_do_not_count_and_half_of_all_do_in_any_case() {
        let counted = |stolen: usize, waited: usize| {
            let visit = |index| Visit {
                dropped: match index {
                    _ if index < stolen => Some(ReasonKind::Stolen),
                    _ if index < stolen + waited => Some(ReasonKind::Neighbour),
                    _ => None,
                },
                ..Visit::default()
            };
            Visit::counted(&(0..4).map(visit).collect::<Vec<_>>()).len()
        };
        assert_eq!([0, 1, 2, 3, 4].map(|stolen| counted(stolen, 0)), [4, 3, 2, 2, 2]);
        assert_eq!([0, 1, 2, 3, 4].map(|waited| counted(0, waited)), [4, 3, 2, 2, 2]);
        let waited = |share| Visit {
            dropped: Some(ReasonKind::Neighbour),
            server_waited: share,
            ..Visit::default()
        };
        let stolen = Visit { dropped: Some(ReasonKind::Stolen), ..Visit::default() };
        let visits = [waited(0.4), stolen, waited(0.2), waited(0.3)];
        let shares: Vec<f64> = Visit::counted(&visits).iter().map(|it| it.server_waited).collect();
        assert_eq!(shares, [0.2, 0.3], "those that waited least");
    }
}
