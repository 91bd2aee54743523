//! Where both sides are near each other and the server has a CPU for each of its workers. Pure.
//!
//! 1. Both sides are under one last-level cache if half of its cores have enough CPUs.
//! 2. Otherwise each side has whole caches of its own, as few as hold the workers: of one NUMA node, else of one
//!    package, else of the machine. All messages between the sides then take equally long, and the workers of a server
//!    are as near to each other as possible.
//! 3. Where a part has too few caches for that, half of its cores may do.
//! 4. If nothing has enough CPUs, the server gets as many as possible.
//!
//! Where no cache has two cores, or their CPUs are unknown, nodes take their place, and then packages.

use wirebench_schema::journal::MachinePart;

use super::topology::{Core, Topology, cores, flat};

/// The CPUs of both sides.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Sides {
    pub(super) server: Vec<u32>,
    pub(super) generator: Vec<u32>,
    /// The smallest part that has both; none if only the machine has.
    pub(super) within: Option<MachinePart>,
}

/// Parts of one kind, each with its cores.
type Level = (Option<MachinePart>, Vec<Vec<Core>>);

/// The sides of a server with this many workers; none where there is only one core.
pub(super) fn sides(topology: &Topology, workers: u32) -> Option<Sides> {
    let candidates = candidates(&levels(topology));
    let is_enough = |it: &&Sides| it.server.len() >= workers as usize;
    let largest = || candidates.iter().rev().max_by_key(|it| it.server.len());
    candidates.iter().find(is_enough).or_else(largest).cloned()
}

/// From the smallest parts to the machine, without those that distinguish no CPUs or have no core for each side.
fn levels(topology: &Topology) -> Vec<Level> {
    let parts = [
        (MachinePart::Cache, topology.caches()),
        (MachinePart::Node, topology.nodes()),
        (MachinePart::Package, topology.packages()),
    ];
    let divides = |(_, parts): &(MachinePart, Vec<Vec<Core>>)| {
        parts.len() > 1 && parts.iter().any(|cores| cores.len() > 1)
    };
    let parts = parts.into_iter().filter(divides).map(|(part, cores)| (Some(part), cores));
    parts.chain([(None, vec![cores(topology.usable())])]).collect()
}

/// All sides that come into question, the best ones first.
fn candidates(levels: &[Level]) -> Vec<Sides> {
    let Some(((nearest, units), others)) = levels.split_first() else { return Vec::new() };
    let largest = units.iter().rev().max_by_key(|cores| cores.len());
    let mut found: Vec<Sides> =
        largest.and_then(|cores| halves(cores, *nearest)).into_iter().collect();
    for (within, parts) in others {
        let mut inside: Vec<Vec<&Vec<Core>>> =
            parts.iter().map(|part| units_of(part, units)).collect();
        for units in &mut inside {
            units.sort_by_key(|cores| std::cmp::Reverse(cores.len()));
        }
        for count in 1..=units.len() / 2 {
            let whole = inside.iter().filter(|units| units.len() >= 2 * count);
            found.extend(whole.map(|units| whole_units(&units[..2 * count], *within)));
        }
        found.extend(inside.iter().filter_map(|units| halves(&joined(units), *within)));
    }
    found
}

fn units_of<'a>(part: &[Core], units: &'a [Vec<Core>]) -> Vec<&'a Vec<Core>> {
    units.iter().filter(|unit| part.contains(&unit[0])).collect()
}

/// Half of `units`, the larger ones first, for each side. A generator that is short of CPUs spoils every figure.
fn whole_units(units: &[&Vec<Core>], within: Option<MachinePart>) -> Sides {
    let (first, second) = units.split_at(units.len() / 2);
    let (first, second) = (flat(joined(first)), flat(joined(second)));
    let is_short = second.len() < first.len();
    let (server, generator) = if is_short { (second, first) } else { (first, second) };
    Sides { server, generator, within }
}

