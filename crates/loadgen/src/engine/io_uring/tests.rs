//! The engine with a scripted director, over sockets. The behaviour of a load is tested for all
//! engines alike.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Sender, channel},
    thread,
    time::Duration,
};

use super::*;
use crate::{
    clock::Clock,
    dial::{Dialer, Endpoint, sources::Sources},
    share::Share,
};

/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn engine(listener: &TcpListener, places: usize) -> IoUringEngine {
    let equipment = EngineParams {
        dialer: Dialer::new(Endpoint::Ip(listener.local_addr().unwrap()), Sources::new(&[])),
        clock: Clock::start(),
        share: Share { connections: places, first_idle: places, ..Share::default() },
        reply_bytes_hint: 100,
        spin_ns: 0,
    };
    IoUringEngine::new(equipment).unwrap()
}

fn accept(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Makes one connection and records its events. It never wakes by itself.
struct Script {
    commands: Vec<Command>,
    /// Bytes left to send, and the longest piece returned at a time.
    outgoing: Vec<u8>,
    piece_bytes: usize,
    /// The order when bytes arrive.
    on_received: Action,
    received: Vec<Vec<u8>>,
    /// Notified when something has been sent for the first time.
    on_sent: Option<Sender<()>>,
    events: Vec<&'static str>,
}

impl Script {
    fn new(on_received: Action) -> Self {
        Self {
            commands: vec![Command::Connect(0)],
            outgoing: Vec::new(),
            piece_bytes: usize::MAX,
            on_received,
            received: Vec::new(),
            on_sent: None,
            events: Vec::new(),
        }
    }

    /// Turns the engine until this event has happened `times` times.
    fn turn_until(&mut self, engine: &mut IoUringEngine, event: &str, times: usize) {
        while self.events.iter().filter(|told| **told == event).count() < times {
            engine.turn(self).unwrap();
        }
    }
}

impl Director for Script {
    fn tick(&mut self, _: u64) {}

    fn wakes_at(&mut self) -> u64 {
        u64::MAX
    }

    fn next_command(&mut self, _: u64) -> Option<Command> {
        self.commands.pop()
    }

    fn is_over(&self) -> bool {
        false
    }

    fn found(&mut self, ready: usize, possible: usize) {
        assert!(ready <= possible, "{ready} of {possible}");
    }

    fn connected(&mut self, _: usize, _: u64) -> Action {
        self.events.push("connected");
        if self.outgoing.is_empty() { Action::Wait } else { Action::Send }
    }

    fn outgoing(&self, _: usize) -> &[u8] {
        &self.outgoing[..self.outgoing.len().min(self.piece_bytes)]
    }

    fn sent(&mut self, _: usize, bytes: usize) -> Action {
        self.outgoing.drain(..bytes);
        self.events.push("sent");
        if let Some(on_sent) = self.on_sent.take() {
            on_sent.send(()).unwrap();
        }
        if self.outgoing.is_empty() { Action::Wait } else { Action::Send }
    }

    fn received(&mut self, slot: usize, bytes: &[u8], _: u64) -> Action {
        self.received.push(bytes.to_vec());
        self.events.push("received");
        if self.on_received == Action::Close {
            self.commands.push(Command::Connect(slot));
        }
        self.on_received
    }

    fn finished(&mut self, _: usize, _: u64) -> Action {
        self.events.push("finished");
        Action::Close
    }

    fn failed(&mut self, _: usize, error: Errno, _: u64) -> Action {
        panic!("{error}");
    }
}

#[test]
fn late_completions_of_a_closed_connection_never_reach_its_successor() {
    const CONNECTIONS: usize = 50;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut engine = engine(&listener, 1);
    // Each connection gets bytes of its own, in pieces that go on after it was closed.
    let server = thread::spawn(move || {
        for number in 0..CONNECTIONS {
            let mut stream = accept(&listener);
            thread::spawn(move || {
                while stream.write_all(&[u8::try_from(number).unwrap(); 3000]).is_ok() {}
            });
        }
    });
    let mut script = Script::new(Action::Close);
    script.turn_until(&mut engine, "received", CONNECTIONS);
    server.join().unwrap();
    for (number, bytes) in script.received.iter().enumerate() {
        assert!(bytes.iter().all(|byte| usize::from(*byte) == number), "connection {number}");
    }
    assert_eq!(script.received.len(), CONNECTIONS);
}

#[test]
fn the_peer_of_a_closed_connection_sees_its_end_while_the_engine_waits() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut engine = engine(&listener, 2);
    let server = thread::spawn(move || {
        let mut first = accept(&listener);
        first.write_all(b"close").unwrap();
        let ended = first.read(&mut [0; 1]);
        // Only now the engine has anything to wait for.
        accept(&listener).write_all(b"close").unwrap();
        ended
    });
    let mut script = Script::new(Action::Close);
    script.turn_until(&mut engine, "received", 1);
    // The next connection has been asked for, and the one that is closed comes before it.
    script.turn_until(&mut engine, "received", 2);
    assert_eq!(server.join().unwrap().unwrap(), 0);
}

