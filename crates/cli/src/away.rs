//! Carrying a verb out on the host of the servers: what is copied there, which words it gets, and how what it
//! prints and leaves comes back.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};
use wirebench_experiment::remote::{Away, Fleet, Folder};

use crate::{context::Context, exit::Exit, fleet::ServerHost, out};

/// Options that are for this side, and whether a value follows.
const OWN: [(&str, bool); 9] = [
    ("--pairs", true),
    ("--server-on", true),
    ("--slurm", true),
    ("--carrier", true),
    ("--no-copy", false),
    ("--output", true),
    ("-o", true),
    ("--project", true),
    ("--resume", true),
];
/// Where results are on the other side, until they are fetched.
const RESULTS: &str = "results";

/// The host of the servers, with its copy of the project.
pub(crate) struct Elsewhere<'a> {
    server: &'a ServerHost,
    root: Option<&'a Path>,
    folder: Folder,
}

impl<'a> Elsewhere<'a> {
    /// Nothing is done yet.
    pub(crate) fn new(context: &'a Context, server: &'a ServerHost) -> Self {
        let root = context.project.root.as_deref();
        Self { server, root, folder: Folder::of(root) }
    }

    /// Makes sure that all hosts have what they need.
    pub(crate) fn prepare(&self, stop: &AtomicBool) -> Result<(), String> {
        let ServerHost { host, program, carrier, generators, .. } = self.server;
        let hosts = [std::slice::from_ref(host), generators].concat();
        Fleet::new(hosts, carrier.clone(), program.clone()).provide(stop)?;
        self.folder.send(carrier, host, self.root, stop)
    }

    /// Carries a verb out. `print` takes each line, and whether it is a result. The answer is the exit code.
    pub(crate) fn carry_out(
        &self,
        arguments: Vec<String>,
        lacks_carrier: bool,
        stop: &AtomicBool,
        print: &mut dyn FnMut(&str, bool),
    ) -> Result<i32, String> {
        let ServerHost { host, program, carrier, .. } = self.server;
        let (host, carrier) = (host.clone(), carrier.clone());
        let script = self.folder.start(program);
        Away { host, carrier, script, arguments, lacks_carrier }.carry_out(stop, print)
    }

    /// Fetches the results in `there` into `here`.
    pub(crate) fn fetch(&self, there: &str, here: &Path) -> Result<(), String> {
        let ServerHost { host, carrier, .. } = self.server;
        let fetched = self.folder.fetch(carrier, host, there, here);
        fetched.map_err(|why| format!("{host}: the results could not be fetched: {why}"))
    }

    pub(crate) fn clear(&self, there: &str) -> Result<(), String> {
        self.folder.clear(&self.server.carrier, &self.server.host, there)
    }

    /// An error after which the results in `there` are kept, with the command that fetches them into `here`.
    pub(crate) fn kept(&self, reason: &str, there: &str, here: &Path) -> String {
        let ServerHost { host, carrier, .. } = self.server;
        format!("{reason}\n{}", self.folder.remains(carrier, host, there, here))
    }

    /// Writes a file in the folder of the project.
    pub(crate) fn write(&self, path: &str, text: &str, stop: &AtomicBool) -> Result<(), String> {
        self.folder.write(&self.server.carrier, &self.server.host, path, text, stop)
    }

    /// The words that a verb there gets besides its own.
    pub(crate) fn words(&self, there: &str) -> Vec<String> {
        let mut words = vec!["--output".to_owned(), there.to_owned()];
        let is_installed = self.server.is_installed() && !self.server.generators.is_empty();
        words.extend(is_installed.then(|| "--no-copy".to_owned()));
        words
    }
}

/// How the line begins that names the report.
const REPORT: &str = "Report: ";

