//! Another program that takes 300 ms of each second from the CPUs in turn.

use anyhow::Context;
use std::process::{Child, Command};

use crate::sides::Sides;

/// Busy on the CPU of its first argument in one second and on that of its second one in the next.
const SCRIPT: &str = "while :; do for cpu in \"$@\"; do
    taskset --cpu-list $cpu timeout 0.3 sh -c 'while :; do :; done'; sleep 0.7
done; done";

pub(super) struct Neighbour(Child);

impl Neighbour {
    pub(super) fn start(sides: &Sides) -> anyhow::Result<Self> {
        let cpus = sides.both().map(|cpu| cpu.to_string());
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "sh", "-c", SCRIPT, "neighbour"]).args(cpus);
        command.spawn().map(Self).context("the neighbour")
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
