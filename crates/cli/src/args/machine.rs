//! Where servers and load run, and when a server is ready.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};
use wirebench_catalogue::subject::{Subject, split};
use wirebench_experiment::{cohort::MOST_INSTANCES, cut::Cut, measure::RunSettings};
use wirebench_host::{place::PlacementRequest, place_here};
use wirebench_schema::{
    entry::{RunCommand, Service},
    journal::Placement,
    load::IdleMode,
    server_url::ServerUrl,
    verification::Verification,
};
use wirebench_server::launch::{Launcher, ReadyWhen, check_machine};

use super::{
    fleet::{self, FleetOptions},
    idle::IdleOption,
};
use crate::{
    context::Context,
    exit::usage,
    value::{self, List},
};

/// CPU placement, run order and conformance checks.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct Conditions {
    /// Seed for run order and payloads [default: random]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// CPUs for the server, such as 0-3 [default: half of the cores under one last-level
    /// cache, or more if its workers need them]
    #[arg(long, value_name = "LIST", value_parser = value::cpu_list)]
    server_cpus: Option<List<u32>>,
    /// CPUs for the load generator [default: the remaining CPUs]
    #[arg(long, value_name = "LIST", value_parser = value::cpu_list)]
    generator_cpus: Option<List<u32>>,
    /// Do not pin to CPUs; marks every run invalid
    #[arg(long)]
    no_pin: bool,
    /// Skip the conformance checks and compare no reply body; marks every run invalid
    #[arg(long)]
    no_verify: bool,
    /// Compare servers whose replies to the same request differ in status, length or content type
    #[arg(long)]
    replies_differ: bool,
    #[command(flatten)]
    ready: ReadyOptions,
    #[command(flatten)]
    pub(crate) fleet: FleetOptions,
    #[command(flatten)]
    pub(crate) idle: IdleOption,
}

/// Where servers listen, and when they are ready.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Machine")]
pub(crate) struct ReadyOptions {
    /// Address on which servers listen [default: 127.0.0.1; with --from the one that ssh has reached]
    #[arg(long, value_name = "ADDRESS")]
    address: Option<IpAddr>,
    /// Event that makes a server ready, the maximum time until then, or both, such as reply,60s: it accepts
    /// connections (connect), or answers GET / with status 200 (reply) [default: connect,15s]
    #[arg(long, value_name = "EVENT,DURATION", value_parser = ready)]
    ready: Option<Ready>,
}

/// When a server is ready, where it was asked for.
type Ready = (Option<ReadyWhen>, Option<Duration>);

fn ready(text: &str) -> Result<Ready, String> {
    let mut ready = Ready::default();
    for part in text.split(',') {
        match part.parse() {
            Ok(event) => ready.0 = Some(event),
            Err(_) if !part.starts_with(|it: char| it.is_ascii_digit()) => {
                return Err(format!("`{part}` is neither connect nor reply nor a duration"));
            }
            Err(_) => ready.1 = Some(value::window(part)?),
        }
    }
    Ok(ready)
}

impl ReadyOptions {
    /// A launcher of servers that listen on `usual` without --address. It is an error if they cannot.
    pub(crate) fn launcher(&self, usual: IpAddr, launcher: Launcher) -> anyhow::Result<Launcher> {
        let host = self.address.unwrap_or(usual);
        check_machine(host).map_err(usage)?;
        let (event, within) = self.ready.unwrap_or_default();
        Ok(Launcher {
            host,
            ready_timeout: within.unwrap_or(launcher.ready_timeout),
            ready_when: event.unwrap_or(launcher.ready_when),
            ..launcher
        })
    }
}

impl Conditions {
    /// Where servers and load are to be put, if servers have this many workers.
    pub(crate) fn wish(&self, workers: Option<u32>) -> PlacementRequest {
        PlacementRequest {
            no_pin: self.no_pin,
            server_cpus: self.server_cpus.clone(),
            generator_cpus: self.generator_cpus.clone(),
            workers,
        }
    }

