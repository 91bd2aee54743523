//! Installs the missing requirements of the entries: one call of Debian's installer, and
//! the commands that entries name. What failed is written down, so that `list` can say why.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};
use wirebench_server::command::{CommandError, Job, NO_ENV};

use crate::{
    build::excerpt::{last_line, read_log},
    checkouts::Checkouts,
    requirement::{Availability, Fetch, MissingParts, Prober},
    subject::Subject,
};

/// How long one command of an entry may fetch.
const FETCH_TIMEOUT: Duration = Duration::from_secs(1200);
/// How long the installer may take to say what it would do.
const SIMULATION_TIMEOUT: Duration = Duration::from_secs(120);

/// What would have to be done before all entries that can be had here can be built.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Setup {
    /// How many variants need nothing.
    pub ready: usize,
    pub packages: BTreeSet<String>,
    /// Commands that bring something else that is missing.
    pub fetches: BTreeSet<Fetch>,
    pub checkouts: BTreeSet<Checkouts>,
    /// Variants that need something that setup cannot bring, with the reason.
    pub out_of_reach: Vec<(String, String)>,
}

impl Setup {
    /// Looks at what `subjects` need.
    #[must_use]
    pub fn find(subjects: &[Subject], prober: &Prober<'_>) -> Self {
        let mut setup = Self::default();
        for (subject, availability) in subjects.iter().zip(prober.survey(subjects)) {
            match availability {
                Availability::Ready => setup.ready += 1,
                Availability::NeedsSetup(MissingParts { packages, fetches, checkouts, .. }) => {
                    setup.packages.extend(packages);
                    setup.checkouts.extend(checkouts);
                    fetches.into_iter().for_each(|fetch| setup.add(fetch));
                }
                Availability::NotAvailable { reason } => {
                    setup.out_of_reach.push((subject.variant.id.to_string(), reason));
                }
            }
        }
        setup
    }

    /// Variants of an entry often need the same command, which then says nothing of their builds.
    fn add(&mut self, fetch: Fetch) {
        let same = |it: &Fetch| it.argv == fetch.argv && it.folder == fetch.folder;
        if !self.fetches.iter().any(same) {
            self.fetches.insert(fetch);
        }
    }

