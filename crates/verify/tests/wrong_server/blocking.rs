//! A thread per connection with calls that block, and the faults that lie in reading, writing and
//! waiting.

use crate::{Options, announce, conversation::After, fault::Fault};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::scenario::Scenario;

const BUFFER_BYTES: usize = 64 * 1024;
const FEW: usize = 50;
/// How long `echo-drops-tail` keeps bytes back.
const HELD_BACK_MS: u32 = 30;

pub(crate) fn serve(options: &Options, listener: &TcpListener) -> io::Result<()> {
    announce(options, listener.local_addr()?)?;
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        if options.fault == Fault::PrintsOnStdout {
            println!("a connection has come");
        }
        let number = open.fetch_add(1, Ordering::Relaxed);
        if options.fault == Fault::FewConnections && number >= FEW {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (options, open) = (*options, Arc::clone(&open));
        thread::spawn(move || {
            let outcome = talk(&options, stream);
            open.fetch_sub(1, Ordering::Relaxed);
            if outcome.is_err_and(|error| is_reset(&error)) && options.fault == Fault::DiesOnReset {
                eprintln!("wrong-server: a client has gone, so do I");
                std::process::exit(3);
            }
        });
    }
}

fn is_reset(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

fn talk(options: &Options, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(options.fault != Fault::DelaysSmallWrites)?;
    let accepted = Instant::now();
    let timeout = match options.fault {
        Fault::NeverTimesOut => None,
        Fault::TimesOutEarly => options.timeout.map(|timeout| timeout / 2),
        _ => options.timeout,
    };
    stream.set_read_timeout(timeout)?;
    let writes_time_out = options.fault != Fault::NeverTimesOutWrites;
    stream.set_write_timeout(timeout.filter(|_| writes_time_out))?;
    let mut conversation = options.conversation();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut out = Vec::new();
    loop {
        if options.fault == Fault::TimesOutActive
            && timeout.is_some_and(|timeout| accepted.elapsed() >= timeout)
        {
            return Ok(());
        }
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        out.clear();
        let after = conversation.feed(&buffer[..length], &mut out);
        match options.fault {
            Fault::LogsRequests => {
                let replies = out.windows(8).filter(|bytes| bytes == b"HTTP/1.1").count();
                (0..replies).for_each(|_| println!("GET / HTTP/1.1 200"));
            }
            Fault::TimesOutIdleOnly => stream.set_read_timeout(None)?,
            Fault::TimesOutKeepAliveEarly => {
                stream.set_read_timeout(timeout.map(|timeout| timeout * 3 / 10))?;
            }
            Fault::NeverTimesOutInHead => {
                stream.set_read_timeout(timeout.filter(|_| !conversation.is_in_head()))?;
            }
            _ => {}
        }
        if loses_at_end(options) && end_follows(&stream)? {
            return Ok(());
        }
        if let After::Delay(time) = after {
            thread::sleep(time);
        }
        match after {
            // The thread is both tasks of its connection.
            After::Work(time) if options.scenario == Scenario::Handoff => {
                stream.write_all(&out)?;
                work(options, time);
            }
            After::Work(time) => {
                work(options, time);
                stream.write_all(&out)?;
            }
            After::GoOn | After::Close | After::Delay(_) => stream.write_all(&out)?,
        }
        if after == After::Close {
            return Ok(());
        }
    }
}

/// Works for this long: alone, where the scenario wants it.
fn work(options: &Options, time: Duration) {
    static LOCK: Mutex<()> = Mutex::new(());
    let is_alone = matches!(options.scenario, Scenario::Mutex | Scenario::Channel);
    let alone = (is_alone && options.fault != Fault::WorksAtOnce).then(|| LOCK.lock());
    match options.fault {
        Fault::SkipsWork => {}
        Fault::SleepsForWork => thread::sleep(time),
        _ => {
            let begun = Instant::now();
            while begun.elapsed() < time {
                std::hint::spin_loop();
            }
        }
    }
    drop(alone);
}

const fn loses_at_end(options: &Options) -> bool {
    match options.scenario {
        Scenario::Echo => matches!(options.fault, Fault::EchoDropsTail),
        _ => matches!(options.fault, Fault::ForgetsAtHalfClose),
    }
}

/// Whether nothing but the end of the stream comes next. More bytes, or nothing for a while, is a
/// no.
fn end_follows(stream: &TcpStream) -> io::Result<bool> {
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(HELD_BACK_MS) * 1_000_000 };
    let mut fds = [PollFd::new(stream, PollFlags::IN)];
    poll(&mut fds, Some(&timeout))?;
    if fds[0].revents().is_empty() {
        return Ok(false);
    }
    Ok(stream.peek(&mut [0])? == 0)
}
