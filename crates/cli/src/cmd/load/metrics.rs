//! Serves the metrics of a running load over HTTP, to one client after another. It has a thread of its own, so that no
//! client delays the load or its result.
//!
//! Not here: the metrics, which the report makes, and requests other than `GET /metrics`.

use anyhow::Context as _;
use rustix::event::{PollFd, PollFlags, poll};
use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use wirebench_report::{exposition::CONTENT_TYPE, load::LoadMetrics};
use wirebench_schema::load::{LoadConfig, LoadEvent};

use super::cpus;

/// The path of the metrics.
const PATH: &str = "/metrics";
/// The longest head of a request.
const HEAD_LIMIT_BYTES: usize = 8192;
/// How long a client may take to send its request, and to take a part of the answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(1);

type Shared = Arc<Mutex<LoadMetrics>>;

/// The server, until it is dropped.
#[derive(Debug)]
pub(super) struct MetricsServer {
    address: SocketAddr,
    metrics: Shared,
    /// Its other end is closed with it, which ends the thread.
    _stop: UnixStream,
}

impl MetricsServer {
    /// Listens at `address`; its port 0 is any free one.
    pub(super) fn start(address: SocketAddr, config: &LoadConfig) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).with_context(|| {
            format!("--metrics {address}: choose another port, or 0 for a free one")
        })?;
        let address = listener.local_addr()?;
        // A client that is gone before it is accepted must not block the thread.
        listener.set_nonblocking(true)?;
        let (stop, stopped) = UnixStream::pair()?;
        let metrics = Arc::new(Mutex::new(LoadMetrics::new(config)));
        let shared = Arc::clone(&metrics);
        std::thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || {
                use_other_cpus();
                serve(&listener, &stopped, &shared);
            })
            .context("cannot start a thread: raise the process limit (ulimit -u)")?;
        Ok(Self { address, metrics, _stop: stop })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    pub(super) fn on(&self, event: &LoadEvent) {
        let mut metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            LoadEvent::Connected { connections } => metrics.connected(*connections),
            LoadEvent::Interval(interval) => metrics.add(interval),
            _ => {}
        }
    }
}

/// Leaves the CPUs of the load, if this process may not use all. A container may keep the others for itself; then this
/// thread stays.
fn use_other_cpus() {
    let others = wirebench_sys::affinity::current().map(|own| cpus::others(&own));
    if let Some(others) = others.ok().filter(|others| !others.is_empty()) {
        let _ = wirebench_sys::affinity::bind(&others);
    }
}

/// Answers clients until the other end of `stopped` is closed.
fn serve(listener: &TcpListener, stopped: &UnixStream, metrics: &Shared) {
    loop {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        let waited = poll(&mut ready, None);
        let is_interrupted = waited == Err(rustix::io::Errno::INTR);
        if !(is_interrupted || waited.is_ok()) || !ready[1].revents().is_empty() {
            return;
        }
        if ready[0].revents().is_empty() {
            continue;
        }
        match listener.accept() {
            // A client that fails gets no answer, and the next one is served.
            Ok((client, _)) => drop(answer(client, metrics)),
            // Without a free descriptor the client stays in the queue.
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                let _ = poll(&mut [PollFd::new(stopped, PollFlags::IN)], Some(&A_MOMENT));
            }
            Err(_) => {}
        }
    }
}

/// The time between two attempts to accept a client.
const A_MOMENT: rustix::event::Timespec =
    rustix::event::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

fn answer(mut client: TcpStream, metrics: &Shared) -> io::Result<()> {
    client.set_nonblocking(false)?;
    client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
    let head = head(&mut client)?;
    let status = status(&head);
    let (kind, body) = match status {
        "200 OK" => {
            let text = metrics.lock().unwrap_or_else(PoisonError::into_inner).text();
            (CONTENT_TYPE, text)
        }
        other => ("text/plain", format!("{other}: the metrics are at GET {PATH}\n")),
    };
    let length = body.len();
    let allow = if status.starts_with("405") { "Allow: GET\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{allow}Connection: close\r\n\r\n"
    );
    client.write_all((head + &body).as_bytes())
}

/// The head of a request, or its first bytes if it is too long.
fn head(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let end = Instant::now() + CLIENT_TIMEOUT;
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    while head.len() <= HEAD_LIMIT_BYTES && !is_whole(&head) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        client.set_read_timeout(Some(left))?;
        match client.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => head.extend_from_slice(&part[..length]),
        }
    }
    Ok(head)
}

fn is_whole(head: &[u8]) -> bool {
    head.windows(4).any(|it| it == b"\r\n\r\n")
}

/// The status of the answer to a request.
fn status(head: &[u8]) -> &'static str {
    if !is_whole(head) || head.len() > HEAD_LIMIT_BYTES {
        return "431 Request Header Fields Too Large";
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let [method, target, version] = line.split(' ').collect::<Vec<_>>()[..] else {
        return "400 Bad Request";
    };
    let path = target.split('?').next().unwrap_or_default();
    match () {
        () if !version.starts_with("HTTP/1.") => "400 Bad Request",
        () if method != "GET" => "405 Method Not Allowed",
        () if path != PATH => "404 Not Found",
        () => "200 OK",
    }
}

#[cfg(test)]
mod tests;
