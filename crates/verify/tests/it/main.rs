//! `verify` against servers that are right and servers that are wrong in one way each, and what
//! remains of a server whose keepers are killed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bench;
mod correct;
mod killed;
mod listeners;
mod wrong;
