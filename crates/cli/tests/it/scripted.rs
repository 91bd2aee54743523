//! A generator that sends nothing: its figures are those of a script, so that whole experiments run in the time that
//! their servers take to start and end, and their outcome is known. This test program starts itself again.

use crate::world::SCRIPT;
use hdrhistogram::Histogram;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, Write},
};
use wirebench_schema::{
    agent::{
        AGENT_PROTOCOL, AgentCommand, AgentEvent, Recording, VisitPiece, WindowCpu, WindowOrder,
        WindowReport,
    },
    load::{
        EngineChoice, LatencySummary, LoadConfig, LoadEvent, LoadModel, LoadReport, Offered,
        PIECE_NS, ReplySeries, Stop,
    },
};

/// The latency of a request at a rate that a server sustains.
const LATENCY_NS: f64 = 50_000.0;

/// Not a test: what the command of [`World`](crate::world::World) starts.
#[test]
#[ignore = "it is a generator that other tests start"]
fn generate() {
    // When all ignored tests run, there is nothing to do.
    let Ok(script) = std::env::var(SCRIPT) else { return };
    let mut events = File::options().write(true).open("/proc/self/fd/3").unwrap();
    let mut say = |event: &AgentEvent| {
        writeln!(events, "{}", serde_json::to_string(event).unwrap()).unwrap();
    };
    let wirebench = env!("CARGO_PKG_VERSION").to_owned();
    say(&AgentEvent::Ready { protocol: AGENT_PROTOCOL, wirebench });
    let mut loads: BTreeMap<u32, LoadConfig> = BTreeMap::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match serde_json::from_str(&line).unwrap() {
            AgentCommand::Connect { load, config, .. } => {
                say(&AgentEvent::Load(LoadEvent::Connected { connections: config.connections }));
                loads.insert(load, *config);
            }
            AgentCommand::Window(order) => {
                let edges = [LoadEvent::WindowStart, LoadEvent::WindowEnd].map(AgentEvent::Load);
                edges.iter().filter(|_| order.recording.is_observed()).for_each(&mut say);
                let config = order.applied_to(&loads[&order.load]);
                let played = Played::of(config, cost(&script, &order));
                say(&AgentEvent::Window(Box::new(played.window(&order))));
            }
            AgentCommand::Clock => say(&AgentEvent::Clock { now_ns: 0 }),
            AgentCommand::Heartbeat | AgentCommand::Stop => {}
        }
    }
}

/// The CPU time of a request to the server of `order`.
fn cost(script: &str, order: &WindowOrder) -> f64 {
    let own = order.processes.iter().find(|it| it.load == order.load);
    let pids = own.map(|it| it.pids.clone()).unwrap_or_default();
    let command = |pid: &i32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let commands: Vec<u8> = pids.iter().flat_map(command).collect();
    let commands = String::from_utf8_lossy(&commands).replace('\0', " ");
    let mut lines = script.lines().map(|line| line.split_once(' ').unwrap());
    let (cpu_ns, _) = lines.find(|(_, part)| commands.contains(part)).unwrap();
    cpu_ns.parse().unwrap()
}

/// A window in which each request costs the same.
struct Played {
    config: LoadConfig,
    cpu_ns_per_request: f64,
    per_second: f64,
    /// The demand of a rate.
    wanted: Option<f64>,
    length_ns: u64,
}

impl Played {
    fn of(config: LoadConfig, cpu_ns_per_request: f64) -> Self {
        let connections = config.connections as f64;
        let most = (1e9 / cpu_ns_per_request).min(connections * 1e9 / LATENCY_NS);
        let wanted = match &config.model {
            LoadModel::Rate { curve, .. } => Some(curve.mean()),
            LoadModel::Closed | LoadModel::Think { .. } => None,
        };
        let per_second = wanted.map_or(most, |wanted| wanted.min(most));
        let length_ns = match config.stop {
            Stop::After(length) => length.as_nanos() as f64,
            Stop::Requests(count) => count as f64 * 1e9 / per_second,
            Stop::RequestsPerConnection(count) => count as f64 * connections * 1e9 / per_second,
        };
        Self { config, cpu_ns_per_request, per_second, wanted, length_ns: length_ns as u64 }
    }

    /// Requests in this time, and their CPU time.
    fn piece(&self, ns: u64) -> VisitPiece {
        let requests = (self.per_second * ns as f64 / 1e9).round() as u64;
        VisitPiece { requests, cpu_ns: (requests as f64 * self.cpu_ns_per_request) as u64 }
    }

    fn window(self, order: &WindowOrder) -> WindowReport {
        let (counted, discarded) = (self.piece(self.length_ns), self.piece(order.discard_ns));
        let is_series = order.recording == Recording::Series;
        let parts = order.parts().into_iter().filter(|_| is_series);
        let nanoseconds = |end: Stop| end.length().unwrap_or_default().as_nanos() as u64;
        let others = order.processes.iter().filter(|it| it.load != order.load);
        WindowReport {
            load: order.load,
            start_ns: 0,
            end_ns: order.discard_ns + self.length_ns,
            waited_ns: 0,
            generator_waited_ns: 0,
            cpu: WindowCpu {
                counted_ns: Some(counted.cpu_ns),
                whole_ns: counted.cpu_ns + discarded.cpu_ns,
            },
            parked_cpu_ns: others.map(|it| (it.load, 0)).collect(),
            series: parts.map(|length| self.piece(nanoseconds(length))).collect(),
            report: self.report(counted.requests),
        }
    }

    fn report(self, requests: u64) -> LoadReport {
        let connections = self.config.connections;
        let pieces = (self.length_ns / PIECE_NS).max(1) as usize;
        let due = self.wanted.map(|wanted| (wanted * self.length_ns as f64 / 1e9).round() as u64);
        let owed = due.map_or(0, |due| due.saturating_sub(requests));
        // In a closed loop each connection waits for its turn; behind its rate a server keeps all of them busy.
        let is_full = due.is_none() || owed > 0;
        let busy_ns = connections as f64 * 1e9 / self.per_second;
        let latencies = |ns: f64| {
            let mut all = Histogram::<u64>::new(3).unwrap();
            all.record_n(ns as u64, requests).unwrap();
            LatencySummary::of(&all)
        };
        let latency = latencies(if is_full { busy_ns } else { LATENCY_NS });
        LoadReport {
            window_ns: self.length_ns,
            requests,
            requests_per_second: self.per_second,
            service: due.map(|_| latency.clone()),
            latency: Some(latency),
            lag: due.map(|_| latencies(1.0)),
            offered: due.zip(self.wanted).map(|(due, requests_per_second)| Offered {
                due,
                owed_at_end: owed,
                waiting: [0, owed / 2, owed],
                requests_per_second,
            }),
            connections_made: connections,
            ready_share: 0.1,
            thread_cpu_ns: vec![self.length_ns / 2],
            reply_series: ReplySeries::of_pieces(&vec![1; pieces]),
            ..LoadReport::new(String::new(), self.config, EngineChoice::Epoll)
        }
    }
}
