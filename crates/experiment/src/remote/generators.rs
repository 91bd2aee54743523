//! One load that generators on several hosts make together: each its share, from the same moment on.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::{AgentCommand, AgentEvent, HEARTBEAT_WITHIN_NS},
    load::{GeneratorPart, LoadConfig, LoadReport, Stop},
};
use wirebench_server::pipe::PipedChild;

use super::{
    Carrier, Program,
    clock::{Exchange, Offset},
    install,
};
use crate::agent::PATIENCE;

/// Messages there and back by which a clock is read.
const EXCHANGES: u32 = 8;
/// The time between the order to start and the start: each generator must have its order by then.
const AHEAD: Duration = Duration::from_millis(200);
/// The time between two looks whether something was said.
const STEP: Duration = Duration::from_millis(5);
/// Heartbeats come several times as often as they must.
const HEARTBEAT_EVERY: Duration = Duration::from_nanos(HEARTBEAT_WITHIN_NS / 5);
/// Generators that begin further apart than this, or than this share of the window, make another load
/// than the one that was asked for.
const SPREAD_NS: u64 = 10_000_000;
const SPREAD_PARTS: u64 = 100;

/// Where the generators are, and how they are reached.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Their hosts.
    pub hosts: Vec<String>,
    /// How a host is reached.
    pub carrier: Carrier,
    /// What is started there.
    pub program: Program,
}

/// A generator that waits for commands. Dropping it ends the agent, because its input closes.
struct Generator {
    host: String,
    process: PipedChild<AgentEvent>,
    /// When it last said something; its host may take longer for the first word.
    heard: Option<Instant>,
}

/// Makes the load `config` with all generators of `fleet`. `observe` is called when all connections are
/// made, with their number.
pub fn together(
    fleet: &Fleet,
    config: &LoadConfig,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(usize),
) -> Result<LoadReport, String> {
    let shares = config.shares(fleet.hosts.len())?;
    provide(fleet)?;
    let spawn = |host: &String| {
        let process = install::spawn(&fleet.carrier, host, &fleet.program)?;
        Ok(Generator { host: host.clone(), process, heard: None })
    };
    let generators = fleet.hosts.iter().map(spawn).collect::<Result<Vec<_>, String>>()?;
    let mut fleet = Started { generators, origin: Instant::now(), heartbeat: None, stop };
    fleet.start()?;
    for (generator, share) in fleet.generators.iter_mut().zip(&shares) {
        generator.say(&AgentCommand::Load { config: Box::new(share.clone()) })?;
    }
    let connected = fleet.answers(PATIENCE + config.timeout * 3, |event| match event {
        AgentEvent::Connected { connections, .. } => Some(connections),
        _ => None,
    })?;
    if stop.load(Ordering::Relaxed) {
        return Err("interrupted before the load began".to_owned());
    }
    observe(connected.iter().sum());
    let before = fleet.offsets()?;
    let start_ns = fleet.now_ns() + AHEAD.as_nanos() as u64;
    for (generator, offset) in fleet.generators.iter_mut().zip(&before) {
        generator.say(&AgentCommand::Start { start_ns: offset.there(start_ns) })?;
    }
    let reports = fleet.answers(PATIENCE + longest(config), |event| match event {
        AgentEvent::Report { report, start_ns } => Some((*report, start_ns)),
        _ => None,
    })?;
    // A clock may have been read better after the load.
    let after = fleet.offsets().unwrap_or_else(|_| before.clone());
    let offsets: Vec<Offset> = before
        .into_iter()
        .zip(after)
        .map(|(before, after)| if after.error_ns < before.error_ns { after } else { before })
        .collect();
    let starts: Vec<u64> = reports
        .iter()
        .zip(&offsets)
        .map(|((_, start_ns), offset)| offset.here(*start_ns))
        .collect();
    let first = starts.iter().copied().min().unwrap_or(0);
    let parts: Vec<GeneratorPart> = fleet
        .generators
        .iter()
        .zip(&reports)
        .zip(starts.iter().zip(&offsets))
        .map(|((generator, (report, _)), (start_ns, offset))| {
            part(&generator.host, report, start_ns - first, offset.error_ns)
        })
        .collect();
    let reports: Vec<LoadReport> = reports.into_iter().map(|(report, _)| report).collect();
    let whole = LoadReport::together(config.clone(), &reports).ok_or("there is no generator")?;
    Ok(LoadReport { generators: parts, ..whole })
}

