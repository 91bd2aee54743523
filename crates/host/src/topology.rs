//! The CPUs of a machine, and where each one sits, as the kernel shows them. What they are and how
//! fast they run is in `environment/processor.rs`.
//!
//! The files are read below a root folder, which is `/` but in tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};
use wirebench_schema::environment::{Cache, Cpu};

/// The CPUs that this thread may use, with their cores and packages.
///
/// A kernel that does not tell cores gives each CPU a core of its own.
pub fn usable_cpus() -> io::Result<Vec<Cpu>> {
    Ok(places(Path::new("/"), &wirebench_sys::affinity::current()?))
}

/// Where each of `cpus` sits.
#[must_use]
pub fn places(root: &Path, cpus: &[u32]) -> Vec<Cpu> {
    let place = |&cpu: &u32| {
        let number = |name| read(root, &format!("cpu/cpu{cpu}/topology/{name}"))?.parse().ok();
        let (core, package) = (number("core_id"), number("physical_package_id"));
        Cpu { cpu, core: core.unwrap_or(cpu), package: package.unwrap_or(0) }
    };
    cpus.iter().map(place).collect()
}

/// How many CPUs of the machine are online, usable or not.
#[must_use]
pub fn online_cpus(root: &Path) -> usize {
    let list = read(root, "cpu/online").and_then(|text| parse_list(&text));
    list.map_or(0, |cpus| cpus.len())
}

/// Those of `cpus` that belong to each NUMA node.
#[must_use]
pub fn nodes(root: &Path, cpus: &[u32]) -> BTreeMap<u32, Vec<u32>> {
    let online = read(root, "node/online").and_then(|text| parse_list(&text));
    let of_node = |node: u32| -> Option<(u32, Vec<u32>)> {
        let mut members = parse_list(&read(root, &format!("node/node{node}/cpulist"))?)?;
        members.retain(|cpu| cpus.contains(cpu));
        (!members.is_empty()).then_some((node, members))
    };
    online.into_iter().flatten().filter_map(of_node).collect()
}

/// The caches of `cpus`, those alike counted together.
#[must_use]
pub fn caches(root: &Path, cpus: &[u32]) -> Vec<Cache> {
    // A cache is known by the CPUs that share it.
    let mut single = BTreeSet::new();
    for cpu in cpus {
        for index in 0.. {
            let value = |name| read(root, &format!("cpu/cpu{cpu}/cache/index{index}/{name}"));
            let Some(level) = value("level").and_then(|text| text.parse::<u32>().ok()) else {
                break;
            };
            if let (Some(kind), Some(size), Some(shared)) =
                (value("type"), value("size"), value("shared_cpu_list"))
            {
                single.insert((level, kind, size, shared));
            }
        }
    }
    let mut alike: BTreeMap<(u32, String, String, usize), usize> = BTreeMap::new();
    for (level, kind, size, shared) in single {
        let cpus_each = parse_list(&shared).map_or(1, |cpus| cpus.len());
        *alike.entry((level, kind, size, cpus_each)).or_default() += 1;
    }
    let cache =
        |((level, kind, size, cpus_each), count)| Cache { level, kind, size, cpus_each, count };
    alike.into_iter().map(cache).collect()
}

/// Those of `cpus` under each last-level cache.
#[must_use]
pub fn last_level_caches(root: &Path, cpus: &[u32]) -> Vec<Vec<u32>> {
    let shared = |cpu: &u32| {
        let list =
            |index: u32| read(root, &format!("cpu/cpu{cpu}/cache/index{index}/shared_cpu_list"));
        let mut all = parse_list(&(0..).map_while(list).last()?)?;
        all.retain(|it| cpus.contains(it));
        Some(all)
    };
    cpus.iter().filter_map(shared).collect::<BTreeSet<_>>().into_iter().collect()
}

fn read(root: &Path, path: &str) -> Option<String> {
    let text = fs::read_to_string(root.join("sys/devices/system").join(path)).ok()?;
    Some(text.trim().to_owned())
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
    fn the_last_cache_of_a_cpu_tells_who_is_near_it() {
        let root = tempfile::tempdir().unwrap();
        for cpu in 0..4 {
            for (index, shared) in
                [(0, format!("{cpu}")), (1, format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1))]
            {
                let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
                fs::create_dir_all(root.path().join(&folder)).unwrap();
                fs::write(root.path().join(folder).join("shared_cpu_list"), shared).unwrap();
            }
        }
        assert_eq!(last_level_caches(root.path(), &[0, 1, 2]), [vec![0, 1], vec![2]]);
        assert_eq!(last_level_caches(Path::new("/nowhere"), &[0, 1]), [[0; 0]; 0]);
    }

    #[test]
    fn this_machine_has_usable_cpus() {
        let cpus = usable_cpus().unwrap();
        assert!(!cpus.is_empty() && cpus.len() <= online_cpus(Path::new("/")));
    }
}
