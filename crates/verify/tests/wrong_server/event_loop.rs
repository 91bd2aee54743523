//! An epoll loop per worker, each with a listening socket of its own, and the faults that lie in
//! that.

use crate::{
    Options, announce,
    conversation::{After, Conversation},
    fault::Fault,
    garbage,
};
use rustix::{
    event::{Timespec, epoll},
    net::{AddressFamily, SocketFlags, SocketType, sockopt},
};
use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::fd::OwnedFd,
    thread,
};

const LISTENER: u64 = 0;
const BUFFER_BYTES: usize = 16 * 1024;

struct Connection {
    stream: TcpStream,
    conversation: Conversation,
    out: Vec<u8>,
    ended: bool,
}

pub(crate) fn serve(options: &Options) -> io::Result<()> {
    let first = listen(options.address)?;
    let address = first.local_addr()?;
    let mut listeners = vec![first];
    let workers = match options.fault {
        Fault::OneWorker => 1,
        Fault::TooManyWorkers => options.workers * 2,
        _ => options.workers,
    };
    while listeners.len() < workers {
        listeners.push(listen(address)?);
    }
    if options.fault == Fault::NoneCollecting {
        garbage::start_helpers();
    }
    announce(options, address)?;
    thread::scope(|scope| {
        let running: Vec<_> =
            listeners.iter().map(|listener| scope.spawn(move || run(options, listener))).collect();
        for worker in running {
            worker.join().map_err(|_| io::Error::other("a worker has panicked"))??;
        }
        Ok(())
    })
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket: OwnedFd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, 1024)?;
    Ok(TcpListener::from(socket))
}

fn run(options: &Options, listener: &TcpListener) -> io::Result<()> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let wanted = epoll::EventFlags::IN;
    epoll::add(&poll, listener, epoll::EventData::new_u64(LISTENER), wanted)?;
    let mut connections: BTreeMap<u64, Connection> = BTreeMap::new();
    let mut next = LISTENER + 1;
    let mut events = Vec::with_capacity(64);
    loop {
        events.clear();
        let forever: Option<&Timespec> = None;
        match epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), forever) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            let key = event.data.u64();
            if key == LISTENER {
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(true)?;
                    stream.set_nodelay(true)?;
                    epoll::add(&poll, &stream, epoll::EventData::new_u64(next), wanted)?;
                    let conversation = options.conversation();
                    let connection =
                        Connection { stream, conversation, out: Vec::new(), ended: false };
                    connections.insert(next, connection);
                    next += 1;
                }
            } else if let Some(connection) = connections.get_mut(&key) {
                match step(options, connection) {
                    Ok(Some(wanted)) => {
                        let data = epoll::EventData::new_u64(key);
                        epoll::modify(&poll, &connection.stream, data, wanted)?;
                    }
                    Ok(None) | Err(_) => {
                        connections.remove(&key);
                    }
                }
            }
        }
    }
}

/// Goes on with one connection. Returns what to wait for, or nothing when it is over.
fn step(options: &Options, connection: &mut Connection) -> io::Result<Option<epoll::EventFlags>> {
    let Connection { stream, conversation, out, ended } = connection;
    let hoards = options.fault == Fault::EchoHoards;
    let mut close = false;
    if (out.is_empty() || hoards) && !*ended {
        let mut buffer = [0; BUFFER_BYTES];
        match stream.read(&mut buffer) {
            Ok(0) => *ended = true,
            Ok(length) => {
                if options.fault == Fault::NoneCollecting {
                    garbage::has_read(length);
                }
                close = conversation.feed(&buffer[..length], out) == After::Close;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    while !out.is_empty() {
        match stream.write(out) {
            Ok(length) if options.fault == Fault::LosesPartialWrites => {
                // What was not taken is forgotten.
                let _ = length;
                out.clear();
            }
            Ok(length) => {
                out.drain(..length);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if options.fault == Fault::LosesPartialWrites {
                    out.clear();
                }
                break;
            }
            Err(error) => return Err(error),
        }
    }
    if close || (*ended && out.is_empty()) {
        return Ok(None);
    }
    let read = !*ended && (out.is_empty() || hoards);
    let mut wanted = epoll::EventFlags::empty();
    wanted.set(epoll::EventFlags::IN, read);
    wanted.set(epoll::EventFlags::OUT, !out.is_empty());
    Ok(Some(wanted))
}
