//! A server is ready only when no other process could take its connections.

use socket2::{Domain, Socket, Type};
use std::{net::SocketAddr, sync::atomic::AtomicBool};
use wirebench_schema::{entry::Ready, scenario::Scenario};
use wirebench_server::launch::{LaunchError, Server};

use crate::bench::{Setup, expect_gone, new_mark};

/// A listener of this process, which others may join.
fn own_listener(address: &str) -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_reuse_port(true).unwrap();
    socket.bind(&address.parse::<SocketAddr>().unwrap().into()).unwrap();
    socket.listen(16).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

/// Starts `command`, which prints the address on which it listens.
fn start(command: &[&str]) -> Result<Server, LaunchError> {
    let ready_timeout = std::time::Duration::from_secs(2);
    let setup = Setup { ready_timeout, ..Setup::epoll("correct-epoll", Scenario::Hello) };
    let mark = new_mark();
    let mut variant = setup.variant(&mark);
    variant.run.command.truncate(1);
    variant.run.command.extend(command.iter().map(|&word| word.to_owned()));
    if command[0] == "sh" {
        variant.run.command.remove(0);
    }
    let server = setup.launcher().start(&setup.request(&variant), &AtomicBool::new(false));
    if server.is_err() {
        expect_gone(&mark);
    }
    server
}

#[test]
fn another_program_that_shares_the_printed_port_is_found() {
    let (other, address) = own_listener("127.0.0.1:0");
    let port = address.port().to_string();
    let command = ["correct-epoll", "hello", "127.0.0.1", &port, "2"];
    let message = start(&command).unwrap_err().to_string();
    assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
    assert!(message.contains(&address.to_string()), "{message}");
    drop(other);
    assert_eq!(start(&command).unwrap().address(), address);
}

#[test]
fn the_printed_address_of_another_program_is_not_the_servers() {
    let (_other, address) = own_listener("0.0.0.0:0");
    let script = format!("echo listening 127.0.0.1:{}; exec sleep 60", address.port());
    let message = start(&["sh", "-c", &script]).unwrap_err().to_string();
    assert!(message.contains("not the server's"), "{message}");
}

#[test]
fn a_program_on_another_address_of_the_port_does_no_harm() {
    let (_other, address) = own_listener("127.0.0.2:0");
    let port = address.port().to_string();
    start(&["correct-epoll", "hello", "127.0.0.1", &port, "2"]).unwrap();
}

/// The message of a server that listens elsewhere than where it was told to, and prints no line.
fn elsewhere(mode: &'static str, arguments: &'static [&'static str]) -> String {
    let ready_timeout = std::time::Duration::from_secs(2);
    let setup = Setup {
        ready: Ready::Connect,
        ready_timeout,
        arguments,
        ..Setup::epoll(mode, Scenario::Hello)
    };
    let variant = setup.variant(&new_mark());
    let stop = AtomicBool::new(false);
    setup.launcher().start(&setup.request(&variant), &stop).unwrap_err().to_string()
}

#[test]
fn the_other_address_or_port_of_a_server_is_named() {
    let message = elsewhere("correct-epoll", &["hello", "127.0.0.2", "{port}", "1"]);
    assert!(message.contains("; it listens on 127.0.0.2:"), "{message}");
    assert!(message.contains("or give --address 127.0.0.2"), "{message}");
    let message = elsewhere("correct-epoll", &["hello", "127.0.0.1", "0", "1"]);
    assert!(message.contains("; it listens on 127.0.0.1:"), "{message}");
    assert!(message.contains("whose port replaces {port} in its command"), "{message}");
}

#[test]
fn a_server_that_goes_into_the_background_is_named_as_such() {
    let message = start(&["sh", "-c", "sleep 60 & exit 0"]).unwrap_err().to_string();
    let expected = "the server went into the background before it was ready: ";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.contains("(sleep) outlived its first process"), "{message}");
}

#[test]
fn an_address_on_which_nothing_listens_is_not_ready() {
    let (other, address) = own_listener("127.0.0.1:0");
    drop(other);
    let script = format!("echo listening {address}; exec sleep 60");
    let message = start(&["sh", "-c", &script]).unwrap_err().to_string();
    assert_eq!(
        message,
        "the server was not ready within 2 s (--ready): nothing listens on the address that it \
         printed; it wrote nothing to standard error"
    );
}
