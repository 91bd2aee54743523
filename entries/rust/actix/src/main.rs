//! Actix: the framework actix-web, and our own service on the server below it.
//!
//! This file picks the variant; `web.rs`, `raw.rs` and `published.rs` have the variants.

mod published;
mod raw;
mod web;

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;
use std::task::Poll;

use actix_server::Server;
use shared::{Options, Scenario};

#[cfg(feature = "snmalloc")]
#[global_allocator]
static ALLOCATOR: snmalloc_rs::SnMalloc = snmalloc_rs::SnMalloc;

/// The first poll of a server starts its workers and returns when all are there to accept.
async fn announce_and_serve(server: Server, address: SocketAddr) -> io::Result<()> {
    let mut server = pin!(server);
    let started = poll_fn(|context| Poll::Ready(server.as_mut().poll(context))).await;
    if let Poll::Ready(result) = started {
        return result;
    }
    shared::announce(address)?;
    server.await
}

fn run(options: &Options) -> io::Result<()> {
    match (options.variant.as_str(), options.scenario) {
        ("web", Scenario::Hello) => web::run(options),
        ("published-web", Scenario::Hello) => web::run_published(options),
        ("published-raw", Scenario::Hello) => raw::run_service(options, published::serve),
        ("raw", _) => raw::run(options),
        ("web" | "published-web" | "published-raw", _) => {
            shared::refuse(format!("the variant `{}` has only `hello`", options.variant))
        }
        (other, _) => shared::refuse(format!("unknown variant `{other}`")),
    }
}

fn main() -> ExitCode {
    shared::main(&["hello", "hello-timeout", "echo"], run)
}
