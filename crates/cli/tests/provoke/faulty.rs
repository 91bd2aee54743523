//! Servers of `hello` that are faulty in one way each while they are measured. They are right enough
//! to be measured, and no example of how to write a server; those that `verify` must find are the
//! runner's own.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt,
    process::{Command, ExitCode, Stdio},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::unsteady::{self, Pace};

const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
const WRONG: &[u8] =
    b"HTTP/1.1 500 Failed\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
/// When the faults that have a moment begin, after the first request: past the warm-up of the tests.
const BEGIN: Duration = Duration::from_millis(400);
/// How long one of them lasts.
const STALL: Duration = Duration::from_millis(500);
/// The variable of a server that ignores the end of its children by now.
const IGNORING: &str = "WIREBENCH_TEST_IGNORING";

/// What is wrong with a server, by the name under which its program is started.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Fault {
    /// Sends no replies for half a second.
    Stalls,
    /// Every fourth connection waits long for each reply.
    Starves,
    AnswersWrong,
    Noisy,
    Deaf,
    LeavesChild,
    /// Starts a process in the middle.
    StartsChild,
    /// Starts a process at every twentieth request, and ignores the end of each.
    ForgetsChildren,
    /// Does not look at requests, and answers as many as the bytes must be: hardly any work.
    Effortless,
    /// Is slow for a third of a second after each rest.
    SettlesLate,
    WarmsUp,
    /// Uses a tenth of a CPU all the time.
    BurnsIdle,
    /// Works for a while when it has had no request for a moment.
    DefersWork,
}

/// What all connections have in common.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) requests: AtomicUsize,
    first: OnceLock<Instant>,
    pub(crate) pace: Pace,
}

/// Serves on `port` until it is killed.
pub(crate) fn serve(fault: Fault, port: &str) -> ExitCode {
    if fault == Fault::ForgetsChildren && std::env::var_os(IGNORING).is_none() {
        // A signal that is ignored stays ignored in the program that `env` becomes.
        let program = std::env::args_os().next().unwrap();
        let mut command = Command::new("env");
        command.arg("--ignore-signal=CHLD").arg(program).arg(port).env(IGNORING, "1");
        eprintln!("the faulty server: {}", command.exec());
        return ExitCode::FAILURE;
    }
    match listen(fault, port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the faulty server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn listen(fault: Fault, port: &str) -> io::Result<()> {
    match fault {
        Fault::Noisy => (0..3000).for_each(|line| eprintln!("{line}: an unexpected message")),
        Fault::Deaf => {
            signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::default())?;
        }
        // In a session of its own, so that no signal to its parent's group reaches it.
        Fault::LeavesChild => sleep_in(&["setsid", "-f", "sleep", "20"])?,
        _ => {}
    }
    let port: u16 = port.parse().map_err(io::Error::other)?;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let shared = Arc::new(Shared::default());
    let own = Arc::clone(&shared);
    thread::spawn(move || unsteady::background(fault, &own));
    for number in 0.. {
        let (stream, _) = listener.accept()?;
        let shared = Arc::clone(&shared);
        thread::spawn(move || talk(fault, number, &shared, stream));
    }
    Ok(())
}

fn sleep_in(command: &[&str]) -> io::Result<()> {
    let mut child = Command::new(command[0]);
    child.args(&command[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child.spawn().map(drop)
}

fn talk(fault: Fault, number: usize, shared: &Shared, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    if fault == Fault::Effortless {
        return answer_by_length(&mut stream);
    }
    let mut buffer = [0; 4096];
    let mut head = Vec::new();
    let mut replies = 0;
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        head.extend_from_slice(&buffer[..length]);
        while let Some(end) = head.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            head.drain(..end + 4);
            replies += 1;
            shared.pace.work(fault);
            shared.requests.fetch_add(1, Ordering::Relaxed);
            let delay =
                fault.delay(number, replies, shared.first.get_or_init(Instant::now).elapsed());
            if !delay.is_zero() {
                thread::sleep(delay);
            }
            let is_wrong = fault == Fault::AnswersWrong && replies.is_multiple_of(100);
            stream.write_all(if is_wrong { WRONG } else { REPLY })?;
        }
        if fault == Fault::ForgetsChildren && replies.is_multiple_of(20) {
            sleep_in(&["sleep", "0.05"])?;
        }
        if fault == Fault::StartsChild && shared.first.get().is_some_and(|it| it.elapsed() > BEGIN)
        {
            static ONCE: OnceLock<()> = OnceLock::new();
            // Without it the fault is missing, which the test then says.
            ONCE.get_or_init(|| drop(sleep_in(&["sleep", "5"])));
        }
    }
}

/// Takes all requests of a connection for as long as the first one.
fn answer_by_length(stream: &mut TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; 256 * 1024];
    let mut replies = Vec::new();
    let (mut one, mut left) = (0, 0);
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        if one == 0 {
            let end = buffer[..length].windows(4).position(|bytes| bytes == b"\r\n\r\n");
            one = end.ok_or(io::ErrorKind::InvalidData)? + 4;
            replies = REPLY.repeat(buffer.len() / one + 1);
        }
        left += length;
        stream.write_all(&replies[..left / one * REPLY.len()])?;
        left %= one;
    }
}

impl Fault {
    pub(crate) fn of(name: &str) -> Option<Self> {
        <Self as clap::ValueEnum>::from_str(name, false).ok()
    }

    /// How late reply number `replies` of connection `number` is, when the first request came `since` ago.
    fn delay(self, number: usize, replies: usize, since: Duration) -> Duration {
        match self {
            Self::Stalls if since > BEGIN && since < BEGIN + STALL => BEGIN + STALL - since,
            Self::Starves if number.is_multiple_of(4) && replies > 10 => Duration::from_millis(150),
            _ => Duration::ZERO,
        }
    }
}
