//! Compares two environments and decides whether figures made on them are comparable. It does not
//! look at the figures.
//!
//! # Identity of a machine
//!
//! No name that a program can read identifies a machine reliably. A container has a random host
//! name and its image's `/etc/machine-id`, or none; clones of a disk share both; only root can read
//! the serial number of the mainboard. A machine is therefore identified by its hardware:
//! architecture, product, CPU model and family, CPUs, cores, caches, memory, and virtualisation:
//! cloud machines of several generations have one model name. If any of these differs, figures
//! cannot be compared ([`Weight::Refuses`]).
//!
//! If only the names differ, it may be another machine of the same kind or another container on the
//! same one: a warning. There is no warning if both have the same kernel running since the same
//! boot, because that is the same machine.
//!
//! # Absent values
//!
//! A field that only one of the two has is not a difference: an earlier version of wirebench wrote
//! less, and a machine that hides something has not changed.

use std::{collections::BTreeMap, fmt, fmt::Display};

use super::{Cgroup, Environment, Limit};

/// Tolerance between two readings of the same memory's size: the kernel reserves a little,
/// depending on its release.
const MEMORY_TOLERANCE_PERCENT: u64 = 1;

/// The effect of a difference on a comparison. Load, steal, swap in use, throttled periods, uptime
/// and temperature vary from minute to minute: they are for `doctor` and never count as
/// differences.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Weight {
    /// It is another machine: the figures cannot be compared.
    Refuses,
    /// It may be the cause of different figures.
    Warns,
}

/// A field that differs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// Its name in `environment.json`, with dots between the levels.
    pub field: String,
    /// Its earlier value, in words.
    pub old: String,
    /// Its later value, in words.
    pub new: String,
    /// Its effect.
    pub weight: Weight,
}

impl Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} was `{}` and is `{}`", self.field, self.old, self.new)
    }
}

/// A field in words; none if it is unknown.
type Show = fn(&Environment) -> Option<String>;

/// Which machine it is. `memory_bytes` belongs here too and has its tolerance.
const HARDWARE: [(&str, Show); 10] = [
    ("architecture", |it| told(&it.architecture)),
    ("product", |it| it.product.clone()),
    ("cpu_model", |it| it.cpu_model.clone()),
    ("cpu_family", |it| it.cpu_family.clone()),
    ("cpus_online", |it| count(it.cpus_online)),
    ("cpus", |it| count(it.cpus.len())),
    ("cores", |it| count(it.cores())),
    ("caches", caches),
    ("virtualised", |it| word(it.virtualised)),
    ("hypervisor", |it| it.hypervisor.clone()),
];

/// Its names. They do not matter if `boot` is the same.
const NAMES: [(&str, Show); 2] =
    [("host", |it| told(&it.host)), ("machine", |it| it.machine.clone())];

/// Software, CPU settings and resource limits.
const SETTINGS: [(&str, Show); 34] = [
    ("wirebench", |it| told(&it.wirebench)),
    ("revision", |it| it.revision.clone()),
    ("program.profile", |it| word(it.program.profile)),
    ("program.digest", |it| it.program.digest.clone()),
    ("distribution", |it| it.distribution.clone()),
    ("kernel", |it| told(&it.kernel)),
    ("kernel_version", |it| it.kernel_version.clone()),
    ("kernel_options", |it| it.kernel_options.as_ref().map(list)),
    ("microcode", |it| it.microcode.clone()),
    ("cpus.numbers", |it| some_list(it.cpus.iter().map(|cpu| cpu.cpu))),
    ("cpus.cores", |it| some_list(it.cpus.iter().map(|cpu| cpu.core))),
    ("cpus.packages", |it| some_list(it.cpus.iter().map(|cpu| cpu.package))),
    ("isolated_cpus", |it| it.isolated_cpus.as_ref().map(list)),
    ("nodes", |it| some_list(it.nodes.iter().map(|(node, cpus)| format!("{node}: {cpus:?}")))),
    ("last_level_caches", |it| {
        some_list(it.last_level_caches.iter().map(|cpus| format!("{cpus:?}")))
    }),
    ("smt", |it| it.smt.clone()),
    ("frequency.governors", |it| some_list(&it.frequency.governors)),
    ("frequency.drivers", |it| some_list(&it.frequency.drivers)),
    ("frequency.turbo", |it| word(it.frequency.turbo)),
    ("frequency.lowest_khz", |it| word(it.frequency.lowest_khz)),
    ("frequency.highest_khz", |it| word(it.frequency.highest_khz)),
    ("clock_source", |it| it.clock_source.clone()),
    ("transparent_huge_pages", |it| it.transparent_huge_pages.clone()),
    ("limits.open_files", |it| it.limits.open_files.map(limit)),
    ("limits.locked_memory_bytes", |it| it.limits.locked_memory_bytes.map(limit)),
    ("limits.processes", |it| it.limits.processes.map(limit)),
    ("cgroup.version", |it| cgroup(it, |group| word(Some(group.version)))),
    ("cgroup.cpu_quota_cpus", |it| cgroup(it, |group| Some(bound(group.cpu_quota_cpus)))),
    ("cgroup.cpuset", |it| cgroup(it, |group| group.cpuset.as_ref().map(list))),
    ("cgroup.memory_bytes", |it| cgroup(it, |group| Some(bound(group.memory_bytes)))),
    ("loopback_mtu_bytes", |it| word(it.loopback_mtu_bytes)),
    ("swap_bytes", |it| word(it.swap_bytes)),
    ("other_variables", |it| it.other_variables.clone()),
    ("variables", |it| {
        Some(list(it.variables.as_ref()?.iter().map(|(name, value)| format!("{name}={value}"))))
    }),
];

