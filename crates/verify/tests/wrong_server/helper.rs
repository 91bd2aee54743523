//! Processes around the server: children that stay, a launcher that is killed, signals that are
//! ignored.

use rustix::thread::{CpuSet, sched_setaffinity};
use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr},
    os::unix::process::CommandExt,
    process::{Command, ExitCode, Stdio},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};
use wirebench_schema::{
    entry::{Ready, Variant},
    id::VariantId,
    scenario::Scenario,
};
use wirebench_server::launch::{Launcher, ReadyWhen, Request};

/// Nothing of a test may stay longer than this, whatever goes wrong.
const LIFE: Duration = Duration::from_secs(60);

pub(crate) fn sleep_for_long() {
    std::thread::sleep(LIFE);
    std::process::exit(1);
}

fn this_program() -> Command {
    let program = std::env::current_exe().expect("a running program has a path");
    Command::new(program)
}

/// Starts a process that outlives its parent, by way of another one that ends at once.
pub(crate) fn leave_child() {
    let mut maker = this_program();
    maker.arg("orphan-maker").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    maker.status().expect("this program can be started");
}

pub(crate) fn orphan_maker() -> ExitCode {
    let child = this_program().arg("orphan").spawn().expect("this program can be started");
    // It is not waited for here: it shall outlive this process.
    drop(child);
    ExitCode::SUCCESS
}

/// In a session of its own, so that no signal to its parent's group reaches it.
pub(crate) fn orphan() -> ExitCode {
    let _ = rustix::process::setsid();
    std::thread::sleep(LIFE);
    ExitCode::SUCCESS
}

/// Starts a child that ends by itself once its parent has, and needs CPU time for that.
pub(crate) fn start_child_that_ends_late() {
    drop(this_program().arg("late-child").spawn().expect("this program can be started"));
}

pub(crate) fn late_child() -> ExitCode {
    /// Longer than a child that sleeps may take, shorter than one that works.
    const WORK: Duration = Duration::from_millis(1200);
    let parent = rustix::process::getppid();
    while rustix::process::getppid() == parent {
        std::thread::sleep(Duration::from_millis(1));
    }
    let until = Instant::now() + WORK;
    while Instant::now() < until {}
    ExitCode::SUCCESS
}

/// A signal that is ignored stays ignored in the program that a shell becomes.
pub(crate) fn restart_without_sigterm(words: &[String]) {
    restart_by_shell("trap '' TERM; exec \"$0\" \"$@\"", words);
}

/// A shell takes the place of this process and ends with SIGSEGV once it gets SIGTERM; the server
/// is its child, and ends in order.
pub(crate) fn restart_below_a_crashing_shell(words: &[String]) {
    restart_by_shell(
        "ulimit -c 0; \"$0\" \"$@\" & child=$!; \
         trap 'kill $child; wait $child; kill -SEGV $$' TERM; wait $child",
        words,
    );
}

/// Becomes a shell that runs `script`, whose arguments are those of a correct server.
fn restart_by_shell(script: &str, words: &[String]) {
    let program = std::env::current_exe().expect("a running program has a path");
    let error = Command::new("/bin/sh")
        .args(["-c", script])
        .arg(program)
        .arg("correct")
        .args(&words[1..])
        .exec();
    eprintln!("wrong-server: {error}");
    std::process::exit(1);
}

pub(crate) fn escape_affinity() {
    let mut all = CpuSet::new();
    for cpu in 0..CpuSet::MAX_CPU {
        all.set(cpu);
    }
    if let Err(error) = sched_setaffinity(None, &all) {
        eprintln!("wrong-server: {error}");
    }
}

/// `launcher MODE`: starts a server as wirebench does, prints the numbers of its processes, and
/// waits to be killed.
pub(crate) fn launcher(words: &[String]) -> ExitCode {
    let program = std::env::current_exe().expect("a running program has a path");
    let program = program.display().to_string();
    let mode = words.first().map_or("correct", String::as_str);
    let variant = variant(&program, mode);
    let launcher = Launcher {
        guard_command: vec![program.clone(), "guard".into()],
        host: IpAddr::V4(Ipv4Addr::LOCALHOST),
        cpus: None,
        ready_timeout: Duration::from_secs(10),
        ready_when: ReadyWhen::Connect,
    };
    let request = Request {
        variant: &variant,
        scenario: Scenario::Hello,
        workers: 1,
        timeout_ms: 5000,
        build: "/tmp".into(),
        source: "/tmp".into(),
        tree: None,
    };
    let server = launcher.start(&request, &AtomicBool::new(false)).expect("the server starts");
    let numbers: Vec<String> =
        server.tree().iter().map(|pid| pid.as_raw_nonzero().to_string()).collect();
    println!("{}", numbers.join(" "));
    std::io::stdout().flush().expect("the test reads");
    std::thread::sleep(LIFE);
    ExitCode::SUCCESS
}

fn variant(program: &str, mode: &str) -> Variant {
    let mut command = [program, mode].map(str::to_owned).to_vec();
    command.extend(["{scenario}", "{host}", "{port}", "{workers}"].map(str::to_owned));
    let id = VariantId::new("rust/wrong", None).expect("it is an entry's name");
    Variant::of_command(id, command, Ready::Line)
}
