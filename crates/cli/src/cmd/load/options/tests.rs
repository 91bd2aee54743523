//! Tests of the options: what is given comes back, and it is parsed as documented.

use super::*;
use clap::Parser;
use std::time::Duration;
use wirebench_experiment::measure::command::load_arguments;
use wirebench_schema::load::{
    Arrivals, Body, ClosedPolicy, IdleMode, LatencyOrigin, LoadModel, RateCurve, SourceRange, Stop,
    Trust,
};

#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    load: Arguments,
}

fn parse(words: &[&str]) -> anyhow::Result<LoadConfig> {
    let words = ["wirebench"].iter().chain(words);
    Program::try_parse_from(words)?.load.config()
}

fn http() -> LoadConfig {
    LoadConfig::new("http://[::1]:80/x?y".parse().unwrap())
}

fn https() -> LoadConfig {
    LoadConfig::new("https://localhost:443/".parse().unwrap())
}

fn echo() -> LoadConfig {
    LoadConfig::new("tcp://127.0.0.1:80".parse().unwrap())
}

fn rate(curve: RateCurve, arrivals: Arrivals, latency_from: LatencyOrigin) -> LoadModel {
    LoadModel::Rate { curve, arrivals, latency_from }
}

fn models() -> Vec<LoadModel> {
    let (even, poisson) = (Arrivals::Even, Arrivals::Poisson);
    let (due, sent) = (LatencyOrigin::Due, LatencyOrigin::Sent);
    vec![
        LoadModel::Closed,
        LoadModel::Think { delay: Duration::from_micros(1500) },
        rate(RateCurve::per_second(1), even, due),
        rate(RateCurve::per_second(1_000_000_000), poisson, due),
        rate(RateCurve::per_second(250), even, sent),
        rate(RateCurve::Constant("0.5".parse().unwrap()), even, due),
        rate(RateCurve::per_second(250), poisson, sent),
        rate(RateCurve::ramp(10, 10_000), even, due),
        rate(RateCurve::ramp(10_000, 10), poisson, due),
        rate(RateCurve::steps([10, 20]), even, due),
        rate(RateCurve::steps([10, 20, 5]), poisson, due),
    ]
}

