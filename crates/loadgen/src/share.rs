//! The connections and requests of one thread among those of all threads.

use wirebench_schema::load::{GeneratorShare, LoadConfig, Stop};

/// One thread's part of the load.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Share {
    pub(crate) thread: usize,
    /// The number of its first connection.
    pub(crate) first_connection: usize,
    /// Number of its connections that carry requests.
    pub(crate) connections: usize,
    /// The number of its first silent connection.
    pub(crate) first_idle: usize,
    pub(crate) idle: usize,
    /// Number of requests that it sends in the window, if a count ends it.
    pub(crate) quota: Option<u64>,
}

impl Share {
    pub(crate) const fn places(&self) -> usize {
        self.connections + self.idle
    }

    /// The number of the connection in this place, among those of all threads.
    pub(crate) const fn number(&self, slot: usize) -> usize {
        match slot.checked_sub(self.connections) {
            None => self.first_connection + slot,
            Some(idle) => self.first_idle + idle,
        }
    }
}

/// Distributes connections and requests as evenly as possible; the first threads get the remainder.
pub(crate) fn shares(config: &LoadConfig) -> Vec<Share> {
    let threads = config.threads;
    let part = |all: usize, thread: usize| all / threads + usize::from(thread < all % threads);
    let (mut first_connection, mut first_idle) = (0, config.connections);
    (0..threads)
        .map(|thread| {
            let connections = part(config.connections, thread);
            let idle = part(config.idle_connections, thread);
            let quota = match config.stop {
                Stop::Requests(all) => {
                    Some(GeneratorShare { index: thread, count: threads }.part(all))
                }
                stop => stop.count(connections),
            };
            let share = Share { thread, first_connection, connections, first_idle, idle, quota };
            first_connection += connections;
            first_idle += idle;
            share
        })
        .collect()
}
