//! Comments on how the kernel carries connections, above all over the loopback interface.

use wirebench_schema::environment::Environment;

use super::{
    AtLeast, Comment, Named, Remedy, change, fine, missing, number, set, sysctl, unknown, warning,
};

/// Local ports for some ten thousand connections to one address.
const ENOUGH_PORTS: u32 = 20_000;
/// The largest buffer of a socket below which large messages go in many pieces.
const ENOUGH_BUFFER_BYTES: u64 = 1 << 20;
/// The loopback interface's packets have been as large as this since Linux 3.6.
const LOOPBACK_MTU_BYTES: u32 = 65_536;
const PORTS: &str = "net/ipv4/ip_local_port_range";

const NUMBERS: [AtLeast; 4] = [
    AtLeast {
        name: "backlog",
        sysctl: "net/core/somaxconn",
        enough: 1024,
        better: 4096,
        means: "connections can wait to be accepted (listen backlog)",
    },
    AtLeast {
        name: "syn-backlog",
        sysctl: "net/ipv4/tcp_max_syn_backlog",
        enough: 512,
        better: 4096,
        means: "half-open connections per listener",
    },
    AtLeast {
        name: "netdev-budget",
        sysctl: "net/core/netdev_budget",
        enough: 300,
        better: 300,
        means: "packets per NAPI poll",
    },
    // Packets over the loopback interface wait in this queue, one for each CPU.
    AtLeast {
        name: "netdev-backlog",
        sysctl: "net/core/netdev_max_backlog",
        enough: 1000,
        better: 1000,
        means: "packets can wait per CPU before the kernel drops more",
    },
];

pub(super) fn examine(environment: &Environment, servers: &Result<(), String>) -> Vec<Named> {
    let mut comments = vec![("servers", reachable(servers)), ("ports", ports(environment))];
    comments.extend(NUMBERS.iter().map(|setting| (setting.name, setting.look(environment))));
    comments.extend([
        ("port-reuse", reuse(environment)),
        ("receive-buffer", buffer(environment, "net/ipv4/tcp_rmem")),
        ("send-buffer", buffer(environment, "net/ipv4/tcp_wmem")),
        ("busy-poll", polling(environment)),
        ("slow-start", slow_start(environment)),
        ("congestion", congestion(environment)),
        ("tracking", tracking(environment)),
        ("loopback", loopback(environment)),
    ]);
    comments
}

fn reachable(servers: &Result<(), String>) -> Comment {
    match servers {
        Ok(()) => fine("servers can listen on 127.0.0.1 and be reached there"),
        Err(reason) => {
            let (text, remedy) = reason.split_once(": ").unwrap_or((reason, "see above"));
            let remedy = match remedy.contains("ip link set lo up") {
                true => change(remedy, "ip link set lo down"),
                false => Remedy::from(remedy),
            };
            missing(text, Some(remedy))
        }
    }
}

fn ports(environment: &Environment) -> Comment {
    let range = sysctl(environment, PORTS).unwrap_or_default();
    let mut numbers = range.split_whitespace().filter_map(|number| number.parse::<u32>().ok());
    let count = match (numbers.next(), numbers.next()) {
        (Some(first), Some(last)) => last.saturating_sub(first) + 1,
        _ => return unknown("the kernel does not report the range of local ports"),
    };
    let text = format!("{count} local ports for connections to one address");
    fine(text).warning_if(count < ENOUGH_PORTS, "", set(environment, PORTS, "1024 65535"))
}

/// Whether a port whose connection has ended may serve again at once: 2, the default, allows it on
/// the loopback interface.
fn reuse(environment: &Environment) -> Comment {
    const NAME: &str = "net/ipv4/tcp_tw_reuse";
    match number(environment, NAME) {
        None => unknown("the kernel does not report tcp_tw_reuse"),
        Some(0) => warning(
            "a port is blocked for a minute after its connection: loads that reconnect run out of ports",
            set(environment, NAME, 2),
        ),
        Some(_) => fine("ports of closed connections are reused"),
    }
}

/// The last of three numbers is the largest that a buffer grows to by itself.
fn buffer(environment: &Environment, setting: &str) -> Comment {
    let numbers = sysctl(environment, setting).unwrap_or_default();
    let numbers: Vec<&str> = numbers.split_whitespace().collect();
    let bytes = numbers.get(2).and_then(|largest| largest.parse::<u64>().ok());
    let (Some(bytes), [least, default, _]) = (bytes, &numbers[..]) else {
        return unknown("the kernel does not report the maximum socket buffer");
    };
    fine(format!("socket buffers grow to {} KiB automatically", bytes >> 10)).warning_if(
        bytes < ENOUGH_BUFFER_BYTES,
        ": large messages need many system calls",
        set(environment, setting, format!("{least} {default} {}", 4 << 20)),
    )
}

fn polling(environment: &Environment) -> Comment {
    let names = ["net/core/busy_poll", "net/core/busy_read"];
    let on = names.into_iter().find(|name| number(environment, name).is_some_and(|us| us > 0));
    match on {
        None if names.iter().all(|name| number(environment, name).is_none()) => {
            unknown("the kernel does not report busy polling")
        }
        None => fine("busy polling is off"),
        Some(name) => warning(
            "busy polling is on: waiting for packets counts as the server's CPU time",
            set(environment, name, 0),
        ),
    }
}

/// Both are usual: it matters for large messages after a pause, and is the same for every server.
fn slow_start(environment: &Environment) -> Comment {
    match number(environment, "net/ipv4/tcp_slow_start_after_idle") {
        None => unknown("the kernel does not report tcp_slow_start_after_idle"),
        Some(0) => fine("idle connections keep their congestion window"),
        Some(_) => fine("idle connections return to slow start (kernel default)"),
    }
}

fn congestion(environment: &Environment) -> Comment {
    const NAME: &str = "net/ipv4/tcp_congestion_control";
    match sysctl(environment, NAME) {
        None => unknown("the kernel does not report its congestion control"),
        Some(name) if name.starts_with("bbr") => warning(
            format!("congestion control is `{name}`, which paces packets with a timer"),
            set(environment, NAME, "cubic"),
        ),
        Some(name) => fine(format!("congestion control is `{name}`")),
    }
}

fn tracking(environment: &Environment) -> Comment {
    const NAME: &str = "net/netfilter/nf_conntrack_max";
    const ENOUGH: u64 = 65_536;
    match number(environment, NAME) {
        None => fine("connection tracking is off"),
        Some(most) if most < ENOUGH => warning(
            format!("connection tracking is limited to {most} connections; more are refused"),
            set(environment, NAME, 262_144),
        ),
        Some(most) => fine(format!("connection tracking has room for {most} connections")),
    }
}

fn loopback(environment: &Environment) -> Comment {
    match environment.loopback_mtu_bytes {
        None => unknown("the kernel does not report the MTU of the loopback interface"),
        Some(bytes) if bytes < LOOPBACK_MTU_BYTES => warning(
            format!("the loopback MTU is {bytes} bytes: large messages use more CPU"),
            change(
                format!("ip link set dev lo mtu {LOOPBACK_MTU_BYTES}"),
                format!("ip link set dev lo mtu {bytes}"),
            ),
        ),
        Some(bytes) => fine(format!("the loopback MTU is {bytes} bytes")),
    }
}
