//! The server as a process: start, end, hostile clients and limits.

use std::fs;
use std::time::Duration;

use crate::client::REQUEST;
use crate::server::{Descriptors, Server, command};
use crate::{ENGINES, for_each_server};

#[test]
fn an_address_of_the_newer_internet_protocol_is_served_and_printed_in_brackets() {
    for engine in ENGINES {
        let server = Server::start(&format!("{engine} hello ::1 0 2"));
        // The line was parsed as an address with a port, which fails without the brackets.
        assert!(server.address.is_ipv6());
        server.assert_serves();
    }
}

#[test]
fn a_port_that_is_taken_ends_with_code_one_and_names_the_address() {
    for engine in ENGINES {
        let server = Server::start(&format!("{engine} hello 127.0.0.1 0 1"));
        let port = server.address.port();
        let again = format!("{engine} hello 127.0.0.1 {port} 1");
        let output = command(&again, Descriptors::AsGiven).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(&format!("127.0.0.1:{port}")), "{message}");
    }
}

#[test]
fn broken_connections_do_not_end_the_server() {
    for scenario in ["hello", "echo"] {
        for_each_server(scenario, |server| {
            for _ in 0..50 {
                server.connect().reset();
                let mut client = server.connect();
                client.send(&REQUEST[..10]);
                client.reset();
                // With answers on their way, and more of them than fit.
                let mut client = server.connect();
                client.fix_receive_buffer();
                client.send(&REQUEST.repeat(2000));
                client.reset();
            }
            let mut client = server.connect();
            client.send_until_stuck(REQUEST, 64 << 20);
            client.reset();
        });
    }
}

#[test]
fn closed_connections_leave_no_descriptor_behind() {
    for scenario in ["hello", "echo"] {
        for_each_server(scenario, |server| {
            let folder = format!("/proc/{}/fd", server.process_id());
            let count = || fs::read_dir(&folder).unwrap().count();
            server.assert_serves();
            let before = wait_until_steady(count);
            for number in 0..100 {
                let mut client = server.connect();
                client.send(&REQUEST.repeat(number * 20));
                if number % 2 == 0 { client.reset() } else { drop(client) }
            }
            let mut stuck = server.connect();
            stuck.send_until_stuck(REQUEST, 64 << 20);
            stuck.reset();
            assert_eq!(wait_until_steady(count), before);
        });
    }
}

/// The value after it has not changed for a while.
fn wait_until_steady(value: impl Fn() -> usize) -> usize {
    let mut last = value();
    let mut steady = 0;
    while steady < 10 {
        std::thread::sleep(Duration::from_millis(50));
        let now = value();
        steady = if now == last { steady + 1 } else { 0 };
        last = now;
    }
    last
}

#[test]
fn without_descriptors_left_the_server_neither_ends_nor_spins_and_recovers() {
    for engine in ENGINES {
        let line = format!("{engine} hello 127.0.0.1 0 1");
        let server = Server::start_within(&line, Descriptors::AtMost(64));
        let clients: Vec<_> = (0..200).map(|_| server.connect()).collect();
        std::thread::sleep(Duration::from_millis(300));
        let before = cpu_ticks(server.process_id());
        std::thread::sleep(Duration::from_secs(1));
        // A server that spins alone uses 100 ticks in a second; one that rests uses next to none.
        let used = cpu_ticks(server.process_id()) - before;
        assert!(used < 30, "{engine} used {used} ticks of 10 ms while it could accept nothing");
        drop(clients);
        server.assert_serves();
    }
}

#[test]
fn a_client_that_does_not_read_costs_nothing_while_it_does_not() {
    for (scenario, piece) in [("hello", b"\r\n\r\n".repeat(250)), ("echo", vec![b'x'; 8 * 1024])] {
        for engine in ENGINES {
            let server = Server::start(&format!("{engine} {scenario} 127.0.0.1 0 1"));
            let mut client = server.connect();
            client.fix_receive_buffer();
            client.send_separately(std::iter::repeat_n(piece.as_slice(), 600));
            std::thread::sleep(Duration::from_millis(300));
            let before = cpu_ticks(server.process_id());
            std::thread::sleep(Duration::from_secs(1));
            let used = cpu_ticks(server.process_id()) - before;
            assert!(
                used < 30,
                "{engine} used {used} ticks of 10 ms for a client that does not read"
            );
            server.assert_serves();
        }
    }
}

/// User and system time of the process, in hundredths of a second.
fn cpu_ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = fields.split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
