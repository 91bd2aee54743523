//! What a client of many sockets relies on, over pairs of sockets of this process. Not tested here:
//! what a server needs, which the null server's tests cover.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod exchange;
mod forbidden;
