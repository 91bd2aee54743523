//! Services and load generators on different hosts: what is reached, over TLS too, and what is refused.

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{PrivateKeyDer, pem::PemObject},
};
use std::{
    cell::RefCell,
    fs,
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};
use wirebench_schema::{
    journal::{Journal, ReasonKind},
    load::Trust,
};

use crate::{
    from::carrier,
    hosts::{Network, SERVER},
    servers,
    services::assert_went_through,
    world::{ONE_STATE, Outcome, Running, World, assert_has, program},
};

/// Loads as short as they can be.
const SHORT: [&str; 6] =
    ["-d250ms", "--visit=80ms", "--rounds=2", "--steady=0s", "--warmup=20ms", "-c2"];

/// A connection that reads and writes behind a shared reference.
struct Tls(RefCell<StreamOwned<ServerConnection, TcpStream>>);

impl Read for &Tls {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

impl Write for &Tls {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// The service of [`api`](crate::requests::api) over TLS within this test: its URL, and the file of its certificate.
fn tls_api(world: &World) -> (String, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let names = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = names.self_signed(&key).unwrap();
    let file = world.path("ca.pem");
    fs::write(&file, certificate.pem()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let address = servers::in_threads("127.0.0.1".parse().unwrap(), move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let _ = crate::requests::api(&Tls(RefCell::new(StreamOwned::new(connection, stream))));
    });
    let url = format!("https://localhost:{}/users/7", address.port());
    (url, file.to_str().unwrap().to_owned())
}

#[test]
fn a_service_over_tls_is_checked_here_and_loaded_from_other_hosts() {
    let world = World::that_sends();
    let (url, file) = tls_api(&world);
    let verified = world.wirebench(&["verify", &url, "--cacert", &file]).ended(0);
    assert_has(&verified.stdout, &["6 passed, 0 failed, 4 skipped", "half-close: TLS ends"]);
    let unknown = world.wirebench(&["verify", &url, "-q"]).ended(1);
    assert_has(&unknown.stdout, &["certificate"]);
    let carrier = carrier(&world);
    let run = ["run", &url, "--cacert", &file, "--from=a,b", "--carrier", &carrier];
    let phase = ["--cohorts=3", "--phase=saturate", "-q"];
    // No server is started, so that --address is not needed.
    assert_went_through(&world.wirebench(&[&run[..], &SHORT, &phase].concat()));
    let journal = world.journal();
    assert!(journal.verified.iter().all(|it| it.failed.is_empty()), "{:?}", journal.verified);
    let measured: Vec<_> = journal.runs.iter().filter_map(|it| it.outcome.measured()).collect();
    assert!(!measured.is_empty(), "{:#?}", journal.runs);
    for load in measured.iter().map(|it| &it.load) {
        let hosts: Vec<&str> = load.generators.iter().map(|it| &*it.host).collect();
        assert_eq!((hosts, &load.config.trust), (vec!["a", "b"], &Trust::File(file.clone())));
        assert_eq!(load.errors.total(), 0, "{:?}", load.error_examples);
    }
    world.wait_for_silence();
}

#[test]
fn what_another_host_cannot_reach_is_refused_with_what_to_write() {
    let world = World::that_sends();
    let (url, by_socket) = ("http://127.0.0.1:1/", servers::command("api"));
    let by_socket = by_socket.replace("{port}", "{path}");
    let unix = ["run", "--server", &by_socket, "--url=unix:{path}"];
    let of_service = "write an address of this host in the URL, or omit --from";
    let rows: [(&[&str], &str); 5] = [
        (&["run", url], of_service),
        (&["ab", "--a", url, "--b", url], of_service),
        (&["tune", url], of_service),
        (&unix, "use a URL with {port}, or omit --from"),
        (&["run", "builtin/epoll", "--address=127.0.0.1"], "give another --address"),
    ];
    for (arguments, remedy) in rows {
        let outcome = world.wirebench(&[arguments, &["--from=me@localhost,lab2"]].concat());
        outcome.assert_refused(2, &["is reached from this host alone, not from lab2", remedy]);
    }
}

/// What wirebench prints on a host of a network.
fn outcome(network: &Network, world: &World, arguments: &[&str]) -> Outcome {
    let mut command = network.on("g1", program());
    command.args(arguments).current_dir(world.folder.path()).envs([world.mark(), ONE_STATE]);
    Running::of(command).end()
}

/// How many connections the server's host has accepted.
fn accepted(network: &Network) -> u64 {
    let mut command = network.on("s", "cat");
    let text = command.arg("/proc/net/snmp").output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let names = lines.next().unwrap().split(' ');
    let mut values = names.zip(lines.next().unwrap().split(' '));
    values.find(|(name, _)| *name == "PassiveOpens").unwrap().1.parse().unwrap()
}

fn has(journal: &Journal, kind: ReasonKind) -> bool {
    journal.runs.iter().all(|run| run.outcome.reasons().iter().any(|it| it.kind == kind))
}

#[test]
#[ignore = "needs network namespaces and sshd"]
fn a_service_on_another_host_is_measured_at_the_stated_rate_without_its_processes_with_hosts() {
    let world = World::that_sends();
    let mut network = Network::new(world.folder.path());
    network.serve();
    let url = format!("http://{SERVER}/");
    for arguments in
        [&["run", &url][..], &["ab", "--a", &url, "--b", &url], &["tune", &url], &["verify", &url]]
    {
        let outcome = outcome(&network, &world, arguments);
        outcome.assert_refused(2, &["is not on loopback (198.18.0.2:8080)", "--yes"]);
    }
    assert_eq!(accepted(&network), 0);
    let verified = outcome(&network, &world, &["verify", &url, "--rate=100"]).ended(0);
    assert_has(&verified.stdout, &["7 passed, 0 failed, 3 skipped"]);
    let rated = ["run", &url, "--rate=200", "--cohorts=3"];
    // The warm-up ends by the time, because no process is known whose CPU time could become steady.
    let warm = ["-d250ms", "--visit=80ms", "--rounds=2", "--steady=2s", "-c2", "-q"];
    let run = outcome(&network, &world, &[&rated[..], &warm].concat());
    assert_went_through(&run);
    let unknown = "CPU time and memory unknown: no process of the service was found";
    assert_has(&run.stdout.replace("\n      ", " "), &[unknown, "not restarted: "]);
    let journal = world.journal();
    assert!(has(&journal, ReasonKind::NoProcesses) && has(&journal, ReasonKind::NotRestarted));
    let measured: Vec<_> = journal.runs.iter().filter_map(|it| it.outcome.measured()).collect();
    assert!(!measured.is_empty(), "{:#?}", journal.runs);
    for run in measured {
        assert!(run.load.requests > 0 && run.cost.cpu_ns_per_request.is_none(), "{run:#?}");
        assert!(run.load.connections_made <= 2, "{run:#?}");
    }
    fs::remove_dir_all(world.results()).unwrap();
    let search = ["tune", &url, "--objective=p50 < 10s", "--rates=50-100", "--runs=4", "-c2"];
    let tuned = outcome(&network, &world, &[&search[..], &["-d", "100ms", "-q"]].concat());
    assert_went_through(&tuned);
    world.wait_for_silence();
}
