//! What the generator reaches with the same load on a built-in server that does nothing but answer.
//!
//! It is no property of the machine: it holds for this shape of load, on these CPUs, now.

use anyhow::Context as _;
use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    time::Duration,
};
use wirebench_catalogue::{project::Project, subject::Subject};
use wirebench_host::topology;
use wirebench_loadgen as loadgen;
use wirebench_schema::{
    load::{LoadConfig, LoadModel, LoadReport, Stop},
    target::Target,
};
use wirebench_server::launch::{STOP_GRACE, Server};

use crate::{context::launcher, live::interrupt::Interrupt};

const WINDOW: Duration = Duration::from_secs(1);
/// Load before that, until caches are warm.
const WARMUP: Duration = Duration::from_millis(200);
/// Replies above this size take the generator longer than the small ones of the built-in server.
const SMALL_REPLY_BYTES: u64 = 1024;

/// Requests per second that the generator reaches with a load of this shape; or a sentence on why
/// that cannot be measured.
pub(crate) fn measure(config: &LoadConfig, interrupt: &Interrupt) -> Result<f64, String> {
    if let Some(reason) = obstacle(config) {
        return Err(reason.to_owned());
    }
    let server = start(config, interrupt).map_err(|error| format!("{error:#}"))?;
    let config = shape(config, server.address());
    let report = loadgen::run(&config, interrupt.flag(), &mut |_| {});
    let stopped = server.stop(STOP_GRACE);
    let report = report.map_err(|error| error.to_string())?;
    if report.interrupted {
        return Err("interrupted".to_owned());
    }
    if report.requests == 0 {
        return Err(format!("the built-in server gave no answer in time {}", stopped.stderr));
    }
    Ok(report.requests_per_second)
}

/// Why a ceiling says nothing about this load after all.
pub(crate) fn differs(report: &LoadReport) -> Option<String> {
    let bytes = report.bytes_received / report.requests.max(1);
    let has_heads = report.config.target.protocol().traits().has_heads;
    (has_heads && bytes > SMALL_REPLY_BYTES).then(|| {
        format!("the replies have {bytes} bytes each, and those of the built-in server have 77")
    })
}

/// What the built-in servers cannot do.
fn obstacle(config: &LoadConfig) -> Option<&'static str> {
    if config.target.is_tls() {
        Some("the built-in servers speak no TLS")
    } else if config.unix_socket.is_some() || config.target.unix_path().is_some() {
        Some("the built-in servers listen on no Unix socket")
    } else if config.requests.is_some() {
        Some("the built-in servers answer all requests alike")
    } else if config.body.is_some() {
        Some("the built-in servers read no body of a request")
    } else if config.method == "HEAD" {
        Some("the built-in servers answer every method with a body")
    } else {
        None
    }
}

/// The same load on the built-in server, as fast as it goes.
fn shape(config: &LoadConfig, server: SocketAddr) -> LoadConfig {
    let host = server.ip().to_string();
    let path = config.target.path();
    let mut shape = config.clone();
    shape.target = Target::new(config.target.protocol(), &host, server.port(), path);
    shape.model = LoadModel::Closed;
    (shape.stop, shape.warmup) = (Stop::After(WINDOW), WARMUP);
    (shape.expect_body, shape.expect_body_file, shape.expect_contains) = (None, None, None);
    shape.idle_connections = 0;
    // Other addresses of this host may have no way to the loopback device.
    let loopback = |address: IpAddr| address.is_loopback();
    shape.sources.retain(|range| loopback(range.first) && loopback(range.last));
    shape
}

/// Starts the built-in server, on CPUs that this process may not use if there are any.
fn start(config: &LoadConfig, interrupt: &Interrupt) -> anyhow::Result<Server> {
    let program = std::env::current_exe().context("this program's own file cannot be found")?;
    let project = Project::without_entries(Path::new("."));
    let subjects = Subject::builtins(&program, &project).map_err(anyhow::Error::msg)?;
    let subject = subjects.first().context("there is no built-in server")?;
    let own = wirebench_sys::affinity::current()?;
    let others = other_cpus(&own);
    let cpus = if others.is_empty() { own.len() } else { others.len() };
    let workers = u32::try_from(config.threads.clamp(1, cpus.max(1)))?;
    let request = subject.request(config.target.protocol().traits().builtin_scenario, workers);
    let on = |cpus| launcher(&program, cpus).start(&request, interrupt.flag());
    if !others.is_empty()
        && let Ok(server) = on(Some(others))
    {
        return Ok(server);
    }
    // A container may keep the others for itself; then both share what there is.
    Ok(on(None)?)
}

/// The online CPUs that a process with the CPUs `own` may not use, as with taskset. There may be none.
fn other_cpus(own: &[u32]) -> Vec<u32> {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let online = topology::parse_list(online.trim()).unwrap_or_default();
    online.into_iter().filter(|cpu| !own.contains(cpu)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use wirebench_schema::load::{Body, EngineChoice, RateCurve, RequestFile, RequestOrder};

    fn config(target: &str) -> LoadConfig {
        LoadConfig::new(target.parse().unwrap())
    }

    const IN_TURN: RequestOrder = RequestOrder::InTurn;

    #[test]
    fn what_the_built_in_servers_cannot_do_is_said() {
        let http = || config("http://h:1/");
        let unix = "the built-in servers listen on no Unix socket";
        let rows = [
            (config("https://h:1/"), Some("the built-in servers speak no TLS")),
            (config("unix:/x"), Some(unix)),
            (LoadConfig { unix_socket: Some("/x".into()), ..http() }, Some(unix)),
            (
                LoadConfig { body: Some(Body::Text("x".into())), ..http() },
                Some("the built-in servers read no body of a request"),
            ),
            (
                LoadConfig {
                    requests: Some(RequestFile::parse("/a", IN_TURN).unwrap().set),
                    ..http()
                },
                Some("the built-in servers answer all requests alike"),
            ),
            (
                LoadConfig { method: "HEAD".into(), ..http() },
                Some("the built-in servers answer every method with a body"),
            ),
            (http(), None),
            (config("tcp://h:1"), None),
        ];
        for (config, expected) in rows {
            assert_eq!(obstacle(&config), expected, "{config:?}");
        }
    }

    #[test]
    fn the_shape_stays_and_the_rate_goes() {
        let mut config = config("http://h:1/x?y");
        (config.pipeline, config.connections, config.idle_connections) = (16, 64, 1000);
        config.model = LoadModel::rate(RateCurve::Constant(5));
        config.expect_body = Some("x".into());
        let shape = shape(&config, "127.0.0.1:80".parse().unwrap());
        assert_eq!(shape.target.to_string(), "http://127.0.0.1:80/x?y");
        assert_eq!((shape.pipeline, shape.connections, shape.idle_connections), (16, 64, 0));
        assert_eq!((shape.model.clone(), shape.stop), (LoadModel::Closed, Stop::After(WINDOW)));
        assert_eq!(shape.check(), Ok(()));
    }

    #[test]
    fn large_replies_have_another_ceiling() {
        let mut report = LoadReport::new("0".into(), config("http://h:1/"), EngineChoice::Epoll);
        (report.requests, report.bytes_received) = (10, 770);
        assert_eq!(differs(&report), None);
        report.bytes_received = 100_000;
        expect!["the replies have 10000 bytes each, and those of the built-in server have 77"]
            .assert_eq(&differs(&report).unwrap());
    }
}
