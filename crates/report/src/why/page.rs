//! The section of the profiles, in every form that people read.

use wirebench_schema::journal::{self, Journal};

use super::{flame, sentence::name, whys};
use crate::{
    analysis::WorkloadRows,
    document::{Block, Table},
    table_units::{latency, percent},
    view::Why,
    wrap::cut,
};

/// What the text has in its title, because no verdict rests on it.
pub(crate) const SECTION: &str = "why: profiles, which count in no figure";
/// Lines of a list of differences.
const CALLS: usize = 8;
const FRAMES: usize = 12;
/// A difference that would be shown as zero is not shown.
const CALLS_SHOWN: f64 = 0.005;
/// The same of functions, as a share of the CPU time of a request.
const TIME_SHOWN: f64 = 0.005;
/// Columns of a symbol; the JSON has all of it.
const SYMBOL: usize = 60;

/// What differs most, one sentence for each server and workload; without others what each does.
pub(crate) fn sentences(journal: &Journal, workloads: &[WorkloadRows<'_>]) -> Vec<String> {
    let whys = whys(journal, workloads);
    let is_shown = |it: &&Why<'_>| it.compared_with.is_some() || it.failure.is_some();
    let shown: Vec<&Why<'_>> = whys.iter().filter(is_shown).collect();
    let shown = if shown.is_empty() { whys.iter().collect() } else { shown };
    let several = workloads.len() > 1;
    let sentence = |it: &&Why<'_>| match several && it.failure.is_none() {
        true => format!("{}: {}", it.workload, it.sentence),
        false => it.sentence.clone(),
    };
    shown.iter().map(sentence).collect()
}

/// The section; nothing without profiles.
pub(crate) fn sections(journal: &Journal, workloads: &[WorkloadRows<'_>]) -> Vec<Block> {
    let whys = whys(journal, workloads);
    if whys.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::List(None, sentences(journal, workloads)), costs(&whys)];
    for why in &whys {
        let Some(other) = why.compared_with.as_deref() else { continue };
        let reference = whys.iter().find(|it| it.workload == why.workload && it.variant == other);
        blocks.extend(reference.into_iter().flat_map(|it| differences(why, it)));
    }
    blocks.push(Block::Page(pictures(journal, &whys)));
    vec![Block::Section(SECTION.to_owned(), blocks)]
}

fn costs(whys: &[Why<'_>]) -> Block {
    let heads = ["system calls", "context switches", "CPU time", "user", "kernel"];
    let row = |why: &Why<'_>| {
        let cpu_ns = why.cpu_ns_per_request?;
        let kernel = why.kernel_ns_per_request.unwrap_or(0.0) / cpu_ns.max(f64::MIN_POSITIVE);
        let switches = why.context_switches_per_request.unwrap_or(0.0);
        let words = [name(&why.variant).to_owned(), why.workload.to_owned()];
        let figures = [
            format!("{:.2}", why.all_calls()),
            format!("{switches:.3}"),
            latency(cpu_ns),
            percent(1.0 - kernel),
            percent(kernel),
        ];
        Some(words.into_iter().chain(figures).collect::<Vec<_>>())
    };
    Block::Table(Table::of(["per request", "workload"], heads, whys.iter().filter_map(row)))
}

/// The system calls and the functions of which one server has more than the other.
fn differences(why: &Why<'_>, other: &Why<'_>) -> Vec<Block> {
    let [own_name, other_name] = [why, other].map(|it| name(&it.variant));
    let table = |head: &str, rows: Vec<Vec<String>>| {
        Block::Table(Table::of([head], [own_name, other_name, "difference"], rows))
    };
    let calls = why.calls_differ.iter().filter(|(_, it)| it.abs() >= CALLS_SHOWN).take(CALLS);
    let calls = calls.map(|(call, difference)| {
        let of = |it: &Why<'_>| it.calls_per_request.get(call).copied().unwrap_or(0.0);
        let figures = [format!("{:.2}", of(why)), format!("{:.2}", of(other))];
        let words = [(*call).to_owned()].into_iter().chain(figures);
        words.chain([format!("{difference:+.2}")]).collect()
    });
    let least = TIME_SHOWN * other.cpu_ns_per_request.unwrap_or(0.0);
    let frames = why.frames_differ.iter().filter(|it| it.self_ns.abs() >= least).take(FRAMES);
    let frames = frames.map(|frame| {
        let of = |it: &Why<'_>| {
            let own = it.frames.iter().find(|it| it.symbol == frame.symbol && it.self_ns > 0.0);
            own.map_or_else(|| "-".to_owned(), |it| latency(it.self_ns))
        };
        let sign = if frame.self_ns < 0.0 { "-" } else { "+" };
        let difference = format!("{sign}{}", latency(frame.self_ns.abs()));
        vec![cut(&frame.symbol, SYMBOL), of(why), of(other), difference]
    });
    vec![
        table("system calls per request", calls.collect()),
        table("CPU time per request in", frames.collect()),
    ]
}

/// The difference of two servers is shown, and their own graphs can be opened. With more servers each has its own.
fn pictures(journal: &Journal, whys: &[Why<'_>]) -> Vec<Block> {
    let own = |why: &Why<'_>| {
        let is_it = |it: &&journal::Why| {
            it.workload == why.workload && it.variant.to_string() == why.variant
        };
        journal.whys.iter().find(is_it)
    };
    let difference = match whys {
        [a, b] => own(b).and_then(|b| flame::chart(b, Some(own(a)?))),
        _ => None,
    };
    let charts = whys.iter().filter_map(|why| flame::chart(own(why)?, None));
    let folded =
        charts.map(|chart| Block::Folded(chart.title.clone(), vec![Block::Charts(vec![chart])]));
    [Block::Charts(difference.into_iter().collect())].into_iter().chain(folded).collect()
}