/// Configurations in which each field has, once at least, another value than its default.
fn configurations() -> Vec<LoadConfig> {
    let range = |first: &str, last: &str| SourceRange {
        first: first.parse().unwrap(),
        last: last.parse().unwrap(),
    };
    let millis = Duration::from_millis;
    let mut all: Vec<LoadConfig> =
        models().into_iter().map(|model| LoadConfig { model, ..http() }).collect();
    all.extend([
        http(),
        echo(),
        LoadConfig::new("unix:/run/a b.socket".parse().unwrap()),
        LoadConfig { unix_socket: Some("/run/x y.socket".into()), ..http() },
        LoadConfig { unix_socket: Some("x.socket".into()), trust: Trust::Anybody, ..https() },
        LoadConfig { engine: EngineChoice::Epoll, seed: u64::MAX, ..echo() },
        LoadConfig { engine: EngineChoice::IoUring, waiting: Waiting::Spin, ..http() },
        LoadConfig { idle: IdleMode::Awake, ..http() },
        LoadConfig { threads: 1, connections: 1, pipeline: 16, ..http() },
        LoadConfig { threads: 7, connections: 20_000, idle_connections: 10_000, ..echo() },
        LoadConfig { sources: vec![range("127.0.0.2", "127.0.0.2")], ..http() },
        LoadConfig {
            sources: vec![range("127.0.0.2", "127.0.0.9"), range("127.0.1.1", "127.0.1.1")],
            ..echo()
        },
        LoadConfig { sources: vec![range("fd00::2", "fd00::9")], ..http() },
        LoadConfig { requests_per_connection: Some(100), ..http() },
        LoadConfig { on_closed: ClosedPolicy::Retry, ..http() },
        LoadConfig {
            connect_to: Some("tcp://[::1]:8443".parse().unwrap()),
            client_certificate: Some(ClientCertificate {
                certificate: "a b.pem".into(),
                key: "-k.pem".into(),
            }),
            ..https()
        },
        LoadConfig { head_limit_bytes: 4096, expect_status: vec![401, 404], ..http() },
        LoadConfig { warmup: millis(200), stop: Stop::Requests(5000), ..http() },
        LoadConfig { stop: Stop::RequestsPerConnection(50), timeout: millis(5), ..echo() },
        LoadConfig { stop: Stop::After(millis(1500)), interval: millis(300), ..http() },
        LoadConfig { payload_bytes: 1 << 30, ..echo() },
        LoadConfig { method: "POST".into(), body: Some(Body::Text("a=1&b= 2".into())), ..http() },
        LoadConfig { body: Some(Body::Text("--not-an-option".into())), ..http() },
        LoadConfig { body: Some(Body::Text(String::new())), ..http() },
        LoadConfig { body: Some(Body::File("-a file".into())), ..http() },
        LoadConfig {
            headers: vec![
                ("Accept".into(), "text/plain".into()),
                ("Accept".into(), "a:b".into()),
                ("-odd".into(), String::new()),
            ],
            ..http()
        },
        LoadConfig { expect_body: Some("Hello world!".into()), ..http() },
        LoadConfig { expect_body: Some("-\n".into()), ..https() },
        LoadConfig { expect_body: Some(String::new()), ..http() },
        LoadConfig { expect_body_file: Some("-a file".into()), ..http() },
        LoadConfig { expect_contains: Some("--x".into()), ..http() },
        LoadConfig { body_check: BodyCheck::Any, ..http() },
        LoadConfig { trust: Trust::Anybody, ..https() },
        LoadConfig { trust: Trust::File("/etc/a ca.pem".into()), ..https() },
    ]);
    all
}

#[test]
fn the_arguments_that_the_runner_gives_mean_the_configuration_that_it_wants() {
    for config in configurations() {
        let arguments = load_arguments(&config);
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        assert_eq!(parse(&words).unwrap(), config, "{arguments:?}");
    }
}

/// A field that is added to the configuration, and forgotten above, is named here.
#[test]
fn each_field_of_a_configuration_differs_from_its_default_somewhere() {
    let fields = |config: &LoadConfig| {
        let value = serde_json::to_value(config).unwrap();
        value.as_object().unwrap().clone()
    };
    let defaults = fields(&http());
    for (name, default) in &defaults {
        let varied = configurations().iter().any(|config| &fields(config)[name] != default);
        assert!(varied, "no configuration of this test has another `{name}`");
    }
}

#[test]
fn without_options_the_defaults_hold() {
    assert_eq!(parse(&["http://[::1]:80/x?y"]).unwrap(), http());
    assert_eq!(parse(&["tcp://127.0.0.1:80"]).unwrap(), echo());
    assert_eq!(parse(&["-c1", "http://[::1]:80/x?y"]).unwrap().threads, 1);
}

#[test]
fn letters_of_other_tools_mean_the_same() {
    let config = parse(&["-z", "2m", "-q", "1.5k", "http://[::1]:80/x?y"]).unwrap();
    assert_eq!(config, parse(&["-d", "120", "-R", "1500", "http://[::1]:80/x?y"]).unwrap());
    assert_eq!(config.stop, Stop::After(Duration::from_secs(120)));
    assert_eq!(config.model, rate(RateCurve::per_second(1500), Arrivals::Even, LatencyOrigin::Due));
}

#[test]
fn json_has_the_distribution_of_latency_whether_asked_for_or_not() {
    let url = "http://[::1]:80/x?y";
    assert_eq!(parse(&["--json", "-L", url]).unwrap(), http());
    assert!(parse(&["--json", "--percentiles=50", url]).is_err());
}
