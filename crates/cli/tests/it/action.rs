//! The action in `action/` and the Dockerfile. The shell that a forge uses runs the scripts of the
//! action's steps.

use crate::{
    forge::Forge,
    world::{World, repository, result_in},
};
use saphyr::{LoadableYamlNode as _, Yaml};
use std::{fs, path::Path, process::Output};

/// What a workflow gives the action: servers that every machine has, and little load.
const ARGUMENTS: &str = "--a=wirebench null-server epoll hello 127.0.0.1 {port} 1\n\
                         --b=wirebench null-server epoll hello 127.0.0.1 {port} 1\n\n\
                         --cohorts=2\n-d=250ms\n--steady=0s\n-c=2\n--fail-if=cpu > +900%\n";

/// A `gh` that keeps one comment, number 5, as a file.
const GH: &str = r#"#!/bin/bash
case "$*" in
  *viewer*) echo bot; exit ;;
  *'.user.login == "bot"'*) if [ -f comment-5 ]; then echo 5; fi; exit ;;
  *--method\ POST\ repos/owner/name/issues/7/comments\ *) echo 'POST 7' >> calls ;;
  *--method\ PATCH\ repos/owner/name/issues/comments/5\ *) echo 'PATCH 5' >> calls ;;
  *) exit 1 ;;
