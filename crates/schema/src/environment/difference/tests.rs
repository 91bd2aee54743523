//! Changes every field of an environment once and checks the consequence.

use serde_json::{Value, json};

use super::{Difference, Environment, Weight};
use crate::environment::Cpu;

/// Fields that vary from minute to minute, whatever happens to the machine.
const OF_THE_MOMENT: [&str; 6] = [
    "load_average_1m",
    "speed_spread",
    "steal_share",
    "swap_used_bytes",
    "temperature_celsius",
    "uptime_s",
];

/// A machine that reports every field.
fn full() -> Value {
    let mut machine = json!({
        "wirebench": "0.1.0", "revision": "abc", "host": "alpha",
        "program": { "profile": "release", "digest": "0011" },
        "machine": "aa", "boot": "bb", "product": "Maker Model",
        "kernel": "6.1.0", "kernel_version": "#1 SMP", "kernel_options": ["nosmt"],
        "architecture": "x86_64", "distribution": "Debian 12", "cpu_model": "Model 1",
        "microcode": "0x1", "cpus": [{ "cpu": 0, "core": 0, "package": 0 }], "cpus_online": 1,
        "isolated_cpus": [], "nodes": { "0": [0] }, "last_level_caches": [[0]],
        "caches": [{ "level": 1, "kind": "Data", "size": "32K", "cpus_each": 1, "count": 1 }],
        "smt": "on",
        "frequency": { "governors": ["performance"], "drivers": ["acpi"], "turbo": "on",
            "lowest_khz": 1, "highest_khz": 2 },
        "virtualised": true, "hypervisor": "KVM", "mitigations": { "mds": "Not affected" },
        "clock_source": "tsc", "transparent_huge_pages": "never",
        "memory_bytes": 1_000_000_000_u64, "swap_bytes": 0, "swap_used_bytes": 0,
        "limits": { "open_files": { "soft": 1, "hard": 2 },
            "locked_memory_bytes": { "soft": 1, "hard": null },
            "processes": { "soft": 1, "hard": 2 } },
        "cgroup": { "version": "v2", "cpu_quota_cpus": 2.0, "cpuset": [0], "memory_bytes": 5,
            "periods": 1, "throttled_periods": 1 },
        "sysctls": { "net/core/somaxconn": "4096" }, "loopback_mtu_bytes": 65536,
        "tools": { "rustc": "rustc 1.95.0" }, "variables": { "GOGC": "off" },
        "load_average_1m": 0.5, "steal_share": 0.1, "speed_spread": 0.3, "uptime_s": 5.0, "temperature_celsius": 40.0
    });
    // More is beyond what the macro takes.
    machine["cpu_family"] = json!("25/1/1");
    machine["other_variables"] = json!("0123456789abcdef");
    machine
}

fn environment(value: Value) -> Environment {
    serde_json::from_value(value).unwrap()
}

/// The differences after `change` was made to a copy of the full machine.
fn after(change: impl Fn(&mut Value)) -> Vec<Difference> {
    let mut changed = full();
    change(&mut changed);
    environment(full()).differences(&environment(changed))
}

fn fields(differences: &[Difference], weight: Weight) -> Vec<&str> {
    let of_weight = differences.iter().filter(|difference| difference.weight == weight);
    of_weight.map(|difference| difference.field.as_str()).collect()
}

/// Another value of the same type.
fn another(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.as_str() {
            "on" => json!("off"),
            "release" => json!("debug"),
            "v2" => json!("v1"),
            _ => json!(format!("{text} 2")),
        },
        Value::Number(number) if number.is_u64() => json!(number.as_u64().unwrap() * 2 + 1),
        Value::Number(_) => json!(0.75),
        Value::Bool(value) => json!(!value),
        Value::Array(values) if values.is_empty() => json!([1]),
        Value::Array(values) => values.iter().map(another).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), another(value))).collect()
        }
        Value::Null => json!(7),
    }
}

#[test]
fn equal_environments_have_no_differences() {
    assert_eq!(after(|_| {}), []);
}

#[test]
fn variables_that_change_servers_make_a_difference_also_where_there_are_none() {
    let shown = |value: Value| after(|it| it["variables"] = value.clone());
    let differences = shown(json!({}));
    assert_eq!(differences[0].to_string(), "variables was `GOGC=off` and is `none`");
    assert_eq!(fields(&differences, Weight::Warns), ["variables"]);
    assert_eq!(shown(json!({ "GOGC": "off", "RUST_LOG": "1" }))[0].new, "GOGC=off RUST_LOG=1");
    assert_eq!(shown(Value::Null), [], "an earlier version did not write them");
    let names =
        ["GOGC", "MALLOC_ARENA_MAX", "PYTHONHASHSEED", "RUST_LOG", "GOGCX", "TOKEN", "PATH"];
    let changing = names.map(crate::environment::changes_servers);
    assert_eq!(changing, [true, true, true, true, false, false, false]);
}

