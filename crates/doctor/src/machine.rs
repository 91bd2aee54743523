//! Comments on CPUs, memory and heat, and on who else is there.

use wirebench_schema::environment::{Environment, Turbo};

use super::{Comment, ENOUGH_MEMORY_BYTES, Named, change, fine, unknown, warning, written};

/// Runnable tasks of others above which figures suffer.
const QUIET_LOAD: f64 = 0.5;
/// The part of the time that a hypervisor may take without being noticed.
const LITTLE_STEAL: f64 = 0.01;
/// A CPU whose speed varies by more than this makes intervals wide.
const EVEN_SPEED: f64 = 0.1;
/// Where CPUs begin to run slower.
const HOT_CELSIUS: f64 = 85.0;

pub(super) fn examine(environment: &Environment) -> Vec<Named> {
    vec![
        ("processor", processor(environment)),
        ("cpus", cpus(environment)),
        ("smt", siblings(environment)),
        ("numa", nodes(environment)),
        ("governor", governor(environment)),
        ("turbo", turbo(environment)),
        ("virtualisation", virtualisation(environment)),
        ("steal", steal(environment)),
        ("speed", speed(environment)),
        ("load", load(environment)),
        ("temperature", temperature(environment)),
        ("memory", memory(environment)),
        ("swap", swap(environment)),
    ]
}

fn processor(environment: &Environment) -> Comment {
    let Some(model) = &environment.cpu_model else {
        return unknown("the machine does not report its CPU model");
    };
    let mut text = model.clone();
    if let Some(microcode) = &environment.microcode {
        text += &format!(", microcode {microcode}");
    }
    for cache in &environment.caches {
        text += &format!(", {} x {} of level {}", cache.count, cache.size, cache.level);
    }
    fine(text)
}

fn cpus(environment: &Environment) -> Comment {
    let (usable, cores) = (environment.cpus.len(), environment.cores());
    let text =
        format!("{usable} of {} CPUs are available, on {cores} cores", environment.cpus_online);
    match (usable, cores) {
        (0 | 1, _) => warning(
            format!("{text}: server and load generator must share one"),
            "use a machine, or an affinity mask, of at least 2 CPUs",
        ),
        (_, 1) => warning(
            format!(
                "{text}: server and generator share a core and slow each other down, so figures are \
                 comparable only within this machine"
            ),
            "use a machine of at least 2 cores",
        ),
        _ => fine(text),
    }
}

fn siblings(environment: &Environment) -> Comment {
    let siblings = environment.sibling_cpus();
    if siblings.is_empty() {
        return match environment.smt.as_deref() {
            Some("on") => fine("SMT is on, but only one CPU of each core is available"),
            _ => fine("no two CPUs share a core"),
        };
    }
    let text =
        format!("{} cores have several CPUs (SMT), which slow each other down", siblings.len());
    // The first CPU of each core, siblings or not.
    let second = |cpu: &u32| siblings.iter().any(|core| core[1..].contains(cpu));
    let cpus = environment.cpus.iter().map(|it| it.cpu).filter(|cpu| !second(cpu));
    let list: Vec<String> = cpus.map(|cpu| cpu.to_string()).collect();
    if list.len() < 2 {
        return warning(text, "use a machine of at least 2 cores");
    }
    warning(text, format!("taskset -c {} wirebench run", list.join(",")))
}

fn nodes(environment: &Environment) -> Comment {
    match environment.nodes.len() {
        0 => unknown("the machine does not report NUMA nodes"),
        1 => fine("all available CPUs belong to one NUMA node"),
        count => {
            let largest = environment.nodes.iter().max_by_key(|(_, cpus)| cpus.len());
            let node = largest.map_or(0, |(node, _)| *node);
            warning(
                format!(
                    "the available CPUs belong to {count} NUMA nodes: memory placement changes from run to run"
                ),
                format!("numactl --cpunodebind={node} --membind={node} wirebench run"),
            )
        }
    }
}

fn governor(environment: &Environment) -> Comment {
    let governors = &environment.frequency.governors;
    let others: Vec<&str> =
        governors.iter().map(String::as_str).filter(|name| *name != "performance").collect();
    if governors.is_empty() {
        unknown("the machine does not report a frequency governor")
    } else if others.is_empty() {
        fine("the frequency governor is `performance`")
    } else {
        let names = others.join("`, `");
        let undo = match others[..] {
            [only] if governors.len() == 1 => format!("cpupower frequency-set -g {only}"),
            _ => "cpupower -c CPU frequency-set -g NAME for each CPU; `cpupower -c all frequency-info -p` shows the \
                  names before the change"
                .to_owned(),
        };
        warning(
            format!("the frequency governor is `{names}`: CPU frequency follows the load"),
            change("cpupower frequency-set -g performance", undo),
        )
    }
}

