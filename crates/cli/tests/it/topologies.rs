//! The suites of documents on machines of 4 to 128 CPUs, of which `tests/topologies/` has constructed descriptions:
//! what must hold of every placement, and one plan.

use crate::{
    suites::{DOCUMENTS, folder, suite},
    world::World,
};
use std::{fs, path::PathBuf};
use wirebench_host::place::{PlacementRequest, Topology, place};
use wirebench_schema::{
    environment::Environment,
    journal::{
        MachinePart::{Cache, Node},
        Placement,
    },
    suite::{Scale, Suite},
};

const MACHINES: [&str; 4] = ["4-cpus", "16-cpus", "64-cpus", "128-cpus"];

fn file(machine: &str) -> PathBuf {
    folder().join(format!("../crates/cli/tests/topologies/{machine}.json"))
}

fn environment(machine: &str) -> Environment {
    serde_json::from_str(&fs::read_to_string(file(machine)).unwrap()).unwrap()
}

fn most_workers(suite: &Suite) -> u32 {
    suite.workloads.iter().filter_map(|workload| workload.workers).max().unwrap()
}

fn placed(environment: &Environment, suite: &Suite) -> Placement {
    let workers = Some(most_workers(suite));
    let wish = PlacementRequest { workers, ..PlacementRequest::default() };
    place(&Topology::of(environment), &wish).unwrap()
}

fn dry_run(world: &World, suite: &str, machine: &str, options: &[&str]) -> String {
    let (project, file) = (folder().join(".."), file(machine));
    let plan = format!("--dry-run={}", file.to_str().unwrap());
    let command = ["run", suite, &plan, "--seed=1", "--project", project.to_str().unwrap()];
    world.stdout(&[&command, options].concat())
}

#[test]
fn every_placement_has_whole_cores_and_a_cpu_for_each_worker() {
    for (machine, name) in MACHINES.iter().flat_map(|it| DOCUMENTS.map(|name| (it, name))) {
        let (environment, suite) = (environment(machine), suite(name));
        let placement = placed(&environment, &suite);
        let Placement { server_cpus, generator_cpus, .. } = &placement;
        assert!(placement.pinned && placement.disjoint, "{machine} {name}: {placement:?}");
        assert_eq!(placement.split_cores, [[0; 0]; 0], "{machine} {name}");
        assert!(server_cpus.len() <= generator_cpus.len(), "{machine} {name}: {placement:?}");
        for siblings in environment.sibling_cpus() {
            for side in [server_cpus, generator_cpus] {
                let own = siblings.iter().filter(|cpu| side.contains(cpu)).count();
                assert!(own == 0 || own == siblings.len(), "{machine} {name}: {siblings:?}");
            }
        }
        // As many as were published, or half of the machine.
        let enough = (most_workers(&suite) as usize).min(environment.cpus.len() / 2);
        assert!(server_cpus.len() >= enough, "{machine} {name}: {placement:?}");
    }
}

#[test]
fn loads_keep_their_connections_per_worker_or_in_total() {
    for (machine, name) in MACHINES.iter().flat_map(|it| DOCUMENTS.map(|name| (it, name))) {
        let suite = suite(name);
        let cpus = placed(&environment(machine), &suite).server_cpus.len() as u32;
        let scaled = suite.at_scale(Scale::Machine, cpus).unwrap();
        for (published, here) in suite.workloads.iter().zip(&scaled.workloads) {
            let [before, now] = [published, here].map(|it| it.workers.unwrap() as usize);
            assert_eq!(now, before.min(cpus as usize), "{machine} {name}: {}", here.name);
            let expected = match name {
                "go-uring" | "zab" => published.connections,
                _ => (published.connections * now).div_ceil(before),
            };
            assert_eq!(here.connections, expected, "{machine} {name}: {}", here.name);
        }
    }
}

