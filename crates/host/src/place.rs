//! Decides which CPUs serve and which generate the load. It reads nothing: topology and request go in, a
//! placement comes out.

mod near;
mod topology;

pub use topology::Topology;

use wirebench_schema::{
    environment::Cpu,
    journal::{MachinePart, Placement},
};

use topology::{Core, cores, flat};

/// What the user wants of the placement.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PlacementRequest {
    /// Bind nothing.
    pub no_pin: bool,
    pub server_cpus: Option<Vec<u32>>,
    pub generator_cpus: Option<Vec<u32>>,
    /// Workers that the server should have CPUs for, as far as there are enough.
    pub workers: Option<u32>,
}

/// Splits the usable CPUs between server and generator.
///
/// Whole cores go to one side, so that siblings do not work against each other. Wishes are taken as
/// they are, and a single core is split, because both sides on one CPU would be worse; the placement
/// then names the cores that are split. The server gets the
/// first half of the cores; of an odd number the generator gets one more, because a generator that
/// is short of CPUs spoils every figure.
///
/// Without named CPUs both sides are as near to each other as the server's workers allow, because messages between
/// caches cost several times as much as within one (`near`).
pub fn place(topology: &Topology, wish: &PlacementRequest) -> Result<Placement, String> {
    let usable = topology.usable();
    let all: Vec<u32> = usable.iter().map(|cpu| cpu.cpu).collect();
    if wish.no_pin {
        if wish.server_cpus.is_some() || wish.generator_cpus.is_some() {
            return Err("--no-pin binds nothing: omit --server-cpus and --generator-cpus".into());
        }
        return Ok(Placement {
            server_cpus: all.clone(),
            generator_cpus: all,
            ..Placement::default()
        });
    }
    for (option, cpus) in
        [("--server-cpus", &wish.server_cpus), ("--generator-cpus", &wish.generator_cpus)]
    {
        if let Some(cpu) = cpus.iter().flatten().find(|cpu| !all.contains(cpu)) {
            return Err(format!("{option}: CPU {cpu} is not available: use CPUs of {all:?}"));
        }
    }
    let rest = |taken: &[u32], other: &str| {
        rest(usable, taken)
            .ok_or_else(|| format!("no CPU is left for the other side: give {other} too"))
    };
    let (server_cpus, generator_cpus, within) = match (&wish.server_cpus, &wish.generator_cpus) {
        (Some(server), Some(generator)) => (server.clone(), generator.clone(), None),
        (Some(server), None) => (server.clone(), rest(server, "--generator-cpus")?, None),
        (None, Some(generator)) => (rest(generator, "--server-cpus")?, generator.clone(), None),
        (None, None) => match near::sides(topology, wish.workers.unwrap_or(1)) {
            Some(near::Sides { server, generator, within }) => (server, generator, within),
            None => single_core(all),
        },
    };
    let disjoint = !server_cpus.iter().any(|cpu| generator_cpus.contains(cpu));
    let split_cores = if disjoint {
        let has = |cpus: &[u32], core: &[u32]| core.iter().any(|cpu| cpus.contains(cpu));
        let is_split = |core: &Core| has(&server_cpus, core) && has(&generator_cpus, core);
        cores(usable).into_iter().filter(is_split).collect()
    } else {
        Vec::new()
    };
    Ok(Placement { server_cpus, generator_cpus, pinned: true, disjoint, split_cores, within })
}

/// The CPUs of one core on both sides, as far as there are several.
fn single_core(mut cpus: Vec<u32>) -> (Vec<u32>, Vec<u32>, Option<MachinePart>) {
    if cpus.len() == 1 {
        return (cpus.clone(), cpus, None);
    }
    let generator = cpus.split_off(cpus.len() / 2);
    (cpus, generator, None)
}

