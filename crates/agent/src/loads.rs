//! The loads of an agent: connections to several servers that are open at the same time, of which one
//! is used at a time.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, atomic::AtomicBool},
};
use wirebench_loadgen::Load;
use wirebench_schema::{
    agent::{AgentEvent, Recording, WindowOrder, Windows},
    load::{LoadConfig, LoadEvent},
};

use wirebench_server::fence::Sitters;

use crate::window::{self, EdgeReader, OpenLoad};

/// The open loads of an agent.
pub(crate) struct Loads {
    by_number: BTreeMap<u32, OpenLoad>,
    sitters: Sitters,
    stop: Arc<AtomicBool>,
}

impl Loads {
    /// None yet. `stop` cuts off what lasts.
    pub(crate) fn new(stop: Arc<AtomicBool>) -> Self {
        Self { by_number: BTreeMap::new(), sitters: Sitters::default(), stop }
    }

    /// Makes the connections of a load. One of the same number is closed before.
    pub(crate) fn connect(
        &mut self,
        number: u32,
        config: LoadConfig,
        windows: Windows,
        say: &mut dyn FnMut(&AgentEvent) -> io::Result<()>,
    ) -> Result<AgentEvent, String> {
        self.by_number.remove(&number);
        let edges = EdgeReader::default();
        let mut observe = |event| {
            if let LoadEvent::Connecting { settled } = event {
                // A reader that has gone is noticed at the next write.
                let _ = say(&AgentEvent::Connecting { settled });
            }
        };
        let load = Load::open(&config, windows, &edges.clocks(), &self.stop, &mut observe)
            .map_err(|error| error.to_string())?;
        let connections = load.connections();
        self.by_number.insert(number, OpenLoad { config, load, edges });
        Ok(AgentEvent::Connected { connections })
    }

    pub(crate) fn window(
        &mut self,
        order: &WindowOrder,
        say: &mut dyn FnMut(&AgentEvent) -> io::Result<()>,
    ) -> Result<AgentEvent, String> {
        let known = self.by_number.remove(&order.load);
        let mut open =
            known.ok_or_else(|| format!("there is no load {}: connect it first", order.load))?;
        if order.recording == Recording::Intervals {
            let measured = window::whole(order, &mut open, &self.stop, say);
            return measured.map(Box::new).map(AgentEvent::Window);
        }
        self.sitters.move_to(&order.server_cpus);
        let measured = window::slice(order, &mut open, &self.sitters, &self.stop);
        self.by_number.insert(order.load, open);
        measured.map(Box::new).map(AgentEvent::Window)
    }
}
