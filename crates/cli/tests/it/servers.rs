//! Servers that behave in ways that measuring must cope with: that warm up, never become steady,
//! close silent connections, take few, have a process for each connection, or die. Each runs as a
//! program of its own: this test program starts itself again. They are no servers to compare
//! anything with.

use std::{
    io::{ErrorKind, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    os::fd::{AsFd, OwnedFd},
    process::{Command, Stdio},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
/// How long `warms-up` takes to become fast.
const WARM_AFTER: Duration = Duration::from_millis(1500);
/// Connections that `takes-few` has at once.
pub(crate) const FEW: usize = 20;
/// The file that `hangs-up-after-` makes when it closes a silent connection.
pub(crate) const HUNG_UP: &str = "hung-up";
/// The mode of a process of `forks`.
const CHILD: &str = "child";
/// When `dies` ends, after its first request.
const LIFE: Duration = Duration::from_millis(300);

/// The command line of a server, to which its port is given. The modes are `correct`, `slow`,
/// `warms-up`, `never-steady`, `takes-few`, `dies`, `forks`, `forks-and-forgets`, `api`, `closes` and,
/// with milliseconds behind, `closes-after-` and `hangs-up-after-`.
pub(crate) fn command(mode: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let environment = match mode {
        "forks-and-forgets" => "env --ignore-signal=CHLD ",
        _ => "",
    };
    format!("{environment}{} --ignored --exact servers::serve {mode} {{port}}", program.display())
}

/// A built-in server as a command line of the user's.
pub(crate) fn null_server(engine: &str, scenario: &str) -> String {
    let program = crate::world::program().display();
    format!("{program} null-server {engine} {scenario} {{host}} {{port}} {{workers}}")
}

/// Not a test: what [`command`] starts.
#[test]
#[ignore = "it is a server that other tests start"]
fn serve() {
    let words: Vec<String> = std::env::args().collect();
    let [.., mode, port] = words.as_slice() else { return };
    if mode == "api" && port.starts_with('/') {
        let listener = std::os::unix::net::UnixListener::bind(port).unwrap();
        for stream in listener.incoming().flatten() {
            thread::spawn(move || crate::requests::api(&stream));
        }
    }
    // Without these arguments, for example when all ignored tests run, there is nothing to do.
    let Ok(port) = port.parse::<u16>() else { return };
    if mode == CHILD {
        let stream = TcpStream::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
        let _ = talk(stream, "slow");
        return;
    }
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    if mode.starts_with("forks") {
        return fork(&listener);
    }
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        if open.fetch_add(1, Ordering::Relaxed) >= FEW && mode == "takes-few" {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (mode, open) = (mode.clone(), Arc::clone(&open));
        thread::spawn(move || {
            // Clients may go as they like.
            let _ = talk(stream, &mode);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Has a process for each connection, which takes 2 ms for each request.
fn fork(listener: &TcpListener) {
    for stream in listener.incoming().flatten() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact", "servers::serve", CHILD, "0"]);
        child.stdin(OwnedFd::from(stream)).stdout(Stdio::null());
        let mut child = child.spawn().unwrap();
        // Where `SIGCHLD` is ignored this finds nothing that it could wait for.
        thread::spawn(move || child.wait());
    }
}

/// Answers each piece that ends a head; the clients of these tests send one head at a time.
fn talk(mut stream: TcpStream, mode: &str) -> std::io::Result<()> {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    stream.set_nodelay(true)?;
    if mode == "api" {
        return crate::requests::api(&stream);
    }
    let mut closing = ["closes-after-", "hangs-up-after-"].iter();
    if let Some(silence) = closing.find_map(|it| mode.strip_prefix(it)) {
        let silence = Duration::from_millis(silence.parse().map_err(std::io::Error::other)?);
        stream.set_read_timeout(Some(silence))?;
    }
    let mut bytes = [0; 4096];
    loop {
        let read = stream.read(&mut bytes);
        let is_silent = read.as_ref().is_err_and(|it| it.kind() == ErrorKind::WouldBlock);
        if is_silent && mode.starts_with("hangs-up") {
            std::fs::write(HUNG_UP, "")?;
        }
        let length = read?;
        if length == 0 {
            return Ok(());
        }
        if bytes[..length].ends_with(b"\r\n\r\n") {
            let since = FIRST.get_or_init(Instant::now).elapsed();
            if mode == "dies" && since > LIFE {
                std::process::exit(3);
            }
            if mode == "closes" {
                let reply = String::from_utf8_lossy(REPLY);
                let reply = reply.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
                return stream.write_all(reply.as_bytes());
            }
            work(mode, since);
            stream.write_all(REPLY)?;
        }
    }
}

/// Uses as much CPU time as a request takes, so long after the first one. It is CPU time because
/// others take CPUs away from tests.
fn work(mode: &str, since: Duration) {
    let microseconds = match mode {
        "warms-up" => 100.0 + 2000.0 * (1.0 - since.div_duration_f64(WARM_AFTER)).max(0.0),
        // On a busy machine several seconds pass before the window.
        "never-steady" => 100.0 * 3_f64.powf(since.as_secs_f64().min(6.0)),
        "slow" => 2000.0,
        _ => 0.0,
    };
    let until = cpu_time() + Duration::from_secs_f64(microseconds / 1e6);
    while cpu_time() < until {
        std::hint::spin_loop();
    }
}

/// What this thread has used.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// A reply to a request.
const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server that sends what `reply` gives for a request and closes the connection where that is nothing. It is given
/// the number of requests before that one, on the same connection and on all.
fn answering(
    reply: impl Fn(u32, u32) -> Option<&'static str> + Copy + Send + 'static,
) -> SocketAddr {
    let all = Arc::new(AtomicU32::new(0));
    in_threads("127.0.0.1".parse().unwrap(), move |mut stream| {
        let mut own = 0;
        // A request of these tests arrives in one piece.
        while stream.read(&mut [0; 1024]).is_ok_and(|length| length > 0) {
            let Some(text) = reply(own, all.fetch_add(1, Ordering::Relaxed)) else { return };
            let _ = stream.write_all(text.as_bytes());
            own += 1;
        }
    })
}

/// A server within this test, with a thread for each connection.
pub(crate) fn in_threads(
    ip: IpAddr,
    serve: impl Fn(TcpStream) + Clone + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind((ip, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            thread::spawn(move || serve(stream));
        }
    });
    address
}

/// The service of [`api`](crate::requests::api) within this test, and its address.
pub(crate) fn local_api() -> SocketAddr {
    in_threads("127.0.0.1".parse().unwrap(), |stream| _ = crate::requests::api(&stream))
}

/// A server that answers the first two requests of a connection correctly and closes on the third.
pub(crate) fn forgetful_server() -> SocketAddr {
    answering(|own, _| (own < 2).then_some(GOOD))
}

/// A server that answers this many requests correctly and then sends `rest` for each, which may be nothing.
pub(crate) fn failing_server(good: u32, rest: &'static str) -> SocketAddr {
    answering(move |_, all| Some(if all < good { GOOD } else { rest }))
}

/// A server that answers this many requests correctly and then says nothing any more.
pub(crate) fn falling_silent_server(requests: u32) -> SocketAddr {
    failing_server(requests, "")
}
