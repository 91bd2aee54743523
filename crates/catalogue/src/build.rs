//! Builds subjects outside their folders, and only when something changed.
//!
//! A stamp next to the outputs holds a digest of the sources and the commands, and digests of the programs made. It
//! is written last, so a build that was cut off is begun again.

pub(crate) mod excerpt;
pub mod parallel;

use sha2::{Digest, Sha256};
use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};
use walkdir::{DirEntry, WalkDir};
use wirebench_schema::{
    argv::display,
    entry::{BuildStep, SHARED},
    placeholder,
};
use wirebench_server::{
    command::{CommandError, Job},
    digest::of_file,
};

use crate::{
    named::CommandFiles,
    subject::{Origin, Subject},
    tracked, version,
};

/// The longest that one build step may take.
const STEP_TIMEOUT: Duration = Duration::from_secs(1200);
/// How often a wait for another wirebench's build looks again.
const LOCK_STEP: Duration = Duration::from_millis(100);
/// The file that holds the digest of the last build that went well.
const STAMP: &str = "stamp";
/// Folders in which toolchains leave their outputs; nothing in them is a source.
pub(crate) const OUTPUT_FOLDERS: [&str; 4] = ["target", "build", "node_modules", "__pycache__"];

/// Whether an up-to-date entry is built anyway.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Freshness {
    /// It is not: the stamp is believed.
    Stamped,
    Anew,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Built {
    /// Nothing: the outputs are those of these sources and commands.
    UpToDate,
    Made,
    /// There is nothing to be built.
    Nothing,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(
        "`{command}` failed with {status} in {folder}; the log is {log}{excerpt}",
        folder = .folder.display(), log = .log.display()
    )]
    Step {
        command: String,
        status: String,
        folder: PathBuf,
        log: PathBuf,
        /// The part of it that says why.
        excerpt: String,
    },
    /// The commands went well and made nothing that can be started.
    #[error(
        "the build made no new `{program}`, which the server's command names; the log is {log}",
        log = .log.display()
    )]
    NoProgram { program: String, log: PathBuf },
    /// A command could not be run.
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Placeholder(#[from] placeholder::PlaceholderError),
    /// A file or folder cannot be read or written.
    #[error("{path}: {error}", path = .path.display())]
    Io { path: PathBuf, error: io::Error },
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> BuildError + '_ {
    |error| BuildError::Io { path: path.to_owned(), error }
}

/// Builds `subject` unless its outputs are up to date. `begin` is called before the first command,
/// and not when there is none to run.
pub fn build(
    subject: &Subject,
    freshness: Freshness,
    stop: &AtomicBool,
    begin: &dyn Fn(),
) -> Result<Built, BuildError> {
    if subject.variant.build.is_empty() {
        return Ok(Built::Nothing);
    }
    let folder = &subject.build;
    fs::create_dir_all(folder).map_err(io_error(folder))?;
    let lock_path = folder.join("lock");
    let lock = File::create(&lock_path).map_err(io_error(&lock_path))?;
    wait_for_lock(&lock, &lock_path, stop)?;
    let steps = steps(subject)?;
    let is_in_tree = subject.is_in_tree();
    let digest = match is_in_tree {
        true => String::new(),
        false => digest(&subject.source, &steps, &version::of_tools(subject, stop))
            .map_err(io_error(&subject.source))?,
    };
    let stamp = folder.join(STAMP);
    let old = fs::read_to_string(&stamp).unwrap_or_default();
    let (changed, unknown) = look_over(&old, outputs(subject));
    let unchanged = old.lines().next() == Some(&digest) && changed.is_empty() && unknown.is_empty();
    let is_fresh = unchanged && freshness == Freshness::Stamped && !is_in_tree;
    if is_fresh && missing_program(subject)?.is_none() {
        return Ok(Built::UpToDate);
    }
    begin();
    let _ = fs::remove_file(&stamp);
    let stale = changed.into_iter().chain(unknown.into_iter().filter(|_| is_in_tree));
    let stale: Vec<PathBuf> = stale.collect();
    run_steps(&steps, subject, &stale, stop)?;
    // Variants that share the build may start other programs of it.
    let made: BTreeSet<PathBuf> =
        lines(&old).map(|(_, path)| path.into()).chain(outputs(subject)).collect();
    let made = made.iter().filter_map(|it| Some(format!("\n{} {}", of_file(it)?, it.display())));
    fs::write(&stamp, digest + &made.collect::<String>()).map_err(io_error(&stamp))?;
    Ok(Built::Made)
}

