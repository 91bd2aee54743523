//! Loads that are refused, each with the option to change.

use super::*;
use crate::load::{
    BodyCheck, ClientCertificate, ClosedPolicy, RateCurve, RequestFile, RequestOrder,
};
use expect_test::{expect, expect_file};

fn config() -> LoadConfig {
    LoadConfig::new("http://127.0.0.1:80/".parse().unwrap())
}

#[test]
fn the_defaults_can_be_carried_out() {
    assert_eq!(config().check(), Ok(()));
}

#[test]
fn a_load_that_measures_nothing_is_refused_with_the_option_to_change() {
    type Spoil = fn(&mut LoadConfig);
    let rows: [Spoil; 33] = [
        |c| c.connections = 0,
        |c| c.threads = 0,
        |c| c.threads = 11,
        |c| c.stop = Stop::After(Duration::ZERO),
        |c| c.stop = Stop::Requests(0),
        |c| c.stop = Stop::RequestsPerConnection(0),
        |c| (c.stop, c.pipeline, c.warmup) = (Stop::RequestsPerConnection(3), 4, Duration::MAX),
        |c| c.timeout = Duration::ZERO,
        |c| c.interval = Duration::from_millis(150),
        |c| c.headers = vec![("a b".into(), "c".into())],
        |c| c.headers = vec![("Content-Length".into(), "5".into())],
        |c| c.headers = vec![("Host".into(), "a".into()), ("HOST".into(), "b".into())],
        |c| c.method = "CONNECT".into(),
        |c| c.pipeline = 0,
        |c| c.requests_per_connection = Some(0),
        |c| c.model = LoadModel::Think { delay: Duration::ZERO },
        |c| c.model = LoadModel::rate(RateCurve::per_second(0)),
        |c| c.model = LoadModel::rate(RateCurve::Steps(Vec::new())),
        |c| (c.model, c.stop) = (LoadModel::rate(RateCurve::ramp(1, 2)), Stop::Requests(5)),
        |c| (c.expect_body, c.body_check) = (Some(String::new()), BodyCheck::Any),
        |c| (c.expect_body_file, c.expect_contains) = (Some("f".into()), Some("t".into())),
        |c| c.expect_contains = Some(String::new()),
        |c| (c.body, c.expect_body_file) = (Some(Body::File("-".into())), Some("-".into())),
        |c| {
            let (first, last) = ([127, 0, 0, 9].into(), [127, 0, 0, 2].into());
            c.sources = vec![SourceRange { first, last }];
        },
        |c| (c.on_closed, c.pipeline) = (ClosedPolicy::Retry, 2),
        |c| (c.on_closed, c.method) = (ClosedPolicy::Retry, "POST".into()),
        |c| c.heavy = Some("8:x".parse().unwrap()),
        |c| c.heavy = Some("8:/100".parse().unwrap()),
        |c| c.heavy = Some("11:/".parse().unwrap()),
        |c| c.expect_status = vec![404, 100],
        |c| c.head_limit_bytes = 15,
        |c| c.client_certificate = Some(ClientCertificate::default()),
        |c| (c.connect_to, c.unix_socket) = ("tcp://h:1".parse().ok(), Some("a".into())),
    ];
    let messages = rows.map(|spoil| {
        let mut config = config();
        spoil(&mut config);
        config.check().unwrap_err() + "\n"
    });
    expect_file!["../golden/check.txt"].assert_eq(&messages.concat());
}

#[test]
fn options_of_http_are_refused_for_an_echo() {
    let echo = LoadConfig::new("tcp://127.0.0.1:80".parse().unwrap());
    assert_eq!(echo.check(), Ok(()));
    let set = RequestFile::parse("POST http://h/", RequestOrder::InTurn).unwrap().set;
    let retried =
        LoadConfig { requests: Some(set.clone()), on_closed: ClosedPolicy::Retry, ..config() };
    assert!(retried.check().unwrap_err().starts_with("a POST request may have had its effect"));
    let messages = [
        LoadConfig { payload_bytes: 0, ..echo.clone() },
        LoadConfig { requests: Some(set), ..echo.clone() },
        LoadConfig { on_closed: ClosedPolicy::Retry, ..echo.clone() },
        LoadConfig { method: "POST".into(), ..echo },
    ];
    expect![[r"
        an echo of 0 bytes has no reply: give --payload at least 1
        --requests does not apply to tcp://127.0.0.1:80: it belongs to http://
        --retry-closed does not apply to tcp://127.0.0.1:80: it belongs to http://
        --method does not apply to tcp://127.0.0.1:80: it belongs to http://
    "]]
    .assert_eq(&messages.map(|it| it.check().unwrap_err() + "\n").concat());
}

#[test]
fn more_threads_than_a_load_can_have_are_refused_with_the_bound() {
    let load = |threads| LoadConfig { threads, connections: 1_000_000_000, ..config() };
    assert_eq!(load(THREADS_LIMIT).check(), Ok(()));
    for threads in [THREADS_LIMIT + 1, 1_000_000_000] {
        let message = load(threads).check().unwrap_err();
        assert!(message.ends_with("give -t at most 1024"), "{message}");
    }
}

#[test]
fn the_configuration_reads_back_from_json() {
    let text = serde_json::to_string(&config()).unwrap();
    assert_eq!(serde_json::from_str::<LoadConfig>(&text).unwrap(), config());
    assert!(serde_json::from_str::<LoadConfig>(&text.replacen("threads", "treads", 1)).is_err());
}
