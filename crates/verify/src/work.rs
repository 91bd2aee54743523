//! Checks of the scenarios whose requests name their work: the server works as long as it is asked to, and in
//! `mutex` and `channel` on one request at a time.
//!
//! A server that is slowed down by its machine takes longer, so no check has an upper limit.

use std::time::{Duration, Instant};
use wirebench_schema::scenario::Scenario;
use wirebench_server::launch::Server;

use super::{
    Check,
    client::Buffers,
    http::{Conversation, head_for},
    limit::wanted_cpu_ns,
};

/// The work of a long request.
const LONG: Duration = Duration::from_millis(100);
/// For how long it has or wants a CPU at least. On a busy machine it mostly waits for one; a server that sleeps
/// wants it for moments only, and waits for each of these.
const LONG_CPU: Duration = Duration::from_millis(60);
/// Tries to find that.
const ATTEMPTS: usize = 3;
/// Requests that come at once, and the work of each.
const AT_ONCE: usize = 8;
const SHORT: Duration = Duration::from_millis(50);

/// A check that needs the processes of the server.
type WorkCheck = Check<fn(&Server) -> Result<(), String>>;

const ANSWERED_AFTER_WORK: WorkCheck = WorkCheck {
    name: "work",
    about: "A request for 100 ms of work keeps a CPU busy, and is answered afterwards.",
    run: |server| busy(server, 1),
};

const ANSWERED_BEFORE_WORK: WorkCheck = WorkCheck {
    name: "work",
    about: "A request for 100 ms of work keeps a CPU busy, and the next request of its connection waits for that.",
    run: |server| busy(server, 2),
};

const ONE_AT_A_TIME: WorkCheck = WorkCheck {
    name: "one-at-a-time",
    about: "Of 8 requests for 50 ms of work each, on connections of their own, one is worked on at a time.",
    run: one_at_a_time,
};

/// The checks of a scenario; none where requests have no work.
pub(super) const fn checks(scenario: Scenario) -> &'static [WorkCheck] {
    match scenario {
        Scenario::Hello | Scenario::HelloTimeout | Scenario::Echo | Scenario::Requests => &[],
        Scenario::Mutex | Scenario::Channel => &[ANSWERED_AFTER_WORK, ONE_AT_A_TIME],
        Scenario::Skewed => &[ANSWERED_AFTER_WORK],
        Scenario::Handoff => &[ANSWERED_BEFORE_WORK],
    }
}

/// A long request and one without work. The reply with the number `late` must not come before the work is done.
fn busy(server: &Server, late: usize) -> Result<(), String> {
    let address = server.address();
    let mut used = Duration::ZERO;
    for _ in 0..ATTEMPTS {
        let mut conversation = Conversation::open(address, Buffers::Usual)?;
        let pids = server.tree();
        let (before_ns, begun) = (wanted_cpu_ns(&pids), Instant::now());
        for (work, replies) in [(LONG, 1), (Duration::ZERO, 2)] {
            conversation.exchange(&head_for(address, work), replies)?;
            let took = begun.elapsed();
            if replies >= late && took < LONG {
                let asked = LONG.as_millis();
                let which = if replies == 1 { "it" } else { "the request behind it" };
                return Err(format!(
                    "a request was for {asked} ms of work, but {which} was answered after {:.1} ms",
                    took.as_secs_f64() * 1e3
                ));
            }
        }
        used = Duration::from_nanos(wanted_cpu_ns(&pids).saturating_sub(before_ns));
        if used >= LONG_CPU {
            return Ok(());
        }
    }
    Err(format!(
        "a request for {} ms of work used or waited for {:.1} ms of CPU time: work must keep the CPU busy",
        LONG.as_millis(),
        used.as_secs_f64() * 1e3
    ))
}

fn one_at_a_time(server: &Server) -> Result<(), String> {
    let address = server.address();
    let open = || Conversation::open(address, Buffers::Usual);
    let mut conversations = (0..AT_ONCE).map(|_| open()).collect::<Result<Vec<_>, _>>()?;
    let begun = Instant::now();
    for conversation in &mut conversations {
        conversation.client.send(&head_for(address, SHORT))?;
    }
    conversations.iter_mut().try_for_each(|it| it.exchange(&[], 1))?;
    let (took, least) = (begun.elapsed(), SHORT * u32::try_from(AT_ONCE).unwrap_or(1));
    if took >= least {
        return Ok(());
    }
    Err(format!(
        "{AT_ONCE} requests for {} ms of work each were answered within {} ms: more than one was worked on at a time",
        SHORT.as_millis(),
        took.as_millis()
    ))
}
