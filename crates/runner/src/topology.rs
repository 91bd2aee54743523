//! The CPUs of this machine, and where each one sits, as the kernel shows them.

use std::{fs, io, path::Path};
use wirebench_schema::environment::Cpu;

/// The CPUs that this thread may use, with their cores and packages.
///
/// A kernel that does not tell cores gives each CPU a core of its own.
pub fn usable_cpus() -> io::Result<Vec<Cpu>> {
    let cpus = wirebench_sys::affinity::current()?;
    Ok(cpus.into_iter().map(|cpu| describe(Path::new("/sys/devices/system/cpu"), cpu)).collect())
}

/// How many CPUs of the machine are online, usable or not.
#[must_use]
pub fn online_cpus() -> usize {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    parse_list(text.trim()).map_or(0, |cpus| cpus.len())
}

fn describe(base: &Path, cpu: u32) -> Cpu {
    let read = |name: &str| -> Option<u32> {
        let path = base.join(format!("cpu{cpu}/topology/{name}"));
        fs::read_to_string(path).ok()?.trim().parse().ok()
    };
    Cpu {
        cpu,
        core: read("core_id").unwrap_or(cpu),
        package: read("physical_package_id").unwrap_or(0),
    }
}

/// Reads the kernel's list form, such as `0-3,8`.
#[must_use]
pub fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // No machine has more; a mistyped number must not fill memory.
        if first > last || last > 65_535 {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    (!cpus.is_empty()).then_some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!(parse_list("5,0-2,1"), Some(vec![0, 1, 2, 5]));
        for wrong in ["", "a", "3-1", "1-", "0-99999999"] {
            assert_eq!(parse_list(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn this_machine_has_usable_cpus() {
        let cpus = usable_cpus().unwrap();
        assert!(!cpus.is_empty() && cpus.len() <= online_cpus());
    }
}
