//! What the CPUs are, how fast they run, and how they are protected. Where they sit is in
//! `topology.rs`.

use std::collections::BTreeMap;
use wirebench_schema::environment::{Frequency, Turbo};

use crate::topology::parse_list;
use wirebench_sys::files::Files;

/// The model name of the first CPU. ARM has only numbers for it.
pub(super) fn model(files: &Files<'_>) -> Option<String> {
    let field = |key: &str| files.field("proc/cpuinfo", key);
    let numbers = || {
        let (implementer, part) = (field("CPU implementer")?, field("CPU part")?);
        Some(format!("implementer {implementer}, part {part}"))
    };
    field("model name").or_else(numbers)
}

/// Its family, model and stepping: one name may be that of several generations.
pub(super) fn family(files: &Files<'_>) -> Option<String> {
    let numbers = ["cpu family", "model", "stepping"].map(|key| files.field("proc/cpuinfo", key));
    let [family, model, stepping] = numbers;
    Some(format!("{}/{}/{}", family?, model?, stepping?))
}

/// The CPUs that the scheduler leaves alone; empty when there are none.
pub(super) fn isolated(files: &Files<'_>) -> Option<Vec<u32>> {
    let text = files.text("sys/devices/system/cpu/isolated")?;
    Some(parse_list(text.trim()).unwrap_or_default())
}

/// Governors, drivers and limits of all `cpus`, which may differ.
pub(super) fn frequency(files: &Files<'_>, cpus: &[u32]) -> Frequency {
    let each = |name: &'static str| {
        cpus.iter().filter_map(move |cpu| {
            files.line(format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}"))
        })
    };
    let khz = |name| each(name).filter_map(|text| text.parse().ok());
    Frequency {
        governors: each("scaling_governor").collect(),
        drivers: each("scaling_driver").collect(),
        turbo: turbo(files, each("boost").collect()),
        lowest_khz: khz("scaling_min_freq").min(),
        highest_khz: khz("scaling_max_freq").max(),
    }
}

/// One driver has a switch for all CPUs that turns it off, the others have one that turns it on,
/// for all or for `each` CPU.
fn turbo(files: &Files<'_>, mut each: Vec<String>) -> Option<Turbo> {
    if let Some(off) = files.line("sys/devices/system/cpu/intel_pstate/no_turbo") {
        return Some(if off == "0" { Turbo::On } else { Turbo::Off });
    }
    each.extend(files.line("sys/devices/system/cpu/cpufreq/boost"));
    if each.is_empty() {
        return None;
    }
    Some(if each.iter().any(|on| on == "1") { Turbo::On } else { Turbo::Off })
}

/// Mitigations of the CPU's vulnerabilities, by name.
pub(super) fn mitigations(files: &Files<'_>) -> BTreeMap<String, String> {
    let folder = "sys/devices/system/cpu/vulnerabilities";
    let names = files.names(folder).into_iter();
    names.filter_map(|name| Some((name.clone(), files.line(format!("{folder}/{name}"))?))).collect()
}
