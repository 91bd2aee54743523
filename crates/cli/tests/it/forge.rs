//! Runs the scripts of a workflow's steps in the shell that a forge uses.

use crate::world::{ONE_STATE, PATIENCE, World, program};
use assert_cmd::Command;
use std::{fs, os::unix::fs::symlink, path::PathBuf, process::Output};

/// Runs scripts in the folder of `world`, with wirebench among the programs.
pub(crate) struct Forge<'a> {
    world: &'a World,
    path: String,
    pub(crate) summary: PathBuf,
}

impl<'a> Forge<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        let folder = world.folder.path();
        let programs = folder.join("programs");
        fs::create_dir(&programs).unwrap();
        symlink(program(), programs.join("wirebench")).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        Self { world, path, summary: folder.join("summary.md") }
    }

    /// Runs a script with `variables` in its environment.
    pub(crate) fn output(&self, script: &str, variables: &[(String, String)]) -> Output {
        let folder = self.world.folder.path();
        let file = folder.join("step.sh");
        fs::write(&file, script).unwrap();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(&file);
        command.current_dir(folder).env("PATH", &self.path);
        command.env("GITHUB_STEP_SUMMARY", &self.summary).envs([self.world.mark(), ONE_STATE]);
        command.envs(variables.iter().cloned());
        command.timeout(PATIENCE).output().unwrap()
    }

    /// Runs the script of the step `name`, which must succeed.
    pub(crate) fn carry_out(&self, name: &str, script: &str, variables: &[(String, String)]) {
        let output = self.output(script, variables);
        // On a machine that is busy with other tests a window may pass in which nothing runs.
        let said = String::from_utf8_lossy(&output.stderr);
        let starved = said.contains("no valid reply in the window");
        let code = output.status.code();
        assert!(code == Some(0) || (code == Some(1) && starved), "{name}: {output:#?}");
    }
}
