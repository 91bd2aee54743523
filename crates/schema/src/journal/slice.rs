//! The slices of a run in a cohort, and the observations about its instance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ReasonKind;

/// How the runs of an experiment are made. A workload that needs a process per measurement gets one
/// with either.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// A fresh process and one window for each run. All journals before version 0.2 are like this.
    #[default]
    Process,
    /// A block is a cohort: fresh instances of all variants live at the same time and are loaded in
    /// turn, in short slices.
    Cohorts,
}

crate::names! { Procedure "procedure": Cohorts = "cohorts", Process = "process" }

impl Procedure {
    /// One repetition of everything, which `--cohorts` and `--blocks` count.
    #[must_use]
    pub const fn repetition(self) -> &'static str {
        match self {
            Self::Process => "block",
            Self::Cohorts => "cohort",
        }
    }
}

/// One slice of a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Slice {
    /// The round, from 0: each instance has one slice of the workload in it.
    pub round: u32,
    /// Its start on the monotonic clock of the load generator, shared by all slices of a cohort.
    pub start_ns: u64,
    /// Length of the discard.
    pub discard_ns: u64,
    /// Length of the counted part.
    pub length_ns: u64,
    /// Correct replies in it.
    pub requests: u64,
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
    /// The same of the generator.
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
    /// Why it counts for nothing, if so. The decision rests on clocks alone, never on the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<ReasonKind>,
}

impl Slice {
    /// The slices of a run that count: those that were not dropped. If these are less than half, a side
    /// waited a little for other programs nearly all of the time. Those slices count then too, and how long
    /// it waited decides whether the run is valid. If even these are less than half, all slices count, and
    /// the run is not valid.
    #[must_use]
    pub fn counted(slices: &[Self]) -> Vec<&Self> {
        let is_free = |slice: &&Self| slice.dropped.is_none();
        let has_waited = |slice: &&Self| slice.dropped == Some(ReasonKind::Neighbour);
        let free: Vec<&Self> = slices.iter().filter(is_free).collect();
        let usable: Vec<&Self> = slices.iter().filter(|it| is_free(it) || has_waited(it)).collect();
        let choices = [free, usable].into_iter();
        let mut most = choices.filter(|kept| 2 * kept.len() >= slices.len());
        most.next().unwrap_or_else(|| slices.iter().collect())
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
        (self.length_ns > 0).then(|| self.requests as f64 * 1e9 / self.length_ns as f64)
    }
}

/// The logarithm of a figure in each round. None where the slice is missing, was dropped or has no
/// such figure.
#[must_use]
pub fn logarithms_by_round(
    slices: &[Slice],
    figure: fn(&Slice) -> Option<f64>,
) -> Vec<Option<f64>> {
    let rounds = slices.iter().map(|slice| slice.round as usize + 1).max().unwrap_or(0);
    let mut values = vec![None; rounds];
    for slice in Slice::counted(slices) {
        values[slice.round as usize] = figure(slice).filter(|it| *it > 0.0).map(f64::ln);
    }
    values
}

/// Observations about one instance over its life in a cohort.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Instance {
    /// From its start until it accepted connections.
    pub ready_ns: u64,
    /// CPU time in user mode over its life; the kernel counts it in ticks of 10 ms.
    pub user_ns: u64,
    /// CPU time in kernel mode over its life.
    pub kernel_ns: u64,
    /// Share of a CPU that it uses at rest, with its connections open.
    pub rest_share: f64,
    /// Time after a rest until its CPU time per request is steady.
    pub settle_ns: u64,
    /// Load before the first round, over all of its slices.
    pub warm_up_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_slices_do_not_count_unless_they_are_most() {
        let counted = |stolen: usize, waited: usize| {
            let slice = |index| Slice {
                dropped: match index {
                    _ if index < stolen => Some(ReasonKind::Stolen),
                    _ if index < stolen + waited => Some(ReasonKind::Neighbour),
                    _ => None,
                },
                ..Slice::default()
            };
            Slice::counted(&(0..4).map(slice).collect::<Vec<_>>()).len()
        };
        assert_eq!([0, 1, 2, 3, 4].map(|stolen| counted(stolen, 0)), [4, 3, 2, 4, 4]);
        assert_eq!([0, 1, 2, 3, 4].map(|waited| counted(0, waited)), [4, 3, 2, 4, 4]);
        assert_eq!(
            [(1, 3), (2, 2), (3, 1)].map(|(stolen, waited)| counted(stolen, waited)),
            [3, 2, 4]
        );
    }
}
