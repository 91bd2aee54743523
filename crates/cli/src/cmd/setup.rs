//! `wirebench setup`: installs the Debian packages that the entries need, all in one go, and then
//! runs the commands by which entries fetch from the registries of their ecosystems, and fetches the
//! sources of entries that are built from a repository.

mod sources;

use anyhow::Context as _;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};
use wirebench_catalogue::{
    attempts::{Attempt, Attempts, package_key},
    checkouts::Checkouts,
    fetch_sources::Mirror,
    requirement::{Fetch, Prober},
    setup::{FetchError, Privilege, Setup, fetch, install_commands, unknown_packages},
    subject::Subject,
};
use wirebench_schema::argv::display;
use wirebench_server::command::{Job, NO_ENV};

use crate::{
    args::project::ProjectOption,
    context::Context,
    exit::{Exit, usage},
    out,
};

/// How often something that was brought may show that more is missing.
const ROUNDS: usize = 8;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries, variants or languages [default: all]
    names: Vec<String>,
    /// Print the commands without running them
    #[arg(long)]
    dry_run: bool,
    /// Fetch sources without asking on a terminal
    #[arg(short, long)]
    yes: bool,
    /// Fetch sources from a folder of bare git repositories, each as OWNER/NAME.git or NAME.git
    #[arg(long, value_name = "FOLDER")]
    mirror: Option<PathBuf>,
    #[command(flatten)]
    project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let subjects = context.select(&arguments.names)?;
    let mirror = arguments.mirror.as_deref().map(Mirror::new).transpose().map_err(usage)?;
    if arguments.dry_run {
        return Ok(show(&look(&context, &subjects)));
    }
    let mut work = Work {
        context: &context,
        mirror,
        yes: arguments.yes,
        attempts: Attempts::read(&context.project.state),
        done: BTreeSet::new(),
        failed: Vec::new(),
    };
    for _ in 0..ROUNDS {
        let setup = look(&context, &subjects);
        let packages: BTreeSet<String> =
            setup.packages.iter().filter(|name| work.is_new(&package_key(name))).cloned().collect();
        let fetches: Vec<&Fetch> =
            setup.fetches.iter().filter(|fetch| work.is_new(&fetch.shown())).collect();
        let sources: Vec<&Checkouts> =
            setup.checkouts.iter().filter(|it| work.is_new(&it.key())).collect();
        if packages.is_empty() && fetches.is_empty() && sources.is_empty() {
            break;
        }
        // What needs a tool that comes with a package is looked at again behind the packages.
        if !packages.is_empty() {
            work.install(packages)?;
        } else if !fetches.is_empty() {
            work.fetch_all(&fetches)?;
        } else {
            work.fetch_sources(&sources)?;
        }
        context.interrupt.check()?;
    }
    work.note_what_did_not_help(&look(&context, &subjects))?;
    context.interrupt.check()?;
    work.summarise(&subjects);
    Ok(if work.failed.is_empty() { Exit::Fine } else { Exit::Failed })
}

/// What is missing, whatever was tried before.
fn look(context: &Context, subjects: &[Subject]) -> Setup {
    let prober =
        Prober::unprejudiced(wirebench_nullserver::probe_io_uring, context.interrupt.flag());
    Setup::find(subjects, &prober)
}

fn privilege() -> Privilege {
    if rustix::process::geteuid().is_root() { Privilege::Root } else { Privilege::Sudo }
}

fn show(setup: &Setup) -> Exit {
    report_out_of_reach(&setup.out_of_reach);
    for command in install_commands(&setup.packages, privilege()) {
        out::result(&display(&command));
    }
    for fetch in &setup.fetches {
        out::result(&fetch.shown());
    }
    let sources = setup.checkouts.iter().flat_map(source_lines);
    sources.for_each(|line| out::result(&format!("fetch {line}")));
    if setup.is_done() {
        out::result(&nothing_to_do(setup.out_of_reach.len()));
    }
    Exit::Fine
}

/// One line for each source of an entry.
fn source_lines(checkouts: &Checkouts) -> Vec<String> {
    checkouts.shown().map(|source| format!("{}: {source}", checkouts.entry)).collect()
}

/// Requirements that setup cannot install, each with all variants of an entry that need it.
fn report_out_of_reach(missing: &[(String, String)]) {
    fn entry(variant: &str) -> &str {
        variant.split(':').next().unwrap_or_default()
    }
    for group in missing.chunk_by(|one, other| one.1 == other.1 && entry(&one.0) == entry(&other.0))
    {
        let variants: Vec<&str> = group.iter().map(|(variant, _)| variant.as_str()).collect();
        out::note(&format!("{}: {}", variants.join(", "), group[0].1));
    }
}

