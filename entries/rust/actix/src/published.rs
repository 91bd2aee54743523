//! The variant `published-raw`: the design of actix-raw in the httpbench document, on actix-server.
//!
//! Unlike `raw`, it decodes each head into a request of actix-http, compares the path and writes a
//! date. It deliberately has no router and ignores the header fields of a request.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_http::{Request, h1};
use actix_rt::net::TcpStream;
use bytes::{Buf as _, BytesMut};
use tokio::io::AsyncWrite as _;
use tokio_util::codec::Decoder as _;
use tokio_util::io::poll_read_buf;

/// With the date and the body, a reply has 162 bytes, as in the document.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n\
    Server: Actix RAW_0123456789012345678901234567\r\n\
    Content-Type: text/plain\r\n\
    Content-Length: 12\r\n";
const END_AND_BODY: &[u8] = b"\r\nHello world!";
const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

/// Room that a buffer gets when it has less than `ROOM_LEAST`.
const ROOM: usize = 32 * 1024;
const ROOM_LEAST: usize = 512;

struct Connection {
    stream: TcpStream,
    input: BytesMut,
    output: BytesMut,
    codec: h1::Codec,
}

impl Connection {
    /// Reads until the socket has nothing left, answers, and writes; ready when the stream ends.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Poll::Ready(length) = self.poll_read(context)? {
            if length == 0 {
                return Poll::Ready(Ok(()));
            }
        }
        while let Some(message) = self.codec.decode(&mut self.input).map_err(io::Error::other)? {
            let h1::Message::Item(request) = message else {
                return Poll::Ready(Err(ErrorKind::InvalidData.into()));
            };
            self.answer(&request);
        }
        ready!(self.poll_write(context))?;
        Poll::Pending
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut written = 0;
        while written < self.output.len() {
            match Pin::new(&mut self.stream).poll_write(context, &self.output[written..])? {
                Poll::Ready(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Poll::Ready(length) => written += length,
                Poll::Pending => {
                    self.output.advance(written);
                    return Poll::Pending;
                }
            }
        }
        self.output.clear();
        Poll::Ready(Ok(()))
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        make_room(&mut self.input);
        poll_read_buf(Pin::new(&mut self.stream), context, &mut self.input)
    }

    fn answer(&mut self, request: &Request) {
        make_room(&mut self.output);
        if request.path() == "/" {
            self.output.extend_from_slice(HEAD);
            self.codec.config().write_date_header(&mut self.output, false);
            self.output.extend_from_slice(END_AND_BODY);
        } else {
            self.output.extend_from_slice(NOT_FOUND);
        }
    }
}

fn make_room(buffer: &mut BytesMut) {
    if buffer.capacity() - buffer.len() < ROOM_LEAST {
        buffer.reserve(ROOM);
    }
}

/// Serves one connection.
pub async fn serve(stream: TcpStream) -> io::Result<()> {
    // The author left it off, which makes no difference to a client that waits for each reply.
    stream.set_nodelay(true)?;
    let mut connection = Connection {
        stream,
        input: BytesMut::with_capacity(ROOM),
        output: BytesMut::with_capacity(ROOM),
        codec: h1::Codec::default(),
    };
    poll_fn(|context| connection.poll(context)).await
}
