//! The context that most verbs start from: the project, the servers that can be measured, and how
//! to start them.

use anyhow::Context as _;
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};
use wirebench_catalogue::{
    discover,
    project::Project,
    requirement::{Availability, Prober},
    subject::{self, Subject},
};
use wirebench_host::environment;
use wirebench_schema::{journal::Placement, scenario::Scenario};
use wirebench_server::{
    executable,
    guard::JobGuard,
    launch::{Launcher, ReadyWhen},
};

use crate::{args::project::ProjectOption, exit::usage, live::interrupt::Interrupt};

/// How long a server may take to be ready; a virtual machine on a loaded system takes seconds.
const READY_TIMEOUT: Duration = Duration::from_secs(15);

/// The words by which this program was started, for the journal.
pub(crate) fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The argument list by which `program`, wirebench itself, becomes a guard.
fn guard_command(program: &Path) -> Vec<String> {
    vec![program.display().to_string(), "guard".to_owned()]
}

/// Why the guard process cannot be started, and what to do.
fn cannot_start(has_null: bool) -> &'static str {
    if has_null {
        "cannot start the guard process for builds"
    } else {
        "processes are started with /dev/null, which is missing: mount /dev, as containers do"
    }
}

/// The project, the interrupt flag and this program.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) project: Project,
    pub(crate) interrupt: Interrupt,
    /// This program, which is also guard, null server and load generator.
    pub(crate) program: PathBuf,
    /// Whether a plan is made for another machine, of which it is not known what entries lack.
    is_elsewhere: bool,
    revisions: Mutex<BTreeMap<PathBuf, Option<String>>>,
    /// Ends what builds have started when this process is killed.
    _job_guard: JobGuard,
}

impl Context {
    pub(crate) fn new(chosen: &ProjectOption) -> anyhow::Result<Self> {
        // More open files never hurt, and servers inherit the limit; that it cannot be raised shows
        // in `doctor`.
        let _ = wirebench_sys::limits::raise_open_files();
        let program = std::env::current_exe().context("cannot find the wirebench executable")?;
        let project = chosen.project()?;
        let job_guard = JobGuard::start(&guard_command(&program))
            .with_context(|| cannot_start(Path::new("/dev/null").exists()))?;
        let (interrupt, revisions) = (Interrupt::listen()?, Mutex::default());
        let is_elsewhere = false;
        Ok(Self { project, interrupt, program, is_elsewhere, revisions, _job_guard: job_guard })
    }

    /// The same for a plan of another machine, on which every entry counts as available.
    pub(crate) fn elsewhere(self) -> Self {
        Self { is_elsewhere: true, ..self }
    }

    /// The git revision of `folder`, which is looked for once.
    pub(crate) fn revision(&self, folder: &Path) -> Option<String> {
        let folder = folder.canonicalize().ok()?;
        let look = || environment::revision(&folder, self.interrupt.flag());
        let mut known = self.revisions.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(folder.clone()).or_insert_with(look).clone()
    }

    /// The checks open some hundred connections; without the files for them the server would be
    /// blamed for a limit of wirebench's own.
    pub(crate) fn require_files(&self) -> anyhow::Result<()> {
        const NEEDED: u64 = 512;
        let (_, hard) = wirebench_sys::limits::open_files();
        anyhow::ensure!(
            hard >= NEEDED,
            "the checks need {NEEDED} open files and the limit is {hard}: raise it with `ulimit -Hn \
             {NEEDED}`"
        );
        Ok(())
    }

