//! The conformance checks of `wirebench verify`: a server must do what its scenario says before a
//! number of it counts.
//!
//! Every check has a stable name, is bounded in time and says what is wrong in one sentence. It
//! judges behaviour only, never speed: each time limit is far beyond what a working server needs.
//!
//! The checks come in groups, each on a server process of its own:
//! 1. the conversation, with the workers that were asked for (`hello` or `echo`),
//! 2. for `hello-timeout`, the timeouts, with a short one,
//! 3. the processes: `limit` with one worker, then `process`, `mechanism`, `no_delay`, `traffic`,
//!    `ends` and `work` with two at least where the server can have them.
//!
//! How all of these processes ended is judged last. The scenario `requests` has a course of its own, in `requests`:
//! loads and single exchanges with what a user expects, and how the process ends.
//!
//! Servers are started and ended elsewhere.
#![forbid(unsafe_code)]

pub mod client;
mod course;
mod echo;
mod ends;
mod flood;
mod hello;
mod http;
mod limit;
mod mechanism;
mod no_delay;
mod outcome;
mod process;
pub mod protocol;
mod protocols;
mod purpose;
pub mod reply;
mod requests;
mod session;
mod show;
mod timeout;
mod work;
mod workers;

use std::{net::SocketAddr, sync::atomic::AtomicBool};
use wirebench_schema::{
    entry::Mechanism,
    scenario::{DEFAULT_TIMEOUT_MS, Scenario},
};
use wirebench_server::launch::{Launcher, Request};

pub use requests::{Asked, Extent};
use session::Session;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Checked {
    pub name: &'static str,
    /// The scenario in which the server was asked to run.
    pub scenario: Scenario,
    pub verdict: Verdict,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    Pass,
    /// It does not conform.
    Fail {
        /// One sentence: what was expected and what was seen.
        finding: String,
    },
    /// It does not conform, as its entry declares.
    Deviates {
        reason: String,
        /// One sentence: what was expected and what was seen.
        finding: String,
    },
    /// The check says nothing about this server.
    Skip {
        reason: String,
    },
}

/// A check's name and what it proves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Described {
    pub name: &'static str,
    pub about: &'static str,
}

impl Described {
    /// What the check is for, as a clause.
    #[must_use]
    pub fn purpose(&self) -> &'static str {
        purpose::of(self.name)
    }
}

/// A check, and how it is made: by default it needs nothing but the server's address.
struct Check<R = fn(SocketAddr) -> Result<(), String>> {
    name: &'static str,
    about: &'static str,
    run: R,
}

impl<R> Check<R> {
    const fn described(&self) -> Described {
        Described { name: self.name, about: self.about }
    }
}

const READY: Described = Described {
    name: "ready",
    about: "The server starts, prints its ready line, and accepts connections.",
};

/// The checks of the third group, in their order.
const PROCESS: [Described; 6] = [
    Described {
        name: "worker-limit",
        about: "With one worker, only one thread of the server works at a time.",
    },
    Described {
        name: "workers",
        about: "With two or more workers, at least two threads or processes work.",
    },
    Described {
        name: "mechanism",
        about: "The server waits for events with epoll, io_uring or blocking calls, as declared.",
    },
    Described { name: "no-delay", about: "The server sets TCP_NODELAY on its connections." },
    Described { name: "affinity", about: "All threads of the server are restricted to its CPUs." },
    Described {
        name: "survives",
        about: "The server continues after clients reset their connections in the middle of a request.",
    },
];

/// All checks of a scenario, in the order in which they run.
#[must_use]
pub fn catalogue(scenario: Scenario) -> Vec<Described> {
    let mut all = vec![READY];
    if scenario == Scenario::Requests {
        all.extend(requests::CHECKS.iter().map(Check::described));
    } else {
        all.extend(conversation(scenario).iter().map(Check::described));
        all.extend(timeouts(scenario).iter().map(Check::described));
        all.extend(PROCESS);
        all.extend(work::checks(scenario).iter().map(Check::described));
    }
    all.extend(ends::CHECKS);
    all
}

const fn conversation(scenario: Scenario) -> &'static [Check] {
    protocols::support(scenario.protocol()).checks
}

const fn timeouts(scenario: Scenario) -> &'static [Check] {
    match scenario {
        Scenario::HelloTimeout => &timeout::CHECKS,
        Scenario::Hello
        | Scenario::Echo
        | Scenario::Mutex
        | Scenario::Channel
        | Scenario::Skewed
        | Scenario::Handoff
        | Scenario::Requests => &[],
    }
}

/// Runs all checks of the scenario of `request`, and calls `observe` after each.
///
/// `request` says how many workers the conversation is checked with; its timeout is replaced by
/// those of the checks. `declared` is absent for a command of which nothing is declared; `asked` matters
/// to the scenario `requests` alone. Once `stop` is set, the check that runs comes to its end and no other
/// begins; what has been checked so far is returned.
pub fn verify(
    launcher: &Launcher,
    request: &Request<'_>,
    (declared, asked): (Option<Mechanism>, &Asked<'_>),
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Checked),
) -> Vec<Checked> {
    let request = Request { timeout_ms: DEFAULT_TIMEOUT_MS, ..request.clone() };
    let mut session = Session::new(launcher, request, stop, observe);
    if session.request.scenario == Scenario::Requests {
        course::check_requests(&mut session, asked);
    } else if session.first_start(READY.name) {
        course::check_conversation(&mut session);
        course::check_timeouts(&mut session);
        course::check_processes(&mut session, declared);
        session.judge_ends();
    }
    session.finish()
}

impl From<Result<(), String>> for Verdict {
    fn from(outcome: Result<(), String>) -> Self {
        match outcome {
            Ok(()) => Self::Pass,
            Err(finding) => Self::Fail { finding },
        }
    }
}

impl From<Result<Self, String>> for Verdict {
    fn from(outcome: Result<Self, String>) -> Self {
        outcome.unwrap_or_else(|finding| Self::Fail { finding })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        panic::{self, AssertUnwindSafe},
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    /// Runs `wait` while all CPUs are busy.
    pub(crate) fn beside_busy_cpus<T>(wait: impl FnOnce() -> T) -> T {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let cpus = thread::available_parallelism().unwrap().get();
            for _ in 0..2 * cpus {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let seen = panic::catch_unwind(AssertUnwindSafe(wait));
            is_over.store(true, Ordering::Relaxed);
            seen.unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
    }

    #[test]
    fn every_check_has_a_name_of_its_own_in_kebab_case_and_a_sentence() {
        for scenario in Scenario::ALL {
            let all = catalogue(scenario);
            let mut names: Vec<_> = all.iter().map(|check| check.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all.len(), "{scenario}");
            for check in all {
                let is_kebab = |c: char| c.is_ascii_lowercase() || c == '-';
                assert!(check.name.chars().all(is_kebab), "{}", check.name);
                assert!(check.about.ends_with('.'), "{}", check.about);
                let purpose = check.purpose();
                assert!(!purpose.is_empty() && !purpose.ends_with('.'), "{}", check.name);
            }
        }
    }
}
