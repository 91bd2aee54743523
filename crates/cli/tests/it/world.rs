//! A small world for one test: a checkout of its own, and a mark by which every process that it
//! starts can be found.

#[path = "world/outcome.rs"]
mod outcome;

pub(crate) use outcome::{Outcome, Running, assert_has};

use assert_cmd::Command;
use serde_json::Value;
use std::{
    fmt::Display,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};
use wirebench_schema::journal::{Journal, Run};

/// The variable that carries the mark; servers, guards and generators inherit it.
const MARK: &str = "WIREBENCH_TEST_MARK";
/// A machine that does not change its state, so that no run gets further cohorts.
pub(crate) const ONE_STATE: (&str, &str) = ("WIREBENCH_SYNTHETIC_DISTANCES", "80,80,1,0");
/// The script: lines with the CPU time of a request in nanoseconds and a part of the command line of servers.
pub(crate) const SCRIPT: &str = "WIREBENCH_TEST_SCRIPT";
/// Figures of every server, for runs in which it does not matter what is measured.
const USUAL: &str = "5000 ";
/// How long anything in these tests may take before it counts as hung: a run over sshd takes 40 s alone.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// An `entry.toml` that is valid and needs nothing.
pub(crate) const ENTRY: &str = r#"
title = "A"
description = "An example."
class = "raw"
model = "event-loop"
mechanism = "epoll"
sharing = "prefork"
scenarios = ["hello"]
skips = []
[[version]]
name = "cat"
command = ["cat", "--version"]
pattern = '(\d+\.\d+)'
[run]
command = ["no-such-server", "{port}"]
ready = "line"
"#;

/// What `quick` is in these tests, whatever the project's own measures: short, in two scenarios.
const QUICK: &str = "description = \"An example.\"\nentries = [\"builtin/\"]\nblocks = 3\n\
                     [[workload]]\nname = \"hello\"\nscenario = \"hello\"\nconnections = 64\n\
                     duration = \"200ms\"\n[[workload]]\nname = \"echo\"\nscenario = \"echo\"\n\
                     connections = 64\nduration = \"200ms\"\n";

/// A checkout in a temporary folder.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    mark: String,
    /// The figures of all loads; none where they are measured.
    script: Option<String>,
}

/// The command of the generator. Its events go where the test harness does not write.
fn scripted_command() -> String {
    let program = std::env::current_exe().unwrap();
    let to_third = "'exec 3>&1 >/dev/null && exec \"$0\" \"$@\"'";
    format!("sh -c {to_third} {} --ignored --exact scripted::generate", program.display())
}

impl World {
    /// The same in which servers are loaded.
    pub(crate) fn that_sends() -> Self {
        Self { script: None, ..Self::new() }
    }

    /// The same with these figures.
    pub(crate) fn scripted(script: &str) -> Self {
        Self { script: Some(script.to_owned()), ..Self::new() }
    }

