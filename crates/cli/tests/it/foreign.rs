//! Projects of other users: none of their commands runs unless the project is named.

use expect_test::expect_file;
use std::{fs, os::unix::fs::chown, path::Path, process::Command};

use crate::world::{ENTRY, World, program};

/// A user other than the one that runs the tests.
const STRANGER: u32 = 65534;
/// A probe that leaves a trace, which is what an attack would do.
const PROBE: &str = "[[requires]]\nprobe = [\"touch\", \"{source}/ran\"]\nwhat = \"x\"\n";

/// Runs `wirebench list` in `world`; gives its exit code, its errors, and whether the probe ran.
fn list(world: &World, arguments: &[&str], env: &[(&str, &str)]) -> (Option<i32>, String, bool) {
    let mut command = Command::new(program());
    command.arg("list").args(arguments).current_dir(world.folder.path());
    command.env_remove("SUDO_UID").env_remove("WIREBENCH_PROJECT").envs(env.iter().copied());
    let output = command.output().unwrap();
    let ran = world.folder.path().join("entries/c/x/ran");
    let has_run = fs::remove_file(ran).is_ok();
    let message = world.without_places(&String::from_utf8(output.stderr).unwrap());
    let message = message.replace("project: PROJECT\n", "");
    (output.status.code(), message, has_run)
}

fn world() -> World {
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{PROBE}"));
    fs::create_dir_all(world.folder.path().join("target/wirebench")).unwrap();
    world
}

/// Gives `folder` to another user.
fn give_away(folder: &Path) {
    chown(folder, Some(STRANGER), None).unwrap();
}

#[test]
#[ignore = "needs root"]
fn commands_of_another_users_project_do_not_run_as_root() {
    let mut messages = String::new();
    for part in ["", "entries", "suites", "target", "target/wirebench"] {
        let world = world();
        assert_eq!(list(&world, &[], &[]), (Some(0), String::new(), true), "{part}");
        give_away(&world.folder.path().join(part));
        let (code, message, has_run) = list(&world, &[], &[]);
        assert!(code == Some(2) && !has_run, "{part}: {code:?} {has_run} {message}");
        messages += &message;
    }
    expect_file!["../golden/refused/foreign.txt"].assert_eq(&messages);
}

#[test]
#[ignore = "needs root"]
fn a_link_to_another_users_folder_is_resolved_as_root() {
    let (world, elsewhere) = (world(), tempfile::tempdir().unwrap());
    let (entries, theirs) = (world.folder.path().join("entries"), elsewhere.path().join("theirs"));
    fs::rename(&entries, &theirs).unwrap();
    std::os::unix::fs::symlink(&theirs, &entries).unwrap();
    assert_eq!(list(&world, &[], &[]).0, Some(0));
    give_away(&theirs);
    let (code, message, has_run) = list(&world, &[], &[]);
    assert!(code == Some(2) && !has_run, "{message}");
}

#[test]
#[ignore = "needs root"]
fn a_project_that_is_named_is_trusted_as_root() {
    let world = world();
    give_away(&world.folder.path().join("entries"));
    let folder = world.folder.path().display().to_string();
    assert_eq!(list(&world, &["--project", "."], &[]), (Some(0), String::new(), true));
    let named = [("WIREBENCH_PROJECT", folder.as_str())];
    assert_eq!(list(&world, &[], &named), (Some(0), String::new(), true));
    let sudo = [("SUDO_UID", "65534")];
    assert_eq!(list(&world, &[], &sudo), (Some(0), String::new(), true));
    assert_eq!(list(&world, &[], &[("SUDO_UID", "65533")]).0, Some(2));
    let message = "error: PROJECT/entries has no entries/ and no suites/: name a checkout of wirebench, \
                   or a folder with your own entries, with --project or WIREBENCH_PROJECT\n";
    assert_eq!(list(&world, &["--project", "entries"], &[]), (Some(2), message.into(), false));
}
