//! An entry and a command of the user's, each compared between two revisions of a git repository.

use std::{fs, path::Path, process::Command};

use crate::{
    ab::SHORT,
    own_suite,
    world::{Outcome, PATIENCE, Running, World, assert_has, entries, program, write_program},
};
use rustix::process::Signal;

/// The program of the servers in tests.
fn servers_program() -> String {
    std::env::current_exe().unwrap().display().to_string()
}

/// What git says in `folder`.
#[track_caller]
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=0"];
    let mut command = Command::new("git");
    let output = command.arg("-C").arg(folder).args(who).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:#?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[track_caller]
pub(crate) fn commit(folder: &Path) {
    git(folder, &["add", "."]);
    git(folder, &["commit", "-qm", "A change"]);
}

#[test]
#[ignore = "needs git"]
fn an_entry_is_compared_between_two_revisions_with_git() {
    let entry = |title: &str| {
        format!(
            "title = \"{title}\"\ndescription = \"D.\"\nclass = \"raw\"\nmodel = \"event-loop\"\n\
             mechanism = \"epoll\"\nsharing = \"prefork\"\nscenarios = [\"hello\"]\nskips = []\n\
             [[version]]\nname = \"v\"\nfile = \"version\"\npattern = '(\\d+)'\n[run]\n\
             command = [\"{}\", \"null-server\", \"epoll\", \"hello\", \"{{host}}\", \"{{port}}\", \
             \"{{workers}}\"]\nready = \"line\"\n",
            program().display()
        )
    };
    let world = World::new().with_entry("c/mine", &entry("First"));
    let folder = world.folder.path();
    fs::write(folder.join("entries/c/mine/version"), "1\n").unwrap();
    fs::write(folder.join("suites/x.txt"), "").unwrap();
    fs::write(folder.join(".gitignore"), "target\n").unwrap();
    git(folder, &["init", "-q"]);
    commit(folder);
    fs::write(folder.join("entries/c/mine/entry.toml"), entry("Second")).unwrap();
    fs::write(folder.join("entries/c/mine/version"), "2\n").unwrap();
    let options = ["c/mine", "--old=HEAD", "--cohorts=1"];
    world.wirebench(&[&SHORT[..], &options].concat()).ended(0);
    let details = fs::read_to_string(world.results().join("report.txt")).unwrap();
    assert_has(
        &details,
        &["old: c/mine, HEAD (First), 2 runs", "[v 1]", "new: c/mine, as it is now (Second)"],
    );
    assert_eq!(world.journal().start.variants[1].versions["v"], "2");
    assert_eq!(git(folder, &["worktree", "list"]).lines().count(), 1);
    let wrong = world.wirebench(&["ab", "c/mine", "--old=no-such-revision"]);
    let reason = "`no-such-revision` is not a revision of the repository at";
    wrong.assert_error(2, &format!("{reason} {}", folder.canonicalize().unwrap().display()));
}

#[test]
#[ignore = "needs git"]
fn an_entry_with_requests_of_its_own_is_asked_those_of_today_at_both_revisions_with_git() {
    let built = format!(
        "\nbuild = [{{ command = [\"cp\", {:?}, \"{{build}}/srv\"] }}]\n",
        servers_program()
    );
    let entry = own_suite::entry("api", "api.jsonl")
        .replace(&format!("{:?}", servers_program()), "\"{build}/srv\"");
    let world = World::new().with_entry("x/api", &(entry + &built));
    let folder = world.folder.path();
    let requests = folder.join("entries/x/api/api.jsonl");
    fs::write(folder.join(".gitignore"), "target\n").unwrap();
    fs::write(&requests, "{\"path\": \"/none\", \"name\": \"of old\"}\n").unwrap();
    git(folder, &["init", "-q"]);
    commit(folder);
    fs::write(&requests, "{\"path\": \"/users/1\", \"name\": \"of today\"}\n").unwrap();
    let short = SHORT.into_iter().filter(|it| *it != "--no-verify");
    let options = ["x/api", "--old=HEAD", "--cohorts=1"];
    world.wirebench(&short.chain(options).collect::<Vec<_>>()).ended(0);
    let journal = world.journal();
    let set = journal.start.workloads[0].requests.as_ref().unwrap();
    assert_eq!(set.names(), ["of today"]);
    let sides: Vec<_> = journal.verified.iter().map(|it| it.variant.entry().to_owned()).collect();
    assert_eq!(sides.len(), 2, "{sides:?}");
    assert!(journal.verified.iter().all(|it| it.failed.is_empty()), "{:?}", journal.verified);
}