/// Makes sure that all hosts have the program.
fn provide(fleet: &Fleet) -> Result<(), String> {
    let provide = |host| install::provide(&fleet.carrier, host, &fleet.program);
    thread::scope(|scope| {
        let threads: Vec<_> =
            fleet.hosts.iter().map(|host| scope.spawn(move || provide(host))).collect();
        let results =
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread failed")?);
        results.collect()
    })
}

/// Why generators did not make one load; none if they did.
#[must_use]
pub fn apart(report: &LoadReport) -> Option<String> {
    let spread_ns =
        report.generators.iter().map(|it| it.start_delay_ns + it.clock_error_ns).max()?;
    let limit_ns = SPREAD_NS.max(report.window_ns / SPREAD_PARTS);
    (spread_ns > limit_ns).then(|| {
        format!(
            "not valid: generators began up to {:.0} ms apart, at most {:.0} ms are allowed; use a longer \
             -d, or hosts that are closer",
            spread_ns as f64 / 1e6,
            limit_ns as f64 / 1e6
        )
    })
}

fn part(
    host: &str,
    report: &LoadReport,
    start_delay_ns: u64,
    clock_error_ns: u64,
) -> GeneratorPart {
    let cpu_ns: u64 = report.thread_cpu_ns.iter().sum();
    GeneratorPart {
        host: host.to_owned(),
        connections: report.connections_made,
        requests_per_second: report.requests_per_second,
        latency_ns_p99: report.latency.as_ref().map(|it| it.latency_ns_p99),
        lag_ns_p99: report.lag.as_ref().map(|it| it.latency_ns_p99),
        cpus_used: cpu_ns as f64 / report.window_ns.max(1) as f64,
        threads: report.thread_cpu_ns.len(),
        start_delay_ns,
        clock_error_ns,
    }
}

/// How long a load may last. One with a count gives up after three timeouts without a reply.
fn longest(config: &LoadConfig) -> Duration {
    match config.stop {
        Stop::After(window) => config.warmup + window + config.timeout * 3,
        Stop::Requests(_) | Stop::RequestsPerConnection(_) => Duration::from_secs(86_400),
    }
}

impl Generator {
    fn say(&mut self, command: &AgentCommand) -> Result<(), String> {
        self.process.say(command).map_err(|reason| format!("{}: {reason}", self.host))
    }

    /// Listens for a while. An error is that it has ended, or has said nothing for too long.
    fn listen(&mut self, wait: Duration) -> Result<Option<AgentEvent>, String> {
        let event = self.process.next("load generator", wait);
        let event = event.map_err(|reason| format!("{}: {reason}", self.host))?;
        if event.is_some() {
            self.heard = Some(Instant::now());
        }
        let silence = self.heard.map_or(Duration::ZERO, |heard| heard.elapsed());
        if silence > Duration::from_nanos(HEARTBEAT_WITHIN_NS) {
            return Err(format!(
                "{}: no sign of life for {:.0} s: its host, or the way there, has stalled",
                self.host,
                silence.as_secs_f64()
            ));
        }
        Ok(event.filter(|event| *event != AgentEvent::Alive))
    }
}

/// All generators, and what they have in common.
struct Started<'s> {
    generators: Vec<Generator>,
    /// When the clock of this side was zero.
    origin: Instant,
    /// When the last heartbeats were sent.
    heartbeat: Option<Instant>,
    stop: &'s AtomicBool,
}

