//! The program outside a checkout: an empty folder, a fresh home, and nothing but the one file.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::world::{ENTRY, Outcome, World, program};

/// An empty folder and a home of its own.
struct Alone {
    folder: tempfile::TempDir,
}

impl Alone {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn data(&self) -> PathBuf {
        self.home().join(".local/share/wirebench/embedded")
    }

    fn unpacked(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.data()).unwrap().flatten().map(|it| it.path());
        all.filter(|path| path.join("entries").is_dir()).collect()
    }

    fn wirebench(&self, arguments: &[&str], env: &[(&str, &Path)]) -> Outcome {
        let mut command = Command::new(program());
        for name in ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "WIREBENCH_PROJECT"] {
            command.env_remove(name);
        }
        command.env("HOME", self.home()).envs(env.iter().copied());
        Outcome::of(command.args(arguments).current_dir(self.work()).output().unwrap())
    }

    #[track_caller]
    fn list(&self, env: &[(&str, &Path)]) -> Outcome {
        self.wirebench(&["list"], env).ended(0)
    }
}

/// Whether `list` shows the entry `id`.
fn shows(outcome: &Outcome, id: &str) -> bool {
    outcome.stdout.lines().any(|line| line.split_whitespace().next() == Some(id))
}

#[test]
fn an_empty_folder_has_the_embedded_entries_and_they_are_unpacked_once() {
    let alone = Alone::new();
    let first = alone.list(&[]);
    for id in ["c/epoll", "rust/fiber", "builtin/epoll"] {
        assert!(shows(&first, id), "{first:#?}");
    }
    assert!(first.stderr.starts_with("entries and suites unpacked: "), "{first:#?}");
    let unpacked = alone.unpacked();
    let inode = fs::metadata(&unpacked[0]).unwrap().ino();
    let second = alone.list(&[]);
    let version = env!("CARGO_PKG_VERSION");
    let line = format!("project: embedded in wirebench {version}, in {}\n", unpacked[0].display());
    assert_eq!(second.stderr, line);
    assert_eq!(second.stdout, first.stdout);
    assert_eq!(alone.unpacked(), unpacked);
    assert_eq!(fs::metadata(&unpacked[0]).unwrap().ino(), inode);
    assert_eq!(fs::read_dir(alone.work()).unwrap().count(), 0);
}

#[test]
fn what_an_interrupted_process_left_is_repaired() {
    let alone = Alone::new();
    alone.list(&[]);
    let folder = alone.unpacked().remove(0);
    // Ended while it unpacked.
    fs::rename(&folder, folder.with_extension("x")).unwrap();
    let mut new = folder.clone().into_os_string();
    new.push(".new");
    fs::create_dir_all(Path::new(&new).join("entries/c")).unwrap();
    fs::remove_dir_all(folder.with_extension("x")).unwrap();
    assert!(shows(&alone.list(&[]), "c/epoll"));
    assert!(!Path::new(&new).exists());
    // Files without their contents, as after a loss of power.
    fs::write(folder.join("entries/c/epoll/entry.toml"), "").unwrap();
    let repaired = alone.list(&[]);
    assert!(shows(&repaired, "c/epoll") && repaired.stderr.contains("were unpacked again"));
    assert!(alone.list(&[]).stderr.starts_with("project: "));
}

#[test]
fn the_option_comes_before_the_variable_and_a_checkout_before_the_embedded_entries() {
    let (alone, world) = (Alone::new(), World::that_sends().with_entry("c/x", ENTRY));
    let other = World::that_sends().with_entry("c/y", ENTRY);
    let (x, y) = (world.folder.path(), other.folder.path());
    let variable = [("WIREBENCH_PROJECT", y)];
    let named = alone.list(&variable);
    assert!(shows(&named, "c/y") && !shows(&named, "c/epoll"), "{named:#?}");
    let option = alone.wirebench(&["list", "--project", x.to_str().unwrap()], &variable);
    assert!(shows(&option, "c/x") && !shows(&option, "c/y"), "{option:#?}");
    assert_eq!(option.stderr, format!("project: {}\n", x.display()));
    let inside = other.wirebench(&["list"]);
    assert!(shows(&inside, "c/y") && !shows(&inside, "c/epoll"), "{inside:#?}");
    assert!(!alone.data().exists());
}

