//! An agent over a pipe, with a server on a thread.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use expect_test::expect;
use std::{
    io::{BufReader, PipeReader, PipeWriter, Read, Write, pipe},
    net::TcpListener,
    thread,
    time::Duration,
};
use wirebench_schema::{
    agent::{AGENT_PROTOCOL, AgentCommand, AgentEvent, LoadProcesses, SliceCourse, SliceOrder},
    load::{Arrivals, LatencyOrigin, LoadConfig, LoadModel, RateCurve, Stop},
};

/// An agent on a thread, and the two ends of its pipes.
struct Agent {
    commands: Option<PipeWriter>,
    events: serde_json::StreamDeserializer<
        'static,
        serde_json::de::IoRead<BufReader<PipeReader>>,
        AgentEvent,
    >,
    thread: thread::JoinHandle<()>,
}

impl Agent {
    fn start() -> Self {
        let (input, commands) = pipe().unwrap();
        let (events, output) = pipe().unwrap();
        let thread = thread::spawn(move || {
            wirebench_agent::serve(BufReader::new(input), output).unwrap();
        });
        let events = serde_json::Deserializer::from_reader(BufReader::new(events)).into_iter();
        let mut agent = Self { commands: Some(commands), events, thread };
        let ready = agent.event();
        assert!(matches!(ready, AgentEvent::Ready { protocol: AGENT_PROTOCOL, .. }), "{ready:?}");
        agent
    }

    /// The next one that does not come by itself.
    fn event(&mut self) -> AgentEvent {
        let mut events = self.events.by_ref().map(|event| event.unwrap());
        events.find(|event| !matches!(event, AgentEvent::Interval(_))).unwrap()
    }

    fn say(&mut self, line: &str) {
        writeln!(self.commands.as_mut().unwrap(), "{line}").unwrap();
    }

    fn ask(&mut self, command: &AgentCommand) -> AgentEvent {
        self.say(&serde_json::to_string(command).unwrap());
        self.event()
    }

    fn end(mut self) {
        self.commands = None;
        self.thread.join().unwrap();
    }
}

/// A server in this process that sends everything back.
fn echo() -> LoadConfig {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
                    stream.write_all(&buffer[..bytes]).unwrap();
                }
            });
        }
    });
    let mut config = LoadConfig::new(target.parse().unwrap());
    (config.threads, config.connections) = (1, 3);
    config
}

fn order(load: u32, model: LoadModel, course: SliceCourse) -> SliceOrder {
    let own = std::process::id().cast_signed();
    let processes = (0..2).map(|load| LoadProcesses { load, pids: vec![own] }).collect::<Vec<_>>();
    SliceOrder {
        load,
        model,
        discard_ns: 40_000_000,
        length_ns: 100_000_000,
        start_ns: None,
        course,
        processes,
    }
}

fn rate(requests_per_second: u64) -> LoadModel {
    let curve = RateCurve::Constant(requests_per_second);
    LoadModel::Rate { curve, arrivals: Arrivals::Even, latency_from: LatencyOrigin::Due }
}

#[test]
fn slices_of_several_servers_take_turns_over_connections_that_stay() {
    let mut agent = Agent::start();
    for load in 0..2 {
        let connected = agent.ask(&AgentCommand::Connect { load, config: Box::new(echo()) });
        assert_eq!(connected, AgentEvent::Connected { load, connections: 3 });
    }
    let mut last_end_ns = 0;
    let (silent, series) = (SliceCourse::Silent, SliceCourse::Series);
    for (load, model, course) in [
        (0, LoadModel::Closed, series),
        (1, rate(1000), series),
        (0, rate(500), silent),
        (1, rate(1000), silent),
    ] {
        let event = agent.ask(&AgentCommand::Slice(Box::new(order(load, model.clone(), course))));
        let AgentEvent::Slice(slice) = event else { panic!("{event:?}") };
        assert_eq!((slice.load, slice.report.window_ns), (load, 100_000_000));
        assert_eq!((slice.report.errors.total(), slice.report.reconnects), (0, 0));
        assert!(slice.start_ns > last_end_ns && slice.end_ns > slice.start_ns + 140_000_000);
        last_end_ns = slice.end_ns;
        let values = if course == silent { 0..=0 } else { 5..=8 };
        assert!(values.contains(&slice.series.len()), "{:?}", slice.series);
        assert!(slice.cpu.counted_ns.unwrap() <= slice.cpu.whole_ns);
        assert_eq!(slice.parked_cpu_ns.len(), 1);
        assert_eq!(slice.parked_cpu_ns[0].0, 1 - load);
        match model {
            LoadModel::Closed => assert!(slice.report.requests > 0),
            _ => assert!(slice.report.offered.unwrap().due >= 50),
        }
    }
    assert_eq!(agent.ask(&AgentCommand::Close { load: 1 }), AgentEvent::Closed { load: 1 });
    agent.end();
}

