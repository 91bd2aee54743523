//! A suite of a user's own, with entries and requests that are data alone.

use crate::{
    requests::FILE,
    servers,
    world::{Outcome, World, program},
};
use std::fs;
use wirebench_schema::{
    entry::Entry,
    scenario::Scenario,
    suite::{Phase, Suite},
};

const SUITE: &str = "description = \"Our API.\"\nentries = [\"x/one\", \"x/two\"]\n\
                     baseline = \"x/one\"\nblocks = 3\n[[workload]]\nname = \"api\"\n\
                     scenario = \"requests\"\nrequests_file = \"api.jsonl\"\norder = \"weighted\"\n\
                     connections = 64\nduration = \"200ms\"\n";

/// The description of the server `mode` with requests of this file.
pub(crate) fn entry(mode: &str, requests: &str) -> String {
    let line = servers::command(mode);
    let words: Vec<&str> = line.split(' ').collect();
    format!(
        "title = \"An API\"\ndescription = \"D.\"\nclass = \"framework\"\nmodel = \"threads\"\n\
         mechanism = \"blocking\"\nsharing = \"single\"\nskips = []\nrequests = \"{requests}\"\n\
         version = [{{ name = \"v\", command = [\"echo\", \"1\"], pattern = '(\\d)' }}]\n\
         run = {{ command = {words:?}, ready = \"connect\" }}\n"
    )
}

/// A folder of the user's own, beside the entries inside the program.
fn project() -> World {
    let world = World::new()
        .with_entry("x/one", &entry("api", "../../../suites/api.jsonl"))
        .with_entry("x/two", &entry("api", "../../../suites/api.jsonl"))
        .with_suite("api.jsonl", FILE)
        .with_suite("api.toml", SUITE);
    fs::remove_file(world.path("suites/quick.toml")).unwrap();
    world
}

fn wirebench(world: &World, arguments: &[&str]) -> Outcome {
    let folder = world.folder.path();
    let mut command = assert_cmd::Command::new(program());
    for name in ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env(name, folder.join("home").join(name));
    }
    let command = command.args(arguments).current_dir(folder).env_remove("WIREBENCH_PROJECT");
    let output = command.envs([world.mark()]).timeout(crate::world::PATIENCE).output().unwrap();
    Outcome::of(output)
}

/// Runs with these arguments and returns the journal.
fn run(world: &World, arguments: &[&str]) -> wirebench_schema::journal::Journal {
    let output = tempfile::tempdir().unwrap();
    let place = ["--output", output.path().to_str().unwrap()];
    let short = ["--scale", "smoke", "--cohorts", "1", "--warmup", "0s", "--steady", "0s"];
    let all = [&["run"], arguments, &short, &place].concat();
    wirebench(world, &all).ended(0);
    crate::world::read(&crate::world::result_in(output.path()))
}

#[test]
fn a_suite_of_ones_own_is_verified_and_run() {
    let world = project();
    let verified = wirebench(&world, &["verify", "x/one", "x/two"]).ended(0);
    for name in ["x/one", "x/two"] {
        verified.assert_line(&format!("PASS  {name} requests fresh-connections"));
    }
    let journal = run(&world, &["api"]);
    assert_eq!(journal.start.baselines[0].to_string(), "x/one");
    let workload = &journal.start.workloads[0];
    assert_eq!((workload.name.as_str(), workload.scenario), ("api", Scenario::Requests));
    let outcome = wirebench(&world, &["run", "api", "--dry-run", "--path", "/users/1"]).ended(0);
    assert!(outcome.stdout.contains("x/two"), "{outcome:#?}");
    assert_eq!(journal.runs.len(), 2);
    let checked = |id: &str| journal.verified.iter().any(|it| it.variant.to_string() == id);
    assert!(checked("x/one") && checked("x/two"), "{:?}", journal.verified);
}

