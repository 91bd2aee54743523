//! One behaviour suite for both engines: the contract of a server, checked on a real process over
//! loopback. What `wirebench verify` checks on the built-in servers too is not repeated here.
//!
//! It measures nothing. Time limits only keep a broken server from hanging the suite.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in its helpers")]

mod bodies;
mod client;
mod echo;
mod hello;
mod process;
mod server;

use std::num::NonZeroU32;

use wirebench_nullserver::Engine;

/// Runs a check against each engine, with one worker and with two.
fn for_each_server(scenario: &str, check: impl Fn(&server::Server)) {
    for engine in [Engine::Epoll, Engine::IoUring] {
        for workers in [1, 2] {
            eprintln!("{engine} with {workers} workers");
            let workers = NonZeroU32::new(workers).unwrap();
            let server = server::Server::start(engine, scenario, workers);
            check(&server);
            server.assert_serves();
        }
    }
}
