//! What is missing or unwise on this machine, with the command that mends it. It changes nothing.

use wirebench_schema::environment::Environment;

use crate::{environment, setup::Setup};

/// One thing that was looked at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub name: &'static str,
    /// How it is.
    pub state: State,
    /// What was found, as a sentence.
    pub text: String,
    /// A command or a step that mends it.
    pub remedy: Option<String>,
}

/// How good a thing is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum State {
    /// As it should be.
    Fine,
    /// Measurements are possible, but worse than they could be.
    Unwise,
    /// Something cannot be measured.
    Missing,
}

fn fine(name: &'static str, text: impl Into<String>) -> Finding {
    Finding { name, state: State::Fine, text: text.into(), remedy: None }
}

fn unwise(name: &'static str, text: impl Into<String>, remedy: &str) -> Finding {
    Finding { name, state: State::Unwise, text: text.into(), remedy: Some(remedy.to_owned()) }
}

/// Looks at everything. `io_uring` is what setting up a ring was answered with.
#[must_use]
pub fn examine(
    environment: &Environment,
    io_uring: Result<(), String>,
    setup: &Setup,
) -> Vec<Finding> {
    let mut findings = vec![
        cpus(environment),
        governor(environment),
        virtualisation(environment),
        load(environment),
        ring(io_uring),
        open_files(environment),
        ports(environment),
        backlog(environment),
    ];
    findings.extend(packages(setup));
    findings
}

fn cpus(environment: &Environment) -> Finding {
    let usable = environment.cpus.len();
    let cores: std::collections::BTreeSet<_> =
        environment.cpus.iter().map(|cpu| (cpu.package, cpu.core)).collect();
    let text = format!(
        "{usable} of {} CPUs may be used, on {} cores",
        environment.cpus_online,
        cores.len()
    );
    match (usable, cores.len()) {
        (0 | 1, _) => unwise(
            "cpus",
            format!("{text}: server and generator must share one"),
            "use a machine, or an affinity mask, of at least 2 CPUs",
        ),
        (_, 1) => unwise(
            "cpus",
            format!("{text}: server and generator share a core and slow each other down"),
            "use a machine of at least 2 cores",
        ),
        _ => fine("cpus", text),
    }
}

fn governor(environment: &Environment) -> Finding {
    match environment.governor.as_deref() {
        None => fine("governor", "the machine shows no frequency governor"),
        Some("performance") => fine("governor", "the frequency governor is `performance`"),
        Some(other) => unwise(
            "governor",
            format!("the frequency governor is `{other}`: the CPU's speed follows the load"),
            "cpupower frequency-set -g performance",
        ),
    }
}

fn virtualisation(environment: &Environment) -> Finding {
    match environment.virtualised {
        Some(true) => unwise(
            "virtualisation",
            "this is a virtual machine: its neighbours change the figures from run to run",
            "compare ratios within one run, never figures of different days",
        ),
        Some(false) => fine("virtualisation", "the machine says nothing of a hypervisor"),
        None => fine("virtualisation", "the machine does not tell whether it is virtual"),
    }
}

fn load(environment: &Environment) -> Finding {
    let load = environment.load_average_1m;
    let text = format!("{load:.2} tasks were runnable on average over the last minute");
    if load > 0.5 {
        unwise("load", text, "end what else runs, and wait a minute")
    } else {
        fine("load", text)
    }
}

fn ring(io_uring: Result<(), String>) -> Finding {
    match io_uring {
        Ok(()) => fine("io_uring", "rings can be set up"),
        Err(reason) => {
            Finding { name: "io_uring", state: State::Missing, text: reason, remedy: None }
        }
    }
}

fn open_files(environment: &Environment) -> Finding {
    const ENOUGH: u64 = 8192;
    let (soft, hard) = environment.open_files;
    let text = format!("a process may open {hard} files (soft limit {soft}, raised by itself)");
    if hard < ENOUGH {
        unwise("open-files", text, "raise it: ulimit -Hn 65536, or LimitNOFILE= of the service")
    } else {
        fine("open-files", text)
    }
}

