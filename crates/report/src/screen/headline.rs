//! The sentences around the table: what was measured, where and for how long; the result; the next step.

use wirebench_schema::{
    journal::{Generator, Placement},
    suite::Scale,
};

use super::{
    Facts,
    figures::{elapsed, factor, subject, word},
    model::{Block, Group, Model, Outcome, Value},
};
use crate::{
    analysis::Metric,
    idle_words,
    table::headline::suite,
    table_units::{count, percent},
};

/// Rows that a sentence names; the others are counted.
const NAMED: usize = 3;
/// With fewer repetitions than this an interval is rarely narrow.
const USUAL: u32 = 6;

/// What was measured, how often, where and for how long.
pub(super) fn setting(model: &Model<'_>, facts: &Facts<'_>) -> String {
    let start = model.start;
    let mut parts = vec![format!("{}: {}", suite(start), count(model.servers, "server"))];
    parts.extend(start.labels.words());
    let end = model.ended.map_or_else(String::new, |why| format!(" ({why})"));
    if model.made < start.blocks || !end.is_empty() {
        let planned = start.blocks.max(model.made);
        parts.push(format!("{} of {planned} {}s{end}", model.made, start.repetition()));
    }
    parts.extend(facts.elapsed.map(elapsed));
    parts.extend(facts.machine.map(str::to_owned));
    parts.push(idle_words::after(&cpus(&start.placement), start.idle));
    if start.generator.name != Generator::Wirebench {
        parts.push(format!("load by {}", start.generator));
    }
    parts.join(", ")
}

fn cpus(placement: &Placement) -> String {
    if !placement.pinned {
        return "not pinned".to_owned();
    }
    let Placement { server_cpus: server, generator_cpus: generator, .. } = placement;
    let shared = server.iter().filter(|it| generator.contains(it)).count();
    let all = count(server.len() + generator.len() - shared, "CPU");
    let shared = if shared == 0 { String::new() } else { format!(", {shared} shared") };
    let place = placement.within.map_or_else(String::new, |part| format!(", {part}"));
    let (server, generator) = (server.len(), generator.len());
    format!("{all} ({server} server, {generator} load generator{shared}{place})")
}

/// The one next step that helps most, if there is one.
pub(super) fn hint(model: &Model<'_>) -> Option<String> {
    if model.start.scale == Scale::Smoke {
        return None;
    }
    let inconclusive = model.count(|it| *it == Value::Compared(Outcome::Inconclusive));
    if let Some(step) = model.disturbed {
        return Some(format!("Next: {step}."));
    }
    if inconclusive == 0 {
        return None;
    }
    let (is, s) = if inconclusive == 1 { ("is", "") } else { ("are", "s") };
    let more = model.start.blocks.max(model.made).saturating_mul(2).max(USUAL);
    Some(format!(
        "Next: {inconclusive} comparison{s} {is} inconclusive; `--{}s {more}` narrows the intervals.",
        model.start.repetition()
    ))
}

/// Which servers differ from the baseline, and which do not.
pub(super) fn result(model: &Model<'_>) -> String {
    let Some((block, group)) = model.main() else { return "Nothing was measured.".to_owned() };
    let Some(baseline) = &group.baseline else {
        return "No baseline has figures, so nothing is compared.".to_owned();
    };
    let mut sentences: Vec<String> = Vec::new();
    if group.with(Outcome::Withheld).any(|row| block.rows[row] == *baseline) {
        sentences.push(format!("the baseline {baseline} is not valid, so nothing is compared."));
    } else {
        sentences.extend(higher(block, group, baseline));
        sentences.extend(lower(block, group, baseline, sentences.is_empty()));
        sentences.extend(rest(group, baseline, sentences.is_empty()));
    }
    if sentences.is_empty() {
        return format!("Only {baseline} has figures.");
    }
    let load = load(model, block, group);
    if load.is_empty() {
        sentences.iter_mut().take(1).for_each(|first| *first = capitalised(first));
    }
    sentences.iter_mut().skip(1).for_each(|other| *other = capitalised(other));
    format!("{load}{}", sentences.join(" "))
}

/// With a large first letter, unless the text begins with the name of a server.
fn capitalised(text: &str) -> String {
    let is_name = text.split(' ').next().is_some_and(|word| word.contains('/'));
    match text.split_at_checked(1) {
        Some((first, others)) if !is_name => format!("{}{others}", first.to_uppercase()),
        _ => text.to_owned(),
    }
}

