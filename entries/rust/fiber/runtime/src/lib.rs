//! Fibers: functions with stacks of their own that wait without holding a thread, run by several threads.
//!
//! Code in a fiber looks as if it blocked: it spawns and joins fibers, sleeps, takes locks, and reads and writes
//! sockets. The [`Parts`] are chosen once, as a type: a [`Policy`] says which worker runs which fiber, [`Sharing`] one
//! run queue or [`Stealing`] from queues of their own, each over one of the [`queue`]s; a [`Poller`] says how workers
//! wait for sockets, [`Epoll`] or [`IoUring`]. The compiler makes a runtime of its own for each, without tables of
//! functions.
//!
//! ```
//! use wirebench_fiber::{Epoll, Sharing, queue::Locking, run, spawn};
//!
//! type Parts = (Sharing<Locking>, Epoll);
//! let sum = run::<Parts, _>(2, || {
//!     let one = spawn::<Parts, _>(|| 1).unwrap();
//!     let two = spawn::<Parts, _>(|| 2).unwrap();
//!     one.join().unwrap() + two.join().unwrap()
//! });
//! assert_eq!(sum.unwrap(), 3);
//! ```
//!
//! Linux only. A panic ends one fiber, and [`JoinHandle::join`] reports it. A fiber overflows its stack of 64 KiB into
//! a page that no one may touch, which ends the process.

mod atomic;
mod counters;
mod fiber;
mod idle;
mod join;
pub mod net;
mod parts;
mod policy;
mod poller;
pub mod queue;
mod runtime;
mod shared;
mod slot;
mod spin;
pub mod sync;
mod timers;
mod worker;

#[cfg(feature = "counters")]
pub use counters::{Counted, take_counted};
pub use fiber::stack_bytes;
pub use join::{Ended, JoinHandle};
pub use parts::Parts;
pub use policy::{Policy, Sharing, Stealing};
pub use poller::{Epoll, IoUring, Poller};
pub use runtime::{run, sleep, spawn, yield_now};
