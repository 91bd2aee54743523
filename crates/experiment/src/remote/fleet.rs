//! The hosts of the load generators.

use std::{
    process::Stdio,
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};
use wirebench_schema::agent::HEARTBEAT_WITHIN_NS;
use wirebench_server::{parallel, pipe::PipedChild};

use super::{Carrier, Program, install};

/// How much longer than planned a command may take before the other side counts as hung.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
/// Heartbeats come several times as often as they must.
pub(crate) const HEARTBEAT_EVERY: Duration = Duration::from_nanos(HEARTBEAT_WITHIN_NS / 5);

/// Where the generators are, and how they are reached.
#[derive(Clone, Debug)]
pub struct Fleet {
    pub hosts: Vec<String>,
    pub carrier: Carrier,
    pub program: Program,
    /// Whether the hosts have the program; copies of the fleet share it.
    provided: Arc<OnceLock<Result<(), String>>>,
}

impl Fleet {
    /// Of hosts about which nothing is known yet.
    #[must_use]
    pub fn new(hosts: Vec<String>, carrier: Carrier, program: Program) -> Self {
        Self { hosts, carrier, program, provided: Arc::default() }
    }

    /// Makes sure, once, that all hosts are reached and have the program.
    pub fn provide(&self, stop: &AtomicBool) -> Result<(), String> {
        let provide = |host: &String| install::provide(&self.carrier, host, &self.program, stop);
        let provide_all = || parallel::map(&self.hosts, self.hosts.len(), provide);
        self.provided.get_or_init(|| provide_all().into_iter().collect()).clone()
    }

    /// The first host whose CPUs this user cannot keep awake. All have been reached.
    #[must_use]
    pub fn without_awake(&self, stop: &AtomicBool) -> Option<&str> {
        let script = format!("test -w {}", wirebench_sys::awake::DEVICE);
        let can = |host: &String| {
            let nothing = (Stdio::null(), Stdio::null());
            self.carrier.run(host, &script, nothing, (PATIENCE, stop)).is_ok()
        };
        let can = parallel::map(&self.hosts, self.hosts.len(), can);
        self.hosts.iter().zip(can).find(|(_, can)| !can).map(|(host, _)| host.as_str())
    }

    /// Starts the agent of `host`, which says when it takes commands.
    pub(crate) fn start_agent(&self, host: &str) -> Result<PipedChild, String> {
        let command = self.carrier.command(host, &self.program.start("agent"));
        PipedChild::spawn(command, None)
            .map_err(|error| format!("{host}: the carrier cannot be started: {error}"))
    }
}
