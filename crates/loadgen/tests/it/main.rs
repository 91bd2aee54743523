//! One behaviour suite over the public interface, for every engine: the report describes what the
//! server did.
//!
//! No test depends on speed; time limits only prevent hanging.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bodies;
mod closing;
mod edges;
mod engine;
mod errors;
mod many;
mod models;
mod network;
mod preflight;
mod replies;
mod requests;
mod server;
mod tls;
mod unanswered;
mod windows;

use std::{
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};
use wirebench_loadgen::{LoadError, run};
use wirebench_schema::load::{
    EngineChoice, ErrorCounts, ErrorKind, LoadConfig, LoadEvent, LoadReport, Stop,
};

/// The engines that must behave the same.
const ENGINES: [EngineChoice; 2] = [EngineChoice::Epoll, EngineChoice::IoUring];

/// Longer than any load here may take, even on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the same check with each engine.
fn each_engine(check: impl Fn(EngineChoice)) {
    for engine in ENGINES {
        let began = Instant::now();
        check(engine);
        assert!(began.elapsed() < PATIENCE, "{engine:?} took too long");
    }
}

/// Compares this text with the one in `golden/NAME.txt`.
#[track_caller]
fn assert_golden(name: &str, text: &str) {
    expect_test::expect_file![format!("golden/{name}.txt")].assert_eq(&format!("{text}\n"));
}

/// A short load of this many requests over four connections of two threads.
fn counted(target: &str, engine: EngineChoice, requests: u64) -> LoadConfig {
    let mut config = LoadConfig::new(target.parse().unwrap());
    config.engine = engine;
    config.connections = 4;
    // Long enough that a busy machine is not taken for a slow server.
    config.timeout = Duration::from_secs(20);
    config.stop = Stop::Requests(requests);
    config
}

/// A short load of this many milliseconds.
fn timed(target: &str, engine: EngineChoice, milliseconds: u64) -> LoadConfig {
    let stop = Stop::After(Duration::from_millis(milliseconds));
    LoadConfig { stop, ..counted(target, engine, 1) }
}

fn try_load(config: &LoadConfig) -> Result<LoadReport, LoadError> {
    run(config, &AtomicBool::new(false), &mut |_| {})
}

/// Loads with the engine that is asked for.
fn load(config: &LoadConfig) -> LoadReport {
    let report = try_load(config).unwrap();
    assert!([report.engine, EngineChoice::Auto].contains(&config.engine), "{:?}", report.engine);
    report
}

/// What a load is refused with, with `PORT` for the port of its target.
fn refusal(config: &LoadConfig) -> String {
    let port = format!(":{}", config.target.port());
    try_load(config).unwrap_err().to_string().replace(&port, ":PORT")
}

/// Loads, and no request fails.
#[track_caller]
fn flawless(config: &LoadConfig) -> LoadReport {
    let report = load(config);
    assert_eq!(report.errors, ErrorCounts::default(), "{:?}", report.error_examples);
    let requests = match config.stop {
        Stop::Requests(requests) => requests,
        Stop::RequestsPerConnection(requests) => requests * config.connections as u64,
        Stop::After(_) => report.requests,
    };
    assert_eq!(report.requests, requests);
    report
}

/// Loads, and every request fails in this way and no other.
#[track_caller]
fn failing(config: &LoadConfig, kind: ErrorKind, sentence: &str) -> LoadReport {
    let report = load(config);
    let example = &report.error_examples[0];
    assert_eq!((example.kind, example.sentence.as_str()), (Some(kind), sentence));
    let errors = report.errors.kinds().into_iter().filter(|(_, count)| *count > 0);
    let Stop::Requests(requests) = config.stop else { panic!("{:?}", config.stop) };
    assert_eq!(errors.collect::<Vec<_>>(), [(kind, requests)], "{:?}", report.error_examples);
    assert_eq!(report.requests, 0);
    report
}

/// Loads and says how many connections stood when the load began.
fn load_and_count(config: &LoadConfig) -> (LoadReport, usize) {
    let mut connected = 0;
    let report = run(config, &AtomicBool::new(false), &mut |event| {
        if let LoadEvent::Connected { connections } = event {
            connected = connections;
        }
    });
    (report.unwrap(), connected)
}