#[test]
fn a_home_that_cannot_be_written_is_an_error_with_the_next_step() {
    let alone = Alone::new();
    // Not even root can make a folder in /proc.
    let refused = alone.wirebench(&["list"], &[("HOME", Path::new("/proc"))]);
    let parts = ["/proc/.local/share/wirebench/embedded", "set XDG_DATA_HOME to a folder"];
    refused.assert_refused(1, &parts);
    let none = alone.wirebench(&["list"], &[("HOME", Path::new(""))]);
    none.assert_refused(2, &["HOME and XDG_DATA_HOME are not set", "set HOME, or "]);
    let elsewhere = alone.home();
    let env = [("HOME", Path::new("/proc")), ("XDG_DATA_HOME", elsewhere.as_path())];
    assert!(shows(&alone.list(&env), "c/epoll"));
    let run = alone.wirebench(&["run", "smoke", "builtin/epoll"], &env);
    let parts = ["cannot create /proc/.local/state/wirebench", "set XDG_STATE_HOME", "--output"];
    run.assert_refused(1, &parts);
    let built = alone.wirebench(&["build", "c/epoll"], &env);
    built.assert_refused(1, &["cannot create /proc/.cache/wirebench", "set XDG_CACHE_HOME"]);
}

#[test]
fn own_entries_and_suites_are_used_next_to_the_embedded_ones() {
    let alone = Alone::new();
    alone.wirebench(&["new", "c/mine"], &[]).ended(0);
    assert!(alone.work().join("entries/c/mine/main.c").is_file());
    let listed = alone.list(&[]);
    assert!(shows(&listed, "c/mine") && shows(&listed, "c/epoll"), "{listed:#?}");
    let own = format!(", and your own in {}\n", alone.work().display());
    assert!(listed.stderr.ends_with(&own), "{listed:#?}");
    let taken = alone.wirebench(&["new", "c/epoll"], &[]);
    taken.assert_refused(2, &["entries/c/epoll exists already"]);
    fs::create_dir(alone.work().join("suites")).unwrap();
    let suite = "description = \"An example.\"\nentries = [\"c/mine\", \"c/epoll\"]\nblocks = 3\n[[workload]]\n\
                 name = \"hello\"\nscenario = \"hello\"\nconnections = 8\nduration = \"200ms\"\n";
    fs::write(alone.work().join("suites/mine.toml"), suite).unwrap();
    let plan = alone.wirebench(&["run", "mine", "--dry-run"], &[]).ended(0);
    assert!(plan.stdout.contains("c/mine") && plan.stdout.contains("c/epoll"), "{plan:#?}");
}

#[test]
fn an_embedded_entry_is_built_in_the_cache_and_results_are_kept_in_the_state_folder() {
    let alone = Alone::new();
    let short = ["--rounds", "1", "--visit", "40ms", "--no-verify"];
    let run =
        alone.wirebench(&[&["run", "smoke", "c/epoll", "builtin/epoll"], &short[..]].concat(), &[]);
    run.assert_reported();
    let build = alone.home().join(".cache/wirebench/build/c/epoll");
    assert!(build.is_dir(), "{run:#?}");
    let results = fs::read_dir(alone.home().join(".local/state/wirebench")).unwrap().flatten();
    let journals = results.filter(|it| it.path().join("runs.jsonl").is_file()).count();
    assert_eq!((journals, fs::read_dir(alone.work()).unwrap().count()), (1, 0));
    let output = alone.work().join("out");
    let asked = ["run", "smoke", "builtin/epoll", "-o", output.to_str().unwrap()];
    alone.wirebench(&[&asked[..], &short].concat(), &[]).assert_reported();
    assert_eq!(fs::read_dir(output).unwrap().count(), 1);
}