#[test]
fn all_pieces_are_sent_before_the_engine_waits() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut engine = engine(&listener, 1);
    let message: Vec<u8> = (0..=255).cycle().take(10_000).collect();
    let mut script = Script::new(Action::Wait);
    (script.outgoing, script.piece_bytes) = (message.clone(), 1000);
    let server = thread::spawn(move || {
        let mut stream = accept(&listener);
        let mut request = vec![0; 10_000];
        stream.read_exact(&mut request).unwrap();
        stream.write_all(b"whole").unwrap();
        request
    });
    script.turn_until(&mut engine, "received", 1);
    assert!(server.join().unwrap() == message, "the message differs");
    assert_eq!(script.received.concat(), b"whole");
    let last = script.events.iter().rposition(|event| *event == "sent").unwrap();
    let reply = script.events.iter().position(|event| *event == "received").unwrap();
    assert!(last < reply, "sends are reported before receives: {:?}", script.events);
}

#[test]
fn a_message_that_no_socket_holds_goes_out_whole_while_replies_come_in() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::sockopt::set_socket_recv_buffer_size(&listener, 8 * 1024).unwrap();
    let mut engine = engine(&listener, 1);
    let message: Vec<u8> = (0..=250).cycle().take(8 * 1024 * 1024).collect();
    let mut script = Script::new(Action::Wait);
    script.outgoing.clone_from(&message);
    let (on_sent, sent) = channel();
    script.on_sent = Some(on_sent);
    let server = thread::spawn(move || {
        let mut stream = accept(&listener);
        // The peer does not read until the first send is over, so that send is incomplete.
        sent.recv_timeout(PATIENCE).unwrap();
        let (mut request, mut buffer) = (Vec::new(), vec![0; 256 * 1024]);
        while request.len() < 8 * 1024 * 1024 {
            let bytes = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..bytes]);
            stream.write_all(b".").unwrap();
        }
        request
    });
    script.turn_until(&mut engine, "finished", 1);
    assert!(server.join().unwrap() == message, "the message differs");
    let sends = script.events.iter().filter(|event| **event == "sent").count();
    assert!(sends > 1 && script.outgoing.is_empty(), "{sends} sends");
    assert!(script.received.concat().iter().all(|byte| *byte == b'.'));
}

#[test]
fn buffers_are_as_large_as_replies_and_never_fewer_than_sixteen() {
    for (hint, buffers, bytes) in [
        (0, 128, 8192),
        (1, 512, 2048),
        (2048, 512, 2048),
        (2049, 256, 4096),
        (50_000, 16, 65_536),
        (usize::MAX, 16, 65_536),
    ] {
        let buffer_bytes = bytes + u32::try_from(GAP_BYTES).unwrap();
        assert_eq!(shape(hint), Shape { buffers, buffer_bytes }, "{hint}");
    }
}
