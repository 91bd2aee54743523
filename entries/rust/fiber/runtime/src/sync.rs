//! What fibers wait for each other with. Each belongs to a kind of runtime, because it wakes fibers there. Whoever
//! waits longest is served first.

mod channel;
mod condvar;
mod mutex;
mod semaphore;

pub use channel::{Closed, Receiver, Sender, channel};
pub use condvar::Condvar;
pub use mutex::{Mutex, MutexGuard};
pub use semaphore::Semaphore;
