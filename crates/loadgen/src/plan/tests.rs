//! Plans: shares of threads, requests as bytes, and what is refused.

use super::*;
use crate::codec::RequestId;
use expect_test::expect_file;
use wirebench_schema::load::{Body, RequestFile, RequestOrder};

fn config(target: &str) -> LoadConfig {
    LoadConfig::new(target.parse().unwrap())
}

fn request(config: &LoadConfig) -> String {
    match Plan::new(config).unwrap().codec {
        CodecKind::Http1(http) => String::from_utf8(http.requests().one().to_vec()).unwrap(),
        CodecKind::Echo(_) => panic!("an http target speaks HTTP"),
    }
}

#[test]
fn connections_and_requests_are_dealt_out_without_a_rest() {
    let mut config = config("tcp://127.0.0.1:7");
    (config.threads, config.connections, config.idle_connections) = (3, 10, 4);
    config.stop = Stop::Requests(5);
    let shares = shares(&config);
    let idle: Vec<_> = shares.iter().map(|share| (share.first_idle, share.idle)).collect();
    assert_eq!(idle, [(10, 2), (12, 1), (13, 1)]);
    let connections: Vec<usize> = shares.iter().map(|share| share.connections).collect();
    let firsts: Vec<usize> = shares.iter().map(|share| share.first_connection).collect();
    let quotas: Vec<u64> = shares.iter().filter_map(|share| share.quota).collect();
    assert_eq!((connections, firsts, quotas), (vec![4, 3, 3], vec![0, 4, 7], vec![2, 2, 1]));
}

#[test]
fn a_request_names_its_host_once_and_carries_the_headers_that_were_asked_for() {
    let mut config = config("http://[::1]:80/a?b=c");
    assert_eq!(request(&config), "GET /a?b=c HTTP/1.1\r\nHost: [::1]\r\n\r\n");
    config.target = "https://localhost:8443/a?b=c".parse().unwrap();
    assert_eq!(request(&config), "GET /a?b=c HTTP/1.1\r\nHost: localhost:8443\r\n\r\n");
    config.method = "POST".to_owned();
    config.headers = vec![("HOST".into(), "x".into()), ("A".into(), "b".into())];
    assert_eq!(
        request(&config),
        "POST /a?b=c HTTP/1.1\r\nContent-Length: 0\r\nHOST: x\r\nA: b\r\n\r\n"
    );
    config.body = Some(Body::Text("hello".to_owned()));
    assert!(request(&config).contains("\r\nContent-Length: 5\r\n"));
    assert!(request(&config).ends_with("\r\n\r\nhello"));
}

#[test]
fn weights_and_the_end_of_connections_are_those_of_the_configuration() {
    let mut config = config("http://127.0.0.1:80/");
    let text = "{\"path\": \"/often\", \"weight\": 9}\n{\"path\": \"/rarely\"}";
    config.requests = Some(RequestFile::parse(text, RequestOrder::Weighted).unwrap().set);
    config.requests_per_connection = Some(1);
    let Plan { codec, params, .. } = Plan::new(&config).unwrap();
    let CodecKind::Http1(mut http) = codec else { panic!("an http target speaks HTTP") };
    let rarely = (0..1000).filter(|_| http.next_request() == RequestId(1)).count();
    // 100 are expected, with a standard deviation of 9.5.
    assert!((40..=160).contains(&rarely) && params.one_request_each, "{rarely}");
}

#[test]
fn a_body_that_cannot_be_read_is_refused_with_the_option() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    std::fs::File::create(&path).unwrap().set_len(set::BODY_LIMIT_BYTES + 1).unwrap();
    let mut config = config("http://127.0.0.1:80/");
    let messages = [path.to_str().unwrap(), "/dev/zero"].map(|path| {
        config.body = Some(Body::File(path.to_owned()));
        Plan::new(&config).unwrap_err().to_string().replace(path, "PATH") + "\n"
    });
    expect_file!["golden/body.txt"].assert_eq(&messages.concat());
}