/// Carries the verb of this command line out on `server.host`. Results come to `results` here; with `resumed`, the
/// folder there in which they are, a run goes on.
pub(crate) fn carry_out(
    context: &Context,
    server: &ServerHost,
    resumed: Option<&Path>,
    results: &Path,
) -> anyhow::Result<Exit> {
    let elsewhere = Elsewhere::new(context, server);
    let stop = context.interrupt.flag();
    elsewhere.prepare(stop).map_err(|reason| context.interrupt.error(reason))?;
    let there = match resumed.and_then(Path::parent) {
        Some(folder) => folder.display().to_string(),
        None => new_folder(),
    };
    let mut arguments = given();
    match resumed {
        Some(run) => {
            arguments = without(&arguments, &[("--from", true)]);
            arguments.extend(["--resume".to_owned(), run.display().to_string()]);
        }
        None => arguments.extend(elsewhere.words(&there)),
    }
    let shown = shown(results);
    let mut run = None;
    // From the line that names the report on, they wait until it is here.
    let mut waiting: Vec<String> = Vec::new();
    let mut print = |line: &str, is_result: bool| {
        run = place(line, &there).or(run.take());
        let line = match line.starts_with("Resume with: ") {
            true => line.replace("wirebench run", &server.command("run")),
            false => with_place(line, &there, &shown),
        };
        let names_report = line.starts_with(REPORT) || !waiting.is_empty();
        match is_result {
            true if names_report => waiting.push(line),
            true => out::result(&line),
            false => out::note(&line),
        }
    };
    // A run that goes on has the carrier of its beginning.
    let lacks_carrier = resumed.is_none() && !server.generators.is_empty();
    let kept = |reason: String| context.interrupt.error(elsewhere.kept(&reason, &there, results));
    let code = elsewhere.carry_out(arguments, lacks_carrier, stop, &mut print).map_err(|reason| {
        let Some(run) = run else { return context.interrupt.error(reason) };
        let command = server.command("run");
        let next = format!("What was measured is there. Resume with: {command} --resume {run}");
        kept(format!("{reason}\n{next}"))
    });
    let fetched = code.and_then(|code| {
        elsewhere.fetch(&there, results).map_err(kept)?;
        Ok(code)
    });
    for line in waiting.iter().filter(|line| fetched.is_ok() || !line.starts_with(REPORT)) {
        out::result(line);
    }
    let code = fetched?;
    if context.interrupt.exit().is_none() {
        elsewhere.clear(&there).map_err(anyhow::Error::msg)?;
    }
    Ok(context.interrupt.exit().unwrap_or_else(|| Exit::of(code)))
}

/// The words of this command line that are for the other side.
pub(crate) fn given() -> Vec<String> {
    words_for_others(&crate::context::command_line())
}

/// The words of a command that are for the other side, without the program.
pub(crate) fn words_for_others(command: &[String]) -> Vec<String> {
    without(command.get(1..).unwrap_or_default(), &OWN)
}

/// A new folder for results on the other side, a path in the folder of the project.
pub(crate) fn new_folder() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S").to_string();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{RESULTS}/{now}-{}-{count}", std::process::id())
}

/// How the folder of results here is shown.
fn shown(results: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    results.strip_prefix(here).unwrap_or(results).display().to_string()
}

/// `words` without those options.
fn without(words: &[String], options: &[(&str, bool)]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let is_it = |(name, has_value): &&(&str, bool)| {
            let is_short = !name.starts_with("--");
            let value = word.strip_prefix(name).filter(|_| *has_value);
            word == name
                || value.is_some_and(|it| it.starts_with('=') || (is_short && !it.is_empty()))
        };
        match options.iter().find(is_it) {
            None => kept.push(word.clone()),
            Some((name, has_value)) => {
                if *has_value && word == name {
                    words.next();
                }
            }
        }
    }
    kept
}

/// The folder of a run that `line` names, a path in the folder of the project there.
fn place(line: &str, there: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("{there}/"))?;
    let name: PathBuf = rest.split_whitespace().next()?.into();
    let first = name.components().next()?.as_os_str().to_str()?.to_owned();
    Some(format!("{there}/{first}"))
}

/// `line` with the place of the results here instead of there.
fn with_place(line: &str, there: &str, here: &str) -> String {
    let Some((head, rest)) = line.split_once(there) else { return line.to_owned() };
    let word = head.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    format!("{}{here}{rest}", &head[..word])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_this_side_are_taken_out_with_their_values() {
        let given =
            "run quick --server-on lab1 --carrier=ssh\u{20}{host} --no-copy -o x -oy --seed 1";
        let words: Vec<String> = given.split(' ').map(str::to_owned).collect();
        assert_eq!(without(&words, &OWN).join(" "), "run quick {host} --seed 1");
    }

    #[test]
    fn the_place_of_results_is_shown_as_it_is_here() {
        let there = "results/1-2";
        let line = "Report: /root/.cache/p/results/1-2/quick/report.html and more";
        assert_eq!(with_place(line, there, "out"), "Report: out/quick/report.html and more");
        assert_eq!(with_place("nothing", there, "out"), "nothing");
        assert_eq!(place(line, there).as_deref(), Some("results/1-2/quick"));
        assert_eq!(
            place("results: results/1-2/quick", there).as_deref(),
            Some("results/1-2/quick")
        );
        assert_eq!(place("nothing", there), None);
    }
}