fn ports(environment: &Environment) -> Finding {
    const ENOUGH: u32 = 20_000;
    let name = "net/ipv4/ip_local_port_range";
    let range = environment.sysctls.get(name).cloned().unwrap_or_default();
    let mut numbers = range.split_whitespace().filter_map(|number| number.parse::<u32>().ok());
    let count = match (numbers.next(), numbers.next()) {
        (Some(first), Some(last)) => last.saturating_sub(first) + 1,
        _ => return fine("ports", "the range of local ports is not told"),
    };
    let text = format!("{count} local ports for connections to one address");
    if count < ENOUGH {
        unwise("ports", text, "sysctl -w net.ipv4.ip_local_port_range='1024 65535'")
    } else {
        fine("ports", text)
    }
}

fn backlog(environment: &Environment) -> Finding {
    const ENOUGH: u32 = 1024;
    let name = "net/core/somaxconn";
    let Some(value) = environment.sysctls.get(name).and_then(|text| text.parse::<u32>().ok())
    else {
        return fine("backlog", "the longest queue of new connections is not told");
    };
    let text = format!("up to {value} new connections wait in a server's queue");
    if value < ENOUGH {
        unwise("backlog", text, "sysctl -w net.core.somaxconn=4096")
    } else {
        fine("backlog", text)
    }
}

fn packages(setup: &Setup) -> Vec<Finding> {
    let mut findings = Vec::new();
    if setup.packages.is_empty() {
        findings.push(fine("packages", "no package is missing that would make an entry ready"));
    } else {
        let names: Vec<&str> = setup.packages.iter().map(String::as_str).collect();
        findings.push(Finding {
            name: "packages",
            state: State::Missing,
            text: format!("missing for some entries: {}", names.join(" ")),
            remedy: Some("wirebench setup".to_owned()),
        });
    }
    for fetch in &setup.fetches {
        findings.push(Finding {
            name: "registries",
            state: State::Missing,
            text: format!("missing for some entries: {}", fetch.what),
            remedy: Some("wirebench setup".to_owned()),
        });
    }
    for (variant, reason) in &setup.out_of_reach {
        findings.push(Finding {
            name: "entry",
            state: State::Missing,
            text: format!("{variant} cannot be measured here: {reason}"),
            remedy: None,
        });
    }
    findings
}

/// Examines the machine that this runs on.
#[must_use]
pub fn examine_here(io_uring: Result<(), String>, setup: &Setup) -> Vec<Finding> {
    examine(&environment::gather(None), io_uring, setup)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::environment::Cpu;

    fn state_of(findings: &[Finding], name: &str) -> State {
        findings.iter().find(|finding| finding.name == name).unwrap().state
    }

    #[test]
    fn each_unwise_thing_is_found_and_has_a_remedy() {
        let mut environment = environment::gather(None);
        environment.cpus = vec![Cpu { cpu: 0, core: 0, package: 0 }];
        environment.governor = Some("powersave".to_owned());
        environment.virtualised = Some(true);
        environment.load_average_1m = 3.0;
        environment.open_files = (256, 1024);
        environment.sysctls.insert("net/ipv4/ip_local_port_range".into(), "50000 50100".into());
        environment.sysctls.insert("net/core/somaxconn".into(), "128".into());
        let findings = examine(&environment, Err("disabled".into()), &Setup::default());
        for name in ["cpus", "governor", "virtualisation", "load", "open-files", "ports", "backlog"]
        {
            assert_eq!(state_of(&findings, name), State::Unwise, "{name}");
        }
        assert_eq!(state_of(&findings, "io_uring"), State::Missing);
        assert!(findings.iter().filter(|f| f.state == State::Unwise).all(|f| f.remedy.is_some()));
    }

    #[test]
    fn a_good_machine_is_fine() {
        let mut environment = environment::gather(None);
        environment.cpus = (0..4).map(|cpu| Cpu { cpu, core: cpu, package: 0 }).collect();
        environment.governor = Some("performance".to_owned());
        environment.virtualised = Some(false);
        environment.load_average_1m = 0.0;
        environment.open_files = (1024, 1 << 20);
        environment.sysctls.insert("net/ipv4/ip_local_port_range".into(), "1024 65535".into());
        environment.sysctls.insert("net/core/somaxconn".into(), "4096".into());
        let findings = examine(&environment, Ok(()), &Setup::default());
        assert!(findings.iter().all(|finding| finding.state == State::Fine), "{findings:?}");
    }
}
