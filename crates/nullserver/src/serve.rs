//! Starts the workers, prints the ready line and waits for failures. It serves no connection
//! itself, and installs no signal handler: the default action of SIGTERM ends the process.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{self, Sender};
use std::thread;

use crate::service::Service;
use crate::{Engine, Options, epoll, io_uring};

/// Why a null server cannot serve, or cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// No listening socket at the address.
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    /// This kernel, or the sandbox around the process, does not give us the ring that we need.
    #[error("{0}, or use the epoll engine")]
    IoUringUnavailable(String),
    /// The ready line did not get out.
    #[error("cannot print the ready line: {0}")]
    ReadyLine(#[source] io::Error),
    /// A worker could not be started, or ended.
    #[error("a worker of the {engine} null server failed: {source}")]
    Worker { engine: Engine, source: io::Error },
}

/// The message of a worker to the thread that started it.
enum Report {
    Ready,
    Failed(io::Error),
}

/// Serves until the process is ended. Prints the ready line on standard output once every worker
/// accepts.
///
/// # Errors
///
/// Returns an error when the server cannot start, or when one of its workers fails later, which no
/// client can cause.
pub fn serve(options: &Options) -> Result<Infallible, ServeError> {
    serve_announcing(options, print_ready_line)
}

/// Like [`serve`], for a server within the process of its client: `announce` is given the address
/// with the real port instead of a line being printed.
///
/// # Errors
///
/// Those of [`serve`]; an error of `announce` ends the server like a line that cannot be printed.
pub fn serve_announcing(
    options: &Options,
    announce: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> Result<Infallible, ServeError> {
    let engine = options.engine;
    if engine == Engine::IoUring {
        io_uring::probe_io_uring().map_err(ServeError::IoUringUnavailable)?;
    }
    let asked = SocketAddr::new(options.host, options.port);
    let (listeners, address) = crate::listen::open_listeners(options)
        .map_err(|source| ServeError::Listen { address: asked, source })?;
    let service = Service::new(options);
    let worker_error = |source| ServeError::Worker { engine, source };
    let (reports, inbox) = mpsc::channel();
    for (number, listener) in listeners.into_iter().enumerate() {
        let reports = reports.clone();
        thread::Builder::new()
            .name(format!("null-{number}"))
            .spawn(move || work(engine, listener, service, reports))
            .map_err(worker_error)?;
    }
    let mut workers_ready = 0;
    let mut announce = Some(announce);
    loop {
        match inbox.recv().expect("this thread holds a sender too") {
            Report::Failed(source) => return Err(worker_error(source)),
            Report::Ready => workers_ready += 1,
        }
        if workers_ready == options.workers.get()
            && let Some(announce) = announce.take()
        {
            announce(address).map_err(ServeError::ReadyLine)?;
        }
    }
}

fn print_ready_line(address: SocketAddr) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "listening {address}")?;
    output.flush()
}

/// The whole life of a worker's thread.
fn work(engine: Engine, listener: TcpListener, service: Service, reports: Sender<Report>) {
    /// Reports the end of the thread also when it panics. One worker less would go unnoticed and
    /// spoil a measurement.
    struct ReportOnDrop {
        reports: Sender<Report>,
        error: Option<io::Error>,
    }

    impl Drop for ReportOnDrop {
        fn drop(&mut self) {
            let error =
                self.error.take().unwrap_or_else(|| io::Error::other("its thread panicked"));
            // A failure to report means that the server is ending anyway.
            let _ = self.reports.send(Report::Failed(error));
        }
    }

    let mut last_words = ReportOnDrop { reports, error: None };
    let ready = || {
        let _ = last_words.reports.send(Report::Ready);
    };
    let Err(error) = match engine {
        Engine::Epoll => epoll::serve_worker(listener, service, ready),
        Engine::IoUring => io_uring::serve_worker(listener, service, ready),
    };
    last_words.error = Some(error);
}
