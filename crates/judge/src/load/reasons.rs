//! All findings about the load of a run, for its journal: the faults that `wirebench load`
//! shows too, each kind of error for itself, and what depends on what the run is for.

use wirebench_schema::{
    journal::{Reason, ReasonKind, Weight},
    load::{ClosedPolicy, ErrorExample, ErrorKind, LoadModel, LoadReport},
    suite::Phase,
};

use super::{
    faults::{bursts, faults, generator_stall, schedule_lag},
    gave_up,
    limit::{falls_behind, share_of_rate},
};
use crate::{generators::apart, thresholds::KEPT};

/// Samples of which ten lie beyond the 99.9th percentile, which cost phases show.
const ENOUGH_FOR_P999: u64 = 10_000;
/// A median of the lag over this share of the median latency is a part of what is measured.
const LAG_SHARE: f64 = 0.1;
/// Share of the replies from which on a server closed the connection after each.
const EVERY_REPLY: f64 = 0.9;
/// One closed connection in this many requests costs little compared with them.
const REQUESTS_PER_CLOSE: u64 = 100;
/// Replies that a usual piece of 100 ms must have before an empty one says anything: as many as this are not
/// missing by chance.
pub(super) const ENOUGH_OF_PIECE: u64 = 10;
/// A reply that takes this long, and the median times the next constant, was held up.
const HELD_UP_NS: u64 = 250_000_000;
const HELD_UP_MEDIANS: u64 = 100;
/// More requests on their way than this over what is possible is no matter of rounding.
const TOO_MANY: f64 = 1.1;

/// All findings about this load in a run of `phase`, counted in `windows`.
#[must_use]
pub fn reasons(load: &LoadReport, phase: Phase, windows: usize) -> Vec<Reason> {
    let mut reasons = failed(load);
    reasons.extend(gave_up(load).map(|why| ReasonKind::GaveUp.reason(Weight::Invalid, None, why)));
    reasons.extend(faults(load));
    let further = [
        silent_missing(load),
        silent_lost(load),
        below_rate(load),
        late(load, phase),
        impossible(load, windows),
        server_closes_reason(load, windows),
        server_stall(load),
        generator_stall(load),
        few_for_p999(load, phase),
        apart(load),
    ];
    reasons.extend(further.into_iter().flatten());
    reasons
}

/// Each kind of failure, with an example of it.
fn failed(load: &LoadReport) -> Vec<Reason> {
    use ErrorKind::{
        ClosedEarly, Connect, Lost, NoPort, Refused, Reset, Socket, Status, Surplus, Timeout, Tls,
        WrongReply,
    };
    let groups: [(ReasonKind, &[ErrorKind]); 8] = [
        (ReasonKind::ConnectionErrors, &[Refused, Connect, Tls]),
        (ReasonKind::PortsExhausted, &[NoPort]),
        (ReasonKind::Timeouts, &[Timeout]),
        (ReasonKind::ClosedEarly, &[Reset, ClosedEarly]),
        (ReasonKind::WrongReplies, &[WrongReply, Status]),
        (ReasonKind::SurplusReplies, &[Surplus]),
        (ReasonKind::LostReplies, &[Lost]),
        (ReasonKind::Errors, &[Socket]),
    ];
    let all = load.requests + load.errors.requests();
    let reason = |(kind, errors): (ReasonKind, &[ErrorKind])| {
        let counts = load.errors.kinds().into_iter().filter(|(kind, _)| errors.contains(kind));
        let count: u64 = counts.map(|(_, count)| count).sum();
        let is_meant = |it: &&ErrorExample| it.kind.is_some_and(|it| errors.contains(&it));
        let examples = load.error_examples.iter().filter(is_meant).map(ErrorExample::to_string);
        let of_all = errors[0].is_of_request().then(|| format!("of {all} requests"));
        let details: Vec<String> = of_all.into_iter().chain(examples).collect();
        (count > 0).then(|| kind.reason(Weight::Invalid, Some(count as f64), details.join("; ")))
    };
    groups.into_iter().filter_map(reason).collect()
}

fn silent_missing(load: &LoadReport) -> Option<Reason> {
    let (asked, made) = (load.config.idle_connections as u64, load.idle.made);
    let (kind, detail) = (ReasonKind::ConnectionsMissing, format!("of {asked} idle ones"));
    (made < asked).then(|| kind.reason(Weight::Invalid, Some(made as f64), detail))
}

fn silent_lost(load: &LoadReport) -> Option<Reason> {
    let (made, lost) = (load.idle.made, load.idle.lost);
    let (figure, detail) = (Some(lost as f64), format!("or wrote to idle ones, {made} in all"));
    (lost > 0).then(|| ReasonKind::ServerCloses.reason(Weight::Invalid, figure, detail))
}

fn below_rate(load: &LoadReport) -> Option<Reason> {
    let demanded = load.demanded_requests_per_second()?;
    let share = share_of_rate(load, 0);
    let behind = falls_behind(load).map_or_else(String::new, |it| format!("; {it}"));
    let detail = format!("{:.0} of {demanded:.0} requests/s{behind}", share * demanded);
    (share < KEPT).then(|| ReasonKind::BelowRate.reason(Weight::Invalid, Some(share), detail))
}

