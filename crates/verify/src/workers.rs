//! The check that a server with several workers uses them: it is kept busy, and the CPU time of its
//! threads and processes is compared.

use std::{
    path::Path,
    time::{Duration, Instant},
};
use wirebench_schema::scenario::Protocol;
use wirebench_server::launch::Server;

use super::{
    Verdict,
    limit::{ran, ran_since},
    protocol::RequestStream,
    protocols::support,
    show,
};

/// Connections that keep the workers busy.
const BUSY_CONNECTIONS: usize = 32;
/// Requests in one write, so that the server has more to do than the client.
const BUSY_BATCH: usize = 16;
const BUSY_ROUND: Duration = Duration::from_millis(100);
/// Rounds in which the second worker may show itself.
const BUSY_ROUNDS: usize = 4;
/// A thread has really worked when it has this part of its fair share of the time of all.
const WORKED_PART: u64 = 10;
/// Workers that must have worked, however many there are: with few CPUs a shared queue leaves little to
/// the others.
const WORKED_LEAST: usize = 2;

/// Keeps many connections busy and looks whether at least two threads or processes of the tree,
/// which was started with `workers`, really run.
pub(super) fn check(server: &Server, protocol: Protocol, workers: u32) -> Result<Verdict, String> {
    if !Path::new("/proc/self/schedstat").exists() {
        let reason = "this kernel does not count the CPU time of threads".into();
        return Ok(Verdict::Skip { reason });
    }
    let mut finding = String::new();
    for _ in 0..BUSY_ROUNDS {
        let mut streams = Vec::new();
        for _ in 0..BUSY_CONNECTIONS {
            let mut stream = (support(protocol).open)(server.address())?;
            stream.exchange()?;
            streams.push(stream);
        }
        let before = ran(&server.tree());
        keep_busy(&mut streams)?;
        let ran = ran_since(&before, &server.tree());
        let total: u64 = ran.iter().sum();
        if total == 0 {
            return Err("no thread of the server used CPU time while requests were served".into());
        }
        let parts = WORKED_PART * u64::from(workers);
        let worked = ran.iter().filter(|time| *time * parts >= total).count();
        if worked >= WORKED_LEAST {
            return Ok(Verdict::Pass);
        }
        finding = format!(
            "it was started with {workers} workers, but under {BUSY_CONNECTIONS} busy connections only {worked} of its \
             {} did the work",
            show::count(ran.len(), "thread", "threads")
        );
    }
    Ok(Verdict::Fail { finding })
}

fn keep_busy(streams: &mut [Box<dyn RequestStream>]) -> Result<(), String> {
    let began = Instant::now();
    while began.elapsed() <= BUSY_ROUND {
        for stream in &mut *streams {
            stream.send(BUSY_BATCH)?;
        }
        for stream in &mut *streams {
            stream.receive(BUSY_BATCH)?;
        }
    }
    Ok(())
}
