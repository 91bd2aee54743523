//! Checks that `hello-timeout` closes a connection without progress, and only such a one.
//!
//! The server runs with a short timeout, and the checks, which mostly wait, run side by side.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};
use wirebench_server::parallel;

use super::{
    Check,
    client::{Buffers, Client, ClientError, ReadOutcome},
    http::{Conversation, REQUESTS_TO_FILL, head},
    process, show,
};

/// The timeout with which the server is started.
pub(super) const TIMEOUT_MS: u64 = 500;
const TIMEOUT: Duration = Duration::from_millis(TIMEOUT_MS);
/// A connection without progress may be closed from this share of the timeout on.
const EARLIEST: Duration = Duration::from_millis(TIMEOUT_MS * 8 / 10);
/// And must be closed by then: many timers are coarse.
const LATEST: Duration = Duration::from_millis(TIMEOUT_MS * 4);
/// How long a slow server may go on with what it was sent before it is stuck.
const AT_WORK_MOST: Duration = Duration::from_secs(20);
/// How often an active connection sends a request.
const PULSE: Duration = Duration::from_millis(TIMEOUT_MS / 5);
/// Attempts of a check that depends on this process being punctual.
const ATTEMPTS: usize = 3;

pub(super) const CHECKS: [Check; 4] = [
    Check {
        name: "timeout-idle",
        about: "An idle connection is closed, both a new one and one that had a request.",
        run: idle,
    },
    Check {
        name: "timeout-partial",
        about: "A connection that stops in the middle of a head is closed.",
        run: partial,
    },
    Check {
        name: "timeout-write",
        about: "A connection whose client sends requests and reads no reply is closed.",
        run: write,
    },
    Check {
        name: "timeout-active",
        about: "An active connection outlives three timeouts.",
        run: active,
    },
];

/// Runs all checks at once and returns their outcomes in their order. What fails is tried a second
/// time alone: the machine may be late once, and a server's only worker may have been kept from its
/// timers by the requests of the check beside.
pub(super) fn run_all(address: SocketAddr) -> Vec<Result<(), String>> {
    let first = parallel::map(&CHECKS, CHECKS.len(), |check| (check.run)(address));
    let alone = CHECKS.iter().zip(first);
    alone.map(|(check, outcome)| outcome.or_else(|_| (check.run)(address))).collect()
}

/// Waits for the end of a connection that has been silent since a moment between `earliest` and
/// `latest`.
fn expect_closed(
    client: &mut Client,
    earliest: Instant,
    latest: Instant,
    who: &str,
) -> Result<(), String> {
    let mut said = Vec::new();
    loop {
        let left = (latest + LATEST).saturating_duration_since(Instant::now());
        match client.look(left)? {
            // Some frameworks say goodbye with a status such as 408 before they close.
            ReadOutcome::Bytes(bytes) => said.extend(bytes),
            ReadOutcome::End | ReadOutcome::Reset => break,
            ReadOutcome::Nothing => {
                return Err(format!(
                    "with a timeout of {TIMEOUT_MS} ms {who} was still open after {} ms",
                    LATEST.as_millis()
                ));
            }
        }
    }
    let lived = earliest.elapsed();
    if lived < EARLIEST {
        return Err(format!(
            "with a timeout of {TIMEOUT_MS} ms {who} was closed after {} ms already",
            lived.as_millis()
        ));
    }
    if said.starts_with(b"HTTP/1.1 200") {
        return Err(format!("{who} got a reply before it was closed: {}", show::bytes(&said)));
    }
    Ok(())
}

fn idle(address: SocketAddr) -> Result<(), String> {
    let before_new = Instant::now();
    let mut new = Client::connect(address, Buffers::Usual)?;
    let after_new = Instant::now();
    let mut used = Conversation::open(address, Buffers::Usual)?;
    let before_used = Instant::now();
    used.ask(1)?;
    let after_used = Instant::now();
    // Both are watched at once: the end of either counts when it comes.
    let both = [
        (&mut new, before_new, after_new, "a connection without a request"),
        (&mut used.client, before_used, after_used, "a connection that had had a request"),
    ];
    let watch = |(client, before, after, name): (&mut Client, Instant, Instant, &str)| {
        expect_closed(client, before, after, name)
    };
    parallel::map(both, 2, watch).into_iter().collect()
}

fn partial(address: SocketAddr) -> Result<(), String> {
    let head = head(address);
    let mut client = Client::connect(address, Buffers::Usual)?;
    let before = Instant::now();
    client.send(&head[..head.len() / 2])?;
    expect_closed(&mut client, before, Instant::now(), "a connection with half a request head")
}

/// The client must not read, so the end of the connection is looked up in the kernel's table.
fn write(address: SocketAddr) -> Result<(), String> {
    let mut client = Client::connect(address, Buffers::Small)?;
    // One request that is answered shows that there is a connection which the server has taken.
    client.send(&head(address))?;
    if !matches!(client.look_for_progress()?, ReadOutcome::Bytes(_)) {
        return Err("the first request was not answered".into());
    }
    let stream = head(address).repeat(REQUESTS_TO_FILL);
    let asked = Instant::now();
    let sent = match client.send_until_full(&stream) {
        Ok(sent) => sent,
        // The kernel takes requests for longer than some servers look on without progress.
        Err(ClientError::Closed | ClientError::Reset) if asked.elapsed() >= EARLIEST => {
            return Ok(());
        }
        Err(trouble) => return Err(trouble.to_string()),
    };
    let began = Instant::now();
    let (mut last, mut since) = (None, began);
    while let Some(waiting) = process::waiting(address.port(), client.port())? {
        if last.replace(waiting) != Some(waiting) {
            // A slow server is still at the requests that the kernel kept for it.
            since = Instant::now();
        }
        if since.elapsed() > LATEST || began.elapsed() > AT_WORK_MOST {
            return Err(format!(
                "with a timeout of {TIMEOUT_MS} ms a connection was still open {} ms after its client \
                 had sent {} of requests and read no reply",
                began.elapsed().as_millis(),
                show::count(sent, "byte", "bytes")
            ));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn active(address: SocketAddr) -> Result<(), String> {
    let mut outcome = Ok(());
    for _ in 0..ATTEMPTS {
        let (result, punctual) = pulse(address)?;
        outcome = result;
        if outcome.is_ok() || punctual {
            break;
        }
    }
    outcome
}

/// One connection with a request each [`PULSE`] for three timeouts, and whether this process was
/// punctual.
fn pulse(address: SocketAddr) -> Result<(Result<(), String>, bool), String> {
    let mut conversation = Conversation::open(address, Buffers::Usual)?;
    let began = Instant::now();
    let mut punctual = true;
    while began.elapsed() < 3 * TIMEOUT {
        let asked = Instant::now();
        let result = conversation.ask(1);
        if let Err(finding) = result {
            let lived = began.elapsed().as_millis();
            let finding = format!(
                "with a timeout of {TIMEOUT_MS} ms and a request every {} ms a connection lived only {lived} ms: \
                 {finding}",
                PULSE.as_millis()
            );
            return Ok((Err(finding), punctual));
        }
        thread::sleep(PULSE);
        punctual &= asked.elapsed() < EARLIEST;
    }
    Ok((Ok(()), punctual))
}
