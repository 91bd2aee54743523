//! Runs the scripts of a workflow's steps in the shell that a forge uses.

use crate::world::{ONE_STATE, PATIENCE, World, program, repository, write_program};
use assert_cmd::Command;
use std::{fs, os::unix::fs::symlink, path::PathBuf, process::Output};

/// Runs scripts in the folder of `world`, with wirebench among the programs.
pub(crate) struct Forge<'a> {
    world: &'a World,
    path: String,
    pub(crate) summary: PathBuf,
    /// What `GITHUB_OUTPUT` and `GITHUB_PATH` name.
    pub(crate) outputs: PathBuf,
    pub(crate) paths: PathBuf,
}

impl<'a> Forge<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        let folder = world.folder.path();
        let programs = folder.join("programs");
        fs::create_dir(&programs).unwrap();
        symlink(program(), programs.join("wirebench")).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let file = |name: &str| folder.join(name);
        let (outputs, paths) = (file("outputs"), file("paths"));
        Self { world, path, summary: file("summary.md"), outputs, paths }
    }

    /// Puts a program of this name among the others.
    pub(crate) fn add_program(&self, name: &str, script: &str) {
        write_program(self.world.path("programs").join(name), script);
    }

    /// What the steps so far wrote to `GITHUB_OUTPUT`, the last value of each name.
    pub(crate) fn output_of(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(&self.outputs).unwrap_or_default();
        let values = text.lines().filter_map(|line| line.split_once('='));
        values.rev().find(|it| it.0 == name).map(|it| it.1.to_owned())
    }

    /// Runs a script with `variables` in its environment.
    pub(crate) fn output(&self, script: &str, variables: &[(String, String)]) -> Output {
        let folder = self.world.folder.path();
        let file = folder.join("step.sh");
        fs::write(&file, script).unwrap();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(&file);
        command.current_dir(folder).env("PATH", &self.path);
        let action = repository().join("action");
        command.env("GITHUB_ACTION_PATH", action).env("RUNNER_TEMP", folder);
        command.env("GITHUB_OUTPUT", &self.outputs).env("GITHUB_PATH", &self.paths);
        command.env("GITHUB_REPOSITORY", "owner/name");
        command.env("GITHUB_STEP_SUMMARY", &self.summary).envs([self.world.mark(), ONE_STATE]);
        command.envs(variables.iter().cloned());
        command.timeout(PATIENCE).output().unwrap()
    }

    /// Runs the script of the step `name`, which must succeed.
    pub(crate) fn carry_out(&self, name: &str, script: &str, variables: &[(String, String)]) {
        let output = self.output(script, variables);
        // On a machine that is busy with other tests a window may pass in which nothing runs.
        let said = [output.stdout.as_slice(), &output.stderr].concat();
        let starved = String::from_utf8_lossy(&said).contains("no valid reply in the window");
        let code = output.status.code();
        assert!(code == Some(0) || (code == Some(1) && starved), "{name}: {output:#?}");
    }
}
