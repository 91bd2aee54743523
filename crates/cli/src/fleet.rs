//! The options that name other hosts: those from which load comes, and that of the servers.

use anyhow::Context as _;
use std::{
    fmt,
    net::{IpAddr, ToSocketAddrs as _},
};
use wirebench_experiment::remote::{Carrier, Fleet, Program};
use wirebench_schema::argv;

use crate::{exit::usage, interrupt::Interrupt, slurm::Allocation};

/// Where `--help` lists them.
pub(crate) const HEADING: &str = "Other hosts";

/// Load generators on other hosts.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FleetOptions {
    /// Hosts that make the load together, such as lab2,lab3; connections and rates are totals, threads
    /// count per host
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', value_parser = host, help_heading = HEADING)]
    pub(crate) from: Vec<String>,
    /// Command that runs a shell script, its last argument, on {host}
    /// [default: ssh -o BatchMode=yes -o ConnectTimeout=10 {host}]
    #[arg(long, value_name = "COMMAND", help_heading = HEADING)]
    carrier: Option<Carrier>,
    /// Start the wirebench that is installed on each host, instead of copying this one there
    #[arg(long, help_heading = HEADING)]
    no_copy: bool,
}

/// The host of the servers.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ServerHostOption {
    /// Host on which everything is built, checked, started and measured; the result comes back
    #[arg(long, value_name = "HOST", value_parser = host, help_heading = HEADING)]
    server_on: Option<String>,
    /// Hosts from a Slurm job with these options of salloc, such as '--partition=bench --exclusive':
    /// the first of two nodes for the servers, the others for the load; all on one with --nodes=1
    #[arg(long, value_name = "OPTIONS", conflicts_with_all = ["server_on", "from", "carrier"],
          allow_hyphen_values = true, help_heading = HEADING)]
    slurm: Option<String>,
}

impl ServerHostOption {
    /// Whether the servers are on another host.
    pub(crate) const fn is_given(&self) -> bool {
        self.server_on.is_some() || self.slurm.is_some()
    }
}

/// The host of the servers, and how it and those of the generators are reached.
#[derive(Debug)]
pub(crate) struct ServerHost {
    pub(crate) host: String,
    pub(crate) carrier: Carrier,
    pub(crate) program: Program,
    pub(crate) generators: Vec<String>,
    /// The options of the job that the hosts belong to, and the job.
    pub(crate) slurm: Option<(String, Allocation)>,
}

/// A host for the servers, and those for the load; none if the load is made there, too.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Pair {
    server: String,
    generators: Vec<String>,
}

impl fmt::Display for Pair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.server)?;
        for (index, host) in self.generators.iter().enumerate() {
            write!(formatter, "{}{host}", if index == 0 { ':' } else { '+' })?;
        }
        Ok(())
    }
}

/// A pair of hosts, as `SERVER`, `SERVER:LOAD` or `SERVER:LOAD+LOAD`.
pub(crate) fn pair(text: &str) -> Result<Pair, String> {
    let (server, load) = match text.strip_prefix('[').and_then(|it| it.split_once("]:")) {
        Some((address, load)) => (format!("[{address}]"), Some(load)),
        None => match text.split_once(':') {
            Some((server, load)) => (server.to_owned(), Some(load)),
            None => (text.to_owned(), None),
        },
    };
    let generators = load.map_or_else(|| Ok(Vec::new()), |it| it.split('+').map(host).collect());
    Ok(Pair { server: host(&server)?, generators: generators? })
}

impl ServerHost {
    /// Whether the program is that of the host.
    pub(crate) const fn is_installed(&self) -> bool {
        matches!(self.program, Program::Installed)
    }

    /// A verb of wirebench on this host, as a user gives it.
    pub(crate) fn command(&self, verb: &str) -> String {
        let mut words = vec!["wirebench".to_owned(), verb.to_owned()];
        if let Some((options, _)) = &self.slurm {
            words.extend(["--slurm".to_owned(), options.clone()]);
            return argv::display(&words);
        }
        words.extend(["--server-on".to_owned(), self.host.clone()]);
        if !self.generators.is_empty() {
            words.extend(["--from".to_owned(), self.generators.join(",")]);
        }
        words.extend(carrier_words(&self.carrier));
        words.extend(self.is_installed().then(|| "--no-copy".to_owned()));
        argv::display(&words)
    }
}

impl FleetOptions {
    /// The generators; none if the load comes from here.
    pub(crate) fn fleet(&self) -> anyhow::Result<Option<Fleet>> {
        if self.from.is_empty() {
            if self.carrier.is_some() || self.no_copy {
                return Err(usage("--carrier and --no-copy need another host: add --from HOSTS"));
            }
            return Ok(None);
        }
        let carrier = self.carrier.clone().unwrap_or_else(Carrier::ssh);
        Ok(Some(Fleet::new(self.from.clone(), carrier, self.program()?)))
    }

