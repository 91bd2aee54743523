//! The checks of the scenario `requests`: what can be asked of any server, with the requests and the expectations of
//! its user. The load generator makes the requests and judges the replies, as it will when it measures.

use std::{
    cell::RefCell,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_host::neighbours::CpuTimes;
use wirebench_loadgen::{LoadError, Manner};
use wirebench_schema::{
    entry::RunCommand,
    load::{LoadConfig, LoadEvent, LoadModel, LoadReport, RequestOrder, SampleReply, Stop},
    suite::Workload,
};
use wirebench_server::launch::Server;

use super::{Check, Verdict, client::PATIENCE_MOST, session::Session};

/// How a check makes its requests.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// A load with these connections and requests in flight; `fresh` connections are closed after one request.
    Load {
        connections: usize,
        pipeline: usize,
        fresh: bool,
    },
    Single(Manner),
}

pub(super) const CHECKS: [Check<Way>; 6] = [
    Check {
        name: "fresh-connections",
        about: "Each request gets the expected reply on a connection of its own.",
        run: Way::Load { connections: 1, pipeline: 1, fresh: true },
    },
    Check {
        name: "reused-connection",
        about: "Each request gets the expected reply on one connection, three times.",
        run: Way::Load { connections: 1, pipeline: 1, fresh: false },
    },
    Check {
        name: "many-connections",
        about: "100 concurrent connections get the expected replies.",
        run: Way::Load { connections: 100, pipeline: 1, fresh: false },
    },
    Check {
        name: "pipelined-requests",
        about: "Four requests in flight on a connection get the expected replies in their order.",
        run: Way::Load { connections: 1, pipeline: 4, fresh: false },
    },
    Check {
        name: "split-requests",
        about: "A request that arrives in 16 pieces gets the expected reply.",
        run: Way::Single(Manner::InPieces),
    },
    Check {
        name: "half-close",
        about: "A client that half-closes after a request gets the expected reply.",
        run: Way::Single(Manner::HalfClosed),
    },
];

/// A check that has found nothing wrong is over after this time and the timeout of its requests.
const TIME_MOST: Duration = Duration::from_secs(3);
/// Bounds of the requests of one check.
const REQUESTS_MOST: u64 = 4096;
const FRESH_MOST: u64 = 256;
/// How often a check looks at its errors and its time.
const INTERVAL: Duration = Duration::from_millis(100);

/// What is asked of a server whose contract is its user's.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The workloads that will be measured, or one like them.
    pub workloads: &'a [Workload],
    pub extent: Extent,
    /// Takes what the first replies are, on fresh connections.
    pub replies: &'a RefCell<Vec<SampleReply>>,
}

/// Which checks are made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Extent {
    All,
    /// Only whether the server does what the workloads do.
    Measured,
}

impl Asked<'_> {
    /// The requests of each workload that has others than those before it.
    fn configs(&self, run: &RunCommand, server: &Server) -> Vec<LoadConfig> {
        let place = (server.address(), server.socket());
        let mut configs: Vec<LoadConfig> = Vec::new();
        for workload in self.workloads.iter().filter(|it| it.requests.is_some()) {
            let mut config = workload.load_config_on(run, place, 1, 1);
            // A rate is a promise to a service, whoever else uses it. A check has no time to change it in.
            let is_service = run.service.is_some();
            config.model = if is_service { config.model.constant() } else { LoadModel::Closed };
            (config.threads, config.warmup, config.interval) = (1, Duration::ZERO, INTERVAL);
            (config.idle_connections, config.requests_per_connection) = (0, None);
            config.requests.iter_mut().for_each(|set| set.order = RequestOrder::InTurn);
            if !configs
                .iter()
                .any(|it| (&it.requests, &it.headers) == (&config.requests, &config.headers))
            {
                configs.push(config);
            }
        }
        configs
    }

    fn makes(&self, way: Way) -> bool {
        self.extent == Extent::All
            || match way {
                Way::Load { pipeline: 1, .. } => true,
                Way::Load { .. } => self.workloads.iter().any(|it| it.pipeline > 1),
                Way::Single(_) => false,
            }
    }

    /// Makes the checks, each on the server that runs.
    pub(super) fn check(&self, session: &mut Session<'_, '_>, stop: &AtomicBool) {
        let run = &session.request.variant.run;
        let mut is_first = true;
        for Check { name, run: way, .. } in CHECKS {
            if !self.makes(way) {
                continue;
            }
            let mut look = |server: &mut Server| {
                let configs = self.configs(run, server).into_iter();
                let checked: Result<Vec<Verdict>, String> =
                    configs.map(|config| check(config, way, self.replies, stop)).collect();
                let skipped = |all: Vec<Verdict>| all.into_iter().find(|it| *it != Verdict::Pass);
                checked.map(|all| skipped(all).unwrap_or(Verdict::Pass)).into()
            };
            match std::mem::take(&mut is_first) {
                true => session.check_basics(name, &mut look),
                false => session.converse(name, &mut look),
            }
        }
    }

    /// Has at most `most` requests answered, for a while, and returns the number of replies.
    pub(super) fn answered(
        &self,
        (run, server): (&RunCommand, &Server),
        most: u64,
        stop: &AtomicBool,
    ) -> Option<u64> {
        let config = self.configs(run, server).into_iter().next()?;
        let config = LoadConfig { connections: 16, stop: Stop::Requests(most), ..config };
        make(&config, stop).ok().map(|report| report.requests)
    }
}