fn turbo(environment: &Environment) -> Comment {
    let intel = environment.frequency.drivers.iter().any(|name| name.starts_with("intel_"));
    match environment.frequency.turbo {
        None => unknown("the machine does not report turbo"),
        Some(Turbo::Off) => fine("turbo is off"),
        Some(Turbo::On) => warning(
            "turbo is on: the first runs may be faster than later ones",
            if intel {
                written("/sys/devices/system/cpu/intel_pstate/no_turbo", "1", "0")
            } else {
                written("/sys/devices/system/cpu/cpufreq/boost", "0", "1")
            },
        ),
    }
}

fn virtualisation(environment: &Environment) -> Comment {
    let product = environment.product.as_deref().unwrap_or_default();
    match (environment.virtualised, environment.hypervisor.as_deref()) {
        (Some(true), hypervisor) => {
            let of = hypervisor.map(|name| format!(" of {name}")).unwrap_or_default();
            warning(
                format!("virtual machine{of}: other guests change the figures from run to run"),
                "compare ratios within one run, never figures of different days",
            )
        }
        (Some(false), _) if product.is_empty() => fine("no hypervisor is reported"),
        (Some(false), _) => fine(format!("{product}; no hypervisor is reported")),
        (None, _) => unknown("the machine does not report whether it is virtual"),
    }
}

fn steal(environment: &Environment) -> Comment {
    let Some(share) = environment.steal_share else {
        return unknown("the kernel does not report steal time");
    };
    let text = format!(
        "{:.1} % of the CPU time since boot was stolen by other virtual machines",
        share * 100.0
    );
    fine(text).warning_if(
        share > LITTLE_STEAL,
        ": the hypervisor is overcommitted",
        "use a machine with dedicated CPUs, or measure more cohorts at a quieter time",
    )
}

fn speed(environment: &Environment) -> Comment {
    let Some(spread) = environment.speed_spread else {
        return unknown("not measured");
    };
    let text = format!("the same work takes up to {:.0} % more CPU time", spread * 100.0);
    fine(text).warning_if(
        spread > EVEN_SPEED,
        ", because other guests share cores or power: intervals become wide",
        "use a machine with dedicated cores, or measure more cohorts",
    )
}

fn load(environment: &Environment) -> Comment {
    let load = environment.load_average_1m;
    let text = format!("{load:.2} tasks were runnable on average over the last minute");
    let remedy = change("stop other programs and wait a minute", "start them again");
    fine(text).warning_if(load > QUIET_LOAD, "", remedy)
}

fn temperature(environment: &Environment) -> Comment {
    let Some(celsius) = environment.temperature_celsius else {
        return unknown("the machine does not report a temperature");
    };
    let text = format!("the warmest sensor reports {celsius:.0} degrees Celsius");
    fine(text).warning_if(
        celsius >= HOT_CELSIUS,
        ": the CPUs will throttle soon",
        "wait until the machine has cooled down, and check its fans",
    )
}

fn memory(environment: &Environment) -> Comment {
    let bytes = environment.memory_bytes;
    let text = format!("{} MiB of memory", bytes >> 20);
    match bytes {
        0 => unknown("the kernel does not report the size of memory"),
        _ if bytes < ENOUGH_MEMORY_BYTES => warning(
            format!("{text}: too little for builds and for servers with many connections"),
            "use a machine with at least 1024 MiB",
        ),
        _ => fine(text),
    }
}

fn swap(environment: &Environment) -> Comment {
    match (environment.swap_bytes, environment.swap_used_bytes) {
        (_, Some(used)) if used > 0 => warning(
            format!(
                "{} MiB are swapped out: reading them back stalls servers",
                (used >> 20).max(1)
            ),
            change("swapoff -a, once enough memory is free", "swapon -a"),
        ),
        (Some(0), _) => fine("there is no swap"),
        (Some(bytes), _) => fine(format!("{} MiB of swap, unused", bytes >> 20)),
        (None, _) => unknown("the kernel does not report swap"),
    }
}
