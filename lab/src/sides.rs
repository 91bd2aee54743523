//! One CPU for the server and one for the load generator.

use anyhow::Context as _;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::{collections::BTreeSet, fs, str::FromStr};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Sides {
    pub(crate) server_cpus: [u32; 1],
    pub(crate) generator_cpus: [u32; 1],
}

impl FromStr for Sides {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let two =
            text.split_once(',').and_then(|(one, other)| one.parse().ok().zip(other.parse().ok()));
        let (server, generator) = two.ok_or("write two numbers, such as 0,2")?;
        Ok(Self { server_cpus: [server], generator_cpus: [generator] })
    }
}

impl Sides {
    /// Those of the option `--cpus`, or the first CPU of either half of the cores under one cache; prints them.
    pub(crate) fn choose(requested: Option<Self>) -> anyhow::Result<Self> {
        let chosen = || anyhow::Ok(Self::of(&usable()?, kernel_list));
        let this = requested.map_or_else(chosen, Ok)?;
        println!(
            "server on CPU {:?}, generator on CPU {:?}, one thread each",
            this.server_cpus, this.generator_cpus
        );
        if this.server_cpus == this.generator_cpus {
            println!("warning: server and generator share one CPU: use a machine with two");
        }
        Ok(this)
    }

    /// `list` reads a list of CPUs that the kernel has for one.
    fn of(usable: &[u32], list: impl Fn(u32, &str) -> String) -> Self {
        let first = usable[0];
        let cache = |cpu: u32| list(cpu, "cache/index3/shared_cpu_list");
        let core = |cpu: u32| list(cpu, "topology/thread_siblings_list");
        let near = usable.iter().copied().filter(|cpu| cache(*cpu) == cache(first));
        let mut seen = BTreeSet::new();
        let cores: Vec<u32> = near.filter(|cpu| seen.insert(core(*cpu))).collect();
        let other = if cores.len() > 1 { cores.get(cores.len() / 2) } else { usable.get(1) };
        Self { server_cpus: [first], generator_cpus: [other.copied().unwrap_or(first)] }
    }

    pub(crate) fn both(&self) -> [u32; 2] {
        [self.server_cpus[0], self.generator_cpus[0]]
    }
}

/// The CPUs that this process may use, ascending; there is at least one.
pub(crate) fn usable() -> anyhow::Result<Vec<u32>> {
    let set = sched_getaffinity(None).context("the usable CPUs")?;
    Ok((0..).take(CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu as usize)).collect())
}

fn kernel_list(cpu: u32, name: &str) -> String {
    fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/{name}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_on_different_cores_under_one_cache_if_there_are_two() {
        // Cores of this many CPUs, caches of this many cores.
        let chosen = |usable: &[u32], core: u32, cache: u32| {
            let list = |cpu: u32, name: &str| match name.starts_with("cache") {
                true => (cpu / core / cache).to_string(),
                false => (cpu / core).to_string(),
            };
            Sides::of(usable, list).both()
        };
        assert_eq!(chosen(&[0, 1, 2, 3], 1, 8), [0, 2]);
        assert_eq!(chosen(&[0, 1, 2, 3, 4, 5, 6, 7], 2, 2), [0, 2]);
        let spread = |cpu: u32, name: &str| if name.starts_with("cache") { 0 } else { cpu % 2 };
        assert_eq!(
            Sides::of(&[0, 1, 2, 3], |cpu, name| spread(cpu, name).to_string()).both(),
            [0, 1]
        );
        assert_eq!(chosen(&[4, 5], 2, 8), [4, 5]);
        assert_eq!(chosen(&[0, 1], 1, 1), [0, 1]);
        assert_eq!(chosen(&[7], 1, 8), [7, 7]);
        assert_eq!("3,1".parse::<Sides>().unwrap().both(), [3, 1]);
        assert!("3".parse::<Sides>().is_err());
    }
}