/// Values by name, each of which is a setting.
type Named = BTreeMap<String, String>;
/// A field that holds such values.
type Values = fn(&Environment) -> &Named;
const NAMED_SETTINGS: [(&str, Values); 3] = [
    ("mitigations", |it| &it.mitigations),
    ("sysctls", |it| &it.sysctls),
    ("tools", |it| &it.tools),
];

impl Environment {
    /// The differences from `self`, the earlier one, to `other`; those that refuse a comparison
    /// come first.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let both = [self, other];
        let look = |weight: Weight, rows: &[(&str, Show)]| -> Vec<Difference> {
            rows.iter().filter_map(|(name, show)| differ(weight, name, both.map(show))).collect()
        };
        let mut found = look(Weight::Refuses, &HARDWARE);
        found.extend(memory(both));
        if self.boot.is_none() || self.boot != other.boot {
            found.extend(look(Weight::Warns, &NAMES));
        }
        found.extend(look(Weight::Warns, &SETTINGS));
        for (field, values) in NAMED_SETTINGS {
            found.extend(values(self).keys().filter_map(|name| {
                let shown = both.map(|it| values(it).get(name).cloned());
                differ(Weight::Warns, &format!("{field}.{name}"), shown)
            }));
        }
        found
    }
}

fn differ(weight: Weight, field: &str, [old, new]: [Option<String>; 2]) -> Option<Difference> {
    let (old, new) = (old?, new?);
    (old != new).then(|| Difference { field: field.to_owned(), old, new, weight })
}

fn memory(both: [&Environment; 2]) -> Option<Difference> {
    let [old, new] = both.map(|it| it.memory_bytes);
    // A machine without memory is one that does not tell.
    if old == 0 || new == 0 {
        return None;
    }
    let tolerance = old.max(new) / 100 * MEMORY_TOLERANCE_PERCENT;
    let shown = [old, new].map(|bytes| Some(bytes.to_string()));
    (old.abs_diff(new) > tolerance).then(|| differ(Weight::Refuses, "memory_bytes", shown))?
}

/// An empty value is unknown.
fn told(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn count(number: usize) -> Option<String> {
    (number > 0).then(|| number.to_string())
}

fn word<T: Display>(value: Option<T>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// A list that may be empty, which says that there are none.
fn list<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    some_list(values).unwrap_or_else(|| "none".to_owned())
}

/// A list that is empty if it is unknown.
fn some_list<T: Display>(values: impl IntoIterator<Item = T>) -> Option<String> {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    (!values.is_empty()).then(|| values.join(" "))
}

fn caches(environment: &Environment) -> Option<String> {
    let show = |it: &super::Cache| {
        let super::Cache { level, kind, size, cpus_each, count } = it;
        format!("{count} L{level} {kind} {size} for {cpus_each} CPUs;")
    };
    some_list(environment.caches.iter().map(show))
}

/// A bound that may be absent, which says that there is none.
fn bound<T: Display>(value: Option<T>) -> String {
    word(value).unwrap_or_else(|| "unlimited".to_owned())
}

fn limit(limit: Limit) -> String {
    format!("{} (soft), {} (hard)", bound(limit.soft), bound(limit.hard))
}

fn cgroup(environment: &Environment, show: impl Fn(&Cgroup) -> Option<String>) -> Option<String> {
    environment.cgroup.as_ref().and_then(show)
}

#[cfg(test)]
mod tests;
