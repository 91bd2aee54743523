//! The beginning of a cohort: its agent and its servers, with all connections.

use std::time::Instant;
use wirebench_host::distance::Probe;
use wirebench_schema::{agent::Windows, journal::Run, load::IdleMode};
use wirebench_server::launch::stop_grace;

use super::{
    course::{Cohort, RunningCohort},
    member::Member,
    prepare::KnownServers,
    slice::LastReadings,
    supply::Supply,
};
use crate::{agents::Agents, measure::Cell};

impl<'a> Cohort<'a> {
    /// Starts the agent and the servers, and makes all connections. A server that fails leaves a
    /// record. One for which no memory is left leaves nothing.
    pub(super) fn start(
        &self,
        known: &KnownServers,
    ) -> Result<(RunningCohort<'_>, Vec<Run>), String> {
        let started = crate::journal::now();
        let mut agents = self.settings.agents(self.stop)?;
        let (mut members, mut runs): (Vec<Member<'a>>, Vec<Run>) = (Vec::new(), Vec::new());
        let before = Supply::read();
        let mut expected_bytes = 0;
        for (number, cell) in self.instances().into_iter().enumerate() {
            expected_bytes += known.memory_bytes(&self.key(&cell.subject.variant.id));
            // One at least is compared with the baseline.
            let may_wait = number > self.references;
            if may_wait && Supply::read().is_full(&before, expected_bytes) {
                break;
            }
            let load = u32::try_from(members.len()).unwrap_or(u32::MAX);
            match self.start_one(&mut agents, cell, load) {
                Ok(member) => members.push(member),
                Err(reason) => {
                    let own = self.cells.iter().filter(|it| it.is_of(cell.subject, cell.copy));
                    runs.extend(own.map(|cell| self.failed(cell, &started, reason.clone())));
                }
            }
            if self.interrupted() {
                return Err("interrupted".to_owned());
            }
            if let Some(reason) = Supply::read().shortage(&before, members.len()) {
                return Err(reason);
            }
        }
        let probe = Probe::new(&self.settings.placement, self.settings.fleet.is_none());
        let (awake, last) = (None, LastReadings::default());
        Ok((RunningCohort { cohort: self, agents, members, awake, probe, last }, runs))
    }

    /// One cell of each instance, in the order of the plan.
    fn instances(&self) -> Vec<&'a Cell<'a>> {
        let mut firsts: Vec<&Cell<'_>> = Vec::new();
        for cell in self.cells {
            if !firsts.iter().any(|first| first.is_of(cell.subject, cell.copy)) {
                firsts.push(cell);
            }
        }
        firsts
    }

    fn start_one(
        &self,
        agent: &mut Agents<'_>,
        cell: &Cell<'a>,
        load: u32,
    ) -> Result<Member<'a>, String> {
        let workers = self.settings.workers_of(cell);
        let request = self.settings.patient_request(cell, workers);
        let began = Instant::now();
        let server =
            self.settings.launcher.start(&request, self.stop).map_err(|error| error.to_string())?;
        let ready = began.elapsed();
        let mut config = self.settings.load_config(cell, &server);
        if self.settings.idle == IdleMode::Both && self.settings.fleet.is_none() {
            // Its CPUs are those of this host, which the slices keep awake or not.
            config.idle = IdleMode::Natural;
        }
        let connected = agent.connect(load, &config, Windows::Many, &mut |_| {});
        if let Err(reason) = connected {
            let stopped = server.stop(stop_grace(self.stop));
            return Err(format!("{reason} {}", stopped.stderr).trim_end().to_owned());
        }
        let own = self.cells.iter().filter(|it| it.is_of(cell.subject, cell.copy));
        let command = |cell: &Cell<'_>| {
            let config = self.settings.load_config(cell, &server);
            (cell.workload.name.clone(), self.settings.generator_command(&config))
        };
        let commands = own.map(command).collect();
        Ok(Member::new(cell.subject, cell.copy, (server, ready), (load, commands), workers))
    }
}
