//! What clients get, well-behaved ones and others.

use super::*;
use std::net::Shutdown;

fn config() -> LoadConfig {
    LoadConfig::new("http://127.0.0.1:80/".parse().unwrap())
}

/// A server of the metrics, and its address.
fn started() -> (MetricsServer, SocketAddr) {
    let server = MetricsServer::start("127.0.0.1:0".parse().unwrap(), &config()).unwrap();
    let address = server.address;
    assert_eq!(server.url(), format!("http://{address}/metrics"));
    (server, address)
}

fn reply(address: SocketAddr, request: &[u8]) -> String {
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(request).unwrap();
    let mut reply = Vec::new();
    // A server that closes before it has read everything resets the connection after its answer.
    let _ = client.read_to_end(&mut reply);
    String::from_utf8(reply).unwrap()
}

#[test]
fn requests_get_the_metrics_or_the_status_that_says_what_is_wrong() {
    let rows = [
        ("GET /metrics HTTP/1.1", "200 OK"),
        ("GET /metrics?name=x HTTP/1.0", "200 OK"),
        ("POST /metrics HTTP/1.1", "405 Method Not Allowed"),
        ("GET / HTTP/1.1", "404 Not Found"),
        ("GET /metrics", "400 Bad Request"),
        ("GET /metrics HTTP/2", "400 Bad Request"),
        ("", "400 Bad Request"),
    ];
    for (line, expected) in rows {
        assert_eq!(status(format!("{line}\r\nHost: x\r\n\r\n").as_bytes()), expected, "{line}");
    }
    let long = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(HEAD_LIMIT_BYTES));
    assert_eq!(status(long.as_bytes()), "431 Request Header Fields Too Large");
}

#[test]
fn a_client_that_is_silent_or_gone_does_not_keep_the_next_one_from_the_metrics() {
    let (server, address) = started();
    server.on(&LoadEvent::Connected { connections: 7 });
    let silent = TcpStream::connect(address).unwrap();
    TcpStream::connect(address).unwrap().shutdown(Shutdown::Both).unwrap();
    let reply = reply(address, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains(&format!("\r\nContent-Type: {CONTENT_TYPE}\r\n")), "{head}");
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{head}");
    assert!(body.contains("wirebench_load_connections{server=\"http://127.0.0.1:80/\"} 7\n"));
    assert!(body.ends_with("# EOF\n"), "{body}");
    drop(silent);
}

#[test]
fn other_requests_get_the_place_where_the_metrics_are() {
    let (_server, address) = started();
    let reply = reply(address, b"PUT /metrics HTTP/1.1\r\n\r\n");
    assert!(reply.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"), "{reply}");
    assert!(reply.contains("\r\nAllow: GET\r\n"), "{reply}");
    assert!(reply.ends_with("the metrics are at GET /metrics\n"), "{reply}");
}

#[test]
fn the_port_is_free_again_when_the_server_is_dropped() {
    let (server, address) = started();
    let error = MetricsServer::start(address, &config()).unwrap_err();
    let expected = format!(
        "--metrics {address}: choose another port, or 0 for a free one: Address already in use (os error 98)"
    );
    assert_eq!(format!("{error:#}"), expected);
    drop(server);
    // The thread ends soon; how soon is up to the machine.
    while TcpListener::bind(address).is_err() {
        std::thread::sleep(Duration::from_millis(10));
    }
}