/// Which load the sentences are about, unless there is only one.
fn load(model: &Model<'_>, block: &Block, group: &Group) -> String {
    let loads: usize = model.blocks.iter().map(|block| block.groups.len()).sum();
    if loads < 2 { String::new() } else { format!("{}, {}: ", block.title, group.title) }
}

/// The rows that differ, with their ratios: the farthest from 1 first.
fn different<'a>(
    block: &'a Block,
    group: &Group,
    is_meant: fn(f64) -> bool,
) -> Vec<(&'a str, f64)> {
    let ratio = |(row, outcome): (usize, Outcome)| match outcome {
        Outcome::Different { ratio, .. } if is_meant(ratio) => Some((&*block.rows[row], ratio)),
        _ => None,
    };
    let mut found: Vec<(&str, f64)> = group.outcomes().filter_map(ratio).collect();
    found.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
    found
}

/// `node/http needs 2.3x the CPU of c/epoll per request, go/net 1.2x.`
fn higher(block: &Block, group: &Group, baseline: &str) -> Option<String> {
    let (what, per) = noun(group.metric);
    let found = different(block, group, |ratio| ratio > 1.0);
    needs(&found, factor, &format!(" the {what} of {baseline}{per}"))
}

/// `c/io_uring needs 5 % less.`
fn lower(block: &Block, group: &Group, baseline: &str, is_first: bool) -> Option<String> {
    let (what, per) = noun(group.metric);
    let of = if is_first { format!(" {what} than {baseline}{per}") } else { String::new() };
    let found = different(block, group, |ratio| ratio < 1.0);
    needs(&found, |ratio| format!("{:.0} %", (1.0 - ratio) * 100.0), &format!(" less{of}"))
}

/// What the rows that differ need; `what` follows the ratio of the first one.
fn needs(found: &[(&str, f64)], show: fn(f64) -> String, what: &str) -> Option<String> {
    let ((first, most), others) = found.split_first()?;
    let mut parts = vec![format!("{first} needs {}{what}", show(*most))];
    parts.extend(listed(others, show));
    Some(format!("{}.", parts.join(", ")))
}

/// The rows after the first: some by name, and from where to where the rest goes.
fn listed(others: &[(&str, f64)], show: impl Fn(f64) -> String) -> Vec<String> {
    let named = others.iter().take(NAMED - 1);
    let mut parts: Vec<String> =
        named.map(|(name, ratio)| format!("{name} {}", show(*ratio))).collect();
    match others.get(NAMED - 1..).unwrap_or_default() {
        [] => {}
        [(name, ratio)] => parts.push(format!("{name} {}", show(*ratio))),
        rest @ [(_, farthest), .., (_, nearest)] => {
            let (from, to) = (show(*nearest), show(*farthest));
            parts.push(format!("{} others {from} to {to}", word(rest.len())));
        }
    }
    parts
}

/// How many rows are the same as the baseline, inconclusive, or without a valid comparison.
fn rest(group: &Group, baseline: &str, is_first: bool) -> Option<String> {
    let [same, inconclusive, withheld] =
        [Outcome::Same, Outcome::Inconclusive, Outcome::Withheld].map(|it| group.with(it).count());
    let of = if is_first { baseline } else { "it" };
    let is = |number: usize| if number == 1 { "is" } else { "are" };
    let mut parts = Vec::new();
    if same > 0 {
        let servers = if same == 1 { "server is" } else { "servers are" };
        let margin = percent(group.margin);
        parts.push(format!("{} {servers} within {margin} of {of}", word(same)));
    }
    if inconclusive > 0 {
        parts.push(format!("{} {} inconclusive", word(inconclusive), is(inconclusive)));
    }
    if withheld > 0 {
        parts.push(format!("{} {} not valid", word(withheld), is(withheld)));
    }
    if same == 0
        && is_first
        && let Some(first) = parts.first_mut()
    {
        *first = format!("compared with {of}, {first}");
    }
    let text = parts.join(", ");
    (!text.is_empty()).then(|| format!("{text}."))
}

/// What is compared, in front of the baseline's name and behind it.
fn noun(metric: Metric) -> (&'static str, &'static str) {
    match metric {
        Metric::Cpu => ("CPU", " per request"),
        Metric::MemoryPerConnection => ("memory", " per connection"),
        other => (subject(other), ""),
    }
}
