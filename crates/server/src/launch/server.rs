//! A server that can be measured, whether wirebench has started it or not: its address, its processes, its end.

use rustix::process::Pid;
use std::{net::SocketAddr, time::Duration};

use super::{LaunchError, StderrTail, service::Running, socket::Socket, started::Started};
use crate::{cost::Look, guard::Exit};

/// A server that accepts connections.
#[derive(Debug)]
pub struct Server(pub(super) ServerKind);

#[derive(Debug)]
pub(super) enum ServerKind {
    /// Dropping it ends the server's whole tree.
    Started(Box<Started>),
    /// A service that ran before. No signal is ever sent to it.
    Service(Box<Running>),
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Stopped {
    /// How its first process ended, if it did by itself or on SIGTERM.
    pub exit: Option<Exit>,
    /// Whether it was a service, which was not stopped.
    pub runs_on: bool,
    /// Whether it had to be killed because it did not end on SIGTERM within the grace.
    pub forced: bool,
    /// Processes of it that were still there after it had ended.
    pub left_behind: Vec<String>,
    /// What it printed on standard output beyond its ready line; the first lines of it.
    pub further_lines: Vec<String>,
    /// Bytes that it wrote to standard error, and to standard output beyond the first lines.
    pub stderr_bytes: u64,
    /// The end of what it wrote to standard error.
    pub stderr: String,
    /// CPU time of all its processes over their lives; absent if unknown.
    pub cpu_ns: Option<u64>,
}

impl Server {
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        match &self.0 {
            ServerKind::Started(it) => it.address,
            ServerKind::Service(it) => it.address,
        }
    }

    /// The path of the Unix socket on which it listens instead.
    #[must_use]
    pub fn socket(&self) -> Option<&str> {
        match &self.0 {
            ServerKind::Started(it) => it.socket.as_ref().map(Socket::path),
            ServerKind::Service(_) => None,
        }
    }

    /// The command that started it; of a service its URL.
    #[must_use]
    pub fn command(&self) -> &[String] {
        match &self.0 {
            ServerKind::Started(it) => &it.command,
            ServerKind::Service(it) => &it.url,
        }
    }

    /// What it has written to standard error; nothing of a service.
    #[must_use]
    pub const fn stderr(&self) -> &StderrTail {
        match &self.0 {
            ServerKind::Started(it) => it.stderr(),
            ServerKind::Service(it) => &it.stderr,
        }
    }

    /// Its guard, which adopts what its processes leave behind. A service has none.
    #[must_use]
    pub fn guard(&self) -> Option<Pid> {
        match &self.0 {
            ServerKind::Started(it) => Some(it.guard()),
            ServerKind::Service(_) => None,
        }
    }

    /// Whether wirebench has not started it, and leaves it as it is.
    #[must_use]
    pub const fn is_service(&self) -> bool {
        matches!(self.0, ServerKind::Service(_))
    }

    /// Its living processes; none of a service whose processes are not known.
    #[must_use]
    pub fn tree(&self) -> Vec<Pid> {
        match &self.0 {
            ServerKind::Started(it) => it.tree(),
            ServerKind::Service(it) => it.tree(),
        }
    }

    /// Its processes with their clocks.
    #[must_use]
    pub fn look(&self) -> Look {
        match &self.0 {
            ServerKind::Started(it) => Look::take(it.guard()),
            ServerKind::Service(it) => Look::of(&it.tree()),
        }
    }

    /// Why its figures are not its own, if another process has joined it on its address since it was ready, or has
    /// taken its place.
    #[must_use]
    pub fn joined(&self) -> Option<LaunchError> {
        match &self.0 {
            ServerKind::Started(it) => it.joined(),
            ServerKind::Service(it) => it.replaced(),
        }
    }

    /// How its first process ended, if it has. That of a service shows in its connections alone.
    pub fn ended(&mut self) -> Option<Exit> {
        self.wait(Duration::ZERO)
    }

    /// How its first process ended, if it has or does so within `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> Option<Exit> {
        match &mut self.0 {
            ServerKind::Started(it) => it.wait(timeout),
            ServerKind::Service(_) => None,
        }
    }

    /// Asks the server to end with SIGTERM, kills what does not end within `grace`, and waits until nothing is left.
    /// A service is left as it is.
    #[must_use]
    pub fn stop(mut self, grace: Duration) -> Stopped {
        self.end(grace)
    }

    /// Stops it, and leaves what does not need its processes.
    pub fn end(&mut self, grace: Duration) -> Stopped {
        match &mut self.0 {
            ServerKind::Started(it) => it.stop(grace),
            ServerKind::Service(_) => Stopped { runs_on: true, ..Stopped::default() },
        }
    }
}
