//! Looks whether single things are there: each distinct question is asked once, several at a time,
//! and none takes longer than a bounded time.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError, atomic::AtomicBool},
    time::Duration,
};
use wirebench_schema::{entry::Need, placeholder};
use wirebench_server::{
    command::{CommandError, Job, NO_ENV, ask_twice},
    executable::exists,
    parallel,
};

use super::{Availability, name};
use crate::{attempts::Attempts, project::Project, subject::Subject};

/// How long one question may take; without an answer by then the thing counts as missing.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Questions that are asked at once. Most of them wait for files and for other programs.
const AT_ONCE: usize = 8;

/// Tells whether rings can be set up, or why not; this crate does not know how the kernel is asked.
pub type ProbeIoUring = fn() -> Result<(), String>;

/// The answer to one question: there, or a clause on what is missing.
type Answer = Arc<OnceLock<Result<(), String>>>;

/// Looks at what entries need. It remembers each answer, so one of them serves one invocation, or
/// one look before and another one after something was installed.
#[derive(Debug)]
pub struct Prober<'a> {
    probe_io_uring: ProbeIoUring,
    stop: &'a AtomicBool,
    pub(super) attempts: Attempts,
    /// How long one question may take.
    pub(super) timeout: Duration,
    answers: Mutex<HashMap<String, Answer>>,
    /// Whether everything counts as being there.
    pub(super) assumes_all: bool,
}

impl<'a> Prober<'a> {
    /// Knows nothing but what setup has tried in vain in `project`.
    #[must_use]
    pub fn new(project: &Project, probe_io_uring: ProbeIoUring, stop: &'a AtomicBool) -> Self {
        Self {
            attempts: Attempts::read(&project.state),
            ..Self::unprejudiced(probe_io_uring, stop)
        }
    }

    /// The same without what setup has tried in vain: everything is worth another attempt.
    #[must_use]
    pub fn unprejudiced(probe_io_uring: ProbeIoUring, stop: &'a AtomicBool) -> Self {
        Self {
            probe_io_uring,
            stop,
            attempts: Attempts::default(),
            timeout: TIMEOUT,
            answers: Mutex::default(),
            assumes_all: false,
        }
    }

    /// The same for another machine, which cannot be asked: everything counts as being there.
    #[must_use]
    pub fn assuming_all(self) -> Self {
        Self { assumes_all: true, ..self }
    }

    /// Looks at what all of `subjects` need, several of them at a time; the answers are in their
    /// order.
    #[must_use]
    pub fn survey(&self, subjects: &[Subject]) -> Vec<Availability> {
        parallel::map(subjects, AT_ONCE, |subject| self.availability(subject))
    }

    /// Whether `need` is there, or what is missing, as a clause.
    pub(super) fn look(&self, need: &Need, subject: &Subject) -> Result<(), String> {
        let missing = || format!("{} is missing", name(need));
        match need {
            Need::Command(program) => exists(program).then_some(()).ok_or_else(missing),
            Need::Kernel { major, minor } => {
                let release = kernel_release();
                let there = parse_release(&release) >= Some((*major, *minor));
                there.then_some(()).ok_or_else(|| {
                    format!("Linux {major}.{minor} or later is needed, this is {release}")
                })
            }
            Need::IoUring => self.once("io_uring".to_owned(), self.probe_io_uring),
            Need::Header(header) => self.once(name(need), || {
                let (argv, source) = header_question(header);
                self.ask(&argv, Path::new("/"), &source, &missing())
            }),
            Need::PkgConfig(package) => self.once(name(need), || {
                let argv = ["pkg-config", "--exists", package].map(str::to_owned);
                self.ask(&argv, Path::new("/"), "", &missing())
            }),
            Need::Probe { command, .. } => {
                let argv = placeholder::fill_all(command, &subject.build_values())
                    .map_err(|error| error.to_string())?;
                // What a command answers may depend on where it runs.
                let question = format!("{}\0{}", subject.source.display(), argv.join("\0"));
                self.once(question, || self.ask(&argv, &subject.source, "", ""))
                    .map_err(|why| format!("{}{why}", missing()))
            }
        }
    }

    /// The cached answer to a question; `find` computes it the first time. A concurrent caller
    /// with the same question waits for that answer.
    fn once(
        &self,
        question: String,
        find: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = Arc::clone(answers.entry(question).or_default());
        drop(answers);
        answer.get_or_init(find).clone()
    }

    /// Runs a command whose success is the answer. `missing` begins the error.
    fn ask(
        &self,
        argv: &[String],
        folder: &Path,
        input: &str,
        missing: &str,
    ) -> Result<(), String> {
        let job = Job { argv, folder, env: NO_ENV, timeout: self.timeout };
        match ask_twice(|| job.feed(input, self.stop)) {
            Ok(status) if status.success() => Ok(()),
            // Why it did not come to an end is worth saying, why it said no is not.
            Err(error @ CommandError::Timeout { .. }) => Err(format!("{missing} ({error})")),
            Ok(_) | Err(_) => Err(missing.to_owned()),
        }
    }
}

/// The kernel's release, such as `6.18.4`.
#[must_use]
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

pub(super) fn parse_release(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Asks the compiler, which alone knows where it looks.
fn header_question(name: &str) -> ([String; 5], String) {
    let compiler = if exists("c++") { ("c++", "c++") } else { ("cc", "c") };
    let argv = [compiler.0, "-E", "-x", compiler.1, "-"].map(str::to_owned);
    (argv, format!("#if !__has_include(<{name}>)\n#error missing\n#endif\n"))
}
