//! The workflow that `docs/ci.md` proposes to copy: its steps are taken from the text and carried
//! out by the shell that a forge uses, with servers that are built like anybody's. What the forge
//! itself does, checking out and keeping files, is no part of this.

use crate::{
    forge::Forge,
    world::{World, read, repository, result_in},
};
use saphyr::{LoadableYamlNode as _, Yaml};
use std::{fs, path::Path};

/// The budget of the text, and what makes so little of it that a test has the time.
const BUDGET: &str = "--budget 3m";
const SHORT: &str = "--budget 3m --cohorts 2 -d 250ms --steady 0s -c 2";

/// What a project of a user's has: a target that makes the server.
const MAKEFILE: &str = "server: server.sh\n\tcp server.sh server\n\tchmod +x server\n";
const SERVER: &str =
    "#!/bin/sh\nexec wirebench null-server epoll hello 127.0.0.1 \"${1:?a port}\" 1\n";

/// The scripts of the steps that have one, with their names, in their order.
fn steps() -> Vec<(String, String)> {
    let manual = fs::read_to_string(repository().join("docs/ci.md")).unwrap();
    let mut fenced = manual.split("```yaml\n").skip(1);
    let (workflow, _) = fenced.next().unwrap().split_once("```").unwrap();
    assert_eq!(fenced.next(), None, "one workflow, or it is not known which is meant");
    let documents = Yaml::load_from_str(workflow).unwrap();
    let steps = documents[0]["jobs"]["ab"]["steps"].as_sequence().unwrap();
    let text = |step: &Yaml<'_>, key: &str| {
        step.as_mapping_get(key).and_then(Yaml::as_str).map(str::to_owned)
    };
    let scripts = steps.iter().filter_map(|step| Some((step, text(step, "run")?)));
    scripts.map(|(step, script)| (text(step, "name").unwrap(), script)).collect()
}

/// What a forge has checked out: two sides, and nothing of wirebench's own above them.
fn check_out(folder: &Path) {
    fs::remove_dir_all(folder.join("entries")).unwrap();
    fs::remove_dir_all(folder.join("suites")).unwrap();
    for side in ["base", "head"] {
        let side = folder.join(side);
        fs::create_dir(&side).unwrap();
        fs::write(side.join("Makefile"), MAKEFILE).unwrap();
        fs::write(side.join("server.sh"), SERVER).unwrap();
    }
}

#[test]
#[ignore = "needs make"]
fn the_workflow_of_the_manual_builds_both_sides_and_leaves_a_verdict_with_make() {
    let world = World::new();
    let folder = world.folder.path();
    check_out(folder);
    let steps = steps();
    let script = |name: &str| steps.iter().find(|step| step.0 == name).unwrap().1.as_str();
    let forge = Forge::new(&world);
    forge.carry_out("build both", script("build both"), &[]);
    let compare = script("compare");
    assert_eq!(compare.matches(BUDGET).count(), 1, "{compare}");
    forge.carry_out("compare", &compare.replace(BUDGET, SHORT), &[]);

    let result = result_in(&folder.join("results"));
    let journal = read(&result);
    for side in ["base", "head"] {
        let runs = || journal.runs.iter().filter(|it| it.variant.entry() == format!("ab/{side}"));
        assert!(runs().count() >= 2, "{side}");
        let built = folder.canonicalize().unwrap().join(side).join("server");
        assert!(runs().all(|it| Path::new(&it.server_command[0]) == built), "{side}");
        assert!(journal.verified.iter().any(|it| it.variant.entry() == format!("ab/{side}")));
    }
    let report = fs::read_to_string(result.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let sentence = report["sentence"].as_str().unwrap();
    let summary = fs::read_to_string(&forge.summary).unwrap();
    assert!(summary.starts_with(&format!("**{sentence}**\n")), "{sentence}\n{summary}");
    assert_eq!(report["gate"]["conditions"].as_array().map(Vec::len), Some(2), "{report:#}");
    world.wait_for_silence();
}

#[test]
fn the_workflow_of_the_manual_installs_what_this_repository_has_unless_it_is_there() {
    let steps = steps();
    let (name, script) = &steps[0];
    assert_eq!(name, "install wirebench");
    let rest =
        script.trim_end().strip_prefix("command -v wirebench || cargo install --locked --path ");
    let path = rest.unwrap().strip_prefix("wirebench/").unwrap();
    let repository = repository();
    let manifest = repository.join(path).join("Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    assert!(manifest.lines().any(|line| line == "name = \"wirebench\""));
    assert!(repository.join("Cargo.lock").is_file());
}
