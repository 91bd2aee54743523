//! Runs `verify` against one mode of the wrong server and looks for what is left of it afterwards.

use std::{
    cell::RefCell,
    fs,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    entry::{Deviation, Mechanism, Ready, Sharing, Variant},
    id::VariantId,
    scenario::Scenario,
    suite::{Suite, Workload},
};
use wirebench_server::launch::{Launcher, ReadyWhen, Request};
use wirebench_verify::{Asked, Checked, Extent, Verdict, catalogue, verify};

pub(crate) const WRONG_SERVER: &str = env!("CARGO_BIN_EXE_wrong-server");
/// Every process of a case inherits this variable with a value of the case's own.
const MARK: &str = "WRONG_SERVER_CASE";
/// Cases that run at once. They mostly wait.
const AT_ONCE: usize = 6;

/// How a mode of the wrong server is presented to `verify`.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) mode: &'static str,
    pub(crate) scenario: Scenario,
    pub(crate) declared: Option<Mechanism>,
    pub(crate) sharing: Sharing,
    pub(crate) ready: Ready,
    pub(crate) host: IpAddr,
    pub(crate) cpus: Option<Vec<u32>>,
    pub(crate) ready_timeout: Duration,
    pub(crate) ready_when: ReadyWhen,
    pub(crate) arguments: &'static [&'static str],
    pub(crate) deviations: Vec<Deviation>,
}

impl Setup {
    /// A server with a thread per connection that says what it is.
    pub(crate) fn new(mode: &'static str, scenario: Scenario) -> Self {
        Self {
            mode,
            scenario,
            declared: Some(Mechanism::Blocking),
            sharing: Sharing::PerConnection,
            ready: Ready::Line,
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            cpus: None,
            ready_timeout: Duration::from_secs(20),
            ready_when: ReadyWhen::Connect,
            arguments: &["{scenario}", "{host}", "{port}", "{workers}", "{timeout_ms}"],
            deviations: Vec::new(),
        }
    }

    /// A server with an epoll loop per worker that says what it is.
    pub(crate) fn epoll(mode: &'static str, scenario: Scenario) -> Self {
        Self {
            declared: Some(Mechanism::Epoll),
            sharing: Sharing::Prefork,
            ..Self::new(mode, scenario)
        }
    }

    pub(crate) fn variant(&self, mark: &str) -> Variant {
        let mut command = vec![WRONG_SERVER.to_owned(), self.mode.to_owned()];
        command.extend(self.arguments.iter().map(|&argument| argument.to_owned()));
        let id = VariantId::new("rust/wrong", None).unwrap();
        let mut variant = Variant {
            mechanism: self.declared.unwrap_or(Mechanism::Blocking),
            sharing: self.sharing,
            scenarios: Scenario::ALL.to_vec(),
            deviations: self.deviations.clone(),
            ..Variant::of_command(id, command, self.ready)
        };
        variant.run.env.insert(MARK.to_owned(), mark.to_owned());
        variant
    }

    pub(crate) fn launcher(&self) -> Launcher {
        Launcher {
            guard_command: vec![WRONG_SERVER.to_owned(), "guard".to_owned()],
            host: self.host,
            cpus: self.cpus.clone(),
            ready_timeout: self.ready_timeout,
            ready_when: self.ready_when,
        }
    }

