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

use server::Server;

const ENGINES: [&str; 2] = ["epoll", "io_uring"];

/// Runs a check against each engine, with one worker and with two.
fn for_each_server(scenario: &str, check: impl Fn(&Server)) {
    for engine in ENGINES {
        for workers in [1, 2] {
            eprintln!("{engine} with {workers} workers");
            let server = Server::start(&format!("{engine} {scenario} 127.0.0.1 0 {workers}"));
            check(&server);
            server.assert_serves();
        }
    }
}
