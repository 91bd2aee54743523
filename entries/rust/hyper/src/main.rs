//! hyper: HTTP/1 over Tokio's multi-threaded runtime, one task per connection.
//!
//! It is deliberately not axum: there is no router, every request gets the same reply.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use shared::{ACCEPT_RETRY, BACKLOG, Options, Scenario};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::sleep;
use tokio_io_timeout::TimeoutStream;

const BODY: &[u8] = b"Hello world!";

async fn reply(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(BODY)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(response)
}

async fn serve<Io>(io: Io)
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let mut http = http1::Builder::new();
    // A client that ended its side after a request still gets the reply.
    http.half_close(true);
    // An error ends a connection that is reset or times out: it needs no report.
    let _ = http.serve_connection(TokioIo::new(io), service_fn(reply)).await;
}

/// Not `header_read_timeout`: it limits whole heads instead of single reads, and no writes.
fn with_timeouts(stream: TcpStream, limit: Duration) -> Pin<Box<TimeoutStream<TcpStream>>> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_read_timeout(Some(limit));
    stream.set_write_timeout(Some(limit));
    Box::pin(stream)
}

async fn serve_scenario(stream: TcpStream, scenario: Scenario) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    match scenario {
        Scenario::HelloTimeout(limit) => serve(with_timeouts(stream, limit)).await,
        _ => serve(stream).await,
    }
}

async fn accept(listener: TcpListener, scenario: Scenario) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve_scenario(stream, scenario))),
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
    let scenario = options.scenario;
    runtime.block_on(async {
        let listener = listen_on(options.address)?;
        shared::announce(listener.local_addr()?)?;
        // Spawned, so that the workers accept too and the main thread only waits.
        tokio::spawn(accept(listener, scenario)).await.map_err(io::Error::other)
    })
}

fn main() -> ExitCode {
    shared::main(&["hello", "hello-timeout"], run)
}
