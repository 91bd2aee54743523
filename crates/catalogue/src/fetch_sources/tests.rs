//! Fetches from small repositories that the tests make, through a mirror and through git's own
//! `insteadOf`.

use super::*;
use crate::project::Project;
use std::{path::PathBuf, process::Command, sync::atomic::AtomicBool};
use wirebench_schema::entry::source::Patch;

const PATCH: &str = "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-one\n+ours\n";

/// A mirror with repositories, and a project.
struct World {
    folder: tempfile::TempDir,
    stop: AtomicBool,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), stop: AtomicBool::new(false) };
        fs::create_dir_all(world.path("entry")).unwrap();
        fs::write(world.path("entry/x.patch"), PATCH).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn git(&self, repository: &str, words: &[&str]) -> String {
        let who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=0"];
        let mut command = Command::new("git");
        command.arg("-C").arg(self.path(repository)).args(who).args(words);
        let output = command.env_remove("GIT_DIR").output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Makes a repository with one file and returns its commit.
    fn repository(&self, name: &str, content: &str) -> String {
        fs::create_dir_all(self.path(name)).unwrap();
        self.git(name, &["init", "-q"]);
        self.commit(name, content)
    }

    fn commit(&self, name: &str, content: &str) -> String {
        fs::write(self.path(name).join("x.c"), content).unwrap();
        self.git(name, &["add", "."]);
        self.git(name, &["commit", "-qm", content]);
        self.git(name, &["rev-parse", "HEAD"])
    }

    fn checkouts(&self, sources: &[Source]) -> Checkouts {
        let project = Project::without_entries(&self.path("state"));
        let made = Checkouts::of_entry("c/x", sources, &self.path("entry"), &project);
        made.unwrap().unwrap()
    }

    fn fetch(&self, sources: &[Source]) -> Result<Checkouts, String> {
        let checkouts = self.checkouts(sources);
        let mirror = Mirror::new(&self.path("mirror")).unwrap();
        let fetched = fetch(&checkouts, Some(&mirror), &self.stop);
        let left = fs::exists(self.path("state/sources/c/x/begun")).unwrap();
        assert!(!left, "an unfinished fetch is left");
        assert_eq!(fetched.is_ok(), checkouts.are_there());
        let shown = self.folder.path().canonicalize().unwrap().display().to_string();
        fetched.map(|()| checkouts).map_err(|error| error.to_string().replace(&shown, "FOLDER"))
    }
}

fn source(name: &str, commit: &str) -> Source {
    Source {
        name: name.to_owned(),
        repository: format!("https://example.invalid/owner/{name}.git").parse().unwrap(),
        commit: commit.to_owned(),
        submodules: false,
        patches: Vec::new(),
    }
}

fn patched(name: &str, commit: &str) -> Source {
    let patch = Patch { file: "x.patch".into(), reason: "ours".into() };
    Source { patches: vec![patch], ..source(name, commit) }
}

#[test]
#[ignore = "needs git"]
fn exactly_the_pinned_commit_is_fetched_and_patched_with_git() {
    let world = World::new();
    let commit = world.repository("mirror/owner/a.git", "one\n");
    world.commit("mirror/owner/a.git", "two\n");
    let plain = world.fetch(&[source("a", &commit)]).unwrap();
    let content = |it: &Checkouts| fs::read_to_string(it.folder.join("a/x.c")).unwrap();
    assert_eq!(content(&plain), "one\n");
    let ours = world.fetch(&[patched("a", &commit)]).unwrap();
    assert_eq!(content(&ours), "ours\n");
    assert_ne!(plain.folder, ours.folder);
    // What is there is not fetched again.
    fs::remove_dir_all(world.path("mirror/owner/a.git")).unwrap();
    world.fetch(&[patched("a", &commit)]).unwrap();
}