    /// Looks at what entries need; it remembers what it saw.
    pub(crate) fn prober(&self) -> Prober<'_> {
        let io_uring = wirebench_nullserver::probe_io_uring;
        let prober = Prober::new(&self.project, io_uring, self.interrupt.flag());
        if self.is_elsewhere { prober.assuming_all() } else { prober }
    }

    /// Everything that can be measured without a command line of the user's.
    pub(crate) fn subjects(&self) -> anyhow::Result<Vec<Subject>> {
        discover::subjects(&self.project, &self.program).map_err(usage)
    }

    /// The subjects that `names` mean; all of them without names.
    pub(crate) fn select(&self, names: &[String]) -> anyhow::Result<Vec<Subject>> {
        discover::select(&self.subjects()?, names).map_err(usage)
    }

    /// The one subject that `name` means.
    pub(crate) fn select_one(&self, name: &str) -> anyhow::Result<Subject> {
        only_one(self.select(&[name.to_owned()])?, name)
    }

    /// The subjects that can be measured. `skip` reports why each other one cannot.
    pub(crate) fn available(
        &self,
        subjects: Vec<Subject>,
        mut skip: impl FnMut(&Subject, &Availability, &str),
    ) -> Vec<Subject> {
        let survey = self.prober().survey(&subjects);
        let mut there = Vec::new();
        for (subject, availability) in subjects.into_iter().zip(survey) {
            match availability.reason() {
                None => there.push(subject),
                Some(reason) => skip(&subject, &availability, &reason),
            }
        }
        there
    }

    /// The subjects of the command lines `lines`.
    pub(crate) fn own(
        &self,
        lines: &[String],
        scenarios: &[Scenario],
    ) -> anyhow::Result<Vec<Subject>> {
        let mut subjects: Vec<Subject> = Vec::new();
        for line in lines {
            let own = Subject::own(line, scenarios, &self.project).map_err(usage)?;
            require_program(
                &own.variant.run.command[0],
                "write its path; the command runs without a shell, so `~`, variables and redirections \
                 do not work",
            )?;
            subjects.push(own);
        }
        subject::distinguish(&mut subjects).map_err(usage)?;
        Ok(subjects)
    }

    /// Starts servers on the loopback address, bound to the server's CPUs if a placement says so.
    pub(crate) fn launcher(&self, placement: Option<&Placement>) -> Launcher {
        let pinned = placement.filter(|placement| placement.pinned);
        launcher(&self.program, pinned.map(|placement| placement.server_cpus.clone()))
    }
}

/// Starts servers on the loopback address behind guards that are `program`, bound to `cpus` if there are any.
pub(crate) fn launcher(program: &Path, cpus: Option<Vec<u32>>) -> Launcher {
    Launcher {
        guard_command: guard_command(program),
        host: IpAddr::V4(Ipv4Addr::LOCALHOST),
        cpus,
        ready_timeout: READY_TIMEOUT,
        ready_when: ReadyWhen::Connect,
    }
}

/// The only one of `subjects`, which `name` means.
pub(crate) fn only_one(mut subjects: Vec<Subject>, name: &str) -> anyhow::Result<Subject> {
    if subjects.len() > 1 {
        let names: Vec<String> = subjects.iter().map(|it| it.variant.id.to_string()).collect();
        return Err(usage(format!(
            "`{name}` matches {} servers: name one of {}",
            names.len(),
            names.join(", ")
        )));
    }
    subjects.pop().ok_or_else(|| usage(format!("there is no entry `{name}`")))
}

/// Refuses a subject whose description is wrong, or that lacks the scenario.
pub(crate) fn checked(subject: Subject, scenario: Scenario) -> anyhow::Result<Subject> {
    if let Some(reason) = subject.broken() {
        return Err(usage(reason));
    }
    subject.variant.check_scenario(scenario).map_err(usage)?;
    Ok(subject)
}

/// Refuses a program that cannot be executed. `remedy` is what to do if there is no such file.
pub(crate) fn require_program(program: &str, remedy: &str) -> anyhow::Result<()> {
    if let Some(reason) = executable::obstacle(program, Path::new("")) {
        return Err(usage(reason));
    }
    if executable::exists(program) {
        return Ok(());
    }
    Err(usage(format!("there is no program `{program}`: {remedy}")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn without_dev_the_next_step_is_named() {
        assert!(super::cannot_start(false).ends_with("mount /dev, as containers do"));
        assert!(!super::cannot_start(true).contains("/dev"));
    }
}
