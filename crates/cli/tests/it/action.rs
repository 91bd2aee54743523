//! The action in `action/` and the Dockerfile. The shell that a forge uses runs the scripts of the
//! action's steps.

use crate::{
    forge::Forge,
    world::{World, result_in},
};
use saphyr::{LoadableYamlNode as _, Yaml};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What a workflow gives the action: servers that every machine has, and little load.
const ARGUMENTS: &str = "--a=wirebench null-server epoll hello 127.0.0.1 {port} 1\n\
                         --b=wirebench null-server epoll hello 127.0.0.1 {port} 1\n\n\
                         --cohorts=2\n-d=250ms\n--steady=0s\n-c=2\n--fail-if=cpu > +900%\n";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn text(node: &Yaml<'_>, key: &str) -> Option<String> {
    node.as_mapping_get(key).and_then(Yaml::as_str).map(str::to_owned)
}

/// A step that has a script.
struct Step {
    name: String,
    script: String,
    /// Variables and their values, which are inputs of the action.
    variables: Vec<(String, String)>,
}

/// The names of the action's inputs with their defaults, and its steps.
struct Action {
    inputs: Vec<(String, Option<String>)>,
    steps: Vec<Step>,
}

impl Action {
    fn read() -> Self {
        let file = fs::read_to_string(repository().join("action/action.yml")).unwrap();
        let documents = Yaml::load_from_str(&file).unwrap();
        let action = &documents[0];
        let inputs = action["inputs"].as_mapping().unwrap().iter();
        let inputs =
            inputs.map(|(name, input)| (name.as_str().unwrap().to_owned(), text(input, "default")));
        assert_eq!(text(&action["runs"], "using").as_deref(), Some("composite"));
        let all = action["runs"]["steps"].as_sequence().unwrap();
        let steps = all.iter().filter_map(|step| {
            let script = text(step, "run")?;
            assert_eq!(text(step, "shell").as_deref(), Some("bash"), "{script}");
            let variables = step.as_mapping_get("env").and_then(Yaml::as_mapping);
            let variables = variables.into_iter().flatten().map(|(name, value)| {
                (name.as_str().unwrap().to_owned(), value.as_str().unwrap().to_owned())
            });
            let variables = variables.collect();
            Some(Step { name: text(step, "name").unwrap(), script, variables })
        });
        Self { inputs: inputs.collect(), steps: steps.collect() }
    }

    /// The variables of a step, as a forge computes them from `given` inputs and the defaults.
    fn variables(&self, step: &Step, given: &[(&str, &str)]) -> Vec<(String, String)> {
        let value = |expression: &str| {
            let name = expression.strip_prefix("${{ inputs.").unwrap().strip_suffix(" }}").unwrap();
            let declared = self.inputs.iter().find(|it| it.0 == name).expect(name);
            let given = given.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
            given.or_else(|| declared.1.clone()).expect(name)
        };
        step.variables.iter().map(|(name, it)| (name.clone(), value(it))).collect()
    }
}

#[test]
fn the_steps_of_the_action_leave_a_result_and_a_summary() {
    let action = Action::read();
    let names: Vec<&str> = action.steps.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["install wirebench", "check the machine", "measure", "show the report"]);
    let world = World::new();
    let forge = Forge::new(&world);
    for step in &action.steps {
        let variables = action.variables(step, &[("arguments", ARGUMENTS)]);
        forge.carry_out(&step.name, &step.script, &variables);
    }
    let result = result_in(&world.folder.path().join("wirebench-results"));
    let report = fs::read_to_string(result.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let summary = fs::read_to_string(&forge.summary).unwrap();
    let sentence = report["sentence"].as_str().unwrap();
    assert!(summary.starts_with(&format!("**{sentence}**\n")), "{sentence}\n{summary}");
    assert_eq!(report["gate"]["conditions"].as_array().map(Vec::len), Some(1), "{report:#}");
    world.wait_for_silence();
}

#[test]
fn the_action_refuses_other_verbs_and_fails_as_the_verb_does() {
    let action = Action::read();
    let world = World::new();
    let forge = Forge::new(&world);
    let measure = action.steps.iter().find(|it| it.name == "measure").unwrap();
    let run = |verb, arguments| {
        let given = [("verb", verb), ("arguments", arguments)];
        let output = forge.output(&measure.script, &action.variables(measure, &given));
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let refused = "error: verb must be ab or run, not 'setup; true'\n".to_owned();
    assert_eq!(run("setup; true", ""), (Some(2), refused));
    let (code, said) = run("run", "--no-such-option=$(touch injected)");
    assert!(code == Some(2) && said.contains("--no-such-option"), "{code:?}: {said}");
    assert!(!world.folder.path().join("injected").exists());
    // Nothing was measured, so there is nothing to show.
    let show = action.steps.iter().find(|it| it.name == "show the report").unwrap();
    forge.carry_out(&show.name, &show.script, &action.variables(show, &[]));
    assert!(!forge.summary.exists());
}

#[test]
fn the_action_passes_inputs_only_by_variables_and_installs_this_repository() {
    let action = Action::read();
    assert!(action.steps.iter().all(|it| !it.script.contains("${{")), "an input in a script");
    let path = "\"$GITHUB_ACTION_PATH/../crates/cli\"";
    assert!(action.steps[0].script.trim_end().ends_with(&format!("--path {path}")));
    assert!(repository().join("action/../crates/cli/Cargo.toml").is_file());
    let manual = fs::read_to_string(repository().join("action/README.md")).unwrap();
    for (name, default) in &action.inputs {
        let line = manual.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let default = default.as_ref().map_or("required".to_owned(), |it| format!("`{it}`"));
        assert!(line.expect(name).ends_with(&format!("| {default} |")), "{name}: {line:?}");
    }
}

#[test]
fn the_image_is_built_with_the_rust_version_that_the_workspace_needs() {
    let image = fs::read_to_string(repository().join("Dockerfile")).unwrap();
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap();
    let from = format!("FROM rust:{}-bookworm AS build", version.trim_matches('"'));
    assert!(image.lines().any(|line| line == from), "{from} is missing in {image}");
    let user = image.lines().position(|line| line == "USER 1000");
    let start = image.lines().position(|line| line.starts_with("ENTRYPOINT"));
    assert!(user.is_some() && user < start, "the program would run as root");
}