/// Whether a server does what one check demands of it.
fn check(
    config: LoadConfig,
    way: Way,
    replies: &RefCell<Vec<SampleReply>>,
    stop: &AtomicBool,
) -> Result<Verdict, String> {
    let kinds = config.requests.as_ref().map_or(1, |set| set.requests.len()) as u64;
    match way {
        Way::Load { connections, pipeline, fresh } => {
            // No more connections than stated where the rate is not exceeded either.
            let connections = match config.model {
                LoadModel::Closed => connections,
                _ => connections.min(config.connections),
            };
            let count = match (fresh, connections) {
                (true, _) => kinds.clamp(2, FRESH_MOST),
                (false, 1) => (kinds * 3).clamp(16, REQUESTS_MOST),
                (false, more) => (kinds * 3).clamp(4 * more as u64, REQUESTS_MOST),
            };
            let requests_per_connection = fresh.then_some(1);
            let config = LoadConfig {
                connections,
                pipeline,
                requests_per_connection,
                stop: Stop::Requests(count),
                ..config
            };
            let samples = load(&config, stop)?;
            if fresh {
                let further = wirebench_loadgen::sample_unsafe(&config, stop);
                let further = further.map_err(|error| error.to_string())?;
                replies.borrow_mut().extend([samples, further].concat());
            }
            Ok(Verdict::Pass)
        }
        Way::Single(Manner::HalfClosed) if config.target.is_tls() => {
            Ok(Verdict::Skip { reason: "TLS ends a connection in both directions".to_owned() })
        }
        Way::Single(manner) => {
            let asked = wirebench_loadgen::ask_each(&config, manner, stop);
            asked.map(|()| Verdict::Pass).map_err(|error| error.to_string())
        }
    }
}

/// What the first replies of a load are, if all are as expected. If some did not come while all CPUs were busy, it is
/// made again with a longer timeout, because a server that gets no CPU cannot answer.
fn load(config: &LoadConfig, stop: &AtomicBool) -> Result<Vec<SampleReply>, String> {
    let before = CpuTimes::read();
    let mut made = make(config, stop);
    let is_late = match &made {
        Ok(report) => report.errors.timeout > 0 && report.errors.timeout == report.errors.total(),
        Err(error) => matches!(error, LoadError::Preflight(_) | LoadError::NoConnection { .. }),
    };
    if is_late && CpuTimes::read().is_full_since(&before) {
        made = make(&LoadConfig { timeout: PATIENCE_MOST, ..config.clone() }, stop);
    }
    let report = made.map_err(|error| error.to_string())?;
    let example = report.error_examples.first().map(|it| format!(": {it}")).unwrap_or_default();
    match (report.errors.total(), report.requests) {
        (0, 0) if !stop.load(Ordering::Relaxed) => Err("no request was answered".to_owned()),
        (0, _) => Ok(report.sample_replies),
        (wrong, right) => Err(format!("{wrong} of {} requests failed{example}", wrong + right)),
    }
}

/// Makes a load until its end, its first error, or the end of its time.
fn make(config: &LoadConfig, stop: &AtomicBool) -> Result<LoadReport, LoadError> {
    let over = AtomicBool::new(false);
    let until = Instant::now() + TIME_MOST + config.timeout;
    wirebench_loadgen::run(config, &over, &mut |event| {
        let failed = matches!(&event, LoadEvent::Interval(it) if it.errors > 0);
        if failed || stop.load(Ordering::Relaxed) || Instant::now() >= until {
            over.store(true, Ordering::Relaxed);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::beside_busy_cpus;
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
        thread,
    };

    #[test]
    fn replies_are_waited_for_while_all_cpus_are_busy() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let mut config = LoadConfig::new(url.parse().unwrap());
        (config.threads, config.connections, config.stop) = (1, 1, Stop::Requests(1));
        config.timeout = Duration::from_millis(500);
        let late = config.timeout + Duration::from_millis(200);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 1024]);
                thread::sleep(late);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
        });
        let seen = beside_busy_cpus(|| load(&config, &AtomicBool::new(false)));
        assert_eq!(seen.map(|replies| replies.len()), Ok(1));
    }
}
