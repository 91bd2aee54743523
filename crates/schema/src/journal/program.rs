//! The programs that ran on the CPUs of a side while it was measured, and what to do about them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Share of a CPU from which on it is worth stopping a program. Those of every machine use less.
const STOPPED_SHARE: f64 = 0.01;

/// CPU time of a program.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ProgramShare {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub owner: Owner,
    /// Share of one CPU, 0 to 1 for each of its threads.
    pub share: f64,
}

/// Whose CPU time it is.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// A program that has no part in the measurement.
    Other,
    /// Threads of the kernel.
    Kernel,
    /// Programs that this user may not stop.
    OtherUsers,
    /// Programs in other containers.
    OtherContainers,
    /// wirebench, besides the threads that load.
    Wirebench,
    /// wirebench, which reads what the server writes to its log.
    Log,
}

impl ProgramShare {
    /// True if it used more than a program of every machine does.
    #[must_use]
    pub fn is_much(&self) -> bool {
        self.share >= STOPPED_SHARE
    }

    /// True if the user can stop it, and that helps.
    #[must_use]
    pub fn is_worth_stopping(&self) -> bool {
        self.owner == Owner::Other && self.is_much()
    }
}

impl Owner {
    /// One name for all its programs, where stopping them is not up to the user.
    #[must_use]
    pub const fn unstoppable(self) -> Option<&'static str> {
        match self {
            Self::Kernel => Some("kernel threads"),
            Self::OtherUsers => Some("other users"),
            Self::OtherContainers => Some("other containers"),
            Self::Other | Self::Wirebench | Self::Log => None,
        }
    }
}

/// Them with their shares, and in the end those that cannot be stopped: `chromium 3.1 %, rustc 0.4 %; ...`.
pub(super) fn listed(programs: &[ProgramShare]) -> String {
    let one = |it: &ProgramShare| format!("{} {:.1} %", it.name, it.share * 100.0);
    let named = programs.iter().filter(|it| it.owner.unstoppable().is_none()).map(one);
    let named = Some(named.collect::<Vec<_>>().join(", ")).filter(|it| !it.is_empty());
    let parts: Vec<String> = named.into_iter().chain(unstoppable(programs)).collect();
    match parts.is_empty() {
        true => "no program was seen: the hypervisor or interrupts took the time".to_owned(),
        false => parts.join("; "),
    }
}

/// CPU time of programs that the user cannot stop, in one line. Of several shares of one owner the largest counts.
#[must_use]
pub fn unstoppable<'a>(programs: impl IntoIterator<Item = &'a ProgramShare>) -> Option<String> {
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, share) in
        programs.into_iter().filter_map(|it| Some((it.owner.unstoppable()?, it.share)))
    {
        let most = shares.entry(name).or_default();
        *most = most.max(share);
    }
    let (sum, names) = (shares.values().sum::<f64>() * 100.0, Vec::from_iter(shares.into_keys()));
    let names = names.join(", ");
    let line =
        || format!("other work took {sum:.1} % of a CPU that cannot be stopped from here: {names}");
    (!names.is_empty()).then(line)
}
