//! A load through TLS has the same results as without, and each TLS mistake gets its message.

mod client;
mod server;

use rcgen::{BasicConstraints, IsCa};
use rustls::version::{TLS12, TLS13};
use std::{io::Write, time::Duration};
use wirebench_schema::load::{EngineChoice, ErrorKind, LoadConfig, Trust};

use self::server::{Identity, Tls};
use crate::{
    assert_golden, counted, each_engine, failing, flawless, refusal,
    server::{HELLO, LAST, Server, stall},
};

/// A reply whose body ends with the connection.
const UNFRAMED: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nHello world!";

/// The sentence on a connection that ends too early.
const CUT: &str = "the server closed while a reply was due";

fn https(server: &Server) -> String {
    format!("https://127.0.0.1:{}/", server.port())
}

/// A load of `requests` requests, from clients that trust this identity.
fn trusting(
    identity: &Identity,
    server: &Server,
    engine: EngineChoice,
    requests: u64,
) -> LoadConfig {
    let mut config = counted(&https(server), engine, requests);
    config.trust = Trust::File(identity.path());
    config
}

#[test]
fn every_reply_counts_and_the_report_has_the_negotiated_parameters() {
    let identity = Identity::local();
    each_engine(|engine| {
        for (versions, version) in [(&TLS12, "TLS 1.2"), (&TLS13, "TLS 1.3")] {
            let server = identity.serve_versions(&[versions], |_, tls| tls.answer(HELLO));
            let mut config = trusting(&identity, &server, engine, 200);
            config.idle_connections = 3;
            flawless(&LoadConfig { pipeline: 16, ..config.clone() });
            let report = flawless(&config);
            assert_eq!((report.idle.made, report.idle.lost), (3, 0));
            let plaintext = 200 * HELLO.len() as u64;
            assert_eq!((report.connections_made, report.bytes_received), (4, plaintext));
            assert_eq!(report.connect.unwrap().count, 7);
            let tls = report.tls.unwrap();
            assert_eq!((tls.version.as_str(), tls.handshakes), (version, 7));
            assert!(tls.cipher_suite.starts_with("TLS_"), "{}", tls.cipher_suite);
        }
    });
}

#[test]
fn a_body_of_many_records_is_checked_as_a_whole() {
    let identity = Identity::local();
    let large = |last: u8| {
        let mut reply = b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n".to_vec();
        reply.extend((0..1_048_576_u32).map(|at| (at % 251) as u8));
        *reply.last_mut().unwrap() = last;
        reply
    };
    each_engine(|engine| {
        let reply = large(1);
        let server = identity.serve(move |_, tls| tls.answer(&reply));
        flawless(&trusting(&identity, &server, engine, 20));
        let (first, other) = (large(1), large(2));
        let server = identity
            .serve(move |number, tls| tls.answer(if number == 0 { &first } else { &other }));
        let example = "the body differs from the expected one at byte 1048575; if bodies may \
                       differ, give --any-body to check the framing alone";
        failing(&trusting(&identity, &server, engine, 8), ErrorKind::WrongReply, example);
    });
}

#[test]
fn a_server_that_closes_after_each_reply_is_met_again_with_the_session_of_before() {
    let identity = Identity::local();
    each_engine(|engine| {
        for version in [&TLS12, &TLS13] {
            let closing = |_: usize, tls: &mut Tls<'_>| tls.answer_once(LAST);
            let server = identity.serve_versions(&[version], closing);
            let report = flawless(&trusting(&identity, &server, engine, 40));
            let tls = report.tls.unwrap();
            assert!(tls.handshakes >= 40, "{tls:?}");
            assert!(tls.resumed > 0 && tls.resumed <= tls.handshakes, "{tls:?}");
        }
    });
}

#[test]
fn a_body_that_ends_with_the_connection_needs_its_end_announced() {
    let identity = Identity::local();
    each_engine(|engine| {
        let server = identity.serve(|_, tls| tls.answer_once(UNFRAMED));
        flawless(&trusting(&identity, &server, engine, 10));

        let server = identity.serve(|number, tls| match number {
            0 => tls.answer_once(UNFRAMED),
            _ => {
                tls.read_request();
                tls.write(UNFRAMED);
            }
        });
        failing(&trusting(&identity, &server, engine, 10), ErrorKind::ClosedEarly, CUT);

        let server = identity.serve(|_, tls| {
            tls.read_request();
            tls.write(UNFRAMED);
        });
        let told = refusal(&trusting(&identity, &server, engine, 10));
        assert_golden("tls-middle", &told);
    });
}

#[test]
fn an_untrusted_server_is_refused_unless_any_certificate_is_accepted() {
    let (identity, other) = (Identity::local(), Identity::local());
    each_engine(|engine| {
        let server = identity.serve(|_, tls| tls.answer(HELLO));
        let mut config = trusting(&other, &server, engine, 10);
        assert_golden("tls-untrusted", &refusal(&config));
        config.trust = Trust::Anybody;
        flawless(&config);
    });
}