#[test]
fn entries_without_a_suite_are_asked_their_own_requests() {
    let world = project();
    let journal = run(&world, &["x/one", "x/two"]);
    let phases: Vec<Phase> = journal.start.workloads.iter().map(|it| it.phase).collect();
    assert_eq!(phases, [Phase::Saturate, Phase::Cost]);
    assert!(journal.start.workloads.iter().all(|it| it.scenario == Scenario::Requests));
    let names = journal.start.workloads[0].requests.as_ref().unwrap().names();
    assert_eq!(names, ["first", "user", "order"]);
    let baselines: Vec<String> = journal.start.baselines.iter().map(ToString::to_string).collect();
    // The second one stands in if the first one fails a check.
    assert!(baselines.ends_with(&["x/one", "x/two"].map(str::to_owned)), "{baselines:?}");
    let of_one = ["ab", "--a", "x/one", "--b", "x/two", "-d50ms", "--cohorts", "1", "--steady=0s"];
    wirebench(&world, &[&of_one[..], &["-q", "-c2", "-o", "ab"]].concat()).ended(0);
    let journal = crate::world::read(&crate::world::result_in(&world.path("ab")));
    assert_eq!(journal.start.workloads[0].scenario, Scenario::Requests);
    let tune = ["tune", "x/one", "-c2", "--blocks=1", "-d50ms", "-q", "-o", "tune"];
    // Whatever became of its runs, which may be starved on a busy machine.
    let _ = wirebench(&world, &tune);
    let journal = crate::world::read(&crate::world::result_in(&world.path("tune")));
    let workload = &journal.start.workloads[0];
    assert_eq!(workload.requests.as_ref().unwrap().names(), ["first", "user", "order"]);
    assert!(journal.verified.iter().all(|it| it.scenario == Scenario::Requests));
    assert_eq!(journal.verified.len(), 1);
}

#[test]
fn mistakes_in_the_files_of_requests_are_named() {
    let world = project().with_entry("x/three", &entry("api", "nothing.jsonl"));
    let reason = "entries/x/three/entry.toml: `requests = \"nothing.jsonl\"`: No such file";
    wirebench(&world, &["verify", "x/three"]).assert_refused(2, &[reason]);
    assert!(wirebench(&world, &["list", "x/"]).ended(0).stdout.contains(reason));
    let world = world.with_suite("wrong.toml", &SUITE.replace("api.jsonl", "no.jsonl"));
    let parts = ["suites/wrong.toml: workload `api`: `requests_file = \"no.jsonl\"`: No such file"];
    wirebench(&world, &["run", "wrong"]).assert_refused(2, &parts);
    let world =
        world.with_suite("lost.toml", &SUITE.replace("baseline = \"x/one", "baseline = \"x/no"));
    let parts = ["the baseline of the suite `lost`", "unknown entry `x/no`"];
    wirebench(&world, &["run", "lost"]).assert_refused(2, &parts);
    let world = world.with_suite("other.jsonl", "/now\n");
    let world = world.with_entry("x/four", &entry("api", "../../../suites/other.jsonl"));
    let parts = ["x/four and x/one have different `requests`: measure one at a time, or"];
    wirebench(&world, &["run", "x/one", "x/four"]).assert_refused(2, &parts);
    let text = entry("api", "").replace("requests = \"\"", "scenarios = [\"requests\"]");
    let world = world.with_entry("x/five", &text);
    let parts = ["x/five: the scenario `requests` needs requests", "in entry.toml"];
    wirebench(&world, &["verify", "x/five"]).assert_refused(2, &parts);
}

#[test]
fn the_example_in_the_documents_is_valid_and_short() {
    let manual = include_str!("../../../../docs/suites.md");
    let (_, chapter) = manual.split_once("\n## A suite of your own\n").unwrap();
    let (chapter, _) = chapter.split_once("\n## ").unwrap();
    let blocks: Vec<&str> = chapter.split("```toml\n").skip(1).collect();
    let blocks: Vec<&str> = blocks.iter().map(|it| it.split_once("```").unwrap().0).collect();
    let [suite, entry] = blocks.as_slice() else { panic!("{blocks:#?}") };
    assert!(suite.lines().count() + entry.lines().count() <= 20, "{blocks:#?}");
    let files = |name: &str| Ok((name.to_owned(), FILE.to_owned()));
    let suite = Suite::parse_with("api", suite, &files).unwrap();
    assert_eq!(suite.workloads[0].requests.as_ref().unwrap().names().len(), 3);
    let entry = Entry::parse_with("node/express", entry, &files).unwrap();
    assert!(entry.variants[0].answers_only_requests());
}