    /// Whether nothing is left that setup could do.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.packages.is_empty() && self.fetches.is_empty() && self.checkouts.is_empty()
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Privilege {
    Root,
    /// `sudo` asks for a password.
    Sudo,
}

/// The argument lists that install `packages`; none when there are none.
#[must_use]
pub fn install_commands(packages: &BTreeSet<String>, privilege: Privilege) -> Vec<Vec<String>> {
    if packages.is_empty() {
        return Vec::new();
    }
    let sudo = (privilege == Privilege::Sudo).then_some("sudo");
    let command = |words: &[&str]| -> Vec<String> {
        let quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
        sudo.iter().chain(&quiet).chain(words).map(|word| (*word).to_owned()).collect()
    };
    let mut install = command(&["install", "-y", "--no-install-recommends", "--"]);
    install.extend(packages.iter().cloned());
    vec![command(&["update"]), install]
}

/// Those of `packages` that the installer does not have. One of them would keep it from installing
/// all the others.
pub fn unknown_packages(
    packages: &BTreeSet<String>,
    stop: &AtomicBool,
) -> Result<BTreeSet<String>, CommandError> {
    let words = ["env", "LC_ALL=C", "apt-get", "install", "-s", "--no-install-recommends", "--"];
    let argv: Vec<String> =
        words.map(str::to_owned).into_iter().chain(packages.iter().cloned()).collect();
    let job = Job { argv: &argv, folder: Path::new("/"), env: NO_ENV, timeout: SIMULATION_TIMEOUT };
    let output = job.output(stop)?;
    Ok(refused(&output.text).filter(|name| packages.contains(name)).collect())
}

/// The packages that the installer complains of.
fn refused(output: &str) -> impl Iterator<Item = String> {
    output.lines().filter_map(|line| {
        let complaint = line.strip_prefix("E: ")?;
        let name = complaint.strip_prefix("Unable to locate package ").or_else(|| {
            complaint.strip_suffix(" has no installation candidate")?.strip_prefix("Package ")
        })?;
        Some(name.trim_matches(['\'', '"', ' ']).to_owned())
    })
}

/// Runs a command that fetches, with all that it prints in `log`. The error is what it said last.
pub fn fetch(fetch: &Fetch, log: &Path, stop: &AtomicBool) -> Result<(), FetchError> {
    for folder in [Some(fetch.build.as_path()), log.parent()].into_iter().flatten() {
        fs::create_dir_all(folder).map_err(FetchError::at(folder))?;
    }
    let file = File::create(log).map_err(FetchError::at(log))?;
    let job = Job { argv: &fetch.argv, folder: &fetch.folder, env: NO_ENV, timeout: FETCH_TIMEOUT };
    let status = match job.log_to(&file, stop) {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status,
        Err(CommandError::Interrupted) => return Err(FetchError::Interrupted),
        Err(error) => return Err(FetchError::Failed(error.to_string())),
    };
    let said = last_line(&read_log(log, 0).map_err(FetchError::at(log))?);
    Err(FetchError::Failed(said.unwrap_or_else(|| status.to_string())))
}

/// Why nothing was fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The command failed, with what it said last.
    #[error("{0}")]
    Failed(String),
    #[error("interrupted")]
    Interrupted,
    /// A file or folder cannot be written.
    #[error("{path}: {error}", path = .path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl FetchError {
    pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Self {
        |error| Self::Io { path: path.to_owned(), error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn packages_are_installed_in_one_go_and_with_sudo_only_when_needed() {
        let two = packages(&["libboost-dev", "g++"]);
        let commands = install_commands(&two, Privilege::Root);
        assert_eq!(commands.len(), 2);
        assert_eq!(
            commands[1].join(" "),
            "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -- g++ libboost-dev"
        );
        assert_eq!(install_commands(&two, Privilege::Sudo)[0][0], "sudo");
        assert!(install_commands(&packages(&[]), Privilege::Root).is_empty());
    }

    #[test]
    fn packages_that_the_installer_does_not_have_are_read_from_its_complaints() {
        let said = "Reading package lists...\nE: Unable to locate package dotnet-sdk-9.0\n\
                    E: Package 'ldc' has no installation candidate\nE: Something else\n";
        assert_eq!(refused(said).collect::<Vec<_>>(), ["dotnet-sdk-9.0", "ldc"]);
        if wirebench_server::executable::exists("apt-get") {
            let asked = packages(&["no-such-package-anywhere"]);
            assert_eq!(unknown_packages(&asked, &AtomicBool::new(false)).unwrap(), asked);
        }
    }

    #[test]
    fn the_same_command_in_the_same_folder_is_needed_once() {
        let mut setup = Setup::default();
        let rows = [("get x", "c/x", "a"), ("get x", "c/x", "b"), ("get x", "c/y", "a")];
        for (program, folder, build) in rows {
            let (argv, what) = (vec![program.to_owned()], "x".to_owned());
            setup.add(Fetch { argv, folder: folder.into(), build: build.into(), what });
        }
        let folders: Vec<_> =
            setup.fetches.iter().map(|it| it.folder.display().to_string()).collect();
        assert_eq!(folders, ["c/x", "c/y"]);
    }

    #[test]
    fn a_fetch_that_fails_says_what_its_command_said_last() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let run = |script: &str| {
            let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
            let build = folder.path().join("build");
            let it = Fetch { argv, folder: folder.path().into(), build, what: "x".into() };
            fetch(&it, &folder.path().join("logs/1.log"), &stop).map_err(|e| e.to_string())
        };
        assert_eq!(run("touch build/there"), Ok(()));
        assert!(folder.path().join("build/there").exists());
        assert_eq!(run("echo one; echo no route >&2; echo; exit 3"), Err("no route".into()));
        assert_eq!(run("exit 3"), Err("exit status: 3".into()));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(run("sleep 60"), Err("interrupted".into()));
    }
}
