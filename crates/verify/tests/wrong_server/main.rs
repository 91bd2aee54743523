//! Servers that are wrong on purpose, each in one way, to prove that `verify` finds it and says so.
//!
//! `wrong-server MODE SCENARIO HOST PORT WORKERS [TIMEOUT_MS]` follows the contract of
//! `entries/README.md` except for what MODE names. The same program is the guard of the tests
//! (`guard`) and what they kill (`launcher`). It is no example of how to write a server.

mod blocking;
mod conversation;
mod event_loop;
mod fault;
mod garbage;
mod helper;

use conversation::Conversation;
use fault::Fault;
use std::{
    io::Write,
    net::{IpAddr, SocketAddr, TcpListener},
    process::ExitCode,
    time::Duration,
};
use wirebench_schema::scenario::Scenario;

/// What the command line asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    fault: Fault,
    scenario: Scenario,
    address: SocketAddr,
    workers: usize,
    timeout: Option<Duration>,
}

impl Options {
    fn parse(words: &[String]) -> Option<Self> {
        let [mode, scenario, host, port, workers, rest @ ..] = words else { return None };
        let scenario: Scenario = scenario.parse().ok()?;
        let timeout_ms = rest.first().map_or(Some(5000), |word| word.parse().ok())?;
        Some(Self {
            fault: Fault::parse(mode)?,
            scenario,
            address: SocketAddr::new(host.parse::<IpAddr>().ok()?, port.parse().ok()?),
            workers: workers.parse().ok().filter(|workers| *workers > 0)?,
            timeout: (scenario == Scenario::HelloTimeout)
                .then(|| Duration::from_millis(timeout_ms)),
        })
    }

    const fn conversation(&self) -> Conversation {
        Conversation::new(self.fault, self.scenario)
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("guard") => return wirebench_server::guard::main(&words[1..]),
        Some("launcher") => return helper::launcher(&words[1..]),
        Some("orphan-maker") => return helper::orphan_maker(),
        Some("orphan") => return helper::orphan(),
        Some("late-child") => return helper::late_child(),
        _ => {}
    }
    let Some(options) = Options::parse(&words) else {
        eprintln!("wrong-server: usage: MODE SCENARIO HOST PORT WORKERS [TIMEOUT_MS]");
        return ExitCode::from(2);
    };
    before_listening(&options, &words);
    match serve(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wrong-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn before_listening(options: &Options, words: &[String]) {
    match options.fault {
        Fault::ExitsAtStart => {
            eprintln!("wrong-server: the configuration is missing");
            std::process::exit(7);
        }
        Fault::NeverReady => helper::sleep_for_long(),
        Fault::RefusesTwoWorkers if options.workers != 1 => {
            eprintln!("wrong-server: only one worker is possible");
            std::process::exit(2);
        }
        Fault::IgnoresSigterm => helper::restart_without_sigterm(words),
        Fault::CrashesOnSigterm => helper::restart_below_a_crashing_shell(words),
        Fault::LeavesChild => helper::leave_child(),
        Fault::NoneEndingLate => helper::start_child_that_ends_late(),
        Fault::FloodsStderr => {
            for line in 0..3000 {
                eprintln!("wrong-server: {line}: an unexpected message");
            }
        }
        Fault::EscapesAffinity => helper::escape_affinity(),
        _ => {}
    }
}

fn serve(options: &Options) -> std::io::Result<()> {
    if options.fault.serves_by_epoll() {
        return event_loop::serve(options);
    }
    blocking::serve(options, &TcpListener::bind(options.address)?)
}

pub(crate) fn announce(options: &Options, address: SocketAddr) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match options.fault {
        Fault::WrongReadyLine => writeln!(stdout, "Server started on port {}", address.port())?,
        _ => writeln!(stdout, "listening {address}")?,
    }
    stdout.flush()
}
