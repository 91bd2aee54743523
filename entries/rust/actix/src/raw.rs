//! The variant `raw`: our own service on actix-server, with httparse and a prepared reply.
//!
//! It deliberately goes without actix-http: it builds no request, has no router and sends no date.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use actix_rt::net::TcpStream;
use actix_rt::time::timeout;
use actix_server::Server;
use actix_service::fn_service;
use bytes::{Buf as _, BytesMut};
use shared::{Options, READ_BYTES, REPLY, Scenario};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const HEAD_BYTES_MOST: usize = 64 * 1024;
const HEADERS_MOST: usize = 64;

/// Takes all complete heads out of `input` and appends a reply to each to `output`.
fn answer(input: &mut BytesMut, output: &mut BytesMut) -> io::Result<()> {
    while !input.is_empty() {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MOST];
        match httparse::Request::new(&mut headers).parse(input) {
            Ok(httparse::Status::Complete(length)) => input.advance(length),
            Ok(httparse::Status::Partial) if input.len() < HEAD_BYTES_MOST => break,
            Ok(httparse::Status::Partial) => return Err(io::ErrorKind::InvalidData.into()),
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
        output.extend_from_slice(REPLY);
    }
    Ok(())
}

async fn serve_hello(mut stream: TcpStream) -> io::Result<()> {
    let mut input = BytesMut::with_capacity(READ_BYTES);
    let mut output = BytesMut::with_capacity(READ_BYTES);
    loop {
        input.reserve(READ_BYTES / 2);
        if stream.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
        answer(&mut input, &mut output)?;
        stream.write_all(&output).await?;
        output.clear();
    }
}

async fn serve_hello_timeout(mut stream: TcpStream, limit: Duration) -> io::Result<()> {
    let mut input = BytesMut::with_capacity(READ_BYTES);
    let mut output = BytesMut::with_capacity(READ_BYTES);
    loop {
        input.reserve(READ_BYTES / 2);
        if timeout(limit, stream.read_buf(&mut input)).await?? == 0 {
            return Ok(());
        }
        answer(&mut input, &mut output)?;
        let mut rest = &output[..];
        // Not `write_all`, because the limit holds for each step that makes progress.
        while !rest.is_empty() {
            let length = timeout(limit, stream.write(rest)).await??;
            rest = &rest[length..];
        }
        output.clear();
    }
}

async fn serve_echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..length]).await?;
    }
}

async fn serve(stream: TcpStream, scenario: Scenario) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match scenario {
        Scenario::Hello => serve_hello(stream).await,
        Scenario::HelloTimeout(limit) => serve_hello_timeout(stream, limit).await,
        Scenario::Echo => serve_echo(stream).await,
    }
}

pub fn run(options: &Options) -> io::Result<()> {
    let scenario = options.scenario;
    run_service(options, move |stream| serve(stream, scenario))
}

/// Has the workers of actix-server serve each connection with `serve`.
pub fn run_service<F, R>(options: &Options, serve: F) -> io::Result<()>
where
    F: Fn(TcpStream) -> R + Clone + Send + 'static,
    R: Future<Output = io::Result<()>> + 'static,
{
    let listener = TcpListener::bind(options.address)?;
    let address = listener.local_addr()?;
    actix_rt::System::new().block_on(async {
        let server = Server::build()
            .workers(options.workers)
            // Its own handler of SIGTERM would wait for the open connections.
            .disable_signals()
            .listen("wirebench", listener, move || fn_service(serve.clone()))?;
        crate::announce_and_serve(server.run(), address).await
    })
}