/// The sentence for a machine on which setup has nothing to install, although dependencies may still
/// be missing.
fn nothing_to_do(out_of_reach: usize) -> String {
    match out_of_reach {
        0 => "nothing to install".to_owned(),
        1 => "nothing to install; setup cannot install the requirement named above".to_owned(),
        some => {
            format!(
                "nothing to install; setup cannot install the requirements of the {some} variants named above"
            )
        }
    }
}

/// What one setup has done so far.
struct Work<'a> {
    context: &'a Context,
    mirror: Option<Mirror>,
    /// Whether sources are fetched without a question.
    yes: bool,
    attempts: Attempts,
    /// Packages and commands that were tried.
    done: BTreeSet<String>,
    /// What failed, each as a line.
    failed: Vec<String>,
}

impl Work<'_> {
    fn is_new(&self, key: &str) -> bool {
        !self.done.contains(key)
    }

    /// Writes down how an attempt ended.
    fn record(&mut self, key: &str, said: Option<&str>) -> anyhow::Result<()> {
        self.attempts
            .record(key, said.map(Attempt::today))
            .context("cannot record the failure in the state folder")
    }

    /// Installs all packages in one call of the installer, but those that it does not have.
    fn install(&mut self, mut packages: BTreeSet<String>) -> anyhow::Result<()> {
        let commands = install_commands(&packages, privilege());
        self.done.extend(packages.iter().map(|name| package_key(name)));
        let Some((update, _)) = commands.split_first() else { return Ok(()) };
        self.installer(update)?;
        if self.context.interrupt.exit().is_some() {
            return Ok(());
        }
        for name in unknown_packages(&packages, self.context.interrupt.flag())? {
            let said = "unknown to the package manager";
            self.record(&package_key(&name), Some(said))?;
            self.failed.push(format!("package {name}: {said}"));
            packages.remove(&name);
        }
        if let Some(install) = install_commands(&packages, privilege()).last() {
            self.installer(install)?;
        }
        packages.iter().try_for_each(|name| self.record(&package_key(name), None))
    }

    fn installer(&self, command: &[String]) -> anyhow::Result<()> {
        out::result(&display(command));
        // The installer speaks for itself, and sudo may ask for a password.
        let folder = Path::new("/");
        let job = Job { argv: command, folder, env: NO_ENV, timeout: Duration::MAX };
        let status = job.foreground()?;
        let interrupted = self.context.interrupt.exit().is_some();
        anyhow::ensure!(
            status.success() || interrupted,
            "`{}` failed with {status}",
            display(command)
        );
        Ok(())
    }

    fn fetch_all(&mut self, fetches: &[&Fetch]) -> anyhow::Result<()> {
        let flag = self.context.interrupt.flag();
        for (number, it) in (1..).zip(fetches) {
            let log = self.context.project.state.join(format!("setup/{}.log", self.done.len()));
            let shown = it.shown();
            out::result(&format!("[{number}/{}] {}: {shown}", fetches.len(), it.what));
            self.done.insert(shown.clone());
            match fetch(it, &log, flag) {
                Ok(()) => self.record(&shown, None)?,
                Err(FetchError::Failed(said)) => {
                    let log = log.display();
                    self.failed.push(format!("{}: `{shown}`: {said}; log: {log}", it.what));
                    self.record(&shown, Some(&said))?;
                }
                Err(FetchError::Interrupted) => return Ok(()),
                Err(error @ FetchError::Io { .. }) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Notes commands that succeeded without effect, so that they are not repeated and `list` reports them.
    fn note_what_did_not_help(&mut self, left: &Setup) -> anyhow::Result<()> {
        let packages = left.packages.iter().map(|name| (package_key(name), name.as_str()));
        let fetches = left.fetches.iter().map(|fetch| (fetch.shown(), fetch.what.as_str()));
        let said = "the command succeeded and the requirement is still missing";
        for (key, what) in packages.chain(fetches) {
            if self.attempts.failure(&key).is_none() && self.done.contains(&key) {
                self.record(&key, Some(said))?;
                self.failed.push(format!("{what}: its command succeeded, but it is still missing"));
            }
        }
        Ok(())
    }

    fn summarise(&self, subjects: &[Subject]) {
        let setup = Setup::find(subjects, &self.context.prober());
        for failure in &self.failed {
            out::note(&format!("failed: {failure}"));
        }
        report_out_of_reach(&setup.out_of_reach);
        if self.done.is_empty() {
            out::result(&nothing_to_do(setup.out_of_reach.len()));
        }
        let (ready, gone) = (setup.ready, setup.out_of_reach.len());
        out::result(&format!("{ready} ready, {gone} not available"));
    }
}
