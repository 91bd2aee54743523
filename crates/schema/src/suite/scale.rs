//! Scales: how much of a suite is run. Pure: CPUs go in, an adapted suite comes out.
//!
//! Everything in a suite's file outside of `[scale]` and `[workload.machine]` is as published.
//! Published values are never changed, only what is run.

use serde::Deserialize;
use std::{mem::discriminant, time::Duration};

use super::{ShapePatch, Suite, Workload, shape::with_shape};
use crate::{
    duration_text::DurationText,
    load::{Arrivals, Rate, Stop},
};

crate::names! {
    /// How much of a suite is run.
    #[derive(Default)]
    pub enum Scale "scale" {
        /// Exactly as published.
        Paper = "paper",
        /// Made to fit this machine by the rule in the suite's file. A suite without a document is
        /// carried out as it is written.
        #[default]
        Machine = "machine",
        /// Every cell once and in a moment: it shows that everything works, and its figures mean
        /// nothing.
        Smoke = "smoke",
    }
}

/// The number of connections if a server has fewer workers than in the document.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ConnectionsRule {
    /// The document's number per worker, rounded up.
    #[default]
    PerWorker,
    /// The document's total.
    AsPublished,
}

with_shape! {
    /// `[scale.machine]`: reductions in all workloads.
    #[derive(Default, PartialEq)]
    pub(super) struct MachineRule {
        pub(super) blocks: Option<u32>,
        pub(super) warmup_blocks: Option<u32>,
        #[serde(default)]
        pub(super) connections: ConnectionsRule,
    }
}

impl MachineRule {
    /// The changes of a workload whose window and warm-up end likewise.
    fn of(&self, workload: &Workload) -> ShapePatch {
        let all = self.shape();
        let ends_so = |stop: Stop| discriminant(&stop) == discriminant(&workload.stop);
        ShapePatch {
            duration: all.duration.filter(|it| ends_so(Stop::After(*it))),
            requests: all.requests.filter(|it| ends_so(Stop::Requests(*it))),
            count_per_connection: all
                .count_per_connection
                .filter(|it| ends_so(Stop::RequestsPerConnection(*it))),
            warmup_requests: all.warmup_requests.filter(|_| workload.warmup_requests.is_some()),
            ..all
        }
    }
}

impl Suite {
    /// This suite at `scale` on a machine that gives `server_cpus` CPUs to servers.
    pub fn at_scale(&self, scale: Scale, server_cpus: u32) -> Result<Self, String> {
        match (scale, &self.document) {
            (Scale::Paper, None) => Err(format!(
                "the suite `{}` has no document to repeat: omit --scale, or use --scale smoke",
                self.name
            )),
            (Scale::Machine, None) => Ok(self.clone()),
            // Nothing is run more often than in the document.
            (Scale::Paper, Some(_)) => Ok(Self { baseline_copies: 1, ..self.clone() }),
            (Scale::Machine, Some(_)) => self.at_machine_scale(server_cpus),
            (Scale::Smoke, None) => Ok(smoke(self.clone())),
            (Scale::Smoke, Some(_)) => self.at_machine_scale(server_cpus).map(smoke),
        }
    }

    fn at_machine_scale(&self, server_cpus: u32) -> Result<Self, String> {
        let mut suite = self.clone();
        let rule = &self.machine;
        suite.blocks = rule.blocks.unwrap_or(suite.blocks);
        suite.warmup_blocks = rule.warmup_blocks.unwrap_or(suite.warmup_blocks);
        for workload in &mut suite.workloads {
            scale_connections(workload, rule, server_cpus.max(1));
            // The generator has a thread for each of its CPUs.
            workload.threads = None;
            rule.of(workload).apply(workload)?;
            let own = self.workload_rules.get(&workload.name);
            own.map_or(Ok(()), |own| own.apply(workload))?;
        }
        Ok(suite)
    }
}

fn scale_connections(workload: &mut Workload, rule: &MachineRule, server_cpus: u32) {
    let Some(published) = workload.workers else { return };
    let workers = published.min(server_cpus);
    workload.workers = Some(workers);
    if rule.connections == ConnectionsRule::PerWorker {
        let share = workload.connections as u64 * u64::from(workers);
        let connections = share.div_ceil(u64::from(published));
        workload.connections = usize::try_from(connections).unwrap_or(usize::MAX);
    }
}

/// The upper bounds at the smallest scale.
mod most {
    use std::time::Duration;

    pub(super) const CONNECTIONS: usize = 8;
    pub(super) const WINDOW: Duration = Duration::from_millis(100);
    pub(super) const WARMUP: Duration = Duration::from_millis(20);
    pub(super) const REQUESTS: u64 = 1000;
    pub(super) const REQUESTS_PER_CONNECTION: u64 = 100;
    pub(super) const WARMUP_REQUESTS: u64 = 100;
    pub(super) const PAYLOAD_BYTES: usize = 64 * 1024;
}

