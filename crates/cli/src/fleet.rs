//! The options that name the hosts from which load comes.

use anyhow::Context as _;
use std::net::IpAddr;
use wirebench_experiment::remote::{Carrier, Fleet, Program};

/// Where `--help` lists them.
const HEADING: &str = "Other hosts";

/// Load generators on other hosts.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FleetOptions {
    /// Hosts that make the load together, such as lab2,lab3; connections and
    /// rates are totals, threads count per host
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', value_parser = host, help_heading = HEADING)]
    from: Vec<String>,
    /// Command that carries out a shell script, its last argument, on {host}
    /// [default: ssh -o BatchMode=yes -o ConnectTimeout=10 {host}]
    #[arg(long, value_name = "COMMAND", requires = "from", help_heading = HEADING)]
    carrier: Option<Carrier>,
    /// Start the wirebench that is installed on each host, instead of copying this one there
    #[arg(long, requires = "from", help_heading = HEADING)]
    no_copy: bool,
}

impl FleetOptions {
    /// The generators; none if the load comes from here.
    pub(crate) fn fleet(&self) -> anyhow::Result<Option<Fleet>> {
        if self.from.is_empty() {
            return Ok(None);
        }
        let program = if self.no_copy {
            Program::Installed
        } else {
            Program::own().context("use --no-copy")?
        };
        let carrier = self.carrier.clone().unwrap_or_else(Carrier::ssh);
        Ok(Some(Fleet::new(self.from.clone(), carrier, program)))
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
    // sshd names the client's address and port, then those of this side.
    let connection = std::env::var("SSH_CONNECTION").ok()?;
    connection.split(' ').nth(2)?.parse().ok()
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
    fn hosts_are_names_and_no_options() {
        for name in ["lab2", "user@lab2.example", "10.0.0.1", "[fe80::1%eth0]"] {
            assert_eq!(host(name), Ok(name.to_owned()));
        }
        for name in ["", "-oProxyCommand=x", "a b", "a;b", "$(a)"] {
            assert!(host(name).is_err(), "{name}");
        }
    }
}
