//! The lines that a load has in addition to wrk's: the engine, checks, statuses, idle connections,
//! fairness, the generator's own work, and the verdict.

use wirebench_judge::load::{kept, verdict as verdict_of};
use wirebench_schema::{journal::Bound, load::LoadReport};

use crate::{
    document::{Paint, Shade},
    load_words, wrk_units,
};

/// How much detail the text shows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Detail {
    #[default]
    Needed,
    /// Everything (`-L`).
    Everything,
}

/// Jain's index below which a load is reported as uneven.
const EVEN: f64 = 0.9;
/// A thread delayed by this much is reported.
const STALL_NS: u64 = 10_000_000;
/// Threads whose shares are listed; of more the least and the most.
const LISTED_THREADS: usize = 8;
/// One reply in this many may be read in full without being reported.
const RARE: u64 = 100;

/// One line for each thing that is worth one.
pub(super) fn lines(lines: &mut Vec<String>, report: &LoadReport, detail: Detail) {
    let everything = detail == Detail::Everything;
    if report.interrupted {
        let asked = load_words::test(report.config.stop);
        lines.push(format!("  Interrupted: the {asked} was stopped early"));
    }
    match &report.engine_fallback {
        Some(reason) => {
            lines.push(format!("  Engine: {}, because {reason}", report.engine.name()));
        }
        None if everything => lines.push(format!("  Engine: {}", report.engine.name())),
        None => {}
    }
    if let Some(tls) = report.tls.as_ref().filter(|_| everything) {
        lines.push(format!(
            "  TLS: {}, {}, {} handshakes, {} of them resumed",
            tls.version, tls.cipher_suite, tls.handshakes, tls.resumed
        ));
    }
    if everything {
        lines.push(format!("  In flight at the end: {}", report.in_flight_at_end));
    }
    checks(lines, report, everything);
    statuses(lines, report);
    if report.config.idle_connections > 0 {
        let (asked, idle) = (report.config.idle_connections, report.idle);
        let (made, lost) = (idle.made, idle.lost);
        lines.push(format!("  Idle connections: {made} of {asked} made, {lost} lost"));
    }
    let fairness = report.fairness;
    if everything || (report.requests > 0 && fairness.jain_index < EVEN) {
        lines.push(format!(
            "  Replies per connection: min {}, median {}, max {}, Jain's index {:.3}",
            fairness.replies_least,
            fairness.replies_median,
            fairness.replies_most,
            fairness.jain_index
        ));
    }
    generator(lines, report, everything);
}

/// The limit with its reasons, and what speaks against the figures.
pub(super) fn verdict(lines: &mut Vec<String>, report: &LoadReport, paint: Paint) {
    if let (Some(ceiling), Some(share)) =
        (report.ceiling_requests_per_second, report.share_of_ceiling())
    {
        let (percent, ceiling) = (share * 100.0, wrk_units::rate(ceiling));
        lines.push(format!(
            "  At {percent:.0} % of the generator's ceiling of {ceiling} requests/s"
        ));
    }
    let verdict = verdict_of(report);
    // The line with the offered rate has the same figures.
    let kept = report.demanded_requests_per_second().map(|demanded| kept(report, demanded));
    let reasons = verdict.reasons.into_iter().filter(|it| Some(it) != kept.as_ref());
    let limit = load_words::limit(verdict.limit).to_owned();
    let sentence: Vec<String> = [limit].into_iter().chain(reasons).collect();
    lines.push(format!("  Limit: {}", sentence.join("; ")));
    for caution in verdict.cautions {
        lines.push(paint.apply(Shade::Worse, &format!("  Caution: {caution}")));
    }
}

fn checks(lines: &mut Vec<String>, report: &LoadReport, everything: bool) {
    let checks = report.checks;
    // The first reply of each thread is read in full, and so is the last of a connection that says
    // that it will be closed.
    let closes = report.reconnects + report.client_closes + report.server_closes;
    let firsts = report.config.threads as u64 + closes;
    let many = checks.slow > firsts.saturating_mul(2) && checks.slow > report.requests / RARE;
    if everything || many {
        lines.push(format!(
            "  Checks: {} replies compared with a verified one, {} parsed in full",
            checks.fast, checks.slow
        ));
    }
}

fn statuses(lines: &mut Vec<String>, report: &LoadReport) {
    let statuses = load_words::statuses(report);
    if statuses.iter().all(|(class, _)| class == "2xx") {
        return;
    }
    let classes: Vec<String> =
        statuses.iter().map(|(class, count)| format!("{class} {count}")).collect();
    lines.push(format!("  Statuses: {}", classes.join(", ")));
}

// Casts to f64 lose less than the decimals that are printed.
fn generator(lines: &mut Vec<String>, report: &LoadReport, everything: bool) {
    let stalled = report.stall_ns_max > STALL_NS;
    if !everything && !stalled && verdict_of(report).limit != Bound::Generator {
        return;
    }
    let share = |cpu_ns: &u64| *cpu_ns as f64 / report.window_ns.max(1) as f64 * 100.0;
    let cpu = || report.thread_cpu_ns.iter();
    let (listed, between): (Vec<&u64>, _) = match cpu().len() {
        0..=LISTED_THREADS => (cpu().collect(), ", "),
        _ => (cpu().min().into_iter().chain(cpu().max()).collect(), " to "),
    };
    let shares: Vec<String> = listed.into_iter().map(|it| format!("{:.0} %", share(it))).collect();
    let mut told = format!("  Generator: {} CPU per thread", shares.join(between));
    if stalled || everything {
        let stall = wrk_units::time(report.stall_ns_max as f64);
        told += &format!(", longest delay {stall}");
    }
    lines.push(told);
}
