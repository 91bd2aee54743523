//! The load generator of a run: its command, its configuration and its CPUs.

use std::{sync::atomic::AtomicBool, time::Duration};
use wirebench_schema::{
    load::{BodyCheck, IdleMode, LoadConfig, RequestSet},
    suite::{Phase, Workload},
};
use wirebench_server::launch::Server;

use super::{Cell, RunSettings, command::load_arguments};
use crate::agents::{AgentPool, Agents};

/// The shortest load at a rate before the window of a cost phase. Its connections are new, also
/// where the server has been warmed up.
const COST_WARM_UP: Duration = Duration::from_millis(200);

impl RunSettings {
    pub(crate) fn generator_command(&self, config: &LoadConfig) -> Vec<String> {
        match &self.tool {
            None => [self.load_command.clone(), load_arguments(config)].concat(),
            Some(tool) => tool.command(config),
        }
    }

    /// Our own generators: a child on this host, or those of the fleet.
    pub(crate) fn agents<'a>(&self, stop: &'a AtomicBool) -> Result<Agents<'a>, String> {
        let pool = match &self.fleet {
            Some(fleet) => AgentPool::on_hosts(fleet, stop)?,
            None => AgentPool::here(&self.agent_command, self.generator_cpus())?,
        };
        Agents::new(pool, stop)
    }

    /// The generator's CPUs, if the sides are bound to theirs.
    pub(crate) fn generator_cpus(&self) -> Option<&[u32]> {
        self.placement.pinned.then_some(self.placement.generator_cpus.as_slice())
    }

    /// True if a workload is measured in both idle modes.
    #[must_use]
    pub fn has_both(&self, workload: &Workload) -> bool {
        self.idle == IdleMode::Both && workload.has_rate() && workload.has_slices()
    }

    pub(crate) fn load_config(&self, cell: &Cell<'_>, server: &Server) -> LoadConfig {
        let (run, threads) = (&cell.subject.variant.run, self.placement.generator_cpus.len());
        let place = (server.address(), server.socket());
        let mut config = cell.workload.load_config_on(run, place, threads, self.seed);
        config.idle = self.idle.compared();
        if !cell.verification.is_done() && config.target.protocol().traits().has_heads {
            (config.expect_body, config.body_check) = (None, BodyCheck::Any);
            config.requests.iter_mut().for_each(RequestSet::accept_any_body);
        }
        if cell.workload.phase == Phase::Cost {
            config.warmup = config.warmup.max(COST_WARM_UP);
        }
        if let Some(tool) = &self.tool {
            config.threads = tool.threads(&config);
        }
        config
    }
}
