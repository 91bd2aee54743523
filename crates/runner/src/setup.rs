//! Which Debian packages the entries need, and the commands that install them.

use std::collections::BTreeSet;

use crate::{
    requirement::{Availability, Prober},
    subject::Subject,
};

/// What would have to be done before all entries that can be had here can be built.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Setup {
    /// Packages that are missing.
    pub packages: BTreeSet<String>,
    /// Variants that need something no package brings, with the reason.
    pub out_of_reach: Vec<(String, String)>,
}

impl Setup {
    /// Looks at what `subjects` need.
    #[must_use]
    pub fn find(subjects: &[Subject], prober: &Prober<'_>) -> Self {
        let mut setup = Self::default();
        for (subject, availability) in subjects.iter().zip(prober.survey(subjects)) {
            match availability {
                Availability::Ready => {}
                Availability::NeedsSetup { packages, .. } => setup.packages.extend(packages),
                Availability::NotAvailable { reason } => {
                    setup.out_of_reach.push((subject.variant.id.to_string(), reason));
                }
            }
        }
        setup
    }

    /// The argument lists that install the packages, for root or with sudo; none when nothing is
    /// missing.
    #[must_use]
    pub fn commands(&self, root: bool) -> Vec<Vec<String>> {
        if self.packages.is_empty() {
            return Vec::new();
        }
        let sudo: &[&str] = if root { &[] } else { &["sudo"] };
        let command = |words: &[&str]| -> Vec<String> {
            let quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
            sudo.iter().chain(&quiet).chain(words).map(|&word| word.to_owned()).collect()
        };
        let mut install = command(&["install", "-y", "--no-install-recommends"]);
        install.extend(self.packages.iter().cloned());
        vec![command(&["update"]), install]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_installed_in_one_go_and_with_sudo_only_when_needed() {
        let packages = BTreeSet::from(["libboost-dev".to_owned(), "g++".to_owned()]);
        let setup = Setup { packages, ..Setup::default() };
        let commands = setup.commands(true);
        assert_eq!(commands.len(), 2);
        assert_eq!(
            commands[1].join(" "),
            "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++ libboost-dev"
        );
        assert_eq!(setup.commands(false)[0][0], "sudo");
        assert!(Setup::default().commands(true).is_empty());
    }
}
