//! One worker: a listener, a `Poll` and the connections that it accepted.
//!
//! It deliberately shares nothing with the other workers; the kernel spreads the connections.

use std::io;
use std::net::TcpListener as StdTcpListener;
use std::time::Instant;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use shared::{ACCEPT_RETRY, Scenario};
use slab::Slab;

use crate::connection::{Connection, Progress, unless_blocked};

const LISTENER: Token = Token(usize::MAX);
const EVENTS_PER_POLL: usize = 1024;
const BUFFER_BYTES: usize = 64 * 1024;

pub struct Worker {
    poll: Poll,
    listener: TcpListener,
    scenario: Scenario,
    connections: Slab<Connection>,
    /// One for all connections: what a read brings is used up before the next read.
    buffer: Vec<u8>,
    accept_again_at: Option<Instant>,
}

impl Worker {
    pub fn new(listener: StdTcpListener, scenario: Scenario) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            listener,
            scenario,
            connections: Slab::new(),
            buffer: vec![0; BUFFER_BYTES],
            accept_again_at: None,
        })
    }

    /// Returns only if the poll itself fails.
    pub fn run(&mut self) -> io::Result<std::convert::Infallible> {
        let mut events = Events::with_capacity(EVENTS_PER_POLL);
        loop {
            let patience =
                self.accept_again_at.map(|at| at.saturating_duration_since(Instant::now()));
            match self.poll.poll(&mut events, patience) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    Token(key) => self.serve(key),
                }
            }
            if self.accept_again_at.is_some_and(|at| at <= Instant::now()) {
                self.accept();
            }
        }
    }

    fn accept(&mut self) {
        self.accept_again_at = None;
        loop {
            match unless_blocked(|| self.listener.accept()) {
                // A connection that cannot be registered is dropped, which closes it.
                Ok(Some((stream, _))) => drop(self.register(stream)),
                Ok(None) => return,
                // Out of file descriptors or memory: the next accept would fail at once as well,
                // and no event will tell of the connections that wait already.
                Err(_) => {
                    self.accept_again_at = Some(Instant::now() + ACCEPT_RETRY);
                    return;
                }
            }
        }
    }

    fn register(&mut self, mut stream: TcpStream) -> io::Result<()> {
        let slot = self.connections.vacant_entry();
        self.poll.registry().register(&mut stream, Token(slot.key()), interests())?;
        slot.insert(Connection::new(stream, self.scenario));
        Ok(())
    }

    fn serve(&mut self, key: usize) {
        // An event of this round may be of a connection that ended earlier in it.
        let Some(connection) = self.connections.get_mut(key) else { return };
        let registry = self.poll.registry();
        let going_on = match connection.serve(&mut self.buffer) {
            Ok(Progress::Waiting) => Ok(()),
            // Registering again brings another event for what is there already.
            Ok(Progress::Unfinished) => {
                registry.reregister(&mut connection.stream, Token(key), interests())
            }
            Ok(Progress::Ended) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) => Err(error),
        };
        // The end of the stream, a reset, a failure: each ends the connection without a report.
        if going_on.is_err() {
            let mut connection = self.connections.remove(key);
            // Should it fail, closing the socket right after takes it out of the poll too.
            let _ = self.poll.registry().deregister(&mut connection.stream);
        }
    }
}

/// Both at once: events are edges, so the unused one costs little.
fn interests() -> Interest {
    Interest::READABLE | Interest::WRITABLE
}