#[test]
#[ignore = "needs git"]
fn submodules_are_at_the_commits_that_are_recorded_with_git() {
    let world = World::new();
    let inner = world.repository("mirror/inner", "inner one\n");
    world.repository("mirror/owner/a", "one\n");
    let described = "[submodule \"deps/in\"]\n\tpath = deps/in\n\turl = ../inner.git\n\
                     [submodule \"old\"]\n\tpath = old\n\turl = ../old.git\n";
    fs::write(world.path("mirror/owner/a/.gitmodules"), described).unwrap();
    let link = format!("160000,{inner},deps/in");
    world.git("mirror/owner/a", &["update-index", "--add", "--cacheinfo", &link]);
    world.git("mirror/owner/a", &["add", ".gitmodules"]);
    world.git("mirror/owner/a", &["commit", "-qm", "With a submodule"]);
    let commit = world.git("mirror/owner/a", &["rev-parse", "HEAD"]);
    world.commit("mirror/inner", "inner two\n");
    let source = Source { submodules: true, ..source("a", &commit) };
    let fetched = world.fetch(std::slice::from_ref(&source)).unwrap();
    let text = fs::read_to_string(fetched.folder.join("a/deps/in/x.c")).unwrap();
    assert_eq!(text, "inner one\n");
    let without = world.fetch(&[Source { submodules: false, ..source }]).unwrap();
    assert!(!without.folder.join("a/deps/in/x.c").exists());
}

#[test]
#[ignore = "needs git"]
fn each_failure_says_what_to_do_and_leaves_nothing_with_git() {
    let world = World::new();
    let first = world.repository("mirror/owner/a.git", "one\n");
    let second = world.commit("mirror/owner/a.git", "two\n");
    let absent = first.chars().rev().collect::<String>();
    let cases = [
        vec![source("a", &absent)],
        vec![patched("a", &second)],
        vec![source("a", &first), source("b", &first)],
    ];
    let messages = cases.map(|sources| world.fetch(&sources).unwrap_err() + "\n").concat();
    let messages = messages.replace(&absent, "ABSENT").replace(&second[..12], "SECOND");
    expect_test::expect![[r"
        FOLDER/mirror/owner/a.git has no commit ABSENT: correct `commit` in entry.toml, or update the mirror
        the patch x.patch does not apply to https://example.invalid/owner/a.git at SECOND: error: x.c: patch does not apply; make it again with `git diff` in a checkout of that commit
        the mirror FOLDER/mirror does not have https://example.invalid/owner/b.git: make it with `git clone --mirror https://example.invalid/owner/b.git FOLDER/mirror/owner/b.git`, or omit --mirror
    "]]
    .assert_eq(&messages);
}

#[test]
#[ignore = "needs git"]
fn an_interrupted_fetch_leaves_nothing_with_git() {
    let world = World::new();
    let commit = world.repository("mirror/owner/a.git", "one\n");
    world.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(world.fetch(&[source("a", &commit)]).unwrap_err(), "interrupted");
    world.stop.store(false, std::sync::atomic::Ordering::Relaxed);
    // A killed process could not remove what it had begun.
    fs::create_dir_all(world.path("state/sources/c/x/begun/a/.git")).unwrap();
    world.fetch(&[source("a", &commit)]).unwrap();
}

#[test]
fn a_change_of_a_source_or_patch_is_another_folder() {
    let world = World::new();
    let commit = "0".repeat(40);
    let folder = |source| world.checkouts(&[source]).folder;
    let first = folder(patched("a", &commit));
    assert_eq!(first, folder(patched("a", &commit)));
    assert_ne!(first, folder(source("a", &commit)));
    assert_ne!(first, folder(patched("a", &"1".repeat(40))));
    fs::write(world.path("entry/x.patch"), "other").unwrap();
    assert_ne!(first, folder(patched("a", &commit)));
}

#[test]
fn a_missing_patch_or_mirror_is_named() {
    let world = World::new();
    fs::remove_file(world.path("entry/x.patch")).unwrap();
    let project = Project::without_entries(&world.path("state"));
    let sources = [patched("a", &"0".repeat(40))];
    let made = Checkouts::of_entry("c/x", &sources, &world.path("entry"), &project);
    assert_eq!(made.unwrap_err(), "the patch `x.patch`: No such file or directory (os error 2)");
    let error = Mirror::new(&world.path("nowhere")).unwrap_err();
    assert!(error.starts_with("there is no folder ") && error.contains("NAME.git"), "{error}");
    let interrupted = FetchError::Interrupted;
    assert_eq!(interrupted.to_string(), "interrupted");
}
