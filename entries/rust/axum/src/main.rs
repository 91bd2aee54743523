//! axum: router and handler over hyper, on Tokio's multi-threaded runtime.
//!
//! It is deliberately not `axum::serve`, which has no option to answer half-closed connections.

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use axum::Router;
use axum::routing::get;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use shared::{ACCEPT_RETRY, BACKLOG, Options};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::sleep;

async fn hello() -> &'static str {
    "Hello world!"
}

async fn serve(stream: TcpStream, router: Router) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let mut http = auto::Builder::new(TokioExecutor::new());
    // A client that ended its side after a request still gets the reply.
    http.http1().half_close(true);
    // An error ends a connection that is reset: it needs no report.
    let _ = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await;
}

async fn accept(listener: TcpListener) {
    let router = Router::new().route("/", get(hello));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, router.clone()))),
            // Out of file descriptors or memory: the next accept would fail at once as well.
            Err(_) => sleep(ACCEPT_RETRY).await,
        }
    }
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG.into())
}

fn run(options: &Options) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(options.workers)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = listen_on(options.address)?;
        shared::announce(listener.local_addr()?)?;
        // Spawned, so that the workers accept too and the main thread only waits.
        tokio::spawn(accept(listener)).await.map_err(io::Error::other)
    })
}

fn main() -> ExitCode {
    shared::main(&["hello"], run)
}