    pub(crate) fn request<'a>(&self, variant: &'a Variant) -> Request<'a> {
        Request {
            variant,
            scenario: self.scenario,
            workers: 1,
            timeout_ms: 5000,
            build: std::env::temp_dir(),
            source: std::env::temp_dir(),
            tree: None,
        }
    }

    /// Runs all checks, and makes sure that each has a verdict and that no process is left.
    pub(crate) fn verify(&self) -> Vec<Checked> {
        let checked = self.verify_until(&|_| false);
        assert_eq!(checked.len(), catalogue(self.scenario).len(), "{}", self.mode);
        checked
    }

    /// Runs the checks up to the first that fails, and returns its name and finding.
    pub(crate) fn first_failure(&self) -> Option<(&'static str, String)> {
        let is_failure = |checked: &Checked| matches!(checked.verdict, Verdict::Fail { .. });
        failures(&self.verify_until(&is_failure)).into_iter().next()
    }

    /// Runs the checks in their order up to the first that is `last`, and makes sure that no process is left.
    fn verify_until(&self, last: &dyn Fn(&Checked) -> bool) -> Vec<Checked> {
        let mark = new_mark();
        let variant = self.variant(&mark);
        let (launcher, request) = (self.launcher(), self.request(&variant));
        let mut observed = Vec::new();
        let workloads = [workload()];
        let asked =
            Asked { workloads: &workloads, extent: Extent::All, replies: &RefCell::default() };
        let (told, stop) = ((self.declared, &asked), AtomicBool::new(false));
        let checked = verify(&launcher, &request, told, &stop, &mut |checked| {
            observed.push(checked.clone());
            stop.store(last(checked), Ordering::Relaxed);
        });
        assert_eq!(observed, checked);
        let names: Vec<_> = checked.iter().map(|checked| checked.name).collect();
        let expected: Vec<_> = catalogue(self.scenario).iter().map(|check| check.name).collect();
        assert!(expected.starts_with(&names), "{}: {names:?}", self.mode);
        expect_gone(&mark);
        checked
    }
}

/// What is asked in the scenario `requests`.
fn workload() -> Workload {
    let text = "description = \"One.\"\nblocks = 1\n[[workload]]\nname = \"own\"\nscenario = \"requests\"\n\
                requests_file = \"own.jsonl\"\nconnections = 1\nduration = \"1s\"\n";
    let requests = r#"{"path": "/", "expect": {"body": "Hello world!"}}"#;
    let files = |name: &str| Ok((name.to_owned(), requests.to_owned()));
    Suite::parse_with("own", text, &files).unwrap().workloads.remove(0)
}

/// The checks that failed, with their findings.
pub(crate) fn failures(checked: &[Checked]) -> Vec<(&'static str, String)> {
    let failed = checked.iter().filter_map(|checked| match &checked.verdict {
        Verdict::Fail { finding } => Some((checked.name, finding.clone())),
        Verdict::Pass | Verdict::Skip { .. } | Verdict::Deviates { .. } => None,
    });
    failed.collect()
}

/// Whether a check was skipped because the kernel does not let one process examine the sockets of
/// another.
pub(crate) fn is_hidden(checked: &Checked) -> bool {
    match &checked.verdict {
        Verdict::Skip { reason } => reason.starts_with("the kernel does not let"),
        Verdict::Pass | Verdict::Fail { .. } | Verdict::Deviates { .. } => false,
    }
}

/// Runs `case` for each of `cases`, several at a time, and panics with all that they panicked with.
pub(crate) fn for_each<T: Sync>(cases: &[T], case: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(cases.len()) {
            scope.spawn(|| {
                while let Some(one) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(reason) = case(one) {
                        wrong.lock().unwrap().push(reason);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A value of the variable that no other case has.
pub(crate) fn new_mark() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The variable and its value, for a process that the test starts itself.
pub(crate) fn marked(mark: &str) -> (&'static str, &str) {
    (MARK, mark)
}

pub(crate) fn processes(mark: &str) -> Vec<i32> {
    let wanted = format!("{MARK}={mark}");
    let numbers = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|folder| folder.file_name().to_str().and_then(|name| name.parse().ok()));
    numbers
        .filter(|pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|part| part == wanted.as_bytes())
        })
        .collect()
}

/// No process of a case may be left, at the latest after some seconds.
pub(crate) fn expect_gone(mark: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let left = processes(mark);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < until, "these processes are left: {left:?}");
        thread::sleep(Duration::from_millis(20));
    }
}