#[test]
fn what_cannot_be_carried_out_is_answered_and_the_agent_goes_on() {
    let mut agent = Agent::start();
    agent.say("{\"command\":\"sing\"}");
    let AgentEvent::Failed { reason } = agent.event() else { panic!() };
    assert_eq!(
        reason,
        "`{\"command\":\"sing\"}` is not a command (unknown variant `sing`, expected one of \
         `connect`, `slice`, `close`, `load`, `start`, `clock`, `heartbeat`, `stop` at line 1 column \
         17): both sides must be the same version"
    );
    let event =
        agent.ask(&AgentCommand::Slice(Box::new(order(7, LoadModel::Closed, SliceCourse::Silent))));
    let AgentEvent::Failed { reason } = event else { panic!("{event:?}") };
    expect!["there is no load 7: connect it first"].assert_eq(&reason);
    let refused = LoadConfig::new("tcp://127.0.0.1:1".parse().unwrap());
    let event = agent.ask(&AgentCommand::Connect { load: 0, config: Box::new(refused) });
    let AgentEvent::Failed { reason } = event else { panic!("{event:?}") };
    assert_eq!(reason, "nothing listens on 127.0.0.1:1: start the server first, or check the port");
    agent.end();
}

#[test]
fn an_agent_whose_input_ends_cuts_its_slice_off() {
    let mut agent = Agent::start();
    agent.ask(&AgentCommand::Connect { load: 0, config: Box::new(echo()) });
    let long =
        SliceOrder { length_ns: 3_000_000_000_000, ..order(0, rate(100), SliceCourse::Silent) };
    agent.say(&serde_json::to_string(&AgentCommand::Slice(Box::new(long))).unwrap());
    thread::sleep(Duration::from_millis(100));
    agent.end();
}

#[test]
fn a_whole_load_begins_at_the_moment_that_was_asked_for() {
    let (server, mut agent) = (echo(), Agent::start());
    let config = LoadConfig { stop: Stop::After(Duration::from_millis(100)), ..server };
    let made = agent.ask(&AgentCommand::Load { config: Box::new(config.clone()) });
    assert!(
        matches!(made, AgentEvent::Connected { connections, .. } if connections == config.connections)
    );
    let AgentEvent::Clock { now_ns } = agent.ask(&AgentCommand::Clock) else { panic!("no clock") };
    let wanted_ns = now_ns + 50_000_000;
    let end = agent.ask(&AgentCommand::Start { start_ns: wanted_ns });
    let AgentEvent::Report { report, start_ns } = end else { panic!("{end:?}") };
    assert!(start_ns >= wanted_ns && report.requests > 0, "{start_ns} {wanted_ns} {report:?}");
    agent.end();
}

#[test]
fn a_load_is_stopped_with_a_report_and_without_heartbeats_the_agent_ends() {
    let (server, mut agent) = (echo(), Agent::start());
    let config = LoadConfig { stop: Stop::After(Duration::from_secs(600)), ..server };
    agent.ask(&AgentCommand::Load { config: Box::new(config.clone()) });
    agent.say(&serde_json::to_string(&AgentCommand::Start { start_ns: 0 }).unwrap());
    thread::sleep(Duration::from_millis(100));
    let end = agent.ask(&AgentCommand::Stop);
    let AgentEvent::Report { report, .. } = end else { panic!("{end:?}") };
    assert!(report.interrupted, "{report:?}");
    agent.ask(&AgentCommand::Load { config: Box::new(config) });
    agent.say(&serde_json::to_string(&AgentCommand::Start { start_ns: 0 }).unwrap());
    assert_eq!(agent.ask(&AgentCommand::Heartbeat), AgentEvent::Alive);
    // Its input stays open.
    let AgentEvent::Report { report, .. } = agent.event() else { panic!("no report") };
    assert!(report.interrupted, "{report:?}");
    agent.thread.join().unwrap();
}
