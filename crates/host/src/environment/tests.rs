//! Machines that are folders, and the one that this runs on.

use std::{fs, path::Path};
use wirebench_schema::environment::{Cgroup, CgroupVersion, Limit, Turbo};

use super::*;

/// A folder with `files`, each a path and its content.
pub(crate) fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    add(root.path(), files);
    root
}

fn add(root: &Path, files: &[(&str, &str)]) {
    for (path, content) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn read_files(files: &[(&str, &str)]) -> Environment {
    read(machine(files).path(), &[0, 1])
}

const CPU: &str = "sys/devices/system/cpu";

#[test]
fn this_machine_tells_what_every_linux_tells() {
    let environment = gather_all(None, &AtomicBool::new(false));
    assert!(environment.memory_bytes > 0 && environment.cpus_online > 0);
    assert!(environment.kernel.contains('.') && !environment.cpus.is_empty());
    assert!(environment.sysctls.contains_key("net/core/somaxconn"));
    assert!(environment.limits.open_files.is_some() && environment.uptime_s.is_some());
    assert!(environment.program.digest.is_some() && !environment.host.is_empty());
    let uname = rustix::system::uname();
    assert_eq!(environment.kernel, uname.release().to_string_lossy());
    let text = serde_json::to_string(&environment).unwrap();
    assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    assert_eq!(environment.differences(&environment), []);
}

#[test]
fn a_machine_that_tells_nothing_is_no_error_and_has_no_zeros() {
    let environment = read_files(&[]);
    assert_eq!((environment.memory_bytes, environment.cpus_online), (0, 0));
    assert_eq!((environment.steal_share, environment.uptime_s), (None, None));
    assert_eq!((&environment.cgroup, environment.virtualised), (&None, None));
    assert_eq!((&environment.kernel_options, &environment.isolated_cpus), (&None, &None));
    assert!(environment.sysctls.is_empty() && environment.limits == Default::default());
}

#[test]
fn cpus_have_places_nodes_and_caches() {
    let mut files = vec![
        (format!("{CPU}/online"), "0-3"),
        (format!("{CPU}/isolated"), "2-3\n"),
        (format!("{CPU}/smt/control"), "on"),
        ("sys/devices/system/node/online".to_owned(), "0-1"),
        ("sys/devices/system/node/node0/cpulist".to_owned(), "0-1"),
        ("sys/devices/system/node/node1/cpulist".to_owned(), "2-3"),
    ];
    for cpu in 0..2 {
        let own = if cpu == 0 { "0" } else { "1" };
        let topology = format!("{CPU}/cpu{cpu}/topology");
        files.push((format!("{topology}/core_id"), "7"));
        files.push((format!("{topology}/physical_package_id"), own));
        let caches = [("0", "1", "Data", "32K", own), ("1", "3", "Unified", "8192K", "0-1")];
        for (index, level, kind, size, shared) in caches {
            let folder = format!("{CPU}/cpu{cpu}/cache/index{index}");
            let values =
                [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)];
            files.extend(values.map(|(name, value)| (format!("{folder}/{name}"), value)));
        }
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let environment = read_files(&files);
    let places: Vec<_> = environment.cpus.iter().map(|it| (it.cpu, it.core, it.package)).collect();
    assert_eq!(places, [(0, 7, 0), (1, 7, 1)]);
    assert_eq!((environment.cpus_online, environment.smt.as_deref()), (4, Some("on")));
    assert_eq!(environment.nodes, [(0, vec![0, 1])].into());
    assert_eq!(environment.isolated_cpus, Some(vec![2, 3]));
    let caches: Vec<_> =
        environment.caches.iter().map(|it| (it.level, it.cpus_each, it.count)).collect();
    assert_eq!(caches, [(1, 1, 2), (3, 2, 1)]);
}

#[test]
fn the_frequency_is_that_of_all_cpus_and_not_of_the_first() {
    let environment = read_files(&[
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
        ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "not used\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "acpi-cpufreq\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "800000\n"),
        ("sys/devices/system/cpu/cpu1/cpufreq/scaling_min_freq", "400000\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "4000000\n"),
        ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
    ]);
    let frequency = environment.frequency;
    assert_eq!(frequency.governors.into_iter().collect::<Vec<_>>(), ["performance", "powersave"]);
    assert_eq!((frequency.lowest_khz, frequency.highest_khz), (Some(400_000), Some(4_000_000)));
    assert_eq!((frequency.turbo, frequency.drivers.len()), (Some(Turbo::On), 1));
    let turbo = |path, text| read_files(&[(path, text)]).frequency.turbo;
    let intel = "sys/devices/system/cpu/intel_pstate/no_turbo";
    assert_eq!((turbo(intel, "1"), turbo(intel, "0")), (Some(Turbo::Off), Some(Turbo::On)));
    assert_eq!(turbo("sys/devices/system/cpu/cpufreq/boost", "0"), Some(Turbo::Off));
    assert_eq!(turbo("sys/devices/system/cpu/cpu1/cpufreq/boost", "1"), Some(Turbo::On));
}

#[test]
fn a_processor_is_named_on_x86_and_on_arm() {
    let cpuinfo = |text| read_files(&[("proc/cpuinfo", text)]);
    let x86 = cpuinfo(
        "cpu family\t: 25\nmodel\t\t: 2\nstepping\t: 1\nmodel name\t: Maker 9\nmicrocode\t: 0x7\nflags\t\t: fpu sse\n",
    );
    assert_eq!(
        (x86.cpu_model.as_deref(), x86.microcode.as_deref()),
        (Some("Maker 9"), Some("0x7"))
    );
    assert_eq!((x86.cpu_family.as_deref(), x86.virtualised), (Some("25/2/1"), Some(false)));
    let arm = cpuinfo("Features\t: fp\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
    assert_eq!(arm.cpu_model.as_deref(), Some("implementer 0x41, part 0xd0c"));
    assert_eq!(arm.virtualised, None);
}

#[test]
fn a_hypervisor_is_named_by_whoever_knows_it() {
    let flag = ("proc/cpuinfo", "flags\t: fpu hypervisor\n");
    let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    let vendor = "sys/class/dmi/id/sys_vendor";
    let product = "sys/class/dmi/id/product_name";
    let name = |files: &[(&str, &str)]| {
        let environment = read_files(files);
        (environment.virtualised, environment.hypervisor)
    };
    assert_eq!(name(&[flag]), (Some(true), None));
    let some = |text: &str| (Some(true), Some(text.to_owned()));
    assert_eq!(name(&[flag, (clocks, "tsc kvm-clock \n")]), some("KVM"));
    assert_eq!(name(&[("sys/hypervisor/type", "xen\n"), flag]), some("xen"));
    assert_eq!(name(&[(vendor, "QEMU\n"), (product, "Standard PC\n")]), some("QEMU"));
    let microsoft = (vendor, "Microsoft Corporation\n");
    assert_eq!(name(&[microsoft, (product, "Virtual Machine\n")]), some("Hyper-V"));
    // A notebook of the same maker, and a host whose CPU tells of no hypervisor.
    assert_eq!(name(&[microsoft, (product, "Surface Book\n")]), (None, None));
    let host = ("proc/cpuinfo", "flags\t: fpu\n");
    assert_eq!(name(&[host, (clocks, "tsc kvm-clock\n")]), (Some(false), None));
}

#[test]
fn of_the_kernels_command_line_only_what_matters_is_kept() {
    let line = "root=/dev/x secret=1 isolcpus=2-3 mitigations=off quiet nosmt -- audit=0\n";
    let environment = read_files(&[
        ("proc/cmdline", line),
        ("proc/sys/kernel/osrelease", "6.1.0-test\n"),
        ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
        ("sys/class/net/lo/mtu", "65536\n"),
        ("sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n"),
    ]);
    let options = environment.kernel_options.unwrap();
    assert_eq!(options, ["isolcpus=2-3", "mitigations=off", "nosmt"]);
    assert_eq!(environment.kernel, "6.1.0-test");
    assert_eq!(environment.transparent_huge_pages.as_deref(), Some("madvise"));
    assert_eq!(environment.sysctls["net/ipv4/ip_local_port_range"], "32768 60999");
    assert_eq!(environment.loopback_mtu_bytes, Some(65_536));
    assert_eq!(environment.mitigations["mds"], "Not affected");
}

#[test]
fn numbers_that_name_a_machine_are_kept_as_digests_only() {
    let (machine, boot) =
        ("0123456789abcdef0123456789abcdef", "9f4c3f86-4ffc-4f29-940f-af0704cbc966");
    let files = [("etc/machine-id", machine), ("proc/sys/kernel/random/boot_id", boot)];
    let environment = read_files(&files);
    let text = serde_json::to_string(&environment).unwrap();
    assert!(!text.contains(machine) && !text.contains(boot), "{text}");
    assert_eq!(environment.machine.as_ref().map(String::len), Some(16));
    assert_eq!(read_files(&files).boot, environment.boot);
    assert_eq!(read_files(&[("etc/machine-id", "uninitialized\n")]).machine, None);
    assert_eq!(read_files(&[("etc/machine-id", "")]).machine, None);
}

#[test]
fn what_varies_is_read_with_its_units() {
    let environment = read_files(&[
        ("proc/loadavg", "0.25 1 1 1/2 3\n"),
        ("proc/uptime", "12.5 20.0\n"),
        ("proc/stat", "cpu  10 0 10 60 0 0 0 20 5 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n"),
        ("sys/class/thermal/thermal_zone0/temp", "45500\n"),
        ("sys/class/thermal/thermal_zone1/temp", "-274000\n"),
        ("sys/class/hwmon/hwmon0/name", "k10temp\n"),
        ("sys/class/hwmon/hwmon0/temp1_input", "61000\n"),
        ("sys/class/hwmon/hwmon1/name", "nvme\n"),
        ("sys/class/hwmon/hwmon1/temp1_input", "99000\n"),
        ("proc/meminfo", "MemTotal:  2048 kB\nSwapTotal: 1024 kB\nSwapFree: 24 kB\n"),
    ]);
    let share = environment.steal_share.unwrap();
    assert!((share - 0.2).abs() < 1e-9, "{share}");
    let tenths = |value: f64| (value * 10.0).round();
    assert_eq!(environment.temperature_celsius.map(tenths), Some(610.0));
    assert_eq!(environment.uptime_s.map(tenths), Some(125.0));
    assert_eq!(Some(environment.load_average_1m).map(|load| tenths(load * 10.0)), Some(25.0));
    assert_eq!(environment.memory_bytes, 2 << 20);
    assert_eq!(environment.swap_used_bytes, Some(1000 << 10));
}

const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max file size             unlimited            unlimited            bytes     
Max data size             unlimited            unlimited            bytes     
Max stack size            8388608              unlimited            bytes     
Max core file size        0                    unlimited            bytes     
Max resident set          unlimited            unlimited            bytes     
Max processes             96365                96365                processes 
Max open files            1024                 4096                 files     
Max locked memory         65536                unlimited            bytes     
Max address space         unlimited            unlimited            bytes     
Max file locks            unlimited            unlimited            locks     
Max pending signals       96365                96365                signals   
Max msgqueue size         819200               819200               bytes     
Max nice priority         0                    0                    
Max realtime priority     0                    0                    
Max realtime timeout      unlimited            unlimited            us        
";

#[test]
fn limits_without_a_bound_are_absent_and_not_large() {
    let limits = read_files(&[("proc/self/limits", LIMITS)]).limits;
    assert_eq!(limits.open_files, Some(Limit { soft: Some(1024), hard: Some(4096) }));
    assert_eq!(limits.locked_memory_bytes, Some(Limit { soft: Some(65_536), hard: None }));
    assert_eq!(limits.processes.and_then(|limit| limit.hard), Some(96_365));
}

#[test]
fn the_tightest_group_of_the_second_version_counts() {
    let group = "sys/fs/cgroup/a/b";
    let environment = read_files(&[
        ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("proc/self/cgroup", "0::/a/b\n"),
        (&format!("{group}/cpu.max"), "400000 100000\n"),
        (&format!("{group}/memory.max"), "max\n"),
        (&format!("{group}/pids.max"), "20\n"),
        ("sys/fs/cgroup/a/pids.max", "max\n"),
        (&format!("{group}/cpuset.cpus.effective"), "0-1\n"),
        ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nnr_periods 10\nnr_throttled 4\n"),
        ("sys/fs/cgroup/a/memory.max", "2048\n"),
        // It is beside the hierarchy and says nothing.
        ("sys/fs/cpu.max", "1 100000\n"),
    ]);
    let expected = Cgroup {
        version: CgroupVersion::V2,
        cpu_quota_cpus: Some(1.5),
        cpuset: Some(vec![0, 1]),
        memory_bytes: Some(2048),
        processes: Some(20),
        periods: Some(10),
        throttled_periods: Some(4),
    };
    assert_eq!(environment.cgroup, Some(expected));
}

/// The hierarchies of the first version, beside an empty one of the second.
const MOUNTS_V1: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 /outer /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";

#[test]
fn groups_of_the_first_version_are_read_also_from_within_a_container() {
    let environment = read_files(&[
        ("proc/self/mountinfo", MOUNTS_V1),
        // The group of memory is named as it is outside, where its folder does not exist.
        ("proc/self/cgroup", "8:memory:/outside/x\n3:cpuset:/outer/in\n1:cpu,cpuacct:/g\n0::/\n"),
        ("sys/fs/cgroup/cpu,cpuacct/g/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/g/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/g/cpu.stat", "nr_periods 3\nnr_throttled 0\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpuset/in/cpuset.effective_cpus", "1\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n"),
        ("sys/fs/cgroup/unified/cgroup.procs", "1\n"),
    ]);
    let expected = Cgroup {
        version: CgroupVersion::V1,
        cpu_quota_cpus: Some(0.5),
        cpuset: Some(vec![1]),
        memory_bytes: Some(4096),
        processes: None,
        periods: Some(3),
        throttled_periods: Some(0),
    };
    assert_eq!(environment.cgroup, Some(expected));
}

#[test]
fn groups_that_bound_nothing_have_no_bounds() {
    let first = read_files(&[
        ("proc/self/mountinfo", MOUNTS_V1),
        ("proc/self/cgroup", "8:memory:/\n1:cpu,cpuacct:/\n0::/\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
    ]);
    let unbounded = Cgroup { version: CgroupVersion::V1, ..Cgroup::default() };
    assert_eq!(first.cgroup, Some(unbounded));
    let second = read_files(&[
        ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("proc/self/cgroup", "0::/\n"),
        ("sys/fs/cgroup/cgroup.procs", "1\n"),
    ]);
    assert_eq!(second.cgroup, Some(Cgroup::default()));
}
