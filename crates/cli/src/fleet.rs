//! The options that name the hosts from which load comes.

use anyhow::Context as _;
use wirebench_experiment::remote::{Carrier, Fleet, Program};

/// Load generators on other hosts.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Generators")]
pub(crate) struct FleetOptions {
    /// Hosts that make the load together, such as lab2,lab3; -c and -R are totals, -t counts per host
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', value_parser = host,
          conflicts_with_all = ["events", "intervals", "ceiling"])]
    from: Vec<String>,
    /// Command that carries out a shell script, its last argument, on {host}
    /// [default: ssh -o BatchMode=yes -o ConnectTimeout=10 {host}]
    #[arg(long, value_name = "COMMAND", requires = "from")]
    carrier: Option<Carrier>,
    /// Start the wirebench that is installed on each host, instead of copying this one there
    #[arg(long, requires = "from")]
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
        Ok(Some(Fleet { hosts: self.from.clone(), carrier, program }))
    }
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