/// The digests and paths of programs in a stamp.
fn lines(stamp: &str) -> impl Iterator<Item = (&str, &str)> {
    stamp.lines().skip(1).filter_map(|line| line.split_once(' '))
}

/// Which of `outputs` differ from what a stamp says, and which it does not have.
fn look_over(stamp: &str, outputs: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let recorded = |path: &Path| lines(stamp).find(|(_, it)| Path::new(it) == path);
    let (known, unknown): (Vec<_>, _) =
        outputs.into_iter().filter(|it| it.is_file()).partition(|path| recorded(path).is_some());
    let is_changed = |path: &PathBuf| recorded(path).map(|it| it.0) != of_file(path).as_deref();
    (known.into_iter().filter(is_changed).collect(), unknown)
}

/// The files and folders of its build that the command of `subject` names. In a tree these are files that git does not
/// track.
pub(crate) fn outputs(subject: &Subject) -> Vec<PathBuf> {
    if subject.is_in_tree() {
        let top = tracked::top(&subject.source).unwrap_or_else(|_| subject.source.clone());
        let named = CommandFiles::of(subject);
        let named = named.all().filter_map(|path| path.canonicalize().ok());
        return named.filter(|it| it.starts_with(&top) && !tracked::is_tracked(it)).collect();
    }
    let words = subject.variant.run.command.iter().filter(|word| word.contains("{build}"));
    let filled = words.filter_map(|word| placeholder::fill(word, &subject.build_values()).ok());
    let build = subject.build.display().to_string();
    filled.filter_map(|word| Some(PathBuf::from(&word[word.find(&build)?..]))).collect()
}

/// Runs all steps, after which the program is there. The files in `stale` have other names meanwhile, because a
/// toolchain may take one for its own. In a tree, where they may be the user's, those that are not made again return,
/// and fail the build.
fn run_steps(
    steps: &[BuildStep],
    subject: &Subject,
    stale: &[PathBuf],
    stop: &AtomicBool,
) -> Result<(), BuildError> {
    let log_path = log_path(subject);
    let mut log = File::create(&log_path).map_err(io_error(&log_path))?;
    let aside = |path: &PathBuf| path.with_added_extension("before-build");
    stale.iter().for_each(|path| _ = fs::rename(path, aside(path)));
    let result = steps.iter().try_for_each(|it| run_step(it, subject, (&mut log, &log_path), stop));
    let left = stale.iter().filter(|path| subject.is_in_tree() && !path.exists());
    let left: Vec<&PathBuf> = left.filter(|path| fs::rename(aside(path), path).is_ok()).collect();
    stale.iter().for_each(|path| _ = fs::remove_file(aside(path)));
    result?;
    let left = left.first().map(|path| path.display().to_string());
    match left.or(missing_program(subject)?) {
        Some(program) => Err(BuildError::NoProgram { program, log: log_path }),
        None => Ok(()),
    }
}

/// Runs one step. Its output goes to the log, and the relevant part of that into the error if it fails.
fn run_step(
    step: &BuildStep,
    subject: &Subject,
    (log, log_path): (&mut File, &Path),
    stop: &AtomicBool,
) -> Result<(), BuildError> {
    let command = show(step);
    writeln!(log, "$ {command}").map_err(io_error(log_path))?;
    let begin = log.metadata().map_err(io_error(log_path))?.len();
    let (argv, folder, env) = (&step.command, &subject.source, &step.env);
    let job = Job { argv, folder, env, timeout: STEP_TIMEOUT };
    let status = job.log_to(log, stop)?;
    if status.success() {
        return Ok(());
    }
    let said = excerpt::read_log(log_path, begin).unwrap_or_default();
    Err(BuildError::Step {
        command,
        status: status.to_string(),
        folder: folder.clone(),
        log: log_path.to_owned(),
        excerpt: excerpt::excerpt(&said),
    })
}

/// Two wirebench at once build one after the other. The lock ends with the file handle.
pub(crate) fn wait_for_lock(lock: &File, path: &Path, stop: &AtomicBool) -> Result<(), BuildError> {
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if stop.load(Ordering::Relaxed) => {
                return Err(CommandError::Interrupted.into());
            }
            // Polling, because a blocking wait for the lock could not be interrupted.
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_STEP),
            Err(TryLockError::Error(error)) => return Err(io_error(path)(error)),
        }
    }
}

