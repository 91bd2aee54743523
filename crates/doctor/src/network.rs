//! Comments on how the kernel carries connections, above all over the loopback interface.

use wirebench_schema::environment::Environment;

use super::{AtLeast, Comment, fine, missing, number, set, sysctl, warning};

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

pub(super) fn examine(environment: &Environment, servers: &Result<(), String>) -> Vec<Comment> {
    let mut comments = vec![reachable(servers), ports(environment)];
    comments.extend(NUMBERS.iter().map(|setting| setting.look(environment)));
    comments.extend([
        reuse(environment),
        buffer(environment, "receive-buffer", "net/ipv4/tcp_rmem"),
        buffer(environment, "send-buffer", "net/ipv4/tcp_wmem"),
        polling(environment),
        slow_start(environment),
        congestion(environment),
        tracking(environment),
        loopback(environment),
    ]);
    comments
}

fn reachable(servers: &Result<(), String>) -> Comment {
    match servers {
        Ok(()) => fine("servers", "servers can listen on 127.0.0.1 and be reached there"),
        Err(reason) => {
            let (text, remedy) = reason.split_once(": ").unwrap_or((reason, "see above"));
            missing("servers", text, remedy)
        }
    }
}

fn ports(environment: &Environment) -> Comment {
    let range = sysctl(environment, PORTS).unwrap_or_default();
    let mut numbers = range.split_whitespace().filter_map(|number| number.parse::<u32>().ok());
    let count = match (numbers.next(), numbers.next()) {
        (Some(first), Some(last)) => last.saturating_sub(first) + 1,
        _ => return fine("ports", "unknown: the kernel does not report the range of local ports"),
    };
    let text = format!("{count} local ports for connections to one address");
    if count < ENOUGH_PORTS {
        warning("ports", text, set(PORTS, "'1024 65535'"))
    } else {
        fine("ports", text)
    }
}

/// Whether a port whose connection has ended may serve again at once: 2, the default, allows it on
/// the loopback interface.
fn reuse(environment: &Environment) -> Comment {
    const NAME: &str = "net/ipv4/tcp_tw_reuse";
    match number(environment, NAME) {
        None => fine("port-reuse", "unknown: the kernel does not report tcp_tw_reuse"),
        Some(0) => warning(
            "port-reuse",
            "a port is blocked for a minute after its connection: loads that reconnect run out of ports",
            set(NAME, 2),
        ),
        Some(_) => fine("port-reuse", "ports of closed connections are reused"),
    }
}

/// The last of three numbers is the largest that a buffer grows to by itself.
fn buffer(environment: &Environment, name: &'static str, setting: &str) -> Comment {
    let numbers = sysctl(environment, setting).unwrap_or_default();
    let numbers: Vec<&str> = numbers.split_whitespace().collect();
    let [least, default, largest] = numbers[..] else {
        return fine(name, "unknown: the kernel does not report the maximum socket buffer");
    };
    let Ok(bytes) = largest.parse::<u64>() else {
        return fine(name, "unknown: the kernel does not report the maximum socket buffer");
    };
    let text = format!("socket buffers grow to {} KiB automatically", bytes >> 10);
    if bytes < ENOUGH_BUFFER_BYTES {
        let better = format!("'{least} {default} {}'", 4 << 20);
        warning(
            name,
            format!("{text}: large messages need many system calls"),
            set(setting, better),
        )
    } else {
        fine(name, text)
    }
}

fn polling(environment: &Environment) -> Comment {
    let names = ["net/core/busy_poll", "net/core/busy_read"];
    let on = names.into_iter().find(|name| number(environment, name).is_some_and(|us| us > 0));
    match on {
        None => fine("busy-poll", "busy polling is off"),
        Some(name) => warning(
            "busy-poll",
            "busy polling is on: waiting for packets counts as the server's CPU time",
            set(name, 0),
        ),
    }
}

/// Both are usual: it matters for large messages after a pause, and is the same for every server.
fn slow_start(environment: &Environment) -> Comment {
    let text = match number(environment, "net/ipv4/tcp_slow_start_after_idle") {
        None => "unknown: the kernel does not report tcp_slow_start_after_idle",
        Some(0) => "idle connections keep their congestion window",
        Some(_) => "idle connections return to slow start (kernel default)",
    };
    fine("slow-start", text)
}

fn congestion(environment: &Environment) -> Comment {
    const NAME: &str = "net/ipv4/tcp_congestion_control";
    match sysctl(environment, NAME) {
        None => fine("congestion", "unknown: the kernel does not report its congestion control"),
        Some(name) if name.starts_with("bbr") => warning(
            "congestion",
            format!("congestion control is `{name}`, which paces packets with a timer"),
            set(NAME, "cubic"),
        ),
        Some(name) => fine("congestion", format!("congestion control is `{name}`")),
    }
}

fn tracking(environment: &Environment) -> Comment {
    const NAME: &str = "net/netfilter/nf_conntrack_max";
    const ENOUGH: u64 = 65_536;
    match number(environment, NAME) {
        None => fine("tracking", "connection tracking is off"),
        Some(most) if most < ENOUGH => warning(
            "tracking",
            format!("connection tracking is limited to {most} connections; more are refused"),
            set(NAME, 262_144),
        ),
        Some(most) => {
            fine("tracking", format!("connection tracking has room for {most} connections"))
        }
    }
}

fn loopback(environment: &Environment) -> Comment {
    match environment.loopback_mtu_bytes {
        None => fine(
            "loopback",
            "unknown: the kernel does not report the MTU of the loopback interface",
        ),
        Some(bytes) if bytes < LOOPBACK_MTU_BYTES => warning(
            "loopback",
            format!("the loopback MTU is {bytes} bytes: large messages use more CPU"),
            format!("ip link set dev lo mtu {LOOPBACK_MTU_BYTES}"),
        ),
        Some(bytes) => fine("loopback", format!("the loopback MTU is {bytes} bytes")),
    }
}
