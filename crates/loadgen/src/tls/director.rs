//! A [`Director`] between a session and its engine that gives the engine ciphertext and the session
//! plaintext.
//!
//! For the session, a connection is made when the handshake is over, so its connect time covers
//! both. Outgoing data is sealed in pieces. A piece counts as sent when the last byte of its
//! ciphertext is, and the next one is sealed only then: a reply before its request is noticed as
//! without TLS, and at most one piece is kept.
//!
//! Each side announces the end of a connection (RFC 8446, 6.1): the session is done with a
//! connection a moment before it is closed. Connections cut off by the end of the load are not
//! announced.

use rustix::io::Errno;
use std::{collections::VecDeque, sync::Arc};

use super::{Channel, Connector, Room, Tally};
use crate::{
    codec::Codec,
    director::{Action, Command, Director},
    failure::Failure,
    outcome::Outcome,
    session::Session,
    worker::SessionOwner,
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum TlsState {
    Handshake,
    Open,
    /// The session is done with it; the last bytes are on their way.
    Leaving,
}

/// One connection with an established socket.
struct Line {
    channel: Channel,
    state: TlsState,
    /// Plaintext whose ciphertext is on its way.
    sealed_bytes: usize,
}

pub(crate) struct TlsDirector<C: Codec> {
    session: Session<C>,
    connector: Arc<Connector>,
    /// By place; none without an established socket.
    lines: Vec<Option<Box<Line>>>,
    room: Room,
    tally: Tally,
    /// Places whose next connection waits until the one before has said goodbye.
    to_make: VecDeque<usize>,
    now_ns: u64,
}

impl<C: Codec> TlsDirector<C> {
    pub(crate) fn new(session: Session<C>, connector: Arc<Connector>) -> Self {
        Self {
            session,
            connector,
            lines: Vec::new(),
            room: Room::default(),
            tally: Tally::default(),
            to_make: VecDeque::new(),
            now_ns: 0,
        }
    }

    fn state(&self, slot: usize) -> Option<TlsState> {
        self.lines.get(slot)?.as_ref().map(|line| line.state)
    }

    fn forget(&mut self, slot: usize) {
        if let Some(line) = self.lines.get_mut(slot) {
            *line = None;
        }
    }

    /// Executes the session's order. Its output is sealed, unless earlier sealed data is still
    /// being sent.
    fn follow(&mut self, slot: usize, action: Action) -> Action {
        if action == Action::Close {
            return self.leave(slot);
        }
        let Some(Some(line)) = self.lines.get_mut(slot) else { return action };
        if line.state == TlsState::Open && line.sealed_bytes == 0 {
            let plaintext = self.session.outgoing(slot);
            if !plaintext.is_empty() {
                match line.channel.seal(plaintext) {
                    Ok(bytes) => line.sealed_bytes = bytes,
                    Err(error) => {
                        self.forget(slot);
                        return self.broken(slot, &error.to_string());
                    }
                }
            }
        }
        if line.channel.outgoing().is_empty() { Action::Wait } else { Action::Send }
    }

    /// The session is done with the connection. The server is notified, except in the middle of a
    /// request, where it could not understand it.
    fn leave(&mut self, slot: usize) -> Action {
        let Some(Some(line)) = self.lines.get_mut(slot) else { return Action::Close };
        let told = match line.state {
            // The rest to send is an alert.
            TlsState::Handshake => !line.channel.outgoing().is_empty(),
            TlsState::Open => {
                line.channel.outgoing().is_empty() && line.channel.announce_end().is_ok()
            }
            TlsState::Leaving => true,
        };
        if told {
            line.state = TlsState::Leaving;
            return Action::Send;
        }
        self.forget(slot);
        Action::Close
    }

    /// TLS has failed, for this reason.
    #[cold]
    fn broken(&mut self, slot: usize, reason: &str) -> Action {
        let missing = self.connector.missing_certificate();
        let reason = missing.map_or(reason.to_owned(), |missing| format!("{reason}; {missing}"));
        self.session.broken(slot, Failure::Tls(reason), self.now_ns)
    }

    fn establish(&mut self, slot: usize, now_ns: u64) -> Action {
        let Some(Some(line)) = self.lines.get_mut(slot) else { return Action::Wait };
        if line.state != TlsState::Handshake || !line.channel.is_established() {
            return Action::Wait;
        }
        line.state = TlsState::Open;
        self.tally.count(&line.channel);
        self.session.connected(slot, now_ns)
    }
}

impl<C: Codec> Director for TlsDirector<C> {
    fn tick(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.session.tick(now_ns);
    }

    fn wakes_at(&mut self) -> u64 {
        self.session.wakes_at()
    }

    fn next_command(&mut self, now_ns: u64) -> Option<Command> {
        self.now_ns = now_ns;
        if let Some(index) = self.to_make.iter().position(|slot| self.state(*slot).is_none()) {
            return self.to_make.remove(index).map(Command::Connect);
        }
        loop {
            let command = self.session.next_command(now_ns)?;
            return Some(match command {
                // The place is still taken by a connection that says goodbye.
                Command::Connect(slot) if self.state(slot).is_some() => {
                    self.to_make.push_back(slot);
                    continue;
                }
                Command::Connect(_) => command,
                Command::Send(slot) => match self.follow(slot, Action::Send) {
                    Action::Close => Command::Close(slot),
                    Action::Send | Action::Wait => command,
                },
                Command::Close(slot) => {
                    self.to_make.retain(|waiting| *waiting != slot);
                    self.forget(slot);
                    command
                }
            });
        }
    }

    fn is_over(&self) -> bool {
        self.session.is_over()
    }

    fn found(&mut self, ready: usize, possible: usize) {
        self.session.found(ready, possible);
    }

    fn connected(&mut self, slot: usize, now_ns: u64) -> Action {
        self.now_ns = now_ns;
        self.session.taken(slot);
        match self.connector.channel() {
            Ok(channel) => {
                let line = Line { channel, state: TlsState::Handshake, sealed_bytes: 0 };
                if self.lines.len() <= slot {
                    self.lines.resize_with(slot + 1, || None);
                }
                self.lines[slot] = Some(Box::new(line));
                Action::Send
            }
            Err(error) => self.broken(slot, &error.to_string()),
        }
    }

    fn outgoing(&self, slot: usize) -> &[u8] {
        match self.lines.get(slot) {
            Some(Some(line)) => line.channel.outgoing(),
            Some(None) | None => &[],
        }
    }

    fn outgoing_is_all(&self, slot: usize, bytes: usize) -> bool {
        let Some(Some(line)) = self.lines.get(slot) else { return true };
        line.channel.outgoing().len() == bytes
            && match line.state {
                TlsState::Handshake => true,
                // The unsealed rest follows.
                TlsState::Open => self.session.outgoing_is_all(slot, line.sealed_bytes),
                // The end of the connection follows.
                TlsState::Leaving => false,
            }
    }

    fn sent(&mut self, slot: usize, bytes: usize) -> Action {
        let Some(Some(line)) = self.lines.get_mut(slot) else { return Action::Wait };
        line.channel.sent(bytes);
        if !line.channel.outgoing().is_empty() {
            return Action::Send;
        }
        match line.state {
            TlsState::Handshake => Action::Wait,
            TlsState::Leaving => {
                self.forget(slot);
                Action::Close
            }
            TlsState::Open => {
                let action = match std::mem::take(&mut line.sealed_bytes) {
                    0 => Action::Wait,
                    sealed_bytes => self.session.sent(slot, sealed_bytes),
                };
                self.follow(slot, action)
            }
        }
    }

    fn received(&mut self, slot: usize, bytes: &[u8], now_ns: u64) -> Action {
        self.now_ns = now_ns;
        let Some(Some(line)) = self.lines.get_mut(slot) else { return Action::Wait };
        if line.state == TlsState::Leaving {
            return Action::Wait;
        }
        let result = line.channel.receive(bytes, &mut self.room);
        let is_ended = line.channel.is_ended();
        let mut action = self.establish(slot, now_ns);
        if action != Action::Close && !self.room.plaintext.is_empty() {
            action = self.session.received(slot, &self.room.plaintext, now_ns);
        }
        if action != Action::Close {
            action = match result {
                Err(error) => self.broken(slot, &error.to_string()),
                Ok(()) if !is_ended => action,
                Ok(()) if self.state(slot) == Some(TlsState::Handshake) => {
                    self.broken(slot, "the server ended the connection in the handshake")
                }
                Ok(()) => self.session.finished(slot, now_ns),
            };
        }
        self.follow(slot, action)
    }

    fn finished(&mut self, slot: usize, now_ns: u64) -> Action {
        self.now_ns = now_ns;
        let state = self.state(slot);
        self.forget(slot);
        match state {
            None => self.session.finished(slot, now_ns),
            Some(TlsState::Handshake) => {
                self.broken(slot, "the server closed the connection in the handshake")
            }
            // Without the announcement a truncation cannot be excluded.
            Some(TlsState::Open) => self.session.broken(slot, Failure::ClosedEarly, now_ns),
            Some(TlsState::Leaving) => Action::Close,
        }
    }

    fn failed(&mut self, slot: usize, error: Errno, now_ns: u64) -> Action {
        self.now_ns = now_ns;
        let state = self.state(slot);
        self.forget(slot);
        match state {
            Some(TlsState::Handshake) => match error {
                Errno::CONNRESET | Errno::PIPE => {
                    self.broken(slot, "the server reset the connection in the handshake")
                }
                other => self.session.failed(slot, other, now_ns),
            },
            None | Some(TlsState::Open) => self.session.failed(slot, error, now_ns),
            Some(TlsState::Leaving) => Action::Close,
        }
    }
}

impl<C: Codec> SessionOwner for TlsDirector<C> {
    type Codec = C;

    fn session(&mut self) -> &mut Session<C> {
        &mut self.session
    }

    fn take_outcome(&mut self) -> Outcome {
        self.connector.add(&std::mem::take(&mut self.tally));
        self.session.take_outcome()
    }
}
