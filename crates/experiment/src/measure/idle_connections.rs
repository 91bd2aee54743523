//! Connections that have had one request answered each and are silent from then on.
//!
//! It is not a load: they are made one after the other and nothing is timed. The process that runs it is on the
//! generator's CPUs already.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_verify::{
    client::{Buffers, Client, ClientError, ReadOutcome},
    protocol::FirstExchange,
};

/// Failed connections after which no more are tried: a server that lets each of them wait in
/// vain would take an hour for a thousand.
const FAILURES_MOST: usize = 3;
/// How long making all connections may take.
const CONNECTING_MOST: Duration = Duration::from_secs(120);
/// Files that wirebench has open besides.
const OTHER_FILES: u64 = 128;
/// The share of the local ports of one address that is used. The rest is for other programs.
const PORTS_SHARE: f64 = 0.8;

#[derive(Debug, Default)]
pub(super) struct IdleConnections {
    clients: Vec<Client>,
    /// Why there are fewer than asked for: what became of the first one that is missing.
    pub(super) missing: Option<String>,
}

impl IdleConnections {
    /// Makes `count` connections to `address`. That some cannot be made is no error; that wirebench
    /// itself cannot open this many is one, a sentence with the next step.
    pub(super) fn make(
        address: SocketAddr,
        count: usize,
        first: &FirstExchange,
        stop: &AtomicBool,
    ) -> Result<Self, String> {
        require_files(count, wirebench_sys::limits::open_files().1)?;
        let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
        let sources = Sources::new(address.ip(), count, range.ok().as_deref())?;
        let mut idle = Self::default();
        let until = Instant::now() + CONNECTING_MOST;
        let mut failures = 0;
        for number in 0..count {
            if stop.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            if Instant::now() >= until {
                let seconds = CONNECTING_MOST.as_secs();
                idle.missing.get_or_insert(format!("making them took longer than {seconds} s"));
                break;
            }
            match connect(sources.of(number), address, first) {
                Ok(client) => idle.clients.push(client),
                Err(trouble) => {
                    let text = format!("connection {}: {trouble}", number + 1);
                    idle.missing.get_or_insert(text);
                    failures += 1;
                }
            }
            if failures >= FAILURES_MOST {
                break;
            }
        }
        if !first.is_verified {
            idle.drain();
        }
        Ok(idle)
    }

    pub(super) const fn len(&self) -> usize {
        self.clients.len()
    }

    /// How many the server has closed or written to. Nothing waits here.
    pub(super) fn lost(&mut self) -> usize {
        let is_lost =
            |client: &mut Client| !matches!(client.look(Duration::ZERO), Ok(ReadOutcome::Nothing));
        self.clients.iter_mut().map(is_lost).filter(|is_lost| *is_lost).count()
    }

    /// Reads the rest of replies of unknown length. An end that comes meanwhile is found
    /// again later.
    fn drain(&mut self) {
        for client in &mut self.clients {
            while matches!(client.look(Duration::ZERO), Ok(ReadOutcome::Bytes(_))) {}
        }
    }
}

fn connect(
    source: Option<IpAddr>,
    address: SocketAddr,
    first: &FirstExchange,
) -> Result<Client, ClientError> {
    let mut client = Client::connect_from(source, address, Buffers::Usual)?;
    first.make(&mut client, address)?;
    Ok(client)
}

/// Whether a process that may open `limit` files can have `count` silent connections; if not, a
/// sentence with the numbers and the next step.
pub fn require_files(count: usize, limit: u64) -> Result<(), String> {
    let needed = (count as u64).saturating_add(OTHER_FILES);
    // The soft limit is the hard one since the program began.
    if needed <= limit {
        return Ok(());
    }
    let possible = limit.saturating_sub(OTHER_FILES);
    Err(format!(
        "{count} idle connections need {needed} open files and this process may have {limit}: use at most \
         {possible} (--idle-connections, or `idle_phase_connections` in a suite), or raise `ulimit -Hn`"
    ))
}

/// The addresses that connections come from: the kernel's choice, and when its local ports are used
/// up further loopback addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sources {
    ports_each: usize,
}

