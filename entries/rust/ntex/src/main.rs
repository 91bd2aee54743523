//! ntex: the web framework, on its own runtime with epoll.
//!
//! It deliberately has no `hello-timeout`: ntex counts its limits in whole seconds.

use std::io;
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ntex::SharedCfg;
use ntex::http::{HttpServiceConfig, KeepAlive};
use ntex::rt::{DefaultRuntime, System};
use ntex::time::Seconds;
use ntex::web::{self, App, HttpServer};
use shared::Options;

async fn hello() -> &'static str {
    "Hello world!"
}

async fn serve(listener: TcpListener, workers: usize) -> io::Result<()> {
    let address = listener.local_addr()?;
    let missing_workers = Arc::new(AtomicUsize::new(workers));
    // `hello` keeps connections alive, so the limits of a few seconds are switched off.
    let http =
        HttpServiceConfig::new().set_keepalive(KeepAlive::Os).set_client_timeout(Seconds::ZERO);
    HttpServer::new(async move || {
        // Each worker makes its application once; the last one says that all are there.
        if missing_workers.fetch_sub(1, Ordering::Relaxed) == 1
            && let Err(error) = shared::announce(address)
        {
            eprintln!("{error}");
        }
        App::new().route("/", web::get().to(hello))
    })
    .workers(workers)
    // Its own handler of SIGTERM would wait for the open connections.
    .disable_signals()
    .config(SharedCfg::new("hello").add(http))
    .listen(listener)?
    .run()
    .await
}

fn run(options: &Options) -> io::Result<()> {
    let listener = TcpListener::bind(options.address)?;
    let workers = options.workers;
    System::build()
        .name("server")
        .disable_signals()
        .build(DefaultRuntime)
        .block_on(serve(listener, workers))
}

fn main() -> ExitCode {
    shared::main(&["hello"], run)
}
