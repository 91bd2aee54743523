//! Which files the two sides of `ab --old` build and start, and in which environment.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    ab::SHORT,
    revisions::{BUILD, ab_of, commit, git, project},
    world::{Outcome, Running, World, assert_has, program},
};
use rustix::process::Signal;

const SERVER: &str = "./srv {host} {port}";

fn ab(world: &World, arguments: &[&str]) -> Outcome {
    ab_of(world, SERVER, arguments, &[])
}

/// The program that the side with this name started.
fn started(world: &World, side: &str) -> PathBuf {
    let journal = world.journal();
    let run = journal.runs.iter().find(|run| run.variant.entry().ends_with(side)).unwrap();
    PathBuf::from(&run.server_command[0])
}

#[test]
#[ignore = "needs git"]
fn a_program_outside_of_both_trees_is_refused_with_git() {
    let world = project();
    let outside = tempfile::tempdir().unwrap();
    let product = outside.path().canonicalize().unwrap().join("srv");
    let path = product.display();
    let build = format!("--build=cp source.sh {path}");
    // In the second run the file exists already.
    for _ in 0..2 {
        let part =
            format!("both sides would start {path}, which is outside of the repository: have");
        let server = format!("{path} {{host}} {{port}}");
        ab_of(&world, &server, &["--old=first", &build], &[]).assert_refused(2, &[&part]);
        let script = format!("sh -c 'exec {path} {{host}} {{port}}'");
        ab_of(&world, &script, &["--old=first", &build], &[]).assert_refused(2, &[&part]);
    }
    // The second build finds the file of the first.
    let once = format!("--build=ln source.sh {path}-once");
    let server = format!("{path}-once {{host}} {{port}}");
    let part = format!("both sides would start {path}-once, which is outside of the repository");
    ab_of(&world, &server, &["--old=first", &once], &[]).assert_refused(2, &[&part]);
    let installed = format!("{path} {{host}} {{port}}");
    let part = format!("both sides would start {path}, which is outside of the repository: have");
    ab_of(&world, &installed, &["--old=first", BUILD], &[]).assert_refused(2, &[&part]);
    ab_of(&world, "sh ./srv {host} {port}", &["--old=first", BUILD], &[]).ended(0);
}

#[test]
#[ignore = "needs git"]
fn a_wrapper_that_starts_a_program_outside_of_its_tree_is_refused_with_git() {
    let world = project();
    let (app, outside) = (world.path("app"), tempfile::tempdir().unwrap());
    let product = outside.path().canonicalize().unwrap().join("product");
    fs::copy(program(), &product).unwrap();
    let own = app.canonicalize().unwrap().join("bin");
    fs::copy(program(), &own).unwrap();
    let wrappers = [
        format!("exec {} null-server epoll hello $1 $2 1", product.display()),
        format!("{} null-server epoll hello $1 $2 1; true", product.display()),
        format!("exec {} null-server epoll hello $1 $2 1", own.display()),
    ];
    let refused = |outcome: Outcome, path: &Path| {
        let outcome = outcome.ended(1);
        let text = format!("{}{}", outcome.stdout, outcome.stderr).replace('\n', " ");
        let part = format!("the server runs {}, which is outside of its tree", path.display());
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&part), "{text}");
    };
    for (number, wrapper) in wrappers.iter().enumerate() {
        fs::write(app.join("run.sh"), format!("{wrapper}\n")).unwrap();
        world.write(".gitignore", "target\nsrv\nbin\n");
        commit(world.folder.path());
        git(world.folder.path(), &["tag", &format!("wrapped-{number}")]);
        let old = format!("--old=wrapped-{number}");
        let path = if number == 2 { &own } else { &product };
        refused(ab_of(&world, "sh run.sh {host} {port}", &[&old], &[]), path);
    }
    let by_variable = format!(
        "env D={} sh -c 'exec $D null-server epoll hello {{host}} {{port}} 1'",
        outside.path().display()
    );
    let by_variable = by_variable.replace("$D", "$D/product");
    refused(ab_of(&world, &by_variable, &["--old=first"], &[]), &product);
}

#[test]
#[ignore = "needs git"]
fn a_product_of_an_earlier_build_is_made_again_or_refused_with_git() {
    let world = project();
    let product = world.path("app/srv");
    fs::write(&product, "of older sources\n").unwrap();
    let elsewhere = "--build=sh -c 'case $PWD in */revisions/*) cp source.sh srv ;; esac'";
    let refused = ab(&world, &["--old=first", elsewhere]).ended(1);
    let path = product.canonicalize().unwrap();
    let message =
        format!("the build made no new `{}`, which the server's command names", path.display());
    assert_has(&format!("{}{}", refused.stdout, refused.stderr), &[message]);
    assert_eq!(fs::read_to_string(&product).unwrap(), "of older sources\n");
    // As `make` does, which takes an existing file for the product.
    let make = "--build=sh -c 'test -e srv || cp source.sh srv'";
    ab(&world, &["--old=first", make]).ended(0);
    assert_has(&fs::read_to_string(&product).unwrap(), &["# second"]);
    // What the last build of this tree left may stay.
    ab(&world, &["--old=first", elsewhere]).ended(0);
    let beside = crate::world::entries(product.parent().unwrap());
    assert_eq!(beside.len(), 2, "{beside:?}");
}

