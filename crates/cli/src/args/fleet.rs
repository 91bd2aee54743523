//! The options that name other hosts, from which load comes.

use anyhow::Context as _;
use std::net::{IpAddr, ToSocketAddrs as _};
use wirebench_experiment::remote::{Carrier, Fleet, Program};

use crate::exit::usage;

/// Where `--help` lists them.
pub(crate) const HEADING: &str = "Other hosts";

/// Load generators on other hosts.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FleetOptions {
    /// Hosts that generate the load together, such as lab2,lab3; connections and rates are totals, threads
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
        let own = || Program::own().context("use --no-copy");
        let program = if self.no_copy { Program::Installed } else { own()? };
        Ok(Some(Fleet::new(self.from.clone(), carrier, program)))
    }

    /// The first host that cannot reach what only this one has. Where a carrier goes is not known.
    pub(crate) fn elsewhere(&self) -> Option<&str> {
        let mut hosts = self.from.iter().filter(|_| self.carrier.is_none());
        hosts.find(|host| !is_here(host)).map(String::as_str)
    }
}

/// The words of `load` that name the hosts of `fleet`, for a command that a user can repeat.
pub(crate) fn words(fleet: &Fleet) -> Vec<String> {
    let mut words = vec!["--from".to_owned(), fleet.hosts.join(",")];
    if fleet.carrier != Carrier::ssh() {
        words.extend(["--carrier".to_owned(), fleet.carrier.to_string()]);
    }
    words
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
