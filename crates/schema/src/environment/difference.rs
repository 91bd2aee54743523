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

use serde_json::Value;
use std::{fmt, fmt::Display};

use super::{Cache, Environment, Limit};

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

/// Fields that say which machine it is. `memory_bytes` belongs here too and has its tolerance.
const HARDWARE: &str = "architecture product cpu_model cpu_family cpus_online cpus cores caches virtualised hypervisor";
/// Its names. They do not matter if `boot` is the same.
const NAMES: &str = "host machine";
/// Software, CPU settings and resource limits.
const SETTINGS: &str = "wirebench revision program.profile program.digest distribution kernel kernel_version \
                        kernel_options microcode cpus.numbers cpus.cores cpus.packages isolated_cpus nodes \
                        last_level_caches smt frequency.governors frequency.drivers frequency.turbo \
                        frequency.lowest_khz frequency.highest_khz clock_source transparent_huge_pages \
                        limits.open_files limits.locked_memory_bytes limits.processes cgroup.version \
                        cgroup.cpu_quota_cpus cgroup.cpuset cgroup.memory_bytes loopback_mtu_bytes swap_bytes \
                        other_variables variables";
/// Fields with values by name, each of which is a setting.
const NAMED_SETTINGS: [&str; 3] = ["mitigations", "sysctls", "tools"];

impl Environment {
    /// The differences from `self`, the earlier one, to `other`; those that refuse a comparison
    /// come first.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let both = [self, other];
        let written = both.map(|it| serde_json::to_value(it).unwrap_or_default());
        let look = |weight: Weight, fields: &str| -> Vec<Difference> {
            let differ = |field| {
                let [old, new] = [0, 1].map(|side| shown(field, both[side], &written[side]));
                differ(weight, field, old?, new?)
            };
            fields.split(' ').filter_map(differ).collect()
        };
        let mut found = look(Weight::Refuses, HARDWARE);
        found.extend(memory(both));
        if self.boot.is_none() || self.boot != other.boot {
            found.extend(look(Weight::Warns, NAMES));
        }
        found.extend(look(Weight::Warns, SETTINGS));
        for field in NAMED_SETTINGS {
            let [old, new] = [0, 1].map(|side| &written[side][field]);
            found.extend(old.as_object().into_iter().flatten().filter_map(|(name, old)| {
                let [old, new] = [old.as_str()?, new[name].as_str()?].map(str::to_owned);
                differ(Weight::Warns, &format!("{field}.{name}"), old, new)
            }));
        }
        found
    }
}

fn differ(weight: Weight, field: &str, old: String, new: String) -> Option<Difference> {
    (old != new).then(|| Difference { field: field.to_owned(), old, new, weight })
}

/// A field in words; none if it is unknown.
fn shown(field: &str, of: &Environment, written: &Value) -> Option<String> {
    let cgroup = of.cgroup.as_ref();
    match field {
        "cpus_online" => count(of.cpus_online),
        "cpus" => count(of.cpus.len()),
        "cores" => count(of.cores()),
        "caches" => some_list(of.caches.iter().map(cache)),
        "kernel_options" => of.kernel_options.as_ref().map(list),
        "cpus.numbers" => some_list(of.cpus.iter().map(|cpu| cpu.cpu)),
        "cpus.cores" => some_list(of.cpus.iter().map(|cpu| cpu.core)),
        "cpus.packages" => some_list(of.cpus.iter().map(|cpu| cpu.package)),
        "isolated_cpus" => of.isolated_cpus.as_ref().map(list),
        "nodes" => some_list(of.nodes.iter().map(|(node, cpus)| format!("{node}: {cpus:?}"))),
        "last_level_caches" => some_list(of.last_level_caches.iter().map(|it| format!("{it:?}"))),
        "limits.open_files" => of.limits.open_files.map(limit),
        "limits.locked_memory_bytes" => of.limits.locked_memory_bytes.map(limit),
        "limits.processes" => of.limits.processes.map(limit),
        "cgroup.version" => cgroup.map(|it| it.version.to_string()),
        "cgroup.cpu_quota_cpus" => cgroup.map(|it| bound(it.cpu_quota_cpus)),
        "cgroup.cpuset" => cgroup?.cpuset.as_ref().map(list),
        "cgroup.memory_bytes" => cgroup.map(|it| bound(it.memory_bytes)),
        "variables" => {
            Some(list(of.variables.as_ref()?.iter().map(|(name, it)| format!("{name}={it}"))))
        }
        _ => plain(written.pointer(&format!("/{}", field.replace('.', "/")))?),
    }
}

/// A value as it is written, and the values of a list. Those that are empty are unknown.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|it| !it.is_empty()),
        Value::Array(values) => some_list(values.iter().filter_map(plain)),
        other => Some(other.to_string()),
    }
}

fn memory(both: [&Environment; 2]) -> Option<Difference> {
    let [old, new] = both.map(|it| it.memory_bytes);
    // A machine without memory is one that does not tell.
    if old == 0 || new == 0 {
        return None;
    }
    let tolerance = old.max(new) / 100 * MEMORY_TOLERANCE_PERCENT;
    let [shown, other] = [old, new].map(|bytes| bytes.to_string());
    (old.abs_diff(new) > tolerance)
        .then(|| differ(Weight::Refuses, "memory_bytes", shown, other))?
}

fn count(number: usize) -> Option<String> {
    (number > 0).then(|| number.to_string())
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

fn cache(it: &Cache) -> String {
    let Cache { level, kind, size, cpus_each, count } = it;
    format!("{count} L{level} {kind} {size} for {cpus_each} CPUs;")
}

/// A bound that may be absent, which says that there is none.
fn bound<T: Display>(value: Option<T>) -> String {
    value.map_or_else(|| "unlimited".to_owned(), |it| it.to_string())
}

fn limit(limit: Limit) -> String {
    format!("{} (soft), {} (hard)", bound(limit.soft), bound(limit.hard))
}

#[cfg(test)]
mod tests;