#[test]
fn an_authority_unknown_to_the_system_is_refused() {
    let identity = Identity::local();
    let server = identity.serve(|_, tls| tls.answer(HELLO));
    let config = counted(&https(&server), EngineChoice::Auto, 1);
    assert_eq!(config.trust, Trust::System);
    // Whether this system trusts anybody or not.
    let message = refusal(&config);
    assert!(message.contains("certificate") && message.contains("--ca FILE"), "{message}");
    assert!(message.contains("--insecure"), "{message}");
}

#[test]
fn even_an_insecure_client_refuses_a_server_without_the_key_of_its_certificate() {
    let impostor = Identity::local().with_the_key_of(&Identity::local());
    each_engine(|engine| {
        let server = impostor.serve(|_, tls| tls.answer(HELLO));
        let mut config = counted(&https(&server), engine, 1);
        config.trust = Trust::Anybody;
        assert_golden("tls-wrong-key", &refusal(&config));
    });
}

#[test]
fn a_certificate_for_another_name_is_refused_with_the_names() {
    let identity = Identity::new(&["example.test"], IsCa::NoCa);
    each_engine(|engine| {
        let server = identity.serve(|_, tls| tls.answer(HELLO));
        let config = trusting(&identity, &server, engine, 10);
        assert_golden("tls-other-name", &refusal(&config));
    });
}

#[test]
fn the_certificate_itself_may_be_named_also_when_it_claims_to_be_an_authority() {
    let is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (identity, other) = (Identity::new(&["localhost"], is_ca), Identity::local());
    each_engine(|engine| {
        let server = identity.serve(|_, tls| tls.answer(HELLO));
        let mut config = trusting(&identity, &server, engine, 10);
        config.target = format!("https://localhost:{}/", server.port()).parse().unwrap();
        flawless(&config);
        config.target = https(&server).parse().unwrap();
        assert_golden("tls-other-name-of-authority", &refusal(&config));
        config.trust = Trust::File(other.path());
        assert_golden("tls-other-authority", &refusal(&config));
    });
}

#[test]
fn a_named_certificate_must_still_be_valid_and_have_a_name() {
    for is_ca in [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let names = ["localhost", "127.0.0.1"];
        let expired = Identity::until(2020, &names, is_ca);
        let server = expired.serve(|_, tls| tls.answer(HELLO));
        let told = refusal(&trusting(&expired, &server, EngineChoice::Auto, 1));
        assert!(told.contains("(certificate expired"), "{told}");
        assert!(told.ends_with("): renew it, or give --insecure"), "{told}");
        let nameless = Identity::new(&[], is_ca);
        let server = nameless.serve(|_, tls| tls.answer(HELLO));
        let told = refusal(&trusting(&nameless, &server, EngineChoice::Auto, 1));
        assert_golden("tls-no-name", &told);
    }
}

#[test]
fn a_file_without_a_certificate_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut config = counted("https://127.0.0.1:9/", EngineChoice::Auto, 1);
    let path = file.path().to_str().unwrap();
    config.trust = Trust::File(path.to_owned());
    assert_golden("tls-no-certificate", &refusal(&config).replace(path, "FILE"));
    config.trust = Trust::File("/no/such/file".to_owned());
    assert_golden("tls-no-file", &refusal(&config));
}

#[test]
fn a_server_without_tls_is_recognised() {
    let identity = Identity::local();
    let plain = Server::start(|_, mut stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        stall(stream);
    });
    let closing = Server::start(|_, _, _| {});
    each_engine(|engine| {
        let mut config = counted(&https(&plain), engine, 1);
        config.trust = Trust::File(identity.path());
        assert_golden("tls-no-tls", &refusal(&config));
        config.target = https(&closing).parse().unwrap();
        assert_golden("tls-closes", &refusal(&config));

        let server = identity.serve(|_, tls| tls.answer(HELLO));
        let told = refusal(&counted(&server.http(), engine, 1));
        assert_eq!(told, "127.0.0.1:PORT answers with TLS: write https://127.0.0.1:PORT/");
    });
}

#[test]
fn a_server_that_stalls_in_the_handshake_is_a_connection_not_made_in_time() {
    let identity = Identity::local();
    each_engine(|engine| {
        let server = identity.serve(|number, tls| match number {
            0 => tls.answer(HELLO),
            _ => stall(tls.stream()),
        });
        let mut config = trusting(&identity, &server, engine, 10);
        config.timeout = Duration::from_millis(500);
        let message = refusal(&config);
        let begin = "none of 4 connections could be made (timeout: no connection in time)";
        assert!(message.starts_with(begin), "{message}");
        let server = Server::start(|_, stream, _| stall(stream));
        config.target = https(&server).parse().unwrap();
        assert_golden("tls-stalls", &refusal(&config));
    });
}