/// The build of a server that is a copy of its source.
pub(crate) const BUILD: &str = "--build=sh -c 'echo copying; cp source.sh srv'";

/// A repository whose folder `app` has a server, at two commits.
pub(crate) fn project() -> World {
    let world = World::new();
    let folder = world.folder.path();
    let app = folder.join("app");
    fs::create_dir(&app).unwrap();
    fs::write(folder.join(".gitignore"), "target\nsrv\n").unwrap();
    git(folder, &["init", "-q"]);
    commit(folder);
    git(folder, &["tag", "empty"]);
    for version in ["first", "second"] {
        let program = program().display();
        let text =
            format!("#!/bin/sh\n# {version}\nexec {program} null-server epoll hello $1 $2 1\n");
        write_program(app.join("source.sh"), text);
        commit(folder);
        git(folder, &["tag", version]);
    }
    world
}

#[test]
#[ignore = "needs git"]
fn ctrl_c_in_the_build_of_a_revision_leaves_nothing_behind_with_git() {
    let world = project();
    let folder = world.folder.path();
    let before = git(folder, &["status", "--porcelain"]);
    let mut command = Command::new(program());
    let build = "--build=sh -c 'setsid --fork sleep 7399; sleep 7399; cp source.sh srv'";
    command.args(SHORT).args(["--server=./srv {host} {port}", "--cohorts=1", "--old=first", build]);
    command.current_dir(folder.join("app")).envs([world.mark()]);
    let running = Running::of(command);
    // The command line of wirebench has these words, too.
    let is_sleeper = |it: &String| it.ends_with(" sleep 7399 ");
    world.wait(|| world.processes().iter().any(is_sleeper).then_some(()));
    running.signal(Signal::INT);
    let outcome = running.end().ended(130);
    assert_eq!(outcome.stdout, "", "{outcome:#?}");
    world.wait_for_silence();
    assert_eq!(git(folder, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(folder, &["status", "--porcelain"]), before);
    let repository = entries(&folder.join(".git"));
    assert!(repository.iter().all(|it| it.extension() != Some("lock".as_ref())), "{repository:?}");
    let state = entries(&folder.join("target/wirebench"));
    assert!(state.iter().all(|it| !it.join("runs.jsonl").exists()), "{state:?}");
    let whole = |it: &Path| it.file_name().unwrap().len() == 16;
    let revisions = entries(&folder.join("target/wirebench/revisions"));
    assert!(revisions.len() == 1 && whole(&revisions[0]), "{revisions:?}");
    ab(&world, &["--old=first", "--new=second", BUILD]).ended(0);
}

/// `ab` with short visits in the folder `app`.
fn ab(world: &World, arguments: &[&str]) -> Outcome {
    ab_of(world, "./srv {host} {port}", arguments, &[])
}

/// The same of another server, with variables.
pub(crate) fn ab_of(
    world: &World,
    server: &str,
    arguments: &[&str],
    variables: &[(&str, &Path)],
) -> Outcome {
    let server = [&format!("--server={server}"), "--cohorts=1"];
    let mut command = assert_cmd::Command::new(program());
    command.args(SHORT).args(server).args(arguments).timeout(PATIENCE).env("LC_ALL", "C");
    command.envs(variables.iter().copied());
    let output = command.current_dir(world.path("app")).output().unwrap();
    Outcome::of(output)
}

#[test]
#[ignore = "needs git"]
fn a_command_is_built_and_compared_at_two_revisions_with_git() {
    let world = project();
    let (folder, app) = (world.folder.path(), world.path("app"));
    fs::write(app.join("unrelated"), "a file of the user's\n").unwrap();
    let before = git(folder, &["status", "--porcelain", "--ignored"]);
    ab(&world, &["--old=first", "--new=second", BUILD]).ended(0);
    assert_eq!(git(folder, &["status", "--porcelain", "--ignored"]), before + "\n!! target/");
    assert_eq!(git(folder, &["worktree", "list"]).lines().count(), 1);
    let journal = world.journal();
    let commands: Vec<_> = journal.runs.iter().map(|run| run.server_command[0].clone()).collect();
    assert_eq!(commands.len(), 4);
    for (side, version) in [("old", "first"), ("new", "second")] {
        let of_side = |run: &&wirebench_schema::journal::Run| run.variant.entry().ends_with(side);
        let program = &journal.runs.iter().find(of_side).unwrap().server_command[0];
        let revision = git(folder, &["rev-parse", version])[..16].to_owned();
        assert!(program.ends_with(&format!("revisions/{revision}/app/srv")), "{program}");
        assert_has(&fs::read_to_string(program).unwrap(), &[version]);
    }
    let details = fs::read_to_string(world.results().join("report.txt")).unwrap();
    let short = git(folder, &["rev-parse", "first"])[..10].to_owned();
    assert_has(&details, &[&format!("old: `./srv {{host}} {{port}}`, first ({short}), 2 runs")]);
}

#[test]
#[ignore = "needs git"]
fn the_working_tree_is_built_in_place_and_a_folder_of_a_revision_is_used_again_with_git() {
    let world = project();
    let (folder, app) = (world.folder.path(), world.path("app"));
    let source = fs::read_to_string(app.join("source.sh")).unwrap();
    fs::write(app.join("source.sh"), source + "# changed\n").unwrap();
    let revisions = folder.join("target/wirebench/revisions");
    for runs in 1..=2 {
        let output = folder.join(format!("out-{runs}"));
        let output = format!("--output={}", output.display());
        let outcome = ab(&world, &["--old=second", BUILD, &output]).ended(0);
        assert_eq!(entries(&revisions).len(), 1, "{outcome:#?}");
    }
    assert!(fs::read_to_string(app.join("srv")).unwrap().ends_with("# changed\n"));
    let journal = crate::world::read(&crate::world::result_in(&folder.join("out-2")));
    let titles: Vec<_> = journal.start.variants.iter().map(|it| it.title.clone()).collect();
    assert_eq!(titles[1], "`./srv {host} {port}`, as it is now");
    let prints: Vec<_> = journal.start.variants.iter().map(|it| &it.fingerprint).collect();
    assert_ne!(prints[0], prints[1]);
}

#[test]
#[ignore = "needs git"]
fn a_build_that_fails_and_a_revision_without_the_folder_are_errors_with_git() {
    let world = project();
    let failing = "--build=sh -c 'echo no such header; exit 3'";
    let failed = ab(&world, &["--old=first", "--new=second", failing]).ended(1);
    let told = format!("{}{}", failed.stdout, failed.stderr);
    let revision = git(world.folder.path(), &["rev-parse", "first"])[..16].to_owned();
    let parts = [
        "`sh -c 'echo no such header; exit 3'` failed with exit status: 3 in ",
        &format!("revisions/{revision}/app; the log is "),
        "\n    no such header",
    ];
    assert_has(&told, &parts);
    let nothing = ab(&world, &["--old=first", "--new=second", "--build=true"]).ended(1);
    assert_has(&format!("{nothing:?}"), &["the build made no new `", "/app/srv`"]);
    ab(&world, &["--old=first"]).assert_refused(2, &["/app/srv`: make it with --build"]);
    ab(&world, &["--old=empty", BUILD]).assert_refused(2, &["`empty` has no folder `app`"]);
    let unknown = ["`nowhere` is not a revision of the repository at "];
    ab(&world, &["--old=nowhere", BUILD]).assert_refused(2, &unknown);
    let no_program = ab(&world, &["--old=first", "--build=no-such-program"]).ended(1);
    assert_has(&format!("{no_program:?}"), &["no-such-program"]);
    fs::rename(world.path(".git"), world.path("git")).unwrap();
    let parts = ["--old needs a git repository: change to one (git failed: "];
    ab(&world, &["--old=first", BUILD]).assert_refused(2, &parts);
}
