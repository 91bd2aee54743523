//! The three groups of checks: what each needs of the server, and when it says nothing.
//!
//! The list of checks is in the parent module, their code in its other children.

use wirebench_schema::{
    entry::{Mechanism, Sharing},
    scenario::{DEFAULT_TIMEOUT_MS, Scenario},
};
use wirebench_server::launch::Request;

use super::{
    Asked, Extent, PROCESS, READY, Verdict, conversation,
    ends::{self, REPLIES_PER_LIFE},
    flood, limit, mechanism, no_delay, process,
    session::Session,
    timeout, timeouts, work, workers,
};

/// Workers with which the third group at least starts a server that can have them.
const WORKERS_LEAST: u32 = 2;

pub(super) fn check_conversation(session: &mut Session<'_, '_>) {
    let [basics, others @ ..] = conversation(session.request.scenario) else { return };
    session.check_basics(basics.name, &mut |server| (basics.run)(server.address()).into());
    for check in others {
        session.converse(check.name, &mut |server| (check.run)(server.address()).into());
    }
    session.stop_server();
}

/// The whole course of a server whose contract is its user's.
pub(super) fn check_requests(session: &mut Session<'_, '_>, asked: &Asked<'_>) {
    if !session.first_start(READY.name) {
        return;
    }
    let stop = session.stop();
    asked.check(session, stop);
    if asked.extent == Extent::All {
        let run = &session.request.variant.run;
        if run.service.is_some() {
            session.skip_ends("wirebench has not started this service, and does not stop it");
            return;
        }
        session.flood(&|server| asked.answered((run, server), REPLIES_PER_LIFE, stop));
        session.stop_server();
        session.judge_ends();
    }
}

pub(super) fn check_timeouts(session: &mut Session<'_, '_>) {
    let checks = timeouts(session.request.scenario);
    if checks.is_empty() {
        return;
    }
    if !takes(&session.request, "timeout_ms") {
        for check in checks {
            session
                .skip(check.name, "its command takes no {timeout_ms}, so its timeout is not known");
        }
        return;
    }
    session.request.timeout_ms = timeout::TIMEOUT_MS;
    let mut outcomes = None;
    for (index, check) in checks.iter().enumerate() {
        session.converse(check.name, &mut |server| {
            let outcomes = outcomes.get_or_insert_with(|| timeout::run_all(server.address()));
            outcomes[index].clone().into()
        });
    }
    session.stop_server();
    session.request.timeout_ms = DEFAULT_TIMEOUT_MS;
}

/// Whether the command contains a placeholder, so that the server can know its value.
fn takes(request: &Request<'_>, placeholder: &str) -> bool {
    let placeholder = format!("{{{placeholder}}}");
    request.variant.run.command.iter().any(|argument| argument.contains(&placeholder))
}

const PER_CONNECTION: &str =
    "each connection has a thread or process of its own, whatever the number of workers";
const TAKES_NO_WORKERS: &str = "its command takes no {workers}";

/// Whether a server of this kind has one worker, whatever it is asked for.
fn has_one_worker(request: &Request<'_>) -> bool {
    request.variant.sharing == Sharing::Single || request.variant.max_workers == Some(1)
}

/// Why it cannot be checked that two workers are two, if it cannot.
fn workers_not_checkable(request: &Request<'_>) -> Option<&'static str> {
    match request.variant.sharing {
        _ if has_one_worker(request) => Some("it declares that it has one worker"),
        Sharing::PerConnection => Some(PER_CONNECTION),
        _ if !takes(request, "workers") => Some(TAKES_NO_WORKERS),
        Sharing::Prefork | Sharing::Shared | Sharing::HandOut | Sharing::Single => None,
    }
}

const HANDS_OVER: &str =
    "two tasks of a connection make its runtime hand work over often; `hello` has the check";

/// Why it cannot be checked that one worker is only one, if it cannot.
fn limit_not_checkable(request: &Request<'_>) -> Option<&'static str> {
    let hands_over = limit::Threads::of(request.variant) == limit::Threads::HandOver;
    match request.variant.sharing {
        Sharing::PerConnection => Some(PER_CONNECTION),
        _ if hands_over && request.scenario == Scenario::Handoff => Some(HANDS_OVER),
        _ if has_one_worker(request) || takes(request, "workers") => None,
        Sharing::Prefork | Sharing::Shared | Sharing::HandOut | Sharing::Single => {
            Some(TAKES_NO_WORKERS)
        }
    }
}

fn check_worker_limit(session: &mut Session<'_, '_>, name: &'static str) {
    if let Some(reason) = limit_not_checkable(&session.request) {
        return session.skip(name, reason);
    }
    let protocol = session.request.scenario.protocol();
    let threads = limit::Threads::of(session.request.variant);
    let cpus = session.cpus().unwrap_or_default();
    let asked = std::mem::replace(&mut session.request.workers, 1);
    session.converse(name, &mut |server| limit::check(server, protocol, (threads, &cpus)).into());
    session.stop_server();
    session.request.workers = asked;
}

fn check_workers(session: &mut Session<'_, '_>, name: &'static str) {
    if let Some(reason) = workers_not_checkable(&session.request) {
        return session.skip(name, reason);
    }
    let protocol = session.request.scenario.protocol();
    let asked = session.request.workers;
    let started = asked.max(WORKERS_LEAST);
    session.request.workers = started;
    if session.can_start()
        && let Err(error) = session.start()
    {
        let finding = format!("with {started} workers it does not start: {error}");
        session.report(name, Verdict::Fail { finding });
        // The other checks of the group are made with as many as it can have.
        session.request.workers = asked;
        return;
    }
    session.converse(name, &mut |server| workers::check(server, protocol, started).into());
}

pub(super) fn check_processes(session: &mut Session<'_, '_>, declared: Option<Mechanism>) {
    let protocol = session.request.scenario.protocol();
    let [worker_limit, workers, mechanism, no_delay, affinity, survives] =
        PROCESS.map(|check| check.name);
    check_worker_limit(session, worker_limit);
    check_workers(session, workers);
    match declared {
        None => session.skip(mechanism, "no mechanism is declared for a plain command"),
        Some(declared) => session
            .converse(mechanism, &mut |server| mechanism::check(server, protocol, declared).into()),
    }
    session.converse(no_delay, &mut |server| no_delay::check(server, protocol).into());
    let cpus = session.cpus();
    session.check(affinity, &mut |server| {
        let allowed = cpus.clone();
        allowed.and_then(|allowed| process::affinity(&server.tree(), &allowed)).into()
    });
    let sharing = session.request.variant.sharing;
    session.converse(survives, &mut |server| ends::survives(server, protocol, sharing));
    for check in work::checks(session.request.scenario) {
        session.converse(check.name, &mut |server| (check.run)(server).into());
    }
    session.flood(&|server| flood::answered(protocol, server.address(), REPLIES_PER_LIFE).ok());
    session.stop_server();
}
