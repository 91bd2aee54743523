//! What this machine must offer before any server can be started on it: processes that `/proc` shows,
//! and an address that can be listened on and reached.

use std::{
    fs, io,
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    path::Path,
    time::Duration,
};

/// How long a connection to a listener of this process may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Whether servers can be started that listen on `host`. An error is a sentence with the next step.
pub fn check(host: IpAddr) -> Result<(), String> {
    check_proc(fs::read_link("/proc/self").ok().as_deref(), std::process::id())?;
    let listener = TcpListener::bind((host, 0)).map_err(|error| cannot_listen(host, &error))?;
    let address = listener.local_addr().map_err(|error| cannot_listen(host, &error))?;
    TcpStream::connect_timeout(&address, CONNECT_TIMEOUT)
        .map(drop)
        .map_err(|error| cannot_connect(address, &error))
}

/// `shown` is what `/proc/self` points to.
fn check_proc(shown: Option<&Path>, own: u32) -> Result<(), String> {
    match shown {
        Some(shown) if shown == Path::new(&own.to_string()) => Ok(()),
        Some(_) => {
            Err("/proc shows another PID namespace, so a server's processes cannot be found: run \
                        `mount -t proc proc /proc` in this one, or use unshare --mount-proc"
                .to_owned())
        }
        None => Err("/proc does not show this process: mount it, as containers do".to_owned()),
    }
}

fn cannot_listen(host: IpAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrNotAvailable => {
            format!("no interface of this machine has the address {host}: `ip address` lists those")
        }
        _ => format!("no server can listen on {host}: {error}"),
    }
}

fn cannot_connect(address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NetworkUnreachable => {
            "the loopback interface is down: run `ip link set lo up`".to_owned()
        }
        _ => format!("a listener on {address} cannot be reached: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_machine_passes_and_another_is_named() {
        assert_eq!(check("127.0.0.1".parse().unwrap()), Ok(()));
        let foreign = check("192.0.2.1".parse().unwrap()).unwrap_err();
        assert!(foreign.starts_with("no interface of this machine has the address 192.0.2.1"));
    }

    #[test]
    fn each_condition_that_prevents_servers_has_a_next_step() {
        let down = io::Error::from(io::ErrorKind::NetworkUnreachable);
        let down = cannot_connect("127.0.0.1:80".parse().unwrap(), &down);
        assert_eq!(down, "the loopback interface is down: run `ip link set lo up`");
        assert_eq!(check_proc(Some(Path::new("7")), 7), Ok(()));
        assert!(check_proc(Some(Path::new("70")), 7).unwrap_err().contains("--mount-proc"));
        assert!(check_proc(None, 7).unwrap_err().contains("mount it"));
    }
}
