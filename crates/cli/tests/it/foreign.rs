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
    let ran = world.path("entries/c/x/ran");
    let has_run = fs::remove_file(ran).is_ok();
    let message = world.without_places(&String::from_utf8(output.stderr).unwrap());
    let message = message.replace("project: PROJECT\n", "");
    (output.status.code(), message, has_run)
}

fn world() -> World {
    let world = World::new().with_entry("c/x", &format!("{ENTRY}{PROBE}"));
    fs::create_dir_all(world.path("target/wirebench")).unwrap();
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
        give_away(&world.path(part));
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
    let (entries, theirs) = (world.path("entries"), elsewhere.path().join("theirs"));
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
    give_away(&world.path("entries"));
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

#[test]
#[ignore = "needs root"]
fn an_entry_of_another_user_below_ones_own_is_listed_with_the_reason_as_root() {
    for part in ["", "entry.toml", "helper"] {
        let world = world();
        let entry = world.path("entries/c/x");
        fs::write(entry.join("helper"), "").unwrap();
        assert_eq!(list(&world, &[], &[]), (Some(0), String::new(), true), "{part}");
        let part = entry.join(part);
        give_away(&part);
        let (code, _, has_run) = list(&world, &[], &[]);
        assert!(code == Some(0) && !has_run, "{}", part.display());
        let outcome = world.wirebench(&["verify", "c/x"]);
        outcome.assert_refused(2, &["entries/c/x", "belongs to uid 65534", "`chown -R`"]);
        assert!(list(&world, &["--project", "."], &[]).2);
    }
}

#[test]
#[ignore = "needs root"]
fn a_cached_program_that_another_user_can_replace_does_not_run_as_root() {
    let build = "[[build]]\ncommand = [\"cp\", \"/bin/true\", \"{build}/server\"]\n";
    let entry = ENTRY.replace("no-such-server", "{build}/server") + build;
    let world = World::new().with_entry("c/x", &entry);
    let folder = world.path("target/wirebench/build/c/x/default");
    let server = folder.join("server");
    assert!(world.stdout(&["build", "c/x"]).contains("built in"));
    assert!(world.stdout(&["build", "c/x"]).contains("up to date"));
    fs::copy("/bin/false", &server).unwrap();
    assert!(world.stdout(&["build", "c/x"]).contains("built in"));
    assert_eq!(fs::read(&server).unwrap(), fs::read("/bin/true").unwrap());
    for part in [&server, &folder, &world.path("target/wirebench/build")] {
        give_away(part);
        let outcome = world.wirebench(&["build", "c/x"]);
        outcome.assert_refused(2, &["belongs to uid 65534", "Remove it"]);
        chown(part, Some(0), None).unwrap();
    }
    assert!(world.stdout(&["build", "c/x"]).contains("up to date"));
}

#[test]
#[ignore = "needs root"]
fn the_cache_of_another_user_is_not_used_outside_a_checkout_as_root() {
    let home = tempfile::tempdir().unwrap();
    let work = tempfile::tempdir().unwrap();
    let list = || {
        let mut command = Command::new(program());
        command.arg("list").current_dir(work.path()).env_remove("WIREBENCH_PROJECT");
        for name in ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env(name, home.path().join(name));
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let victim = home.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    let embedded = home.path().join("XDG_DATA_HOME/wirebench/embedded");
    fs::create_dir_all(&embedded).unwrap();
    std::os::unix::fs::symlink(&victim, embedded.join("lock")).unwrap();
    give_away(&embedded);
    let (code, message) = list();
    assert!(code == Some(2) && message.contains("embedded belongs to uid 65534"), "{message}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    fs::remove_dir_all(&embedded).unwrap();
    let cache = home.path().join("XDG_CACHE_HOME/wirebench");
    fs::create_dir_all(&cache).unwrap();
    assert_eq!(list().0, Some(0));
    give_away(&cache);
    let (code, message) = list();
    assert!(
        code == Some(2) && message.contains("set XDG_DATA_HOME and XDG_CACHE_HOME"),
        "{message}"
    );
}

#[test]
#[ignore = "needs root"]
fn a_result_of_another_user_is_not_resumed_as_root() {
    let world = World::new();
    let folder = world.path("result");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("runs.jsonl"), "").unwrap();
    let resume = || world.wirebench(&["run", "--resume", "result"]);
    assert!(!resume().stderr.contains("with your rights"));
    for name in ["runs.jsonl", "report.html"] {
        fs::write(folder.join(name), "").unwrap();
        give_away(&folder.join(name));
        resume()
            .assert_refused(2, &[name, "belongs to uid 65534", "runs the commands in its journal"]);
        chown(folder.join(name), Some(0), None).unwrap();
    }
}