esac
last="${*: -1}"
cp "${last#body=@}" comment-5
"#;

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

    fn step(&self, name: &str) -> &Step {
        self.steps.iter().find(|it| it.name == name).unwrap()
    }

    /// Runs a step with these inputs.
    fn output(&self, forge: &Forge<'_>, name: &str, given: &[(&str, &str)]) -> Output {
        let step = self.step(name);
        forge.output(&step.script, &self.variables(step, given))
    }

    /// The variables of a step, as a forge computes them from `given` inputs and the defaults.
    fn variables(&self, step: &Step, given: &[(&str, &str)]) -> Vec<(String, String)> {
        let value = |expression: &str| {
            match expression {
                "${{ github.event.pull_request.number }}" => return "7".to_owned(),
                "${{ steps.measure.outputs.result }}" => return "not-valid".to_owned(),
                _ => {}
            }
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
    assert_eq!(
        names,
        [
            "name the sources",
            "install wirebench",
            "check the machine",
            "measure",
            "show the report",
            "comment on the pull request",
        ]
    );
    let world = World::new();
    let forge = Forge::new(&world);
    forge.add_program("gh", GH);
    for step in &action.steps {
        let variables = action.variables(step, &[("arguments", ARGUMENTS)]);
        forge.carry_out(&step.name, &step.script, &variables);
    }
    let result = result_in(&world.path("wirebench-results"));
    let report = fs::read_to_string(result.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let summary = fs::read_to_string(&forge.summary).unwrap();
    let sentence = report["sentence"].as_str().unwrap();
    assert!(summary.starts_with(&format!("**{sentence}**\n")), "{sentence}\n{summary}");
    assert_eq!(report["gate"]["conditions"].as_array().map(Vec::len), Some(1), "{report:#}");
    assert_eq!(forge.output_of("sentence").as_deref(), Some(sentence));
    assert_eq!(forge.output_of("verdict").as_deref(), report["verdict"].as_str());
    assert_eq!(forge.output_of("result").as_deref(), report["gate"]["verdict"].as_str());
    assert_eq!(forge.output_of("key").unwrap().rsplit('-').next().map(str::len), Some(16));
    let comment = world.read("comment-5");
    assert_eq!(comment, format!("<!-- wirebench: wirebench -->\n{summary}"));
    world.wait_for_silence();
}

#[test]
fn the_verdict_of_a_run_is_that_of_its_conditions() {
    let action = Action::read();
    let world = World::new();
    let forge = Forge::new(&world);
    let show = action.step("show the report");
    let arguments = "builtin/epoll\nbuiltin/io_uring\n--scenario=hello\n--phase=saturate\n--cohorts=1\n-d=100ms\n\
                     --steady=0s\n-c=2\n--no-verify\n--no-pin\n";
    let judged = format!("{arguments}--fail-if=memory > 1B\n");
    let mut heading = "FAILED";
    for (arguments, folder) in [(judged.as_str(), "judged"), (arguments, "plain")] {
        let given = [("verb", "run"), ("arguments", arguments), ("results", folder)];
        let output = action.output(&forge, "measure", &given);
        // A busy machine may leave too few valid runs, and so no figure that violates the condition.
        let is_open = String::from_utf8_lossy(&output.stdout).contains("\nNOT PASSED: ");
        let (code, result, verdict) = match (folder, is_open) {
            ("judged", false) => (4, "violated", "failed"),
            ("judged", true) => (0, "inconclusive", "inconclusive"),
            _ => (0, "passed", ""),
        };
        if is_open {
            heading = "inconclusive";
        }
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        forge.carry_out(&show.name, &show.script, &action.variables(show, &given));
        assert_eq!(forge.output_of("result").as_deref(), Some(result));
        assert_eq!(forge.output_of("verdict").as_deref(), Some(verdict));
    }
    let summary = fs::read_to_string(&forge.summary).unwrap();
    assert_eq!(summary.matches("**Conditions: ").count(), 1, "{summary}");
    assert!(summary.contains(&format!("**Conditions: {heading}**")), "{summary}");
    world.wait_for_silence();
}

#[test]
fn a_comment_is_made_once_and_then_replaced() {
    let action = Action::read();
    let world = World::new();
    let forge = Forge::new(&world);
    forge.add_program("gh", GH);
    let file = |name: &str| world.path(name);
    let run = || {
        let output = action.output(&forge, "comment on the pull request", &[("token", "x")]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run();
    let body = fs::read_to_string(file("comment-5")).unwrap();
    assert!(body.contains("**not-valid**, without a report: [log]("), "{body}");
    fs::write(file("wirebench-report.md"), "first, @someone\n").unwrap();
    run();
    let body = fs::read_to_string(file("comment-5")).unwrap();
    assert_eq!(body, "<!-- wirebench: wirebench -->\nfirst, @\u{200b}someone\n");
    fs::write(file("wirebench-report.md"), "second\n").unwrap();
    run();
    let comments = fs::read_to_string(file("calls")).unwrap();
    assert_eq!(comments.lines().collect::<Vec<_>>(), ["POST 7", "PATCH 5", "PATCH 5"]);
    let body = fs::read_to_string(file("comment-5")).unwrap();
    assert_eq!(body, "<!-- wirebench: wirebench -->\nsecond\n");
    forge.add_program("gh", "#!/bin/sh\nexit 1\n");
    assert!(run().starts_with("::warning::cannot comment on the pull request"));
}

#[test]
fn a_packaged_program_is_used_instead_of_a_build() {
    let action = Action::read();
    let world = World::new();
    let forge = Forge::new(&world);
    let name = world.write("packaged", "#!/bin/sh\necho wirebench 9\n");
    let run = |digest: &str| {
        let given = [("program", name.as_str()), ("program-sha256", digest)];
        action.output(&forge, "install wirebench", &given)
    };
    let output = run("");
    assert_eq!((output.status.code(), output.stdout), (Some(0), b"wirebench 9\n".to_vec()));
    let paths = fs::read_to_string(&forge.paths).unwrap();
    assert!(Path::new(paths.trim_end()).join("wirebench").is_file(), "{paths}");
    let refused = run(&"0".repeat(64));
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stdout).starts_with("::error::"), "{refused:?}");
}

#[test]
fn warnings_and_the_exit_code_of_the_verb_reach_the_forge() {
    let action = Action::read();
    let world = World::new();
    let forge = Forge::new(&world);
    fs::remove_file(world.path("programs/wirebench")).unwrap();
    for (code, result) in [(0, "passed"), (1, "failed"), (3, "not-valid"), (4, "violated")] {
        let script = format!(
            "#!/bin/sh\necho ::add-mask::page\necho 'warning: 5% short' >&2\necho ::set-output::x >&2\nexit {code}\n"
        );
        forge.add_program("wirebench", &script);
        let output = action.output(&forge, "measure", &[("arguments", "x")]);
        assert_eq!(output.status.code(), Some(code));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let token = said.lines().next().unwrap().strip_prefix("::stop-commands::").unwrap();
        // Both streams of the verb are between the two.
        let (inside, after) = said.split_once(&format!("\n::{token}::\n")).unwrap();
        let mut lines: Vec<&str> = inside.lines().skip(1).collect();
        lines.sort_unstable();
        assert_eq!(lines, ["::add-mask::page", "::set-output::x", "warning: 5% short"], "{said}");
        assert_eq!((after, &*output.stderr), ("::warning::5%25 short\n", &b""[..]));
        assert_eq!(forge.output_of("result").as_deref(), Some(result));
    }
}

#[test]
fn the_action_refuses_other_verbs_and_fails_as_the_verb_does() {
    let action = Action::read();
    let world = World::new();
    let forge = Forge::new(&world);
    let run = |verb, arguments| {
        let given = [("verb", verb), ("arguments", arguments)];
        let output = action.output(&forge, "measure", &given);
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let refused = "error: verb must be ab or run, not 'setup; true'\n".to_owned();
    assert_eq!(run("setup; true", ""), (Some(2), refused));
    let (code, said) = run("run", "--no-such-option=$(touch injected)");
    assert!(code == Some(2) && said.contains("--no-such-option"), "{code:?}: {said}");
    assert!(!world.path("injected").exists());
    // Nothing was measured, so there is nothing to show, although an older result is there.
    fs::create_dir_all(world.path("wirebench-results/old")).unwrap();
    world.write("wirebench-results/old/runs.jsonl", "");
    let show = action.step("show the report");
    forge.carry_out(&show.name, &show.script, &action.variables(show, &[]));
    assert!(!forge.summary.exists());
}

#[test]
fn the_action_passes_inputs_only_by_variables_and_installs_this_repository() {
    let action = Action::read();
    assert!(action.steps.iter().all(|it| !it.script.contains("${{")), "an input in a script");
    let install = fs::read_to_string(repository().join("action/install.sh")).unwrap();
    assert!(install.contains("curl --proto =https --proto-redir =https "), "{install}");
    assert!(install.contains("--locked --path \"$GITHUB_ACTION_PATH/../crates/cli\""));
    assert!(repository().join("action/../crates/cli/Cargo.toml").is_file());
    let manual = fs::read_to_string(repository().join("action/README.md")).unwrap();
    for (name, default) in &action.inputs {
        let line = manual.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let default = match default.as_deref() {
            None => "required".to_owned(),
            Some("") => "none".to_owned(),
            Some(default) => format!("`{default}`"),
        };
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
