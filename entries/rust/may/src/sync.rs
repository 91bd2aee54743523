//! The scenarios with work: coroutines share a lock or a channel, or pass requests on.
//!
//! Each request of a pipeline is answered before the next one begins.

use std::io::{self, Read as _, Write as _};
use std::sync::LazyLock;
use std::time::Duration;

use may::go;
use may::io::{SplitIo as _, SplitWriter};
use may::net::TcpStream;
use may::sync::{Mutex, mpsc};
use shared::{READ_BYTES, REPLY, WorkReader, work};

use crate::bounded;

/// Requests that may wait for the answering coroutine.
const CHANNEL_ROOM: usize = 64;

static LOCK: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);
/// Leads to the answering coroutine, which starts with the first connection.
static REQUESTS: LazyLock<bounded::Sender<Request>> = LazyLock::new(|| {
    let (sender, receiver) = bounded::channel(CHANNEL_ROOM);
    go!(move || answer(&receiver));
    sender
});

struct Request {
    time: Duration,
    answer: mpsc::Sender<&'static [u8]>,
}

pub fn serve_mutex(mut stream: TcpStream) -> io::Result<()> {
    let mut reader = WorkReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        for time in reader.read(&buffer[..length]) {
            let guard = LOCK.lock().map_err(|_| io::Error::other("a holder panicked"))?;
            work(time);
            drop(guard);
            stream.write_all(REPLY)?;
        }
    }
}

pub fn serve_channel(mut stream: TcpStream) -> io::Result<()> {
    let requests = &*REQUESTS;
    let (answer, answers) = mpsc::channel();
    let mut reader = WorkReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        for time in reader.read(&buffer[..length]) {
            let request = Request { time, answer: answer.clone() };
            requests.send(request).map_err(io::Error::other)?;
            stream.write_all(answers.recv().map_err(io::Error::other)?)?;
        }
    }
}

/// The only coroutine of the server that works in `channel`.
fn answer(requests: &bounded::Receiver<Request>) {
    while let Ok(Request { time, answer }) = requests.recv() {
        work(time);
        // It fails if the connection has ended, whose coroutine no longer waits.
        let _ = answer.send(REPLY);
    }
}

pub fn serve_skewed(mut stream: TcpStream) -> io::Result<()> {
    let mut reader = WorkReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        for time in reader.read(&buffer[..length]) {
            work(time);
            stream.write_all(REPLY)?;
        }
    }
}

pub fn serve_handoff(stream: TcpStream) -> io::Result<()> {
    let (mut stream, output) = stream.split()?;
    let (requests, receiver) = bounded::channel(1);
    // Not joined at the end: it writes what is left and then drops its half, the last.
    go!(move || reply(output, &receiver));
    let mut reader = WorkReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        for time in reader.read(&buffer[..length]) {
            // It fails if the other coroutine could not write.
            requests.send(()).map_err(io::Error::other)?;
            work(time);
        }
    }
}

/// Replies to each request of a connection in `handoff`.
fn reply(mut output: SplitWriter<TcpStream>, requests: &bounded::Receiver<()>) -> io::Result<()> {
    while requests.recv().is_ok() {
        output.write_all(REPLY)?;
    }
    Ok(())
}