#[test]
#[ignore = "needs git"]
fn submodules_and_git_itself_are_in_the_old_tree_with_git() {
    let world = project();
    let (folder, part) = (world.folder.path(), tempfile::tempdir().unwrap());
    git(part.path(), &["init", "-q"]);
    fs::write(part.path().join("part"), "# part of the first\n").unwrap();
    commit(part.path());
    let from = part.path().display().to_string();
    let local = ["-c", "protocol.file.allow=always", "submodule"];
    git(folder, &[&local[..], &["--quiet", "add", &from, "app/lib"]].concat());
    commit(folder);
    git(folder, &["tag", "with-part"]);
    let lib = folder.join("app/lib");
    fs::write(lib.join("part"), "# part of the second\n").unwrap();
    commit(&lib);
    commit(folder);
    let build =
        "--build=sh -c 'cat source.sh lib/part > srv; chmod +x srv; git rev-parse HEAD >> srv'";
    ab(&world, &["--old=with-part", build]).ended(0);
    for (side, text, revision) in [("old", "first", "with-part"), ("new", "second", "HEAD")] {
        let built = fs::read_to_string(started(&world, side)).unwrap();
        let revision = git(folder, &["rev-parse", revision]);
        assert_has(&built, &[format!("# part of the {text}\n{revision}")]);
    }
    assert_eq!(git(folder, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(folder, &["status", "--porcelain"]), "");
}

#[test]
#[ignore = "needs git"]
fn variables_of_a_hook_reach_neither_git_nor_a_build_with_git() {
    let world = project();
    let other = tempfile::tempdir().unwrap();
    git(other.path(), &["init", "-q"]);
    let (repository, index) = (other.path().join(".git"), other.path().join("index"));
    let hook: [(&str, &Path); 3] =
        [("GIT_DIR", &repository), ("GIT_INDEX_FILE", &index), ("GIT_WORK_TREE", other.path())];
    let build =
        "--build=sh -c 'cp source.sh srv; test -z \"$GIT_DIR$GIT_INDEX_FILE$GIT_WORK_TREE\"'";
    ab_of(&world, SERVER, &["--old=first", build], &hook).ended(0);
    assert!(!index.exists());
}

#[test]
#[ignore = "needs git"]
fn ignored_files_are_named_and_a_branch_of_origin_is_found_with_git() {
    let world = project();
    let (folder, app) = (world.folder.path(), world.path("app"));
    fs::write(folder.join(".gitignore"), "target\nsrv\n.env\ncache\n").unwrap();
    commit(folder);
    git(folder, &["update-ref", "refs/remotes/origin/stable", "first"]);
    fs::write(app.join(".env"), "A=1\n").unwrap();
    fs::create_dir(app.join("cache")).unwrap();
    fs::write(app.join("cache/data"), "").unwrap();
    let outcome = ab(&world, &["--old=stable", BUILD]).ended(0);
    outcome.assert_line("there is no local `stable`: using `origin/stable`");
    outcome.assert_line(
        "warning: only the working tree has .env, cache/, which git ignores: if the server reads them, let \
         --build make them",
    );
    let titles: Vec<_> = world.journal().start.variants.into_iter().map(|it| it.title).collect();
    assert_has(&titles[0], &["origin/stable ("]);
}

#[test]
#[ignore = "needs git"]
fn a_second_comparison_in_the_same_tree_is_refused_with_git() {
    let world = project();
    let app = world.path("app");
    let mut command = std::process::Command::new(program());
    let build = "--build=sh -c 'touch began; sleep 7398; cp source.sh srv'";
    command.args(SHORT).args([&format!("--server={SERVER}"), "--cohorts=1", "--old=first", build]);
    command.current_dir(&app).envs([world.mark()]);
    let first = Running::of(command);
    world.wait(|| app.join("began").exists().then_some(()));
    let parts = ["another `wirebench ab --old` builds or measures in ", "/revisions/"];
    ab(&world, &["--old=first", BUILD]).assert_refused(1, &parts);
    let parts = ["another `wirebench ab --old` builds or measures in ", "use another clone"];
    ab(&world, &["--old=second", BUILD]).assert_refused(1, &parts);
    first.signal(Signal::INT);
    first.end().ended(130);
    world.wait_for_silence();
    ab(&world, &["--old=first", BUILD]).ended(0);
}