    /// How runs are made by wirebench's own generator, with one worker for each of the server's
    /// CPUs. Without a seed there is a new one.
    pub(crate) fn settings(
        &self,
        context: &Context,
        placement: Placement,
    ) -> anyhow::Result<RunSettings> {
        self.idle.check()?;
        let program = context.program.display().to_string();
        let fleet = self.fleet.fleet()?;
        let mut load_command = vec![program.clone(), "load".to_owned()];
        load_command.extend(fleet.as_ref().map(fleet::words).unwrap_or_default());
        Ok(RunSettings {
            launcher: self.ready.launcher(
                self.host().unwrap_or(Ipv4Addr::LOCALHOST.into()),
                context.launcher(Some(&placement)),
            )?,
            agent_command: agent_command(program)?,
            cut: Cut::default(),
            most_instances: MOST_INSTANCES,
            load_command,
            tool: None,
            fleet,
            idle: self.idle.or(IdleMode::Natural),
            wake_up: None,
            replies_differ: self.replies_differ,
            workers: u32::try_from(placement.server_cpus.len())?,
            // A seed that is easy to read aloud and to type again.
            seed: self.seed.unwrap_or_else(|| u64::from(std::process::id())),
            placement,
        })
    }

    /// Refuses a limit of open files that is too low for the checks, unless they are skipped.
    pub(crate) fn require_files(&self, context: &Context) -> anyhow::Result<()> {
        if self.no_verify { Ok(()) } else { context.require_files() }
    }

    /// The address on which servers listen, if it is known.
    fn host(&self) -> Option<IpAddr> {
        let usual = || match self.fleet.from.is_empty() {
            true => Some(Ipv4Addr::LOCALHOST.into()),
            false => fleet::own_address(),
        };
        self.ready.address.or_else(usual)
    }

    /// Refuses servers that the hosts of --from cannot reach. Nothing is connected to.
    pub(crate) fn check_reach(&self, subjects: &[Subject]) -> anyhow::Result<()> {
        if self.fleet.from.is_empty() {
            return Ok(());
        }
        for subject in subjects {
            let RunCommand { service, url, .. } = &subject.variant.run;
            let is_unix = url.as_ref().is_some_and(ServerUrl::is_unix);
            let (place, remedy) = match (service, self.host()) {
                (Some(Service { target, addresses, .. }), _) if are_loopback(addresses) => {
                    (target.to_string(), "write an address of this host in the URL")
                }
                (None, _) if is_unix => ("unix:{path}".to_owned(), "use a URL with {port}"),
                (None, None) => return Err(usage(NEEDS_ADDRESS)),
                (None, Some(host)) if host.is_loopback() => {
                    (host.to_string(), "give another --address")
                }
                (Some(_), _) | (None, Some(_)) => continue,
            };
            if let Some(host) = self.fleet.elsewhere() {
                return Err(usage(format!(
                    "{place} is reached from this host alone, not from {host}: {remedy}, or omit --from"
                )));
            }
        }
        Ok(())
    }

    /// Whether conformance is checked first; `usual` is how, unless it is to be left out.
    pub(crate) const fn verification(&self, usual: Verification) -> Verification {
        if self.no_verify { Verification::LeftOut } else { usual }
    }
}

/// The variable with the command of another generator, as under a profiler.
const AGENT: &str = "WIREBENCH_AGENT";

fn agent_command(program: String) -> anyhow::Result<Vec<String>> {
    match std::env::var(AGENT) {
        Ok(command) => split(&command, AGENT, "'perf record wirebench agent'").map_err(usage),
        Err(_) => Ok(vec![program, "agent".into()]),
    }
}

const NEEDS_ADDRESS: &str = "--from needs --address ADDRESS, the address of this host at which the generators reach \
                             its servers";

fn are_loopback(addresses: &[SocketAddr]) -> bool {
    addresses.iter().all(|it| it.ip().to_canonical().is_loopback())
}

/// The CPUs that fulfil `wish` here.
pub(crate) fn placement(wish: &PlacementRequest) -> anyhow::Result<Placement> {
    place_here(wish).map_err(usage)
}
