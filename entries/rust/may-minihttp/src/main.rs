//! may_minihttp: an HTTP server on may, one stackful coroutine per connection.
//!
//! It has no router, because may_minihttp has none: the service answers every path.

use std::io;
use std::process::ExitCode;

use may_minihttp::{HttpServer, HttpService, Request, Response};
use shared::Options;

#[derive(Clone)]
struct Hello;

impl HttpService for Hello {
    fn call(&mut self, _: Request, response: &mut Response) -> io::Result<()> {
        response.header("Content-Type: text/plain");
        response.body("Hello world!");
        Ok(())
    }
}

fn run(options: &Options) -> io::Result<()> {
    if options.address.port() == 0 {
        // `start` binds the socket and does not report the port that the kernel chose.
        shared::refuse("PORT must not be 0");
    }
    may::config().set_workers(options.workers).set_worker_pin(false);
    let server = HttpServer(Hello).start(options.address)?;
    server.join().map_err(|_| io::Error::other("accept panicked"))
}

fn main() -> ExitCode {
    shared::main(&["hello"], run)
}