/// Lag that makes bursts of even arrivals, or the tail of the latencies, or a part of the median.
fn late(load: &LoadReport, phase: Phase) -> Option<Reason> {
    let bursts = if phase == Phase::Cost { bursts(load) } else { None };
    if let Some(lag) = bursts.or_else(|| schedule_lag(load)) {
        return Some(lag);
    }
    let lag_ns = load.lag.as_ref()?.latency_ns_p50 as f64;
    let latency_ns = load.latency.as_ref()?.latency_ns_p50 as f64;
    let share = lag_ns * 100.0 / latency_ns.max(1.0);
    let detail = format!("half of the requests, {share:.0} % of the median latency");
    let is_part = lag_ns > LAG_SHARE * latency_ns;
    is_part.then(|| ReasonKind::ScheduleLag.reason(Weight::Note, Some(lag_ns), detail))
}

/// More requests on their way than there can be. A latency may have begun before its window, so that much is allowed
/// for in each.
fn impossible(load: &LoadReport, windows: usize) -> Option<Reason> {
    let window_ns = load.window_ns.max(1) as f64;
    let replies = load.requests_per_second * window_ns / 1e9;
    // At a rate the samples are the requests that were due in the window, and there are more
    // replies than samples as long as a backlog from before it is answered. Rate and latency must
    // be of the same requests.
    let (service, samples) = match (&load.config.model, &load.service) {
        (LoadModel::Rate { .. }, service) => {
            let service = service.as_ref()?;
            (service, replies.min(service.count as f64))
        }
        (_, Some(service)) => (service, replies),
        (_, None) => (load.latency.as_ref()?, replies),
    };
    let busy = samples * service.mean_answered_ns() / window_ns;
    let overhang = 1.0 + service.latency_ns_max as f64 * windows as f64 / window_ns;
    // Those that could not be made at first may have been made later.
    let capacity = (load.config.connections * load.config.pipeline) as f64;
    let detail = format!("at most {capacity:.0}, by Little's law");
    let is_wrong = capacity > 0.0 && busy > TOO_MANY * overhang * capacity;
    is_wrong.then(|| ReasonKind::LittlesLaw.reason(Weight::Invalid, Some(busy), detail))
}

fn server_closes_reason(load: &LoadReport, windows: usize) -> Option<Reason> {
    let closes = load.server_closes;
    // A load that repeats such requests expects them.
    let often = closes * REQUESTS_PER_CLOSE > load.requests;
    let is_expected = load.config.on_closed == ClosedPolicy::Retry;
    let weight = if often && !is_expected { Weight::Invalid } else { Weight::Note };
    let repeated = match load.retried_requests {
        Some(requests @ 1..) => format!("; requests were sent again {requests} times"),
        Some(0) | None => String::new(),
    };
    let detail = format!("in {} requests{repeated}", load.requests);
    // A window cuts off what each connection has open.
    let cut_off = (windows * load.config.connections) as u64;
    let is_each = closes.saturating_mul(2) >= load.requests
        && (closes + cut_off) as f64 >= EVERY_REPLY * load.requests as f64;
    let (kind, weight) = match is_each {
        true => (ReasonKind::ClosesAfterReply, Weight::Note),
        false => (ReasonKind::ServerCloses, weight),
    };
    (closes > 0).then(|| kind.reason(weight, Some(closes as f64), detail))
}

/// A time without any reply, or a reply that was held up, unless the generator did not look.
pub(super) fn server_stall(load: &LoadReport) -> Option<Reason> {
    let reason = silence(load).or_else(|| held_up(load))?;
    let looked_away = load.stall_ns_max as f64 * 2.0 >= reason.figure.unwrap_or(0.0);
    (!looked_away).then_some(reason)
}

/// The longest time without any reply. With pauses between requests they are natural.
fn silence(load: &LoadReport) -> Option<Reason> {
    if matches!(load.config.model, LoadModel::Think { .. }) {
        return None;
    }
    let usual = load.reply_series.usual_per_piece()?;
    let longest_ns = load.reply_series.silence_ns_max;
    let detail = "no reply, with requests in flight";
    // The series has correct replies alone, and a server that refuses connections does not pause.
    let others = load.errors.status + load.errors.wrong_reply + load.errors.refused;
    let says = longest_ns > 0 && usual >= ENOUGH_OF_PIECE && others == 0;
    let figure = Some(longest_ns as f64);
    says.then(|| ReasonKind::ServerStall.reason(Weight::Note, figure, detail))
}

/// A single reply that took very long, or had not come when the load ended. A timeout is no pause.
fn held_up(load: &LoadReport) -> Option<Reason> {
    let service = load.service.as_ref().or(load.latency.as_ref())?;
    let (most_ns, median_ns) = (service.latency_ns_max, service.latency_ns_p50);
    let held_up =
        most_ns >= HELD_UP_NS && most_ns / HELD_UP_MEDIANS >= median_ns && load.errors.timeout == 0;
    let took = match service.lower_bounds {
        Some(1..) => "a request waited at least that long",
        _ => "a reply took that long",
    };
    let detail = format!("{took}, the median is {:.2} ms", median_ns as f64 / 1e6);
    let figure = Some(most_ns as f64);
    held_up.then(|| ReasonKind::ServerStall.reason(Weight::Note, figure, detail))
}

fn few_for_p999(load: &LoadReport, phase: Phase) -> Option<Reason> {
    let samples = load.latency.as_ref().map_or(0, |latency| latency.count);
    // With too few samples even for p99, the reason for p99 covers this one.
    let says = phase == Phase::Cost && samples < ENOUGH_FOR_P999 && samples * 10 >= ENOUGH_FOR_P999;
    let figure = Some(samples as f64);
    says.then(|| ReasonKind::FewSamples.reason(Weight::Note, figure, "p99.9 needs ten beyond it"))
}

#[cfg(test)]
mod tests;
