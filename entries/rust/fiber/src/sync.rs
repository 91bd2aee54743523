//! The scenarios in which requests have work: fibers that share a lock or a channel, or pass requests on.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use shared::{READ_BYTES, REPLY, WorkReader, work};
use wirebench_fiber::net::TcpStream;
use wirebench_fiber::sync::{Mutex, Receiver, Sender, channel};
use wirebench_fiber::{Parts, spawn};

/// Requests that may wait for the answering fiber.
const CHANNEL_ROOM: usize = 64;

/// What a runtime's connections have in common.
pub struct Common<P: Parts> {
    lock: Mutex<P, ()>,
    requests: Sender<P, Request<P>>,
}

struct Request<P: Parts> {
    time: Duration,
    answer: Sender<P, ()>,
}

impl<P: Parts> Common<P> {
    /// Starts the only fiber that works in `channel`.
    pub fn start() -> io::Result<Arc<Self>> {
        let (requests, receiver) = channel(CHANNEL_ROOM);
        spawn::<P, _>(move || answer(&receiver))?;
        Ok(Arc::new(Self { lock: Mutex::new(()), requests }))
    }
}

fn answer<P: Parts>(requests: &Receiver<P, Request<P>>) {
    while let Ok(Request { time, answer }) = requests.receive() {
        work(time);
        // It fails if the connection has ended, whose fiber no longer waits.
        let _ = answer.send(());
    }
}

/// Calls `each` with the work of each request, until the client ends its side.
fn requests<P: Parts>(
    stream: &TcpStream<P>,
    mut each: impl FnMut(Duration) -> io::Result<()>,
) -> io::Result<()> {
    let mut reader = WorkReader::default();
    let mut buffer = [0; READ_BYTES];
    loop {
        let length = stream.read(&mut buffer, None)?;
        if length == 0 {
            return Ok(());
        }
        reader.read(&buffer[..length]).try_for_each(&mut each)?;
    }
}

pub fn serve_mutex<P: Parts>(stream: &TcpStream<P>, common: &Common<P>) -> io::Result<()> {
    requests(stream, |time| {
        let guard = common.lock.lock();
        work(time);
        drop(guard);
        stream.write_all(REPLY, None)
    })
}

pub fn serve_channel<P: Parts>(stream: &TcpStream<P>, common: &Common<P>) -> io::Result<()> {
    let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    let (answer, answered) = channel::<P, ()>(1);
    requests(stream, |time| {
        let answer = answer.clone();
        common.requests.send(Request { time, answer }).map_err(gone)?;
        answered.receive().map_err(gone)?;
        stream.write_all(REPLY, None)
    })
}

pub fn serve_skewed<P: Parts>(stream: &TcpStream<P>) -> io::Result<()> {
    requests(stream, |time| {
        work(time);
        stream.write_all(REPLY, None)
    })
}

pub fn serve_handoff<P: Parts>(stream: TcpStream<P>) -> io::Result<()> {
    let stream = Arc::new(stream);
    let output = Arc::clone(&stream);
    let (sender, receiver) = channel::<P, ()>(1);
    // It writes what is left and then drops the stream, as the last one.
    spawn::<P, _>(
        move || {
            while receiver.receive().is_ok() && output.write_all(REPLY, None).is_ok() {}
        },
    )?;
    requests(&stream, |time| {
        // It fails if the other fiber could not write.
        sender.send(()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        work(time);
        Ok(())
    })
}