    /// A checkout without entries but the built-in ones, and with a suite `quick` of its own. No load is sent: their
    /// figures are those of a script.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("entries")).unwrap();
        fs::create_dir(folder.path().join("suites")).unwrap();
        fs::write(folder.path().join("suites/quick.toml"), QUICK).unwrap();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self {
            folder,
            mark: format!("{}-{count}", std::process::id()),
            script: Some(USUAL.to_owned()),
        }
    }

    pub(crate) fn with_entry(self, id: &str, text: &str) -> Self {
        fs::create_dir_all(self.path("entries").join(id)).unwrap();
        self.write(format!("entries/{id}/entry.toml"), text);
        self
    }

    pub(crate) fn with_suite(self, name: &str, text: &str) -> Self {
        self.write(format!("suites/{name}"), text);
        self
    }

    /// A built-in server behind `wirebench serve`, and its URL.
    pub(crate) fn serve(&self, scenario: &str) -> (Running, String) {
        let mut server = self.start(&["serve", "builtin/epoll", "--scenario", scenario]);
        let address = server.address();
        let is_echo = scenario == "echo";
        let url = if is_echo { format!("tcp://{address}") } else { format!("http://{address}/") };
        (server, url)
    }

    /// The place of a file of this world.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    #[track_caller]
    pub(crate) fn read(&self, name: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a file, and returns its place as an argument.
    pub(crate) fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// `text` without the places of this machine.
    pub(crate) fn without_places(&self, text: &str) -> String {
        let folder = self.folder.path().canonicalize().unwrap();
        let places = [(program(), "wirebench"), (&folder, "PROJECT")];
        places.iter().fold(text.to_owned(), |text, (place, name)| {
            text.replace(&place.display().to_string(), name)
        })
    }

    /// The variable and its value that every process of this world carries.
    pub(crate) fn mark(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// The variables that every process of this world has.
    fn variables(&self) -> impl Iterator<Item = (&str, String)> {
        let scripted = self
            .script
            .as_ref()
            .map(|script| [(SCRIPT, script.clone()), ("WIREBENCH_AGENT", scripted_command())]);
        let own = [self.mark(), ONE_STATE].map(|(name, value)| (name, value.to_owned()));
        own.into_iter().chain(scripted.into_iter().flatten())
    }

    pub(crate) fn wirebench(&self, arguments: &[&str]) -> Outcome {
        self.outcome(Command::cargo_bin("wirebench").unwrap(), arguments)
    }

    /// The JSON that a verb that succeeds prints.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.stdout(arguments)).unwrap()
    }

    /// What a verb that succeeds prints.
    #[track_caller]
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        self.wirebench(arguments).ended(0).stdout
    }

    /// The same with these environment variables.
    pub(crate) fn wirebench_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        let mut command = Command::cargo_bin("wirebench").unwrap();
        command.envs(variables.iter().copied());
        self.outcome(command, arguments)
    }

    /// The same on a machine that has no other programs.
    pub(crate) fn wirebench_alone(&self, arguments: &[&str]) -> Outcome {
        let mut command = Command::cargo_bin("wirebench").unwrap();
        command.env("PATH", self.folder.path());
        self.outcome(command, arguments)
    }

    /// The same, with a limit on the open files of the process.
    pub(crate) fn wirebench_with_files(&self, limit: u32, arguments: &[&str]) -> Outcome {
        let mut command = Command::new("sh");
        let script = format!("ulimit -n {limit} && exec \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(program());
        self.outcome(command, arguments)
    }

    fn outcome(&self, mut command: Command, arguments: &[&str]) -> Outcome {
        command.args(arguments).current_dir(self.folder.path()).envs(self.variables());
        Outcome::of(command.timeout(PATIENCE).output().unwrap())
    }

    /// What a line of a shell prints to a terminal.
    pub(crate) fn on_terminal(&self, line: &str) -> String {
        let mut command = Command::new("script");
        command.args(["-qec", line, "/dev/null"]).current_dir(self.folder.path());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    /// Starts wirebench and leaves it running.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        // Whoever started the tests may ignore a signal, as `nohup` does.
        let mut command = std::process::Command::new("env");
        command.arg("--default-signal=HUP").arg(program()).args(arguments);
        command.current_dir(self.folder.path()).envs(self.variables());
        Running::of(command)
    }

    /// Numbers and command lines of all living processes of this world.
    pub(crate) fn processes(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.mark);
        let folders = fs::read_dir("/proc").unwrap().flatten();
        let mine = folders.filter(|folder| {
            let environment = fs::read(folder.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        });
        mine.map(|folder| {
            let words = fs::read(folder.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            format!("{} {words}", folder.file_name().to_string_lossy())
        })
        .collect()
    }

    /// Waits until a process whose command line contains `part` runs.
    pub(crate) fn wait_for_process(&self, part: &str) {
        self.wait(|| self.processes().iter().any(|it| it.contains(part)).then_some(()));
    }

    /// Waits until nothing of this world runs any more.
    pub(crate) fn wait_for_silence(&self) {
        self.wait(|| self.processes().is_empty().then_some(()));
    }

    /// Waits until this file holds a whole line.
    pub(crate) fn wait_for_content(&self, path: &Path) {
        let text = || fs::read_to_string(path).unwrap_or_default();
        self.wait(|| text().contains('\n').then_some(()));
    }

    /// Waits until the journal contains `count` records of this kind, and returns the run's folder.
    pub(crate) fn wait_for_records(&self, kind: &str, count: usize) -> PathBuf {
        let has_them = |folder: &PathBuf| records(folder, kind) >= count;
        let results = self.folder.path().join("target/wirebench");
        self.wait(|| entries(&results).into_iter().find(has_them))
    }

    /// Looks until there is something.
    #[track_caller]
    pub(crate) fn wait<T>(&self, look: impl Fn() -> Option<T>) -> T {
        wait_for(|| format!("{:#?}", self.processes()), look)
    }

    /// The only folder of results below `target/wirebench`.
    pub(crate) fn results(&self) -> PathBuf {
        result_in(&self.folder.path().join("target/wirebench"))
    }

    pub(crate) fn journal(&self) -> Journal {
        read(&self.results())
    }
}

/// What is in a folder, in order; nothing, if there is none.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = all.map(|it| it.path()).collect();
    paths.sort();
    paths
}

/// The only folder with a result in `folder`.
pub(crate) fn result_in(folder: &Path) -> PathBuf {
    let mut runs = entries(folder);
    runs.retain(|path| ["runs.jsonl", "load.json"].iter().any(|it| path.join(it).is_file()));
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs.remove(0)
}

/// The journal of a result.
pub(crate) fn read(result: &Path) -> Journal {
    wirebench_experiment::journal::read(result).unwrap()
}

/// How many records of a kind the journal in `folder` has.
pub(crate) fn records(folder: &Path, kind: &str) -> usize {
    let text = fs::read_to_string(folder.join("runs.jsonl")).unwrap_or_default();
    text.matches(&format!("{{\"record\":\"{kind}\"")).count()
}

/// Looks until there is something; `state` is shown when that takes too long.
#[track_caller]
pub(crate) fn wait_for<T, S: Display>(state: impl Fn() -> S, look: impl Fn() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited in vain: {}", state());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a run ended with 0, or with 1 because of a failure that its journal has.
#[track_caller]
pub(crate) fn assert_ended(code: Option<i32>, journal: &Journal) {
    let is_failed = |run: &Run| run.outcome.failure().is_some();
    assert!(
        code == Some(0) || code == Some(1) && journal.runs.iter().any(is_failed),
        "{code:?}: {journal:#?}"
    );
}

/// The folder of the whole project.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Writes a file that can be started.
pub(crate) fn write_program(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    fs::write(&path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_wirebench"))
}
