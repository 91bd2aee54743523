//! The usable CPUs of a machine, and the parts of it that they belong to: cores, caches, nodes and packages. Pure.

use std::collections::BTreeMap;
use wirebench_schema::environment::{Cpu, Environment};

/// The CPUs of one core.
pub(super) type Core = Vec<u32>;

/// The CPUs that may be used, and where they sit.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    usable: Vec<Cpu>,
    /// Those under each last-level cache; none if unknown.
    caches: Vec<Vec<u32>>,
    /// Those of each NUMA node; none if unknown.
    nodes: Vec<Vec<u32>>,
}

impl Topology {
    #[must_use]
    pub const fn new(usable: Vec<Cpu>, caches: Vec<Vec<u32>>, nodes: Vec<Vec<u32>>) -> Self {
        Self { usable, caches, nodes }
    }

    /// The machine that was recorded.
    #[must_use]
    pub fn of(environment: &Environment) -> Self {
        let caches = match environment.last_level_caches.as_slice() {
            [] => counted_caches(environment).unwrap_or_default(),
            known => known.to_vec(),
        };
        let nodes = environment.nodes.values().cloned().collect();
        Self::new(environment.cpus.clone(), caches, nodes)
    }

    pub(super) fn usable(&self) -> &[Cpu] {
        &self.usable
    }

    /// The cores under each last-level cache.
    pub(super) fn caches(&self) -> Vec<Vec<Core>> {
        self.parts(&self.caches)
    }

    pub(super) fn nodes(&self) -> Vec<Vec<Core>> {
        self.parts(&self.nodes)
    }

    pub(super) fn packages(&self) -> Vec<Vec<Core>> {
        let mut packages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for cpu in &self.usable {
            packages.entry(cpu.package).or_default().push(cpu.cpu);
        }
        self.parts(&packages.into_values().collect::<Vec<_>>())
    }

    /// The cores of each of `parts`, without empty ones. None where a core is in no part.
    fn parts(&self, parts: &[Vec<u32>]) -> Vec<Vec<Core>> {
        let all = cores(&self.usable);
        let own = |part: &Vec<u32>| -> Vec<Core> {
            all.iter().filter(|core| part.contains(&core[0])).cloned().collect()
        };
        let parts: Vec<Vec<Core>> =
            parts.iter().map(own).filter(|own: &Vec<Core>| !own.is_empty()).collect();
        if parts.iter().map(Vec::len).sum::<usize>() == all.len() { parts } else { Vec::new() }
    }
}

/// The last-level caches of an environment that has only their number: neighbouring cores of a node share one. None
/// where that does not give this number.
fn counted_caches(environment: &Environment) -> Option<Vec<Vec<u32>>> {
    let last = environment.caches.iter().max_by_key(|cache| cache.level)?;
    let node = |core: &Core| environment.nodes.iter().find(|(_, cpus)| cpus.contains(&core[0]));
    let mut cores = cores(&environment.cpus);
    cores.sort_by_key(|core| node(core).map(|(node, _)| *node));
    let mut caches: Vec<(Option<&u32>, Vec<u32>)> = Vec::new();
    for core in cores {
        let node = node(&core).map(|(node, _)| node);
        match caches.last_mut() {
            Some((of, cpus)) if *of == node && cpus.len() + core.len() <= last.cpus_each => {
                cpus.extend(core);
            }
            _ => caches.push((node, core)),
        }
    }
    (caches.len() == last.count).then(|| caches.into_iter().map(|(_, cpus)| cpus).collect())
}

pub(super) fn cores(usable: &[Cpu]) -> Vec<Core> {
    let mut cores: BTreeMap<(u32, u32), Core> = BTreeMap::new();
    for cpu in usable {
        cores.entry((cpu.package, cpu.core)).or_default().push(cpu.cpu);
    }
    cores.into_values().collect()
}

/// The CPUs of `cores` in their order.
pub(super) fn flat(cores: impl IntoIterator<Item = Core>) -> Vec<u32> {
    let mut cpus: Vec<u32> = cores.into_iter().flatten().collect();
    cpus.sort_unstable();
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::environment::Cache;

    fn environment(nodes: &[&[u32]], cpus_each: usize, count: usize) -> Environment {
        let cpu = |cpu| Cpu { cpu, core: cpu, package: 0 };
        let cache = Cache { level: 3, kind: "Unified".into(), size: "1K".into(), cpus_each, count };
        Environment {
            cpus: (0..8).map(cpu).collect(),
            nodes: (0..).zip(nodes.iter().map(|cpus| cpus.to_vec())).collect(),
            caches: vec![Cache { level: 1, cpus_each: 1, count: 8, ..cache.clone() }, cache],
            ..Environment::default()
        }
    }

    #[test]
    fn caches_that_were_only_counted_are_those_of_neighbouring_cores_of_a_node() {
        let caches = |environment: &Environment| Topology::of(environment).caches;
        let crossed = [&[0, 2, 4, 6][..], &[1, 3, 5, 7]];
        let pairs = [[0, 2], [4, 6], [1, 3], [5, 7]];
        assert_eq!(caches(&environment(&crossed, 2, 4)), pairs);
        assert_eq!(caches(&environment(&[], 4, 2)), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!(caches(&environment(&crossed, 8, 1)), [[0; 0]; 0], "no cache spans two nodes");
        let known = vec![vec![0, 7], vec![1, 2, 3, 4, 5, 6]];
        let recorded =
            Environment { last_level_caches: known.clone(), ..environment(&crossed, 2, 4) };
        assert_eq!(caches(&recorded), known);
    }

    #[test]
    fn parts_that_do_not_have_every_core_are_unknown() {
        let cpus = environment(&[], 8, 1).cpus;
        let nodes = |nodes: &[&[u32]]| {
            let nodes = nodes.iter().map(|cpus| cpus.to_vec()).collect();
            Topology::new(cpus.clone(), Vec::new(), nodes).nodes().len()
        };
        assert_eq!(nodes(&[&[0, 1, 2, 3], &[4, 5, 6, 7, 8], &[9]]), 2);
        assert_eq!(nodes(&[&[0, 1, 2, 3], &[4, 5, 6]]), 0);
    }
}
