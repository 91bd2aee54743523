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
    agent::{
        AGENT_PROTOCOL, AgentCommand, AgentEvent, LoadProcesses, Recording, WindowOrder, Windows,
    },
    load::{LoadConfig, LoadEvent, LoadModel, RateCurve, Stop},
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
        let comes_by_itself = |event: &AgentEvent| {
            use LoadEvent::{Interval, WindowEnd, WindowStart};
            matches!(event, AgentEvent::Load(Interval(_) | WindowStart | WindowEnd))
        };
        events.find(|event| !comes_by_itself(event)).unwrap()
    }

    fn say(&mut self, line: &str) {
        writeln!(self.commands.as_mut().unwrap(), "{line}").unwrap();
    }

    fn ask(&mut self, command: &AgentCommand) -> AgentEvent {
        self.say(&serde_json::to_string(command).unwrap());
        self.event()
    }

    fn connect(&mut self, load: u32, config: LoadConfig, windows: Windows) -> AgentEvent {
        self.ask(&AgentCommand::Connect { load, config: Box::new(config), windows })
    }

    fn order(&mut self, order: WindowOrder) {
        self.say(&serde_json::to_string(&AgentCommand::Window(Box::new(order))).unwrap());
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

fn order(load: u32, model: LoadModel, recording: Recording) -> WindowOrder {
    let own = std::process::id().cast_signed();
    let processes = (0..2).map(|load| LoadProcesses { load, pids: vec![own] }).collect::<Vec<_>>();
    WindowOrder {
        load,
        model,
        discard_ns: 40_000_000,
        stop: Stop::After(Duration::from_millis(100)),
        start_ns: None,
        recording,
        processes,
        server_cpus: Vec::new(),
    }
}

fn rate(requests_per_second: u64) -> LoadModel {
    LoadModel::rate(RateCurve::per_second(requests_per_second))
}

#[test]
fn visits_of_several_servers_take_turns_over_connections_that_stay() {
    let mut agent = Agent::start();
    for load in 0..2 {
        let connected = agent.connect(load, echo(), Windows::Many);
        assert_eq!(connected, AgentEvent::Load(LoadEvent::Connected { connections: 3 }));
    }
    let mut last_end_ns = 0;
    let (silent, series) = (Recording::Silent, Recording::Series);
    for (load, model, recording) in [
        (0, LoadModel::Closed, series),
        (1, rate(1000), series),
        (0, rate(500), silent),
        (1, rate(1000), silent),
    ] {
        agent.order(order(load, model.clone(), recording));
        let event = agent.event();
        let AgentEvent::Window(visit) = event else { panic!("{event:?}") };
        assert!(visit.load == load && visit.report.window_ns >= 100_000_000);
        assert_eq!((visit.report.errors.total(), visit.report.in_flight_at_end), (0, 0));
        assert!(visit.start_ns > last_end_ns && visit.end_ns > visit.start_ns + 140_000_000);
        last_end_ns = visit.end_ns;
        assert_eq!(visit.series.len(), if recording == silent { 0 } else { 8 });
        let of_parts = visit.series.iter().map(|it| it.requests).sum::<u64>();
        assert!(recording == silent || of_parts == visit.report.requests, "{:?}", visit.series);
        assert!(visit.cpu.counted_ns.unwrap() <= visit.cpu.whole_ns);
        assert_eq!(visit.parked_cpu_ns.len(), 1);
        assert_eq!(visit.parked_cpu_ns[0].0, 1 - load);
        match model {
            LoadModel::Closed => assert!(visit.report.requests > 0),
            _ => assert!(visit.report.offered.unwrap().due >= 50),
        }
    }
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
         `connect`, `window`, `clock`, `heartbeat`, `stop` at line 1 column 17): both sides \
         must be the same version"
    );
    agent.order(order(7, LoadModel::Closed, Recording::Silent));
    let event = agent.event();
    let AgentEvent::Failed { reason } = event else { panic!("{event:?}") };
    expect!["there is no load 7: connect it first"].assert_eq(&reason);
    let refused = LoadConfig::new("tcp://127.0.0.1:1".parse().unwrap());
    let event = agent.connect(0, refused, Windows::Many);
    let AgentEvent::Failed { reason } = event else { panic!("{event:?}") };
    assert_eq!(reason, "nothing listens on 127.0.0.1:1: start the server first, or check the port");
    agent.end();
}

#[test]
fn an_agent_whose_input_ends_cuts_its_visit_off() {
    let mut agent = Agent::start();
    agent.connect(0, echo(), Windows::Many);
    let stop = Stop::After(Duration::from_secs(3000));
    agent.order(WindowOrder { stop, ..order(0, rate(100), Recording::Silent) });
    thread::sleep(Duration::from_millis(100));
    agent.end();
}

#[test]
fn a_whole_load_begins_at_the_moment_that_was_asked_for() {
    let (server, mut agent) = (echo(), Agent::start());
    let config = LoadConfig { stop: Stop::After(Duration::from_millis(100)), ..server };
    let made = agent.connect(0, config.clone(), Windows::One);
    assert_eq!(made, AgentEvent::Load(LoadEvent::Connected { connections: config.connections }));
    let AgentEvent::Clock { now_ns } = agent.ask(&AgentCommand::Clock) else { panic!("no clock") };
    let wanted_ns = now_ns + 50_000_000;
    let whole = WindowOrder::of_load(&config, vec![std::process::id().cast_signed()]);
    agent.order(WindowOrder { start_ns: Some(wanted_ns), ..whole.clone() });
    let AgentEvent::Window(window) = agent.event() else { panic!("no report") };
    assert!(window.start_ns >= wanted_ns && window.report.requests > 0, "{window:?}");
    // Its connections are closed.
    agent.order(whole);
    assert!(matches!(agent.event(), AgentEvent::Failed { .. }));
    agent.end();
}

#[test]
fn a_load_is_stopped_with_a_report_and_without_heartbeats_the_agent_ends() {
    let (server, mut agent) = (echo(), Agent::start());
    let config = LoadConfig { stop: Stop::After(Duration::from_secs(600)), ..server };
    let order = WindowOrder::of_load(&config, Vec::new());
    // The second window lasts, although the first was stopped.
    for is_stopped in [true, false] {
        agent.connect(0, config.clone(), Windows::One);
        agent.order(order.clone());
        thread::sleep(Duration::from_millis(100));
        let say = if is_stopped { AgentCommand::Stop } else { AgentCommand::Heartbeat };
        let answer = agent.ask(&say);
        if is_stopped {
            let AgentEvent::Window(window) = answer else { panic!("{answer:?}") };
            assert!(window.report.interrupted, "{window:?}");
        } else {
            assert_eq!(answer, AgentEvent::Alive);
        }
    }
    // Its input stays open.
    let AgentEvent::Window(window) = agent.event() else { panic!("no report") };
    assert!(window.report.interrupted, "{window:?}");
    agent.thread.join().unwrap();
}