impl Sources {
    /// `range` is the kernel's text of local ports. Without it a port is hoped for.
    fn new(server: IpAddr, count: usize, range: Option<&str>) -> Result<Self, String> {
        let ends = range.and_then(|text| text.split_once(char::is_whitespace));
        let ends = ends.and_then(|(first, last)| {
            Some((first.parse::<u16>().ok()?, last.trim().parse::<u16>().ok()?))
        });
        let Some((first, last)) = ends else { return Ok(Self { ports_each: usize::MAX }) };
        let ports = f64::from(last.saturating_sub(first)) + 1.0;
        let ports_each = ((ports * PORTS_SHARE) as usize).max(1);
        let is_many = match server {
            IpAddr::V4(address) => address.is_loopback(),
            IpAddr::V6(_) => false,
        };
        if count > ports_each && !is_many {
            return Err(format!(
                "{count} idle connections to {server} need more than the {ports_each} usable local ports \
                 of {first} to {last}: use fewer (`idle_phase_connections`), or widen \
                 net.ipv4.ip_local_port_range"
            ));
        }
        Ok(Self { ports_each })
    }

    /// The address of connection `number`; none leaves it to the kernel.
    fn of(self, number: usize) -> Option<IpAddr> {
        let turn = u32::try_from(number / self.ports_each).ok().filter(|turn| *turn > 0)?;
        Some(Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits().saturating_add(turn)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };
    use wirebench_schema::scenario::Protocol;

    fn first(protocol: Protocol) -> FirstExchange {
        FirstExchange { protocol, payload_bytes: 100, is_verified: true }
    }

    #[test]
    fn further_addresses_are_taken_when_the_ports_of_one_are_used_up() {
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let sources = Sources::new(local, 100_000, Some("32768\t60999\n")).unwrap();
        assert_eq!(sources.of(0), None);
        assert_eq!(sources.of(22_584), None);
        assert_eq!(sources.of(22_585).unwrap().to_string(), "127.0.0.2");
        assert_eq!(sources.of(99_999).unwrap().to_string(), "127.0.0.5");
        let message = Sources::new("::1".parse().unwrap(), 30_000, Some("32768 60999"));
        assert_eq!(
            message.unwrap_err(),
            "30000 idle connections to ::1 need more than the 22585 usable local ports of 32768 \
             to 60999: use fewer (`idle_phase_connections`), or widen \
             net.ipv4.ip_local_port_range"
        );
        assert_eq!(Sources::new(local, 100_000, None).unwrap().of(99_999), None);
    }

    #[test]
    fn more_connections_than_files_are_refused_with_the_numbers() {
        assert_eq!(require_files(1000, 2000), Ok(()));
        let message = require_files(2000, 2000).unwrap_err();
        assert_eq!(
            message,
            "2000 idle connections need 2128 open files and this process may have 2000: use at \
             most 1872 (--idle-connections, or `idle_phase_connections` in a suite), or raise \
             `ulimit -Hn`"
        );
    }

    #[test]
    fn a_connection_that_is_closed_or_written_to_is_lost() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let answered = |_| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut bytes = [0; 100];
                stream.read_exact(&mut bytes).unwrap();
                stream.write_all(&bytes).unwrap();
                stream
            };
            (0..4).map(answered).collect::<Vec<_>>()
        });
        let stop = AtomicBool::new(false);
        let mut idle = IdleConnections::make(address, 4, &first(Protocol::Echo), &stop).unwrap();
        let mut streams = server.join().unwrap();
        assert_eq!((idle.len(), idle.missing.as_deref()), (4, None));
        assert_eq!(idle.lost(), 0);
        // Over loopback it has arrived when the call returns.
        streams[0].write_all(b"?").unwrap();
        streams.truncate(3);
        assert_eq!(idle.lost(), 2);
    }

    #[test]
    fn a_server_that_never_answers_is_given_up_soon() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            for _ in 0..FAILURES_MOST {
                drop(listener.accept().unwrap());
            }
        });
        let stop = AtomicBool::new(false);
        let idle = IdleConnections::make(address, 1000, &first(Protocol::Http1), &stop).unwrap();
        server.join().unwrap();
        assert_eq!(idle.len(), 0);
        let missing = idle.missing.unwrap();
        assert!(missing.starts_with("connection 1: the server "), "{missing}");
        stop.store(true, Ordering::Relaxed);
        let interrupted =
            IdleConnections::make(address, 1, &first(Protocol::Http1), &stop).unwrap_err();
        assert_eq!(interrupted, "interrupted");
    }
}
