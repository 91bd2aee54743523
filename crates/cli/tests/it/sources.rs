//! Entries whose sources are fetched from git: what `list`, `setup` and `build` say of them. The
//! repositories are small ones that the tests make.

use crate::{
    revisions::git,
    world::{ENTRY, Outcome, World},
};
use expect_test::expect;
use std::fs;

/// An entry that is built from the first commit of `repository`.
fn entry(repository: &str, commit: &str) -> String {
    format!(
        "{}[[source]]\nrepository = \"https://example.invalid/owner/{repository}\"\n\
         commit = \"{commit}\"\npatches = [{{ file = \"x.patch\", reason = \"another word\" }}]\n\
         [[build]]\ncommand = [\"cp\", \"{{checkouts}}/{repository}/x.c\", \"{{build}}/server\"]\n",
        ENTRY.replace("\"no-such-server\"", "\"{build}/server\"")
    )
}

/// A world with a mirror that has one repository, and an entry that is built from it.
fn world() -> World {
    let world = World::new();
    let repository = world.path("mirror/owner/a");
    fs::create_dir_all(&repository).unwrap();
    git(&repository, &["init", "-q"]);
    fs::write(repository.join("x.c"), "one\n").unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "First"]);
    let commit = git(&repository, &["rev-parse", "HEAD"]);
    let world = world.with_entry("c/x", &entry("a", &commit));
    let patch = "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-one\n+ours\n";
    world.write("entries/c/x/x.patch", patch);
    world
}

/// What a command printed, without dates, commits and places.
fn shown(world: &World, outcome: &Outcome) -> String {
    let text = world.without_places(&format!("{}{}", outcome.stdout, outcome.stderr));
    let commit = git(&world.path("mirror/owner/a"), &["rev-parse", "HEAD"]);
    let parts: Vec<String> = text.split(" failed on ").map(str::to_owned).collect();
    let dated = parts[1..].iter().map(|it| format!(" failed on DATE{}", &it["2026-01-02".len()..]));
    (parts[0].clone() + &dated.collect::<String>())
        .replace(&commit, "COMMIT")
        .replace(&commit[..12], "COMMIT")
}

#[test]
#[ignore = "needs git"]
fn setup_fetches_a_source_and_the_entry_is_built_from_it_with_git() {
    let world = world();
    let mut text = String::new();
    for arguments in [
        &["list", "c/x"][..],
        &["build", "c/x"],
        &["setup", "c/x", "--dry-run"],
        &["setup", "c/x", "--mirror=mirror"],
        &["setup", "c/x", "--mirror=mirror"],
    ] {
        let outcome = world.wirebench(arguments);
        text += &format!("$ {}\n{}", arguments.join(" "), shown(&world, &outcome));
    }
    expect![[r#"
        $ list c/x
        c/x: A
          description   An example.
          kind          raw, event-loop, epoll, prefork
          scenarios     hello
          source        https://example.invalid/owner/a at COMMIT, patched by x.patch
          patched       another word
          built by      cp '{checkouts}/a/x.c' '{build}/server'
          started by    '{build}/server' '{port}'
          state         needs setup
                        its source is not fetched; `wirebench setup c/x` fetches https://example.invalid/owner/a at COMMIT, patched by x.patch
        project: PROJECT
        $ build c/x
        c/x: skipped, its source is not fetched; `wirebench setup c/x` fetches https://example.invalid/owner/a at COMMIT, patched by x.patch
        $ setup c/x --dry-run
        fetch c/x: https://example.invalid/owner/a at COMMIT, patched by x.patch
        $ setup c/x --mirror=mirror
        sources to fetch:
          c/x: https://example.invalid/owner/a at COMMIT, patched by x.patch
        [1/1] the source of c/x
        1 ready, 0 not available
        $ setup c/x --mirror=mirror
        nothing to install
        1 ready, 0 not available
    "#]]
    .assert_eq(&text);
    world.stdout(&["build", "c/x"]);
    let built = world.path("target/wirebench/build/c/x/default/server");
    assert_eq!(fs::read_to_string(built).unwrap(), "ours\n");
    let versions = world.stdout(&["versions", "c/x"]);
    let commit = git(&world.path("mirror/owner/a"), &["rev-parse", "HEAD"]);
    assert!(versions.contains(&format!("a {}", &commit[..12])), "{versions}");
}

#[test]
#[ignore = "needs git"]
fn a_source_that_cannot_be_fetched_is_remembered_with_git() {
    let world = world();
    fs::create_dir(world.path("empty")).unwrap();
    world.wirebench(&["setup", "c/x", "--mirror=empty", "--yes"]).ended(1);
    let list = world.wirebench(&["list", "c/"]);
    expect![[r#"
        variant  state          scenarios  mechanism  sharing
        c/x      not available  hello      epoll      prefork

        not available; setup cannot install what is missing:
          c/x: its source is not fetched: `wirebench setup c/x` failed on DATE: the mirror PROJECT/empty does not have https://example.invalid/owner/a: make it with `git clone --mirror https://example.invalid/owner/a PROJECT/empty/owner/a.git`, or omit --mirror

        1 entry with 1 variant: 0 ready, 1 not available
        `wirebench list ENTRY` shows all details.
        project: PROJECT
    "#]]
    .assert_eq(&shown(&world, &list));
    // The next setup tries again.
    world.wirebench(&["setup", "c/x", "--mirror=mirror"]).ended(0);
    assert!(world.stdout(&["list", "c/"]).contains("c/x      ready"));
}

#[test]
#[ignore = "needs git"]
fn addresses_are_replaced_as_the_settings_of_git_say_with_git() {
    let world = world();
    let mirror = world.folder.path().canonicalize().unwrap().join("mirror");
    let settings = world.path("gitconfig");
    let section =
        format!("[url \"{}/\"]\n\tinsteadOf = https://example.invalid/\n", mirror.display());
    fs::write(&settings, section).unwrap();
    let variables = [("GIT_CONFIG_GLOBAL", settings.to_str().unwrap())];
    world.wirebench_with(&variables, &["setup", "c/x"]).ended(0);
    assert!(world.stdout(&["list", "c/"]).contains("c/x      ready"));
}

#[test]
fn what_stops_setup_before_it_fetches_is_named() {
    let world = World::new().with_entry("c/x", &entry("a", &"0".repeat(40)));
    let broken = world.wirebench(&["setup", "c/x"]);
    broken.assert_error(
        2,
        "entries/c/x/entry.toml: the patch `x.patch`: No such file or directory (os error 2)",
    );
    world.write("entries/c/x/x.patch", "");
    let nowhere = world.wirebench(&["setup", "c/x", "--mirror=nowhere"]);
    nowhere.assert_refused(2, &["there is no folder nowhere", "OWNER/NAME.git"]);
    let alone = world.wirebench_alone(&["list", "c/"]);
    let reason = "the program `git`, which fetches its source, is missing; it is in git of Debian; this system \
                  is not Debian";
    alone.assert_line(&format!("  c/x: {reason}"));
}