#[test]
fn every_field_that_is_not_of_the_moment_makes_a_difference() {
    let written = serde_json::to_value(environment(full())).unwrap();
    for (name, value) in written.as_object().unwrap() {
        let changed = after(|it| it[name] = another(value));
        let silent = OF_THE_MOMENT.contains(&name.as_str());
        // A name alone means nothing while the same kernel runs, and neither does its start.
        let excused = ["host", "machine", "boot"].contains(&name.as_str());
        assert_eq!(changed.is_empty(), silent || excused, "{name}: {changed:?}");
    }
}

#[test]
fn other_hardware_refuses_a_comparison() {
    let cpus: Vec<Cpu> = (0..2).map(|cpu| Cpu { cpu, core: cpu, package: 0 }).collect();
    let rows = [
        ("architecture", json!("aarch64")),
        ("product", json!("Maker Model 2")),
        ("cpu_model", json!("Model 2")),
        ("cpu_family", json!("25/17/1")),
        (
            "caches",
            json!([{ "level": 1, "kind": "Data", "size": "48K", "cpus_each": 1, "count": 1 }]),
        ),
        ("cpus_online", json!(2)),
        ("cpus", json!(cpus)),
        ("virtualised", json!(false)),
        ("hypervisor", json!("Xen")),
        ("memory_bytes", json!(1_020_000_000_u64)),
    ];
    for (name, value) in rows {
        let differences = after(|it| it[name] = value.clone());
        let refusing = fields(&differences, Weight::Refuses);
        assert_eq!(refusing.into_iter().filter(|it| *it != "cores").collect::<Vec<_>>(), [name]);
        assert_eq!(differences[0].weight, Weight::Refuses, "what refuses comes first");
    }
}

#[test]
fn memory_that_a_kernel_keeps_for_itself_is_no_other_machine() {
    for bytes in [991_000_000_u64, 1_009_000_000] {
        assert_eq!(after(|it| it["memory_bytes"] = json!(bytes)), []);
    }
}

#[test]
fn other_names_warn_unless_the_same_kernel_has_been_running_all_the_time() {
    let renamed = |it: &mut Value| {
        it["host"] = json!("beta");
        it["machine"] = json!("cc");
    };
    assert_eq!(after(renamed), []);
    let moved = after(|it| {
        renamed(it);
        it["boot"] = json!("other");
    });
    assert_eq!(fields(&moved, Weight::Warns), ["host", "machine"]);
    let not_told = after(|it| {
        renamed(it);
        it["boot"] = Value::Null;
    });
    assert_eq!(fields(&not_told, Weight::Warns), ["host", "machine"]);
    assert_eq!(fields(&moved, Weight::Refuses), Vec::<&str>::new());
}

#[test]
fn other_settings_warn_by_their_own_names() {
    let differences = after(|it| {
        it["kernel"] = json!("6.2.0");
        it["kernel_options"] = json!([]);
        it["sysctls"]["net/core/somaxconn"] = json!("128");
        it["tools"]["rustc"] = json!("rustc 1.96.0");
        it["cgroup"]["cpu_quota_cpus"] = Value::Null;
        it["limits"]["open_files"]["hard"] = Value::Null;
    });
    let expected = [
        "kernel",
        "kernel_options",
        "limits.open_files",
        "cgroup.cpu_quota_cpus",
        "sysctls.net/core/somaxconn",
        "tools.rustc",
    ];
    assert_eq!(fields(&differences, Weight::Warns), expected);
    let shown: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert_eq!(shown[0], "kernel was `6.1.0` and is `6.2.0`");
    assert_eq!(shown[1], "kernel_options was `nosmt` and is `none`");
    assert_eq!(
        shown[2],
        "limits.open_files was `1 (soft), 2 (hard)` and is `1 (soft), unlimited (hard)`"
    );
    assert_eq!(shown[3], "cgroup.cpu_quota_cpus was `2` and is `unlimited`");
}

#[test]
fn a_field_missing_on_one_side_is_not_a_difference() {
    let silent = Environment::default();
    assert_eq!(environment(full()).differences(&silent), []);
    assert_eq!(silent.differences(&environment(full())), []);
}
