//! A load of its own before the measured one, on the same server. Nothing of it is kept.

use std::{sync::atomic::AtomicBool, time::Duration};
use wirebench_schema::load::{LoadConfig, LoadEvent, Stop};

use super::{Bench, Cell, follow, outside::patience};
use crate::{generate::Generator, tool::Tool};

impl Bench {
    /// Loads the server with requests that do not count, by a generator of their own.
    pub(super) fn warm_up(
        &self,
        cell: &Cell<'_>,
        config: &LoadConfig,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        // Some generators need a request for each connection.
        let requests = cell.workload.warmup_requests.map(|n| n.max(config.connections as u64));
        let warmup = match (requests, &self.tool) {
            (Some(requests), Some(tool)) => tool.warm_up(requests),
            (Some(requests), None) => Stop::Requests(requests),
            // Our own generator has a warm-up within its load.
            (None, Some(_)) if !config.warmup.is_zero() => Stop::After(config.warmup),
            (None, _) => return Ok(()),
        };
        let config = LoadConfig { warmup: Duration::ZERO, stop: warmup, ..config.clone() };
        let named = |reason| format!("in the load before the measured one: {reason}");
        if self.tool.is_some() {
            let argv = self.generator_command(&config);
            let patience = patience(&config);
            return Tool::run(&argv, self.generator_cpus(), patience, stop)
                .map(|_| ())
                .map_err(named);
        }
        let generator = self.generator(&config, false, stop)?;
        let hear =
            |_: &mut Generator, event| Ok(matches!(event, LoadEvent::Report(_)).then_some(()));
        follow(generator, &config, stop, hear).map_err(named)
    }
}
