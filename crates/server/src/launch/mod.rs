//! Starts a server behind its guard, waits until it is ready, and ends it; or finds a service that runs already.
//!
//! There is no sleep here: readiness is a line that the server prints, or a connection that
//! succeeds. Either way all sockets that listen on the address must be the server's.

mod inet_diag;
mod listeners;
mod machine;
mod ready;
mod server;
mod service;
mod socket;
mod started;
mod tail;

pub use machine::check as check_machine;
use server::ServerKind;
pub use server::{Server, Stopped};
pub use service::{instance, listens_elsewhere, processes};
pub use tail::STDERR_PATIENCE;
pub use tail::StderrTail;

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_schema::{
    entry::Variant, placeholder::PlaceholderError, scenario::Scenario, server_url::ServerUrl,
};

use crate::{guard::Exit, provenance};

/// How long a server may take to end on SIGTERM. On a machine with other work it may wait seconds for a CPU.
pub const STOP_GRACE: Duration = Duration::from_secs(5);

/// The same after Ctrl-C, which ends wirebench within a second.
const HURRIED_GRACE: Duration = Duration::from_millis(300);

/// How long a server may take to end on SIGTERM now. `stop` is set when a signal asked wirebench to
/// end.
pub fn stop_grace(stop: &AtomicBool) -> Duration {
    if stop.load(Ordering::Relaxed) { HURRIED_GRACE } else { STOP_GRACE }
}

/// How servers are started, whatever they are.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The argument list that makes this program a guard; the server's follows behind `--`.
    pub guard_command: Vec<String>,
    pub host: IpAddr,
    /// The CPUs of the server; absent means all that are allowed.
    pub cpus: Option<Vec<u32>>,
    /// How long a server may take to be ready.
    pub ready_timeout: Duration,
    /// What a server must do to be ready.
    pub ready_when: ReadyWhen,
}

/// What a server must do to be ready, after its line if it prints one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReadyWhen {
    #[default]
    Connect,
    /// Answer `GET /` with status 200, which only a scenario over HTTP can ask for.
    Reply,
}

wirebench_schema::names! { ReadyWhen "event": Connect = "connect", Reply = "reply" }

#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub variant: &'a Variant,
    pub scenario: Scenario,
    pub workers: u32,
    /// After what time without progress `hello-timeout` closes a connection.
    pub timeout_ms: u64,
    /// The folder with what was built.
    pub build: PathBuf,
    /// The entry's folder; servers run in it.
    pub source: PathBuf,
    /// The tree in which its program must be, or where it was built, if it must.
    pub tree: Option<PathBuf>,
}

impl Request<'_> {
    /// The values of the placeholders in its command and its variables.
    fn values(&self, host: IpAddr, port: u16, socket: Option<&str>) -> Vec<(&'static str, String)> {
        let path = socket.map(|path| ("path", path.to_owned()));
        let values = [
            ("scenario", self.scenario.name().to_owned()),
            ("host", host.to_string()),
            ("port", port.to_string()),
            ("workers", self.workers.to_string()),
            ("timeout_ms", self.timeout_ms.to_string()),
            ("build", self.build.display().to_string()),
            ("source", self.source.display().to_string()),
            ("variant", self.variant.form.clone()),
        ];
        values.into_iter().chain(path).collect()
    }

    /// Whether the server listens on a Unix socket.
    fn listens_on_socket(&self) -> bool {
        self.scenario == Scenario::Requests
            && self.variant.run.url.as_ref().is_some_and(ServerUrl::is_unix)
    }
}

/// Why a server did not become ready. Each message is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The command has a placeholder without a value.
    #[error("the run command cannot be filled in: {0}")]
    Command(#[from] PlaceholderError),
    #[error("{0}")]
    Spawn(String),
    /// It ended before it was ready.
    #[error("the server ended with {exit} before it was ready{}", said(.stderr))]
    Exited {
        exit: Exit,
        /// The end of its standard error.
        stderr: String,
    },
    /// Its first process ended and others of it stayed.
    #[error(
        "the server went into the background before it was ready: {} outlived its first process; \
         start it in the foreground, such as with an option like --foreground or `daemon off`",
        .processes.join(", ")
    )]
    Background { processes: Vec<String> },
    #[error(
        "the server's first line must be `listening HOST:PORT`, it was `{line}`; everything else \
         belongs on standard error"
    )]
    ReadyLine { line: String },
    /// Nothing came in time.
    #[error("the server was not ready within {} s (--ready): {missing}{}", .after.as_secs_f64(), said(.stderr))]
    NotReady {
        after: Duration,
        /// What did not come.
        missing: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// A process that is not the server's takes connections to the address.
    #[error(
        "{holder} listens on {address} and is not the server's: it could take the server's \
         connections; end it and start again"
    )]
    Foreign { address: SocketAddr, holder: String },
    #[error(
        "the server runs {}, which is outside of its tree: both sides would run it; have --build write below the \
         current folder and start that file", .0.display()
    )]
    Outside(PathBuf),
    #[error("no connection to {url}: {reason}; start the service, or correct the URL")]
    Service { url: String, reason: String },
    #[error(
        "{url} was restarted: its process was {before} and is {now}; figures of two processes are not put together: \
         measure again while it stays"
    )]
    Replaced { url: String, before: String, now: String },
    #[error("interrupted")]
    Interrupted,
    #[error("the guard process failed: {0}")]
    Guard(#[from] std::io::Error),
}

fn said(stderr: &str) -> String {
    let trimmed = stderr.trim();
    if trimmed.is_empty() {
        "; it wrote nothing to standard error".to_owned()
    } else {
        format!("; it wrote: {trimmed}")
    }
}

impl Launcher {
    /// Starts a server and returns once it accepts connections. A service that runs already is only looked for.
    pub fn start(&self, request: &Request<'_>, stop: &AtomicBool) -> Result<Server, LaunchError> {
        if let Some(service) = &request.variant.run.service {
            let found = service::find(service, stop)?;
            return Ok(Server(ServerKind::Service(Box::new(found))));
        }
        let server = ready::start(self, request, stop)?;
        if let Some(tree) = &request.tree {
            let takers = listeners::holders(&listeners::taking(server.address));
            // Nothing takes connections to the address of one that listens on a Unix socket.
            let processes = if takers.is_empty() { server.tree() } else { takers };
            let found = provenance::outside(&processes, &[tree, &request.build]);
            found.map_or(Ok(()), |path| Err(LaunchError::Outside(path)))?;
        }
        Ok(Server(ServerKind::Started(Box::new(server))))
    }
}
