//! The scenarios with work: tasks share a lock or a channel, or pass requests on.
//!
//! Each request of a pipeline is answered before the next one begins.

use std::io;
use std::sync::LazyLock;
use std::time::Duration;

use shared::{READ_BYTES, REPLY, WorkReader, work};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::{Mutex, mpsc, oneshot};

/// Requests that may wait for the answering task.
const CHANNEL_ROOM: usize = 64;

static LOCK: Mutex<()> = Mutex::const_new(());
/// Leads to the answering task, which starts with the first connection.
static REQUESTS: LazyLock<mpsc::Sender<Request>> = LazyLock::new(|| {
    let (sender, receiver) = mpsc::channel(CHANNEL_ROOM);
    tokio::spawn(answer(receiver));
    sender
});

struct Request {
    time: Duration,
    answer: oneshot::Sender<&'static [u8]>,
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
    let mut reader = WorkReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        for time in reader.read(&buffer[..length]) {
            let (answer, answered) = oneshot::channel();
            requests.send(Request { time, answer }).await.map_err(io::Error::other)?;
            stream.write_all(answered.await.map_err(io::Error::other)?).await?;
        }
    }
}

/// The only task of the server that works in `channel`.
async fn answer(mut requests: mpsc::Receiver<Request>) {
    while let Some(Request { time, answer }) = requests.recv().await {
        work(time);
        // It fails if the connection has ended, whose task no longer waits.
        let _ = answer.send(REPLY);
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

pub async fn serve_handoff(stream: TcpStream) -> io::Result<()> {
    let (mut stream, output) = stream.into_split();
    let (requests, receiver) = mpsc::channel(1);
    // Not awaited at the end: it writes what is left and then drops its half, the last.
    tokio::spawn(reply(output, receiver));
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
async fn reply(mut output: OwnedWriteHalf, mut requests: mpsc::Receiver<()>) -> io::Result<()> {
    while requests.recv().await.is_some() {
        output.write_all(REPLY).await?;
    }
    Ok(())
}
