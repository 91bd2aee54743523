//! Whether what an entry needs is there, and what brings it if not.

use std::{collections::BTreeSet, path::Path, sync::atomic::AtomicBool, time::Duration};
use wirebench_schema::entry::{Need, Requirement};

use crate::{
    command::{Job, exists},
    subject::{Origin, Subject},
};

/// Whether a subject can be built and run here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Availability {
    /// All that it needs is there.
    Ready,
    /// `wirebench setup` can bring what is missing.
    NeedsSetup {
        /// What is missing, each as a clause.
        missing: Vec<String>,
        /// The Debian packages that bring it.
        packages: BTreeSet<String>,
    },
    /// Something is missing that no package brings.
    NotAvailable {
        /// What is missing, each as a clause.
        missing: Vec<String>,
    },
}

impl Availability {
    /// The reason as one sentence with the next step; none when it is ready.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Ready => None,
            Self::NeedsSetup { missing, packages } => {
                let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
                let (missing, packages) = (missing.join(", "), packages.join(" "));
                Some(format!("{missing}; `wirebench setup` installs {packages}"))
            }
            Self::NotAvailable { missing } => Some(missing.join(", ")),
        }
    }
}

/// Tells whether rings can be set up, or why not; the runner does not know how the kernel is asked.
pub type ProbeIoUring = fn() -> Result<(), String>;

/// Looks at everything that `subject` needs.
#[must_use]
pub fn availability(subject: &Subject, probe_io_uring: ProbeIoUring) -> Availability {
    let mut missing = Vec::new();
    let mut packages = BTreeSet::new();
    let mut all_have_packages = exists("apt-get");
    let builtin_ring = Requirement { need: Need::IoUring, debian: Vec::new() };
    let declares_ring = subject.variant.mechanism == wirebench_schema::entry::Mechanism::IoUring;
    let builtin = (subject.origin == Origin::Builtin && declares_ring).then_some(&builtin_ring);
    for requirement in subject.variant.requires.iter().chain(builtin) {
        if let Some(reason) = lacks(&requirement.need, probe_io_uring) {
            missing.push(reason);
            packages.extend(requirement.debian.iter().cloned());
            all_have_packages &= !requirement.debian.is_empty();
        }
    }
    match (missing.is_empty(), all_have_packages) {
        (true, _) => Availability::Ready,
        (false, true) => Availability::NeedsSetup { missing, packages },
        (false, false) => Availability::NotAvailable { missing },
    }
}

/// What is missing for `need`, as a clause, or nothing.
fn lacks(need: &Need, probe_io_uring: ProbeIoUring) -> Option<String> {
    match need {
        Need::Command(name) => (!exists(name)).then(|| format!("the program `{name}` is missing")),
        Need::Header(name) => {
            (!has_header(name)).then(|| format!("the header <{name}> is missing"))
        }
        Need::PkgConfig(package) => (!has_package(package))
            .then(|| format!("the pkg-config package `{package}` is missing")),
        Need::Kernel { major, minor } => {
            let release = kernel_release();
            (parse_release(&release) < Some((*major, *minor)))
                .then(|| format!("Linux {major}.{minor} or later is needed, this is {release}"))
        }
        Need::IoUring => probe_io_uring().err(),
    }
}

/// The kernel's release, such as `6.18.4`.
#[must_use]
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

fn parse_release(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Asks the compiler, which alone knows where it looks.
fn has_header(name: &str) -> bool {
    let compiler = if exists("c++") { ("c++", "c++") } else { ("cc", "c") };
    let argv = [compiler.0, "-E", "-x", compiler.1, "-"].map(str::to_owned);
    let source = format!("#if !__has_include(<{name}>)\n#error missing\n#endif\n");
    succeeds(&argv, Some(&source))
}

fn has_package(package: &str) -> bool {
    succeeds(&["pkg-config", "--exists", package].map(str::to_owned), None)
}

fn succeeds(argv: &[String], input: Option<&str>) -> bool {
    let job = Job { argv, folder: Path::new("/"), timeout: Duration::from_secs(20) };
    let stop = AtomicBool::new(false);
    job.feed(input.unwrap_or_default(), &stop).is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::scenario::Scenario;

    fn subject(requires: Vec<Requirement>) -> Subject {
        let project = crate::project::Project::without_entries(Path::new("/nowhere"));
        let mut subject = Subject::own("x {port}", &[Scenario::Hello], &[], &project).unwrap();
        subject.variant.requires = requires;
        subject
    }

    fn requirement(need: Need, debian: &[&str]) -> Requirement {
        Requirement { need, debian: debian.iter().map(|&name| name.to_owned()).collect() }
    }

    #[test]
    fn what_a_package_brings_needs_setup_and_what_none_brings_is_not_available() {
        let there = requirement(Need::Command("cat".into()), &["coreutils"]);
        let none = requirement(Need::Command("no-such-program".into()), &[]);
        let look = |requires| availability(&subject(requires), || Err("no ring".to_owned()));
        assert_eq!(look(vec![there.clone()]), Availability::Ready);
        let answer = look(vec![there, none]);
        assert_eq!(answer.reason().unwrap(), "the program `no-such-program` is missing");
        let answer = look(vec![requirement(Need::IoUring, &[])]);
        assert_eq!(answer.reason().unwrap(), "no ring");
        if exists("apt-get") {
            let some = requirement(Need::Command("no-such-program".into()), &["some-package"]);
            let reason = look(vec![some]).reason().unwrap();
            assert!(reason.contains("`wirebench setup` installs some-package"), "{reason}");
        }
    }

    #[test]
    fn kernels_are_compared_by_their_numbers() {
        assert_eq!(parse_release("6.18.44-fc"), Some((6, 18)));
        assert!(lacks(&Need::Kernel { major: 2, minor: 6 }, || Ok(())).is_none());
        let reason = lacks(&Need::Kernel { major: 999, minor: 0 }, || Ok(())).unwrap();
        assert!(reason.starts_with("Linux 999.0 or later"), "{reason}");
    }
}