/// What one side leaves to the other: whole cores if there are any, else siblings of its own CPUs.
fn rest(usable: &[Cpu], taken: &[u32]) -> Option<Vec<u32>> {
    let is_free = |cpu: &u32| !taken.contains(cpu);
    let whole = cores(usable).into_iter().filter(|core| core.iter().all(is_free));
    let mut free = flat(whole);
    if free.is_empty() {
        free = usable.iter().map(|cpu| cpu.cpu).filter(is_free).collect();
    }
    (!free.is_empty()).then_some(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` CPUs, of which each two that are `count / 2` apart share a core when `siblings` is
    /// set.
    fn cpus(count: u32, siblings: bool) -> Vec<Cpu> {
        let core = |cpu| if siblings { cpu % (count / 2) } else { cpu };
        (0..count).map(|cpu| Cpu { cpu, core: core(cpu), package: 0 }).collect()
    }

    fn under(usable: &[Cpu], caches: &[Vec<u32>]) -> Topology {
        Topology::new(usable.to_vec(), caches.to_vec(), Vec::new())
    }

    fn sides(usable: &[Cpu]) -> (Vec<u32>, Vec<u32>, bool) {
        let placement = place(&under(usable, &[]), &PlacementRequest::default()).unwrap();
        (placement.server_cpus, placement.generator_cpus, placement.disjoint)
    }

    #[test]
    fn each_side_gets_half_of_the_cores_and_siblings_stay_together() {
        assert_eq!(sides(&cpus(2, false)), (vec![0], vec![1], true));
        assert_eq!(sides(&cpus(4, false)), (vec![0, 1], vec![2, 3], true));
        assert_eq!(sides(&cpus(3, false)), (vec![0], vec![1, 2], true));
        assert_eq!(sides(&cpus(8, true)), (vec![0, 1, 4, 5], vec![2, 3, 6, 7], true));
    }

    #[test]
    fn both_sides_are_under_one_cache_unless_cpus_are_named() {
        let caches = [vec![0, 1, 2], vec![3, 4, 5, 6, 7]];
        let placed = |caches: &[Vec<u32>], wish: &PlacementRequest| {
            let it = place(&under(&cpus(8, false), caches), wish).unwrap();
            (it.server_cpus, it.generator_cpus, it.within)
        };
        let usual = PlacementRequest::default();
        assert_eq!(placed(&caches, &usual), (vec![3, 4], vec![5, 6, 7], Some(MachinePart::Cache)));
        assert_eq!(placed(&caches[..1], &usual), (vec![0, 1, 2, 3], vec![4, 5, 6, 7], None));
        let each: Vec<Vec<u32>> = (0..8).map(|cpu| vec![cpu]).collect();
        assert_eq!(placed(&each, &usual).2, None, "no cache has a core for each side");
        let wish = PlacementRequest { server_cpus: Some(vec![0]), ..usual };
        assert_eq!(placed(&caches, &wish), (vec![0], vec![1, 2, 3, 4, 5, 6, 7], None));
    }

    #[test]
    fn a_single_core_is_split_between_its_siblings_and_a_single_cpu_is_shared() {
        assert_eq!(sides(&cpus(2, true)), (vec![0], vec![1], true));
        assert_eq!(sides(&cpus(1, false)), (vec![0], vec![0], false));
    }

    #[test]
    fn a_core_on_both_sides_is_named() {
        let split = |usable: &[Cpu], wish: &PlacementRequest| {
            place(&under(usable, &[]), wish).unwrap().split_cores
        };
        assert_eq!(split(&cpus(2, true), &PlacementRequest::default()), [[0, 1]]);
        for usable in [cpus(2, false), cpus(4, true), cpus(8, true), cpus(1, false)] {
            assert_eq!(split(&usable, &PlacementRequest::default()), [[0; 0]; 0], "{usable:?}");
        }
        let both = PlacementRequest {
            server_cpus: Some(vec![0, 5]),
            generator_cpus: Some(vec![4, 1, 2]),
            ..PlacementRequest::default()
        };
        assert_eq!(split(&cpus(8, true), &both), [[0, 4], [1, 5]]);
    }

    #[test]
    fn a_wish_for_one_side_leaves_siblings_to_the_other_only_when_nothing_else_is_left() {
        let rest = |usable: &[Cpu], server_cpus: &[u32]| {
            let wish = PlacementRequest {
                server_cpus: Some(server_cpus.to_vec()),
                ..PlacementRequest::default()
            };
            let placement = place(&under(usable, &[]), &wish).unwrap();
            (placement.generator_cpus, placement.split_cores)
        };
        assert_eq!(rest(&cpus(8, true), &[0]), (vec![1, 2, 3, 5, 6, 7], vec![]));
        assert_eq!(rest(&cpus(4, true), &[0, 1]), (vec![2, 3], vec![vec![0, 2], vec![1, 3]]));
    }

    #[test]
    fn a_wish_for_one_side_gives_the_other_the_rest() {
        let wish = PlacementRequest { server_cpus: Some(vec![3]), ..PlacementRequest::default() };
        let placement = place(&under(&cpus(4, false), &[]), &wish).unwrap();
        assert_eq!((placement.generator_cpus, placement.disjoint), (vec![0, 1, 2], true));
    }

    #[test]
    fn wishes_that_cannot_be_met_are_refused() {
        let wish =
            PlacementRequest { generator_cpus: Some(vec![9]), ..PlacementRequest::default() };
        assert_eq!(
            place(&under(&cpus(2, false), &[]), &wish).unwrap_err(),
            "--generator-cpus: CPU 9 is not available: use CPUs of [0, 1]"
        );
        let wish =
            PlacementRequest { server_cpus: Some(vec![0, 1]), ..PlacementRequest::default() };
        assert_eq!(
            place(&under(&cpus(2, false), &[]), &wish).unwrap_err(),
            "no CPU is left for the other side: give --generator-cpus too"
        );
        let wish = PlacementRequest {
            no_pin: true,
            server_cpus: Some(vec![0]),
            ..PlacementRequest::default()
        };
        assert!(place(&under(&cpus(2, false), &[]), &wish).is_err());
        let wish = PlacementRequest { no_pin: true, ..PlacementRequest::default() };
        assert!(!place(&under(&cpus(2, false), &[]), &wish).unwrap().pinned);
    }
}
