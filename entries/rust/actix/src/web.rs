//! The variants `web` and `published-web`: actix-web as an application uses it.
//!
//! Both deliberately have no `hello-timeout`: what actix-web can limit is not what that demands.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use actix_web::http::KeepAlive;
use actix_web::{App, HttpResponse, HttpServer, web};
use shared::Options;

async fn hello() -> &'static str {
    "Hello world!"
}

pub fn run(options: &Options) -> io::Result<()> {
    let listener = TcpListener::bind(options.address)?;
    let address = listener.local_addr()?;
    actix_web::rt::System::new().block_on(async {
        let server = HttpServer::new(|| App::new().route("/", web::get().to(hello)))
            .workers(options.workers)
            // `hello` keeps connections alive, so the limits of 5 seconds are switched off.
            .keep_alive(KeepAlive::Os)
            .client_request_timeout(Duration::ZERO)
            .tcp_nodelay(true)
            // Its own handler of SIGTERM would wait for the open connections.
            .disable_signals()
            .listen(listener)?;
        crate::announce_and_serve(server.run(), address).await
    })
}

async fn hello_published() -> HttpResponse {
    // As long as the reply of the document: 162 bytes.
    HttpResponse::Ok()
        .content_type("text/plain")
        .insert_header(("Server", "rust/actix-web"))
        .insert_header(("X-Test", "01234567890123"))
        .body("Hello world!")
}

/// The variant `published-web`: the limits keep their defaults of 5 seconds.
pub fn run_published(options: &Options) -> io::Result<()> {
    let listener = TcpListener::bind(options.address)?;
    let address = listener.local_addr()?;
    actix_web::rt::System::new().block_on(async {
        let resource = || web::resource("/").to(hello_published);
        let server = HttpServer::new(move || App::new().service(resource()))
            .workers(options.workers)
            .tcp_nodelay(true)
            // Its own handler of SIGTERM would wait for the open connections.
            .disable_signals()
            .listen(listener)?;
        crate::announce_and_serve(server.run(), address).await
    })
}