fn joined(units: &[&Vec<Core>]) -> Vec<Core> {
    units.iter().copied().flatten().cloned().collect()
}

/// The first half of `cores` for the server, if there is a core for each side.
fn halves(cores: &[Core], within: Option<MachinePart>) -> Option<Sides> {
    let (server, generator) = cores.split_at(cores.len() / 2);
    let [server, generator] = [server, generator].map(|cores| flat(cores.to_vec()));
    (!server.is_empty()).then_some(Sides { server, generator, within })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::environment::Cpu;

    /// Packages of this many caches with this many cores each, of one CPU; each package is a node.
    fn machine(packages: u32, caches: u32, cores: u32) -> Topology {
        let of_cache = |cache: u32| (cache * cores..(cache + 1) * cores).collect::<Vec<u32>>();
        let of_package = |package: u32| {
            let each = caches * cores;
            (package * each..(package + 1) * each).collect::<Vec<u32>>()
        };
        let cpu = |cpu| Cpu { cpu, core: cpu, package: cpu / (caches * cores) };
        Topology::new(
            (0..packages * caches * cores).map(cpu).collect(),
            (0..packages * caches).map(of_cache).collect(),
            (0..packages).map(of_package).collect(),
        )
    }

    /// The ranges of both sides.
    fn placed(topology: &Topology, workers: u32) -> ([u32; 2], [u32; 2], Option<MachinePart>) {
        let Sides { server, generator, within } = sides(topology, workers).unwrap();
        let range = |cpus: &[u32]| {
            let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
            assert_eq!(cpus.len() as u32, last - first + 1, "{cpus:?}");
            [first, last]
        };
        (range(&server), range(&generator), within)
    }

    #[test]
    fn one_cache_is_used_as_long_as_half_of_it_holds_the_workers() {
        let two = machine(2, 1, 8);
        let within = Some(MachinePart::Cache);
        assert_eq!(placed(&two, 1), ([0, 3], [4, 7], within));
        assert_eq!(placed(&two, 4), ([0, 3], [4, 7], within));
        assert_eq!(placed(&two, 5), ([0, 7], [8, 15], None));
    }

    #[test]
    fn the_fewest_whole_caches_of_one_node_follow_and_then_those_of_more() {
        let many = machine(2, 4, 8);
        let within = Some(MachinePart::Node);
        assert_eq!(placed(&many, 5), ([0, 7], [8, 15], within));
        assert_eq!(placed(&many, 12), ([0, 15], [16, 31], within));
        assert_eq!(placed(&many, 17), ([0, 23], [24, 47], None));
        assert_eq!(placed(&many, 99), ([0, 31], [32, 63], None));
    }

    #[test]
    fn a_node_with_too_few_caches_is_halved() {
        let three = machine(1, 3, 4);
        assert_eq!(placed(&three, 4), ([0, 3], [4, 7], None));
        assert_eq!(placed(&three, 6), ([0, 5], [6, 11], None));
        let packages = machine(2, 3, 4);
        assert_eq!(placed(&packages, 6), ([0, 5], [6, 11], Some(MachinePart::Node)));
    }

    #[test]
    fn without_caches_of_two_cores_nodes_are_the_smallest_parts() {
        let each = machine(2, 4, 1);
        assert_eq!(placed(&each, 1), ([0, 1], [2, 3], Some(MachinePart::Node)));
        assert_eq!(placed(&machine(1, 4, 1), 1), ([0, 1], [2, 3], None));
    }

    #[test]
    fn the_larger_cache_is_the_generators() {
        let cpus = (0..7).map(|cpu| Cpu { cpu, core: cpu, package: 0 }).collect();
        let caches = vec![vec![0, 1, 2, 3], vec![4, 5, 6]];
        let uneven = Topology::new(cpus, caches, Vec::new());
        assert_eq!(placed(&uneven, 3), ([4, 6], [0, 3], None));
        assert_eq!(placed(&uneven, 2), ([0, 1], [2, 3], Some(MachinePart::Cache)));
    }
}
