//! A machine on which everything is fine, and each change that causes a warning.

use expect_test::expect_file;
use std::collections::{BTreeMap, BTreeSet};
use wirebench_catalogue::requirement::Fetch;
use wirebench_host::environment::{SYSCTLS, TOOLS};
use wirebench_schema::environment::{BuildProfile, Cgroup, Cpu, Limit, Program, Turbo};

use super::*;

/// Findings that are informative only, whatever the machine.
const ALWAYS_FINE: [&str; 3] = ["processor", "kernel-options", "slow-start"];

fn words(rows: &[(&str, &str)]) -> BTreeMap<String, String> {
    rows.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Everything is known, and all of it is fine.
fn good() -> Environment {
    let no_bound = Some(Limit::default());
    let mut environment = Environment {
        wirebench: "1.0.0".to_owned(),
        program: Program { profile: Some(BuildProfile::Release), digest: Some("00".to_owned()) },
        kernel: "6.1.0".to_owned(),
        kernel_version: Some("#1 SMP PREEMPT_DYNAMIC".to_owned()),
        kernel_options: Some(vec!["nosmt".to_owned()]),
        cpu_model: Some("Model".to_owned()),
        cpus: (0..4).map(|cpu| Cpu { cpu, core: cpu, package: 0 }).collect(),
        cpus_online: 4,
        isolated_cpus: Some(Vec::new()),
        nodes: [(0, vec![0, 1, 2, 3])].into(),
        smt: Some("notsupported".to_owned()),
        virtualised: Some(false),
        mitigations: words(&[("mds", "Mitigation: some"), ("srso", "Vulnerable")]),
        clock_source: Some("tsc".to_owned()),
        transparent_huge_pages: Some("madvise".to_owned()),
        memory_bytes: 8 << 30,
        swap_bytes: Some(1 << 30),
        swap_used_bytes: Some(0),
        cgroup: Some(Cgroup { cpuset: Some(vec![0, 1, 2, 3]), ..Cgroup::default() }),
        loopback_mtu_bytes: Some(65_536),
        tools: TOOLS.iter().map(|(name, _)| ((*name).to_owned(), "1.2.3".to_owned())).collect(),
        steal_share: Some(0.0),
        speed_spread: Some(0.02),
        temperature_celsius: Some(40.0),
        sysctls: words(&SYSCTLS.map(|name| (name, "1048576"))),
        ..Environment::default()
    };
    environment.frequency.governors = ["performance".to_owned()].into();
    environment.frequency.turbo = Some(Turbo::Off);
    environment.limits.open_files = no_bound;
    environment.limits.locked_memory_bytes = no_bound;
    environment.limits.processes = no_bound;
    environment.sysctls.extend(words(&[
        ("kernel/io_uring_disabled", "0"),
        ("kernel/numa_balancing", "0"),
        ("kernel/randomize_va_space", "2"),
        ("net/core/busy_poll", "0"),
        ("net/core/busy_read", "0"),
        ("net/ipv4/ip_local_port_range", "1024 65535"),
        ("net/ipv4/tcp_congestion_control", "cubic"),
        ("net/ipv4/tcp_rmem", "4096 131072 6291456"),
        ("net/ipv4/tcp_tw_reuse", "2"),
        ("net/ipv4/tcp_wmem", "4096 16384 4194304"),
        ("vm/overcommit_memory", "0"),
    ]));
    environment
}

fn look(environment: &Environment) -> Vec<Finding> {
    examine(environment, &Ok(()), &Ok(()), &Ok(()), &Setup::default())
}

type Change = fn(&mut Environment);

fn sysctl_of(environment: &mut Environment, name: &str, value: &str) {
    assert!(SYSCTLS.contains(&name), "{name} is not read");
    environment.sysctls.insert(name.to_owned(), value.to_owned());
}

/// Each change causes one warning with this name.
const MACHINE: [(&str, Change); 20] = [
    ("cpus", |it| it.cpus.truncate(1)),
    ("smt", |it| {
        it.cpus.iter_mut().for_each(|cpu| cpu.core %= 2);
    }),
    ("numa", |it| {
        it.nodes = [(0, vec![0]), (1, vec![1, 2, 3])].into();
    }),
    ("governor", |it| {
        // Another CPU than the first.
        it.frequency.governors.insert("powersave".to_owned());
    }),
    ("turbo", |it| {
        it.frequency.turbo = Some(Turbo::On);
    }),
    ("turbo", |it| {
        it.frequency.turbo = Some(Turbo::On);
        it.frequency.drivers.insert("intel_pstate".to_owned());
    }),
    ("virtualisation", |it| {
        it.virtualised = Some(true);
        it.hypervisor = Some("KVM".to_owned());
    }),
    ("steal", |it| it.steal_share = Some(0.2)),
    ("speed", |it| it.speed_spread = Some(0.4)),
    ("load", |it| it.load_average_1m = 3.0),
    ("temperature", |it| it.temperature_celsius = Some(95.0)),
    ("memory", |it| it.memory_bytes = 512 << 20),
    ("swap", |it| it.swap_used_bytes = Some(3 << 20)),
    ("kernel", |it| it.kernel = "4.4.0-19041-Microsoft".to_owned()),
    ("kernel", |it| {
        it.kernel_version = Some("#1 SMP PREEMPT_RT".to_owned());
    }),
    ("isolation", |it| {
        it.isolated_cpus = Some(vec![2, 3, 9]);
    }),
    ("mitigations", |it| {
        it.kernel_options = Some(vec!["mitigations=off".to_owned()]);
    }),
    ("clock", |it| it.clock_source = Some("hpet".to_owned())),
    ("huge-pages", |it| {
        it.transparent_huge_pages = Some("always".to_owned());
    }),
    ("wirebench", |it| {
        it.program.profile = Some(BuildProfile::Debug);
    }),
];

/// Each value causes one warning with this name.
const KERNEL_SETTINGS: [(&str, &str, &str); 20] = [
    ("aslr", "kernel/randomize_va_space", "0"),
    ("overcommit", "vm/overcommit_memory", "2"),
    ("file-max", "fs/file-max", "1000"),
    ("nr-open", "fs/nr_open", "1024"),
    ("threads-max", "kernel/threads-max", "100"),
    ("ports", "net/ipv4/ip_local_port_range", "50000 50100"),
    ("backlog", "net/core/somaxconn", "128"),
    ("syn-backlog", "net/ipv4/tcp_max_syn_backlog", "128"),
    ("netdev-budget", "net/core/netdev_budget", "64"),
    ("netdev-backlog", "net/core/netdev_max_backlog", "100"),
    ("port-reuse", "net/ipv4/tcp_tw_reuse", "0"),
    ("receive-buffer", "net/ipv4/tcp_rmem", "4096 8192 16384"),
    ("send-buffer", "net/ipv4/tcp_wmem", "4096 8192 16384"),
    ("busy-poll", "net/core/busy_poll", "50"),
    ("busy-poll", "net/core/busy_read", "50"),
    ("congestion", "net/ipv4/tcp_congestion_control", "bbr"),
    ("tracking", "net/netfilter/nf_conntrack_max", "1000"),
    // Just below what is enough.
    ("backlog", "net/core/somaxconn", "1023"),
    ("ports", "net/ipv4/ip_local_port_range", "40002 60000"),
    ("netdev-budget", "net/core/netdev_budget", "299"),
];

const LIMITS: [(&str, Change); 9] = [
    ("open-files", |it| {
        it.limits.open_files = Some(Limit { soft: Some(256), hard: Some(1024) });
    }),
    ("locked-memory", |it| {
        it.limits.locked_memory_bytes = Some(Limit { soft: Some(65_536), hard: None });
    }),
    ("processes", |it| {
        it.limits.processes = Some(Limit { soft: Some(100), hard: None });
    }),
    ("cgroup-cpu", |it| {
        it.cgroup.as_mut().unwrap().cpu_quota_cpus = Some(1.5);
    }),
    ("cgroup-throttled", |it| {
        let group = it.cgroup.as_mut().unwrap();
        (group.periods, group.throttled_periods) = (Some(10), Some(4));
    }),
    ("cgroup-cpus", |it| {
        it.cgroup.as_mut().unwrap().cpuset = Some(vec![3]);
    }),
    ("cgroup-memory", |it| {
        it.cgroup.as_mut().unwrap().memory_bytes = Some(64 << 20);
    }),
    ("loopback", |it| {
        it.loopback_mtu_bytes = Some(1500);
    }),
    ("numa-balancing", |it| {
        it.nodes = [(0, vec![0, 1]), (1, vec![2, 3])].into();
        sysctl_of(it, "kernel/numa_balancing", "1");
    }),
];

/// Whether a remedy leaves the machine as it is: another machine, a prefix of a command, or another way to measure.
fn changes_nothing(remedy: &str) -> bool {
    ["use ", "taskset ", "numactl ", "compare ", "wait ", "measure "]
        .iter()
        .any(|it| remedy.starts_with(it))
}

/// The only warning of this machine, as text. `others` may be warnings too.
fn warning(environment: &Environment, name: &str, others: &[&str]) -> String {
    let findings = look(environment);
    let warnings = findings.iter().filter(|finding| finding.state != State::Fine);
    let (own, surplus): (Vec<&Finding>, Vec<&Finding>) =
        warnings.partition(|finding| finding.name == name);
    assert!(surplus.iter().all(|it| others.contains(&it.name)), "{name}: {surplus:?}");
    let [finding] = own[..] else { panic!("{name} is not one warning: {own:?}") };
    let remedy = finding.remedy.as_deref().expect("a warning has a remedy");
    let undo = finding.undo.as_ref().map(|undo| format!("    undo: {undo}\n"));
    assert!(undo.is_some() || changes_nothing(remedy), "{name}: no undo of {remedy}");
    let undo = undo.unwrap_or_default();
    format!("{} {name}: {}\n    -> {remedy}\n{undo}", finding.state.name(), finding.text)
}

#[test]
fn the_tighter_limit_of_processes_is_named() {
    let mut environment = good();
    environment.cgroup.as_mut().unwrap().processes = Some(20);
    let text = warning(&environment, "processes", &[]);
    assert!(text.contains("the control group can have 20 processes and threads"), "{text}");
    assert!(text.contains("-> raise it: pids.max"), "{text}");
}

#[test]
fn what_prevents_servers_is_missing_with_its_remedy() {
    let down = Err("the loopback interface is down: run `ip link set lo up`".to_owned());
    let findings = examine(&good(), &Ok(()), &Ok(()), &down, &Setup::default());
    let finding = findings.iter().find(|finding| finding.name == "servers").unwrap();
    assert_eq!(finding.state, State::Missing);
    assert_eq!(finding.text, "the loopback interface is down");
    assert_eq!(finding.remedy.as_deref(), Some("run `ip link set lo up`"));
    assert_eq!(finding.undo.as_deref(), Some("ip link set lo down"));
    assert_eq!(finding.effect, Effect::Prevents);
}

#[test]
fn a_good_machine_is_fine() {
    let mut text = String::new();
    for finding in look(&good()) {
        assert_eq!((finding.state, &finding.remedy), (State::Fine, &None), "{finding:?}");
        text += &format!("{}: {}\n", finding.name, finding.text);
    }
    expect_file!["tests/golden/fine.txt"].assert_eq(&text);
}

#[test]
fn what_a_machine_does_not_report_is_unknown_and_not_fine() {
    let mut text = String::new();
    for finding in look(&Environment::default()) {
        let is_expected = finding.name == "cpus" || finding.group == Group::Tools;
        assert!(!finding.is_problem() || is_expected, "{finding:?}");
        text += &format!("{} {}: {}\n", finding.state.name(), finding.name, finding.text);
    }
    expect_file!["tests/golden/unknown.txt"].assert_eq(&text);
}

#[test]
fn each_warning_is_found_alone_and_has_a_remedy() {
    let mut text = String::new();
    for (name, change) in MACHINE.iter().chain(&LIMITS) {
        let mut environment = good();
        change(&mut environment);
        // Memory of several nodes is moved between them only where there are several.
        let others: &[&str] = if *name == "numa-balancing" { &["numa"] } else { &[] };
        text += &warning(&environment, name, others);
    }
    for (name, setting, value) in KERNEL_SETTINGS {
        let mut environment = good();
        sysctl_of(&mut environment, setting, value);
        text += &warning(&environment, name, &[]);
    }
    expect_file!["tests/golden/warnings.txt"].assert_eq(&text);
}

#[test]
fn every_finding_has_been_seen_fine_and_as_a_warning() {
    let mut seen: BTreeSet<&str> = MACHINE.iter().chain(&LIMITS).map(|row| row.0).collect();
    seen.extend(KERNEL_SETTINGS.map(|row| row.0));
    seen.extend(ALWAYS_FINE);
    // Those have tests of their own.
    seen.extend(["awake", "io_uring", "packages", "servers"]);
    seen.extend(TOOLS.map(|(name, _)| name));
    let found: BTreeSet<&str> = look(&good()).iter().map(|finding| finding.name).collect();
    assert_eq!(found, seen);
}

#[test]
fn two_cpus_of_one_core_have_no_remedy_but_another_machine() {
    let mut environment = good();
    environment.cpus = (0..2).map(|cpu| Cpu { cpu, core: 0, package: 0 }).collect();
    let text = warning(&environment, "smt", &["cpus"]) + &warning(&environment, "cpus", &["smt"]);
    expect_file!["tests/golden/one-core.txt"].assert_eq(&text);
}

#[test]
fn a_ring_that_cannot_be_set_up_is_missing_and_has_a_remedy_if_a_setting_forbids_it() {
    let ring = |environment: &Environment| {
        let findings =
            examine(environment, &Err("no ring".to_owned()), &Ok(()), &Ok(()), &Setup::default());
        findings.into_iter().find(|finding| finding.name == "io_uring").unwrap()
    };
    let mut environment = good();
    let finding = ring(&environment);
    assert_eq!((finding.state, finding.remedy), (State::Missing, None));
    sysctl_of(&mut environment, "kernel/io_uring_disabled", "2");
    let Finding { remedy, undo, .. } = ring(&environment);
    assert_eq!(remedy.as_deref(), Some("sysctl -w kernel.io_uring_disabled=0"));
    assert_eq!(undo.as_deref(), Some("sysctl -w kernel.io_uring_disabled=2"));
}

#[test]
fn a_tool_that_fails_is_missing() {
    let mut environment = good();
    environment.tools.remove("dub");
    let text = "missing dub: `dub` does not run: entries that need it cannot be built\n";
    let undo = "apt-get remove the packages that `wirebench setup --dry-run` lists before";
    let remedy = format!("    -> wirebench setup\n    undo: {undo}\n");
    assert_eq!(warning(&environment, "dub", &[]), text.to_owned() + &remedy);
}

#[test]
fn missing_packages_and_entries_are_in_the_group_of_entries() {
    let fetch = Fetch {
        argv: vec!["fetch".to_owned()],
        folder: ".".into(),
        build: ".".into(),
        what: "the crates of rust/x".to_owned(),
    };
    let setup = Setup {
        ready: 1,
        packages: ["liburing-dev".to_owned()].into(),
        fetches: [fetch].into(),
        checkouts: [].into(),
        out_of_reach: [
            ("c/x", "a"),
            ("c/y:1", "a"),
            ("c/y:2", "a"),
            ("c/z:1", "a"),
            ("c/z:2", "b"),
        ]
        .map(|(variant, reason)| (variant.to_owned(), reason.to_owned()))
        .into(),
    };
    let findings = examine(&good(), &Ok(()), &Ok(()), &Ok(()), &setup);
    let missing: Vec<(&str, &str)> = findings
        .iter()
        .filter(|finding| finding.state == State::Missing && finding.group == Group::Entries)
        .map(|finding| (finding.name, finding.text.as_str()))
        .collect();
    let expected = [
        ("packages", "missing for some entries: liburing-dev"),
        ("registries", "missing for some entries: the crates of rust/x"),
        ("entry", "c/x cannot be measured: a"),
        ("entry", "c/y, 2 variants, cannot be measured: a"),
        (
            "entry",
            "c/z, 2 variants, cannot be measured for several reasons: `wirebench list c/z` shows them",
        ),
    ];
    assert_eq!(missing, expected);
}

#[test]
fn problems_come_in_the_order_of_their_effect_on_results() {
    let mut environment = good();
    environment.tools.remove("dub");
    sysctl_of(&mut environment, "net/core/somaxconn", "128");
    sysctl_of(&mut environment, "net/ipv4/tcp_congestion_control", "bbr");
    environment.limits.open_files = Some(Limit { soft: None, hard: Some(100) });
    environment.frequency.governors.insert("powersave".to_owned());
    environment.load_average_1m = 9.0;
    environment.cpus.truncate(1);
    let findings = look(&environment);
    let problems: Vec<&str> = problems(&findings).iter().map(|it| it.name).collect();
    let expected = ["cpus", "load", "governor", "congestion", "open-files", "backlog", "dub"];
    assert_eq!(problems, expected);
    let effects: Vec<Effect> = super::problems(&findings).iter().map(|it| it.effect).collect();
    assert_eq!(effects.into_iter().collect::<BTreeSet<_>>(), Effect::ALL.into());
}

#[test]
fn only_findings_about_entries_have_no_other_effect() {
    for finding in look(&good()) {
        let is_of_entries =
            matches!(finding.group, Group::Tools | Group::Entries) || finding.name == "io_uring";
        let skips = finding.effect == Effect::Skips;
        assert_eq!(skips, is_of_entries && finding.name != "wirebench", "{finding:?}");
    }
}

#[test]
fn the_previous_values_of_settings_are_in_the_commands_that_undo_their_changes() {
    let mut environment = good();
    sysctl_of(&mut environment, "net/ipv4/tcp_rmem", "4096 8192 16384");
    let text = warning(&environment, "receive-buffer", &[]);
    let undo = "    undo: sysctl -w net.ipv4.tcp_rmem='4096 8192 16384'\n";
    assert!(text.ends_with(undo), "{text}");
}

#[test]
fn findings_come_in_the_order_of_their_groups() {
    let groups: Vec<Group> = look(&good()).iter().map(|finding| finding.group).collect();
    assert!(groups.is_sorted());
    assert_eq!(groups.into_iter().collect::<BTreeSet<_>>().len(), Group::ALL.len());
}