#[test]
fn both_sides_are_as_near_as_the_published_workers_allow() {
    let place = |machine: &str, name: &str| {
        let Placement { server_cpus, within, .. } = placed(&environment(machine), &suite(name));
        (server_cpus.len(), within)
    };
    let one_cache = |cpus: usize| (cpus, Some(Cache));
    let of = |machine: &str| DOCUMENTS.map(|name| place(machine, name));
    // async-bench wants 12 workers, go-uring 4, httpbench and restinio 1, zab 16.
    assert_eq!(of("4-cpus"), [(2, None); 5]);
    assert_eq!(of("16-cpus"), [(8, None); 5]);
    assert_eq!(of("64-cpus"), [one_cache(16); 5]);
    let one_node = (16, Some(Node));
    let expected = [one_node, one_cache(8), one_cache(8), one_cache(8), one_node];
    assert_eq!(of("128-cpus"), expected);
}

#[test]
fn a_machine_that_was_recorded_without_its_caches_is_placed_alike() {
    for (machine, name) in MACHINES.iter().flat_map(|it| DOCUMENTS.map(|name| (it, name))) {
        let complete = environment(machine);
        let older = Environment { last_level_caches: Vec::new(), ..complete.clone() };
        assert_eq!(placed(&older, &suite(name)), placed(&complete, &suite(name)), "{machine}");
    }
}

#[test]
fn a_machine_is_the_folder_of_a_result_or_its_environment() {
    let world = World::new();
    let folder = world.folder.path();
    fs::copy(file("16-cpus"), folder.join("environment.json")).unwrap();
    let plan = |machine: &str| world.stdout(&["run", "quick", &format!("--dry-run={machine}")]);
    let of_folder = plan(".");
    assert!(
        of_folder.contains("\nmachine: AMD Ryzen 7 5800X 8-Core, 16 CPUs (8 cores), "),
        "{of_folder}"
    );
    assert!(of_folder.contains("\nserver on CPUs 0-3,8-11, generator on CPUs 4-7,12-15\n"));
    assert!(plan("environment.json").contains("\nserver on CPUs 0-3,8-11, "));
    fs::write(folder.join("empty.json"), "{}").unwrap();
    for (machine, message) in [
        ("nowhere.json", "nowhere.json: give the folder of a result, or its environment.json"),
        ("empty.json", "empty.json has no environment: missing field"),
    ] {
        let outcome = world.wirebench(&["run", "quick", &format!("--dry-run={machine}")]);
        outcome.assert_refused(2, &[message]);
    }
    let elsewhere = ["run", "--dry-run=.", "--idle", "awake"];
    world.wirebench(&elsewhere).assert_refused(2, &["--idle needs this machine"]);
}

#[test]
fn what_does_not_fit_is_a_sentence_with_the_next_step() {
    let world = World::new();
    let small = |limit: u64, memory_bytes: u64| {
        let mut machine = environment("16-cpus");
        machine.limits.open_files.as_mut().unwrap().hard = Some(limit);
        machine.memory_bytes = memory_bytes;
        let text = serde_json::to_string(&machine).unwrap();
        world.write("environment.json", text);
        world.stdout(&["run", "quick", "--dry-run=.", "--copies=9"])
    };
    let few = small(600, 1 << 34);
    assert!(few.contains("\nopen files allow 6 servers at once instead of 16, "), "{few}");
    let short = small(100_000, 1 << 28);
    assert!(
        short.contains("\nmemory may not suffice: load generator and sockets need "),
        "{short}"
    );
    let listed = small(100_000, 1 << 34);
    assert!(!listed.contains("may not suffice") && !listed.contains("open files allow"));
    assert!(listed.contains("\ncohort 3  echo 10 x 20ms  "), "{listed}");
    let long = dry_run(&world, "zab", "4-cpus", &[]);
    assert!(long.contains("\n--dry-run=runs lists the ") && !long.contains("\nblock 1 "), "{long}");
    assert!(dry_run(&world, "zab", "4-cpus", &["--dry-run=runs"]).contains("\nblock 6  "));
}
