//! The loads of an agent: connections to several servers that are open at the same time, of which one
//! is used at a time.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
};
use wirebench_loadgen::Load;
use wirebench_schema::{
    agent::{AgentEvent, SliceOrder},
    load::LoadConfig,
};

use crate::slice;

/// The open loads of an agent.
pub(crate) struct Loads {
    by_number: BTreeMap<u32, (LoadConfig, Load)>,
    stop: Arc<AtomicBool>,
}

impl Loads {
    /// None yet. `stop` cuts off what lasts.
    pub(crate) const fn new(stop: Arc<AtomicBool>) -> Self {
        Self { by_number: BTreeMap::new(), stop }
    }

    /// Makes the connections of a load. One of the same number is closed before.
    pub(crate) fn connect(&mut self, load: u32, config: &LoadConfig) -> Result<AgentEvent, String> {
        self.by_number.remove(&load);
        let made = Load::connect(config, &self.stop, &mut |_| {}).map_err(|it| it.to_string())?;
        let connections = made.connections();
        self.by_number.insert(load, (config.clone(), made));
        Ok(AgentEvent::Connected { load, connections })
    }

    pub(crate) fn slice(&mut self, order: &SliceOrder) -> Result<AgentEvent, String> {
        let known = self.by_number.get_mut(&order.load);
        let (config, load) =
            known.ok_or_else(|| format!("there is no load {}: connect it first", order.load))?;
        slice::carry_out(order, config, load, &self.stop).map(Box::new).map(AgentEvent::Slice)
    }

    /// Closes the connections of a load.
    pub(crate) fn close(&mut self, load: u32) -> Result<AgentEvent, String> {
        match self.by_number.remove(&load) {
            Some(_) => Ok(AgentEvent::Closed { load }),
            None => Err(format!("there is no load {load} to close")),
        }
    }
}