impl Started<'_> {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Waits until all of them take commands.
    fn start(&mut self) -> Result<(), String> {
        let versions = self.answers(PATIENCE, |event| match event {
            AgentEvent::Ready { protocol, wirebench } => Some((protocol, wirebench)),
            _ => None,
        })?;
        for (generator, (protocol, wirebench)) in self.generators.iter().zip(versions) {
            install::check(protocol, &wirebench)
                .map_err(|reason| format!("{}: {reason}", generator.host))?;
        }
        Ok(())
    }

    /// The wanted answer of each generator, in their order.
    fn answers<T>(
        &mut self,
        within: Duration,
        wanted: impl Fn(AgentEvent) -> Option<T>,
    ) -> Result<Vec<T>, String> {
        let until = Instant::now() + within;
        let mut answers: Vec<Option<T>> = self.generators.iter().map(|_| None).collect();
        let mut has_stopped = false;
        while answers.iter().any(Option::is_none) {
            if self.stop.load(Ordering::Relaxed) && !has_stopped {
                has_stopped = true;
                self.tell(&AgentCommand::Stop)?;
            }
            self.beat()?;
            for (generator, answer) in self.generators.iter_mut().zip(&mut answers) {
                *answer = match generator.listen(Duration::ZERO)? {
                    None => answer.take(),
                    Some(AgentEvent::Failed { reason }) => {
                        return Err(format!("{}: {reason}", generator.host));
                    }
                    Some(event) => wanted(event),
                };
            }
            thread::sleep(STEP);
            if Instant::now() >= until {
                let silent = self.generators.iter().zip(&answers).filter(|(_, it)| it.is_none());
                let hosts: Vec<&str> = silent.map(|(it, _)| it.host.as_str()).collect();
                return Err(format!(
                    "{}: no answer within {} s",
                    hosts.join(", "),
                    within.as_secs()
                ));
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// The clocks of all generators.
    fn offsets(&mut self) -> Result<Vec<Offset>, String> {
        let mut offsets = Vec::new();
        for place in 0..self.generators.len() {
            self.beat()?;
            let mut exchanges = Vec::new();
            for _ in 0..EXCHANGES {
                exchanges.push(self.exchange(place)?);
            }
            offsets.extend(Offset::of(&exchanges));
        }
        Ok(offsets)
    }

    fn exchange(&mut self, place: usize) -> Result<Exchange, String> {
        let sent_ns = self.now_ns();
        self.generators[place].say(&AgentCommand::Clock)?;
        loop {
            let generator = &mut self.generators[place];
            match generator.listen(STEP)? {
                None => self.beat()?,
                Some(AgentEvent::Clock { now_ns: there_ns }) => {
                    return Ok(Exchange { sent_ns, there_ns, received_ns: self.now_ns() });
                }
                Some(other) => {
                    let host = &generator.host;
                    return Err(format!("{host}: asked for the time, it answered {other:?}"));
                }
            }
        }
    }

    /// Heartbeats, when it is time for them.
    fn beat(&mut self) -> Result<(), String> {
        if self.heartbeat.is_some_and(|last| last.elapsed() < HEARTBEAT_EVERY) {
            return Ok(());
        }
        self.heartbeat = Some(Instant::now());
        self.tell(&AgentCommand::Heartbeat)
    }

    fn tell(&mut self, command: &AgentCommand) -> Result<(), String> {
        self.generators.iter_mut().try_for_each(|generator| generator.say(command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::EngineChoice;

    fn report(spread_ns: u64, window_ns: u64) -> LoadReport {
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        let mut report = LoadReport::new("0".into(), config, EngineChoice::Epoll);
        report.window_ns = window_ns;
        report.generators =
            vec![part("a", &report, 0, 0), part("b", &report, spread_ns, 1_000_000)];
        report
    }

    #[test]
    fn generators_may_begin_10_ms_or_a_hundredth_of_the_window_apart() {
        let second = 1_000_000_000;
        assert_eq!(apart(&report(9_000_000, second)), None);
        assert_eq!(apart(&report(90_000_000, 10 * second)), None);
        expect_test::expect![
            "not valid: generators began up to 13 ms apart, at most 10 ms are allowed; use a longer -d, or \
             hosts that are closer"
        ]
        .assert_eq(&apart(&report(12_000_000, second)).unwrap());
    }
}
