//! The scenarios with work: tasks share a lock or a channel, or pass requests on.
//!
//! Each request of a pipeline is answered before the next one begins.

use std::io;
use std::sync::LazyLock;
use std::time::Duration;

use shared::{READ_BYTES, REPLY, WorkReader, work};
use smol::channel::{Receiver, Sender, bounded};
use smol::io::{AsyncReadExt as _, AsyncWriteExt as _};
use smol::lock::Mutex;
use smol::net::TcpStream;

use crate::EXECUTOR;

/// Requests that may wait for the answering task.
const CHANNEL_ROOM: usize = 64;

static LOCK: Mutex<()> = Mutex::new(());
/// Leads to the answering task, which starts with the first connection.
static REQUESTS: LazyLock<Sender<Request>> = LazyLock::new(|| {
    let (sender, receiver) = bounded(CHANNEL_ROOM);
    EXECUTOR.spawn(answer(receiver)).detach();
    sender
});

struct Request {
    time: Duration,
    answer: Sender<&'static [u8]>,
}

pub async fn serve_mutex(mut stream: TcpStream) -> io::Result<()> {
    let mut reader = WorkReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        for time in reader.read(&buffer[..length]) {
            let guard = LOCK.lock().await;
            work(time);
            drop(guard);
            stream.write_all(REPLY).await?;
        }
    }
}

pub async fn serve_channel(mut stream: TcpStream) -> io::Result<()> {
    let requests = &*REQUESTS;
    let (answer, answers) = bounded(1);
    let mut reader = WorkReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        for time in reader.read(&buffer[..length]) {
            let request = Request { time, answer: answer.clone() };
            requests.send(request).await.map_err(io::Error::other)?;
            stream.write_all(answers.recv().await.map_err(io::Error::other)?).await?;
        }
    }
}

/// The only task of the server that works in `channel`.
async fn answer(requests: Receiver<Request>) {
    while let Ok(Request { time, answer }) = requests.recv().await {
        work(time);
        // It fails if the connection has ended, whose task no longer waits.
        let _ = answer.send(REPLY).await;
    }
}

pub async fn serve_skewed(mut stream: TcpStream) -> io::Result<()> {
    let mut reader = WorkReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        for time in reader.read(&buffer[..length]) {
            work(time);
            stream.write_all(REPLY).await?;
        }
    }
}

pub async fn serve_handoff(mut stream: TcpStream) -> io::Result<()> {
    let (requests, receiver) = bounded(1);
    // Not awaited at the end: it writes what is left and then drops the stream, the last to do so.
    EXECUTOR.spawn(reply(stream.clone(), receiver)).detach();
    let mut reader = WorkReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        for time in reader.read(&buffer[..length]) {
            // It fails if the other task could not write.
            requests.send(()).await.map_err(io::Error::other)?;
            work(time);
        }
    }
}

/// Replies to each request of a connection in `handoff`.
async fn reply(mut stream: TcpStream, requests: Receiver<()>) -> io::Result<()> {
    while requests.recv().await.is_ok() {
        stream.write_all(REPLY).await?;
    }
    Ok(())
}