/// The program that the build should have made and that is not there. One from elsewhere, such as an
/// interpreter, is none of the build's business.
fn missing_program(subject: &Subject) -> Result<Option<String>, placeholder::PlaceholderError> {
    let program = &subject.variant.run.command[0];
    let is_in_tree = subject.is_in_tree() && program.contains('/');
    if !program.contains("{build}") && !is_in_tree {
        return Ok(None);
    }
    let program = placeholder::fill(program, &subject.build_values())?;
    Ok((!Path::new(&program).is_file()).then_some(program))
}

/// Where the output of the last build of `subject` is.
#[must_use]
pub fn log_path(subject: &Subject) -> PathBuf {
    subject.build.join("build.log")
}

/// The digest of what the last build of `subject` was made of. For an entry that is not built it is
/// the digest of what the entries of its language share.
pub(crate) fn stamp(subject: &Subject) -> Option<String> {
    if !subject.variant.build.is_empty() {
        let stamp = fs::read_to_string(subject.build.join(STAMP)).ok()?;
        return Some(stamp.lines().next()?.to_owned());
    }
    let Origin::Entry { .. } = subject.origin else { return None };
    let mut hash = Sha256::new();
    add_sources(&mut hash, &shared(&subject.source)).ok()?;
    Some(hexadecimal(hash))
}

/// The folder of what the entries of a language share, next to the entry in `source`.
pub(crate) fn shared(source: &Path) -> PathBuf {
    source.with_file_name(SHARED)
}

/// The steps of the build with their placeholders filled in. A user's command line has none.
fn steps(subject: &Subject) -> Result<Vec<BuildStep>, placeholder::PlaceholderError> {
    if subject.is_in_tree() {
        return Ok(subject.variant.build.clone());
    }
    let values = subject.build_values();
    let fill = |step: &BuildStep| {
        Ok(BuildStep {
            command: placeholder::fill_all(&step.command, &values)?,
            env: placeholder::fill_values(&step.env, &values)?,
        })
    };
    subject.variant.build.iter().map(fill).collect()
}

/// A step as one could type it.
fn show(step: &BuildStep) -> String {
    let quote = |value: &String| display(std::slice::from_ref(value));
    let set: Vec<String> =
        step.env.iter().map(|(name, value)| format!("{name}={} ", quote(value))).collect();
    set.concat() + &display(&step.command)
}

/// SHA-256 over the commands, over what the tools say of their versions, over the sources, and over
/// what the entries of the language share.
fn digest(source: &Path, steps: &[BuildStep], tools: &str) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(tools.as_bytes());
    hash.update([0]);
    for step in steps {
        hash.update(show(step).as_bytes());
        hash.update([0]);
    }
    add_sources(&mut hash, source)?;
    add_sources(&mut hash, &shared(source))?;
    Ok(hexadecimal(hash))
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Adds the number of the sources in `folder`, and path and content of each.
fn add_sources(hash: &mut Sha256, folder: &Path) -> io::Result<()> {
    let is_skipped = |file: &DirEntry| {
        let name = file.file_name().to_string_lossy();
        let is_output = || file.file_type().is_dir() && OUTPUT_FOLDERS.contains(&name.as_ref());
        name.starts_with('.') || is_output()
    };
    let files: Vec<PathBuf> = match folder.is_dir() {
        true => files_below(folder, is_skipped).collect::<io::Result<_>>()?,
        false => Vec::new(),
    };
    hash.update((files.len() as u64).to_le_bytes());
    for file in files {
        let path = file.strip_prefix(folder).unwrap_or(&file);
        let content = fs::read(&file)?;
        hash.update(path.to_string_lossy().as_bytes());
        hash.update([0]);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(&content);
    }
    Ok(())
}

/// The files in `folder` and below, in order. A link to a file is a file like any other.
pub(crate) fn files_below(
    folder: &Path,
    is_skipped: impl Fn(&DirEntry) -> bool,
) -> impl Iterator<Item = io::Result<PathBuf>> {
    let all = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
    let all = all.filter_entry(move |it| it.depth() == 0 || !is_skipped(it));
    let paths = all.map(|it| it.map(DirEntry::into_path).map_err(io::Error::from));
    paths.filter(|it| it.as_ref().map_or(true, |path| path.is_file()))
}

#[cfg(test)]
mod tests;
