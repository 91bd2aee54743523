//! A channel with bounded room. may's own channels have none, so its semaphore counts the room.

use std::sync::Arc;
use std::sync::mpsc::{RecvError, SendError};

use may::sync::{Semphore, mpsc};

pub struct Sender<T> {
    sender: mpsc::Sender<T>,
    room: Arc<Semphore>,
}

pub struct Receiver<T> {
    // Before `room`: fields are dropped in this order, and a sender that wakes up must find no
    // receiver.
    receiver: mpsc::Receiver<T>,
    room: Room,
}

/// Wakes a waiting sender when the receiver is gone.
struct Room(Arc<Semphore>);

pub fn channel<T>(room: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel();
    let room = Arc::new(Semphore::new(room));
    (Sender { sender, room: room.clone() }, Receiver { receiver, room: Room(room) })
}

impl<T> Sender<T> {
    /// Waits for room.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.room.wait();
        self.sender.send(value)
    }
}

impl<T> Receiver<T> {
    pub fn recv(&self) -> Result<T, RecvError> {
        let value = self.receiver.recv()?;
        self.room.0.post();
        Ok(value)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.0.post();
    }
}