    pub(crate) fn hosts_of(&self, pair: &Pair) -> anyhow::Result<ServerHost> {
        Ok(ServerHost {
            host: pair.server.clone(),
            carrier: self.carrier.clone().unwrap_or_else(Carrier::ssh),
            program: self.program()?,
            generators: pair.generators.clone(),
            slurm: None,
        })
    }

    /// The first host that cannot reach what only this one has. Where a carrier goes is not known.
    pub(crate) fn elsewhere(&self) -> Option<&str> {
        let mut hosts = self.from.iter().filter(|_| self.carrier.is_none());
        hosts.find(|host| !is_here(host)).map(String::as_str)
    }

    /// Whether any of them is given.
    pub(crate) const fn is_given(&self) -> bool {
        !self.from.is_empty() || self.carrier.is_some() || self.no_copy
    }

    /// The host of the servers, unless they are here.
    pub(crate) fn server_host(
        &self,
        option: &ServerHostOption,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<ServerHost>> {
        if let Some(options) = &option.slurm {
            let program = self.program()?;
            let allocation = Allocation::wait(options, interrupt)?;
            let mut hosts = allocation.hosts.clone();
            return Ok(Some(ServerHost {
                host: hosts.remove(0),
                carrier: allocation.carrier()?,
                program,
                generators: hosts,
                slurm: Some((options.clone(), allocation)),
            }));
        }
        let Some(host) = &option.server_on else { return Ok(None) };
        let pair = Pair { server: host.clone(), generators: self.from.clone() };
        self.hosts_of(&pair).map(Some)
    }

    fn program(&self) -> anyhow::Result<Program> {
        if self.no_copy { Ok(Program::Installed) } else { Program::own().context("use --no-copy") }
    }
}

/// The words of `load` that name the hosts of `fleet`, for a command that a user can repeat.
pub(crate) fn words(fleet: &Fleet) -> Vec<String> {
    let mut words = vec!["--from".to_owned(), fleet.hosts.join(",")];
    words.extend(carrier_words(&fleet.carrier));
    words
}

fn carrier_words(carrier: &Carrier) -> Vec<String> {
    let is_usual = *carrier == Carrier::ssh();
    if is_usual { Vec::new() } else { vec!["--carrier".to_owned(), carrier.to_string()] }
}

/// The address of this host that another one has reached, if it is known.
pub(crate) fn own_address() -> Option<IpAddr> {
    // sshd names the client's address and port, then those of this side. Slurm names the node.
    if let Ok(connection) = std::env::var("SSH_CONNECTION") {
        return connection.split(' ').nth(2)?.parse().ok();
    }
    let node = std::env::var("SLURMD_NODENAME").ok()?;
    let addresses = (node.as_str(), 0).to_socket_addrs().ok()?;
    addresses.map(|it| it.ip()).find(|address| !address.is_loopback())
}

/// Whether a host is this one by its name.
fn is_here(host: &str) -> bool {
    let name = host.rsplit_once('@').map_or(host, |(_, name)| name);
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    address.is_ok_and(|it| it.is_loopback())
        || name == "localhost"
        || rustix::system::uname().nodename().to_str() == Ok(name)
}

/// A host that a carrier cannot take for an option.
fn host(text: &str) -> Result<String, String> {
    let is_plain = |it: char| it.is_alphanumeric() || "._-:@[]%/".contains(it);
    if text.is_empty() || text.starts_with('-') || !text.chars().all(is_plain) {
        return Err(
            "give the names of hosts with commas between them, such as lab2,lab3".to_owned()
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_a_host_for_servers_and_some_for_load() {
        for text in ["lab1", "lab1:lab2", "lab1:lab2+lab3", "[::1]:[::2]", "me@lab1:lab2"] {
            assert_eq!(pair(text).unwrap().to_string(), text);
        }
        assert_eq!(pair("[::1]:b+c").unwrap().generators, ["b", "c"]);
        for text in ["", ":", "a:", ":b", "a:-o", "a b:c"] {
            assert!(pair(text).is_err(), "{text}");
        }
    }

    #[test]
    fn this_host_has_the_names_of_the_loopback_and_its_own() {
        for name in ["localhost", "me@localhost", "127.0.0.1", "[::1]"] {
            assert!(is_here(name), "{name}");
        }
        assert!(!is_here("lab2") && !is_here("10.0.0.5"));
    }

    #[test]
    fn hosts_are_names_and_no_options() {
        for name in ["lab2", "user@lab2.example", "10.0.0.1", "[fe80::1%eth0]"] {
            assert_eq!(host(name), Ok(name.to_owned()));
        }
        for name in ["", "-oProxyCommand=x", "a b", "a;b", "$(a)"] {
            assert!(host(name).is_err(), "{name}");
        }
    }
}