fn smoke(mut suite: Suite) -> Suite {
    suite.blocks = 1;
    suite.warmup_blocks = 0;
    suite.baseline_copies = 1;
    for workload in &mut suite.workloads {
        workload.connections = workload.connections.min(most::CONNECTIONS);
        workload.idle_connections = workload.idle_connections.min(most::CONNECTIONS);
        workload.payload_bytes = workload.payload_bytes.min(most::PAYLOAD_BYTES);
        workload.warmup = workload.warmup.min(most::WARMUP);
        workload.steady_within = Duration::ZERO;
        workload.warmup_requests = workload.warmup_requests.map(|n| n.min(most::WARMUP_REQUESTS));
        workload.stop = match workload.stop {
            Stop::After(time) => Stop::After(time.min(most::WINDOW)),
            Stop::Requests(count) => Stop::Requests(count.min(most::REQUESTS)),
            Stop::RequestsPerConnection(count) => {
                // A connection of a pipelined load must have its depth to itself.
                let most = most::REQUESTS_PER_CONNECTION.max(workload.pipeline as u64);
                Stop::RequestsPerConnection(count.min(most))
            }
        };
    }
    suite
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const SUITE: &str = r#"
description = "An example."
blocks = 30
warmup_blocks = 3
[published]
document = "Example"
machine = "a machine"
cpus = 12
placement = "shared"
generator = "tool"
[scale.machine]
blocks = 6
warmup_blocks = 1
count_per_connection = 2000
[[workload]]
name = "hello"
scenario = "hello"
connections = 768
workers = 12
threads = 12
count_per_connection = 20000
[[workload]]
name = "large"
scenario = "echo"
connections = 20
payload = "1GiB"
count_per_connection = 1
warmup_requests = 5000
[workload.machine]
connections = 3
payload = "64MiB"
count_per_connection = 2
"#;

    fn suite() -> Suite {
        Suite::parse("example", SUITE).unwrap()
    }

    #[test]
    fn paper_is_exactly_as_written() {
        let paper = suite().at_scale(Scale::Paper, 1).unwrap();
        assert_eq!(paper.baseline_copies, 1, "nothing is run more often than in the document");
        assert_eq!(Suite { baseline_copies: 2, ..paper }, suite());
    }

    #[test]
    fn a_machine_with_fewer_cpus_gets_the_same_connections_for_each_worker() {
        let at = |cpus| suite().at_scale(Scale::Machine, cpus).unwrap();
        let one = at(1);
        assert_eq!((one.blocks, one.warmup_blocks), (6, 1));
        let hello = &one.workloads[0];
        assert_eq!((hello.workers, hello.threads, hello.connections), (Some(1), None, 64));
        assert_eq!(hello.stop, Stop::RequestsPerConnection(2000));
        assert_eq!(at(5).workloads[0].connections, 320);
        assert_eq!(at(100).workloads[0].connections, 768);
    }

    #[test]
    fn a_workload_may_have_a_rule_of_its_own() {
        let large = suite().at_scale(Scale::Machine, 1).unwrap().workloads.remove(1);
        assert_eq!((large.connections, large.payload_bytes), (3, 64 << 20));
        assert_eq!(large.stop, Stop::RequestsPerConnection(2));
        assert_eq!(large.warmup_requests, Some(5000));
    }

    #[test]
    fn a_count_with_requests_before_it_can_become_visits_over_long_lived_servers() {
        let rule = "duration = \"3s\"\nwarmup_requests = 0\nsteady_within = \"10s\"";
        let text = SUITE.replace("count_per_connection = 2\n", &format!("{rule}\n"));
        let suite = Suite::parse("example", &text).unwrap();
        let paper = suite.at_scale(Scale::Paper, 1).unwrap().workloads.remove(1);
        assert!(!paper.has_slices() && paper.steady_within.is_zero());
        let large = suite.at_scale(Scale::Machine, 1).unwrap().workloads.remove(1);
        assert_eq!(
            (large.warmup_requests, large.stop),
            (None, Stop::After(Duration::from_secs(3)))
        );
        assert!(large.has_slices());
        assert_eq!(large.steady_within, Duration::from_secs(10));
    }

    #[test]
    fn connections_can_stay_as_published() {
        let text =
            SUITE.replace("[scale.machine]", "[scale.machine]\nconnections = \"as-published\"");
        let suite = Suite::parse("example", &text).unwrap();
        assert_eq!(suite.at_scale(Scale::Machine, 1).unwrap().workloads[0].connections, 768);
    }

    #[test]
    fn smoke_runs_every_cell_once_and_hardly_loads_it() {
        let smoke = suite().at_scale(Scale::Smoke, 1).unwrap();
        assert_eq!((smoke.blocks, smoke.warmup_blocks, smoke.workloads.len()), (1, 0, 2));
        assert_eq!(smoke.workloads[0].connections, 8);
        assert_eq!(smoke.workloads[0].stop, Stop::RequestsPerConnection(100));
        assert_eq!(smoke.workloads[1].payload_bytes, 64 << 10);
        assert_eq!(smoke.workloads[1].warmup_requests, Some(100));
    }

    #[test]
    fn a_suite_without_a_document_has_no_paper_and_is_itself_on_every_machine() {
        let text = "description = \"\"\nblocks = 3\n[[workload]]\nname = \"a\"\n\
                    scenario = \"hello\"\nconnections = 64\nduration = \"1s\"\n";
        let plain = Suite::parse("plain", text).unwrap();
        let message = plain.at_scale(Scale::Paper, 1).unwrap_err().to_string();
        expect!["the suite `plain` has no document to repeat: omit --scale, or use --scale smoke"]
            .assert_eq(&message);
        assert_eq!(plain.at_scale(Scale::Machine, 1), Ok(plain.clone()));
        assert_eq!(plain.at_scale(Scale::Smoke, 1).unwrap().blocks, 1);
    }
}
