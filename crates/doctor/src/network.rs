//! Comments on how the kernel carries connections, above all over the loopback interface.

use wirebench_schema::environment::Environment;

use super::{AtLeast, Comment, fine, number, set, sysctl, warning};

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
        means: "new connections at most wait in a server's queue",
    },
    AtLeast {
        name: "syn-backlog",
        sysctl: "net/ipv4/tcp_max_syn_backlog",
        enough: 512,
        better: 4096,
        means: "connections at most may be half open",
    },
    AtLeast {
        name: "netdev-budget",
        sysctl: "net/core/netdev_budget",
        enough: 300,
        better: 300,
        means: "packets at most are handled at a time",
    },
    // Packets over the loopback interface wait in this queue, one for each CPU.
    AtLeast {
        name: "netdev-backlog",
        sysctl: "net/core/netdev_max_backlog",
        enough: 1000,
        better: 1000,
        means: "packets at most wait for a CPU before they are lost",
    },
];

pub(super) fn examine(environment: &Environment) -> Vec<Comment> {
    let mut comments = vec![ports(environment)];
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

fn ports(environment: &Environment) -> Comment {
    let range = sysctl(environment, PORTS).unwrap_or_default();
    let mut numbers = range.split_whitespace().filter_map(|number| number.parse::<u32>().ok());
    let count = match (numbers.next(), numbers.next()) {
        (Some(first), Some(last)) => last.saturating_sub(first) + 1,
        _ => return fine("ports", "the range of local ports is not told"),
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
        None => fine("port-reuse", "whether ports are used again at once is not told"),
        Some(0) => warning(
            "port-reuse",
            "a port rests for a minute after its connection: loads that reconnect run out of them",
            set(NAME, 2),
        ),
        Some(_) => fine("port-reuse", "ports of ended connections are used again"),
    }
}

/// The last of three numbers is the largest that a buffer grows to by itself.
fn buffer(environment: &Environment, name: &'static str, setting: &str) -> Comment {
    let numbers = sysctl(environment, setting).unwrap_or_default();
    let numbers: Vec<&str> = numbers.split_whitespace().collect();
    let [least, default, largest] = numbers[..] else {
        return fine(name, "how large a socket's buffer may grow is not told");
    };
    let Ok(bytes) = largest.parse::<u64>() else {
        return fine(name, "how large a socket's buffer may grow is not told");
    };
    let text = format!("socket buffers grow to {} KiB automatically", bytes >> 10);
    if bytes < ENOUGH_BUFFER_BYTES {
        let better = format!("'{least} {default} {}'", 4 << 20);
        warning(
            name,
            format!("{text}: large messages are sent in many pieces"),
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
        None => fine("busy-poll", "no process spins while waiting for packets"),
        Some(name) => warning(
            "busy-poll",
            "waiting for packets costs CPU time, which counts as the server's",
            set(name, 0),
        ),
    }
}

/// Both are usual: it matters for large messages after a pause, and is the same for every server.
fn slow_start(environment: &Environment) -> Comment {
    let text = match number(environment, "net/ipv4/tcp_slow_start_after_idle") {
        None => "whether connections begin slowly after a pause is not told",
        Some(0) => "connections go on at full speed after a pause",
        Some(_) => "connections begin slowly again after a pause, as is usual",
    };
    fine("slow-start", text)
}

fn congestion(environment: &Environment) -> Comment {
    const NAME: &str = "net/ipv4/tcp_congestion_control";
    match sysctl(environment, NAME) {
        None => fine("congestion", "how congestion is controlled is not told"),
        Some(name) if name.starts_with("bbr") => warning(
            "congestion",
            format!("congestion is controlled by `{name}`, which holds packets back by a timer"),
            set(NAME, "cubic"),
        ),
        Some(name) => fine("congestion", format!("congestion is controlled by `{name}`")),
    }
}

fn tracking(environment: &Environment) -> Comment {
    const NAME: &str = "net/netfilter/nf_conntrack_max";
    const ENOUGH: u64 = 65_536;
    match number(environment, NAME) {
        None => fine("tracking", "the kernel keeps no table of connections"),
        Some(most) if most < ENOUGH => warning(
            "tracking",
            format!("the kernel's table has room for {most} connections, and refuses more"),
            set(NAME, 262_144),
        ),
        Some(most) => {
            fine("tracking", format!("the kernel's table has room for {most} connections"))
        }
    }
}

fn loopback(environment: &Environment) -> Comment {
    match environment.loopback_mtu_bytes {
        None => fine("loopback", "the loopback interface does not tell how large its packets are"),
        Some(bytes) if bytes < LOOPBACK_MTU_BYTES => warning(
            "loopback",
            format!(
                "packets over the loopback interface hold {bytes} bytes: large messages cost more"
            ),
            format!("ip link set dev lo mtu {LOOPBACK_MTU_BYTES}"),
        ),
        Some(bytes) => {
            fine("loopback", format!("packets over the loopback interface hold {bytes} bytes"))
        }
    }
}
