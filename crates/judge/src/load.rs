//! What a load says of itself: which side set its rate, and what a reader must know before trusting
//! the figures. Every sentence carries its figures.
//!
//! It knows the generator's side alone. Whoever also knows how busy the server was, as `wirebench
//! run` does, can say more.

mod faults;
mod limit;
mod reasons;

pub use faults::faults;
pub use limit::{falls_behind, fell_behind, kept};
pub(crate) use limit::{ready, replies_wait, share_of_rate};
pub use reasons::reasons;

use std::time::Duration;
use wirebench_schema::{
    journal::{Bound, Reason, Weight},
    load::{LoadReport, Verdict},
};

use crate::{
    generators::apart,
    neighbours::{self, throttled_first},
};

use self::{
    faults::{generator_stall, schedule_lag},
    limit::limit,
    reasons::{ENOUGH_OF_PIECE, server_stall},
};

/// A silence at the end of the window that is no pause: a tenth of the window, within these bounds.
const SHORT_SILENCE_NS: u64 = 200_000_000;
const LONG_SILENCE_NS: u64 = 1_000_000_000;
/// More than this share of the ceiling, and a server that does nothing would not be much faster.
const NEAR_THE_CEILING: f64 = 0.9;
/// So much above the ceiling, and it was none.
const NO_CEILING: f64 = 1.1;
/// More unrequested bytes than on this share of the replies spoil a load.
const SURPLUS_SHARE: f64 = 0.01;

/// Which side set the rate, and what speaks against the figures.
#[must_use]
pub fn verdict(load: &LoadReport) -> Verdict {
    if let Some(paused) = throttled(load).filter(|it| it.weight == Weight::Invalid) {
        let (limit, reasons) = (Bound::Generator, vec![paused.text()]);
        return Verdict { limit, reasons, cautions: cautions(load) };
    }
    let (mut limit, mut reasons) = limit(load);
    match load.share_of_ceiling() {
        Some(share) if share > NO_CEILING => reasons.push(format!(
            "the ceiling is invalid: the rate is {} of it, so another process disturbed its measurement",
            percent(share)
        )),
        Some(share) if share > NEAR_THE_CEILING => {
            reasons.push(format!(
                "the rate is {} of the load generator's ceiling",
                percent(share)
            ));
            if limit == Bound::Server {
                limit = Bound::Unknown;
            }
        }
        Some(_) | None => {}
    }
    Verdict { limit, reasons, cautions: cautions(load) }
}

/// The failures as one sentence. Requests, connections and unrequested bytes are separate clauses.
#[must_use]
pub fn failures(load: &LoadReport) -> Option<String> {
    let (requests, errors) = (load.errors.requests(), &load.errors);
    let (connections, surplus) = (errors.connections(), errors.surplus);
    let clauses = [
        (requests > 0)
            .then(|| format!("{requests} of {} requests failed", load.requests + requests)),
        (connections > 0).then(|| format!("{connections} connections failed")),
        (surplus > 0).then(|| format!("unrequested bytes arrived {surplus} times")),
    ];
    let clauses: Vec<String> = clauses.into_iter().flatten().collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// Fewer requests were answered correctly than failed, or replies may be those of other requests.
fn mostly_failed(load: &LoadReport) -> Option<String> {
    let (failed, good, surplus) = (load.errors.requests(), load.requests, load.errors.surplus);
    if good > 0 && surplus as f64 > SURPLUS_SHARE * good as f64 {
        return Some(format!(
            "unrequested bytes arrived {surplus} times, so replies may be those of earlier requests; correct the server"
        ));
    }
    (good > 0 && failed > good).then(|| {
        format!(
            "{failed} of {} requests failed, so rate and latency are those of a minority; correct the server or the \
             request",
            failed + good
        )
    })
}

/// A server that gave no correct reply any more before the window ended: it crashed, hangs, or answers wrongly.
fn stopped_answering(load: &LoadReport) -> Option<String> {
    let silent_ns = load.reply_series.silence_ns_at_end();
    let enough_ns = (load.window_ns / 10).clamp(SHORT_SILENCE_NS, LONG_SILENCE_NS);
    let usual = load.reply_series.usual_per_piece()?;
    let looked_away = load.stall_ns_max.saturating_mul(2) >= silent_ns;
    let wrong = load.errors.wrong_reply + load.errors.status;
    let (kind, state) = match 2 * wrong > load.errors.total() {
        true => ("correct reply", "answers wrongly"),
        false => ("reply", "crashed or hangs"),
    };
    let is_silent = silent_ns >= enough_ns && usual >= ENOUGH_OF_PIECE && !looked_away;
    let seconds = silent_ns as f64 / 1e9;
    let reason = format!("no {kind} in the last {seconds:.1} s of the window: the server {state}");
    (is_silent && !load.interrupted).then_some(reason)
}

/// Why the figures are not those of the load that was asked for.
#[must_use]
pub fn not_valid(load: &LoadReport) -> Vec<String> {
    let apart = apart(load).map(|reason| reason.text());
    // That a load gave up says more.
    let others = stopped_answering(load).into_iter().chain(mostly_failed(load));
    apart.into_iter().chain(others.filter(|_| load.gave_up_requests.is_none())).collect()
}

/// That a load with a count ended before it, because the server said nothing any more.
#[must_use]
pub fn gave_up(load: &LoadReport) -> Option<String> {
    let requests = load.gave_up_requests?;
    Some(format!("gave up: no reply came for three timeouts, so {requests} requests were not sent"))
}

fn cautions(load: &LoadReport) -> Vec<String> {
    let mut cautions = Vec::new();
    cautions.extend(failures(load));
    cautions.extend(gave_up(load));
    if load.interrupted {
        let seconds = load.window_ns as f64 / 1e9;
        cautions.push(format!("interrupted: the window was {seconds:.2} s long"));
    }
    cautions.extend(falls_behind(load).map(|it| format!("{it}. Choose a lower rate.")));
    let mut reasons: Vec<Reason> = throttled(load).into_iter().collect();
    // Before the window there was nothing to find fault with.
    if load.window_ns > 0 {
        reasons.extend(faults(load));
    }
    let late = [schedule_lag(load), generator_stall(load), server_stall(load)];
    reasons.extend(late.into_iter().flatten());
    throttled_first(&mut reasons);
    cautions.extend(reasons.iter().map(Reason::brief));
    cautions
}

/// That a CPU limit paused the generator, if the report says so.
fn throttled(load: &LoadReport) -> Option<Reason> {
    let loaded = load.config.warmup.saturating_add(Duration::from_nanos(load.window_ns));
    neighbours::throttled(load.throttled_ns?, loaded)
}

/// A share as people read it. A part that is not all of it is not rounded to all of it.
fn percent(share: f64) -> String {
    if (0.99..1.0).contains(&share) {
        return format!("{:.2} %", (share * 10_000.0).floor() / 100.0);
    }
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests;
