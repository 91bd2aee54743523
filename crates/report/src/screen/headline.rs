//! The sentences around the table: what was measured, where and for how long; the result; the next step.

use std::collections::BTreeSet;
use wirebench_schema::{
    journal::{Generator, Placement},
    suite::Scale,
};

use super::{
    Facts,
    cells::Outcome,
    figures::{elapsed, factor, subject, word},
    model::{Block, Group, Model},
};
use crate::{
    analysis::Metric,
    idle_words,
    table::headline::{made, suite},
    table_units::{count, percent},
};

/// Rows that a sentence names; the others are counted.
const NAMED: usize = 3;
/// With fewer repetitions than this an interval is rarely narrow.
const USUAL: u32 = 6;

/// What was measured, how often, where and for how long.
pub(super) fn setting(model: &Model<'_>, facts: &Facts<'_>) -> String {
    let (start, workloads) = (&model.analysis.journal.start, &model.analysis.workloads);
    let measured = workloads.iter().flat_map(|it| &it.rows).filter(|row| row.measured() > 0);
    let servers: BTreeSet<String> = measured.map(|row| row.variant.to_string()).collect();
    let mut parts = vec![format!("{}: {}", suite(start), count(servers.len(), "server"))];
    parts.extend(start.labels.words());
    let end = model.ended.map_or_else(String::new, |why| format!(" ({why})"));
    let made = made(workloads);
    if made < start.blocks || !end.is_empty() {
        let planned = start.blocks.max(made);
        parts.push(format!("{made} of {planned} {}s{end}", start.repetition()));
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

/// The one next step that helps most, if there is one; that of `disturbed` rows comes first.
pub(super) fn hint(model: &Model<'_>, disturbed: Option<&str>) -> Option<String> {
    let start = &model.analysis.journal.start;
    if start.scale == Scale::Smoke {
        return None;
    }
    if let Some(step) = disturbed {
        return Some(format!("Next: {step}."));
    }
    let inconclusive: usize =
        model.groups().map(|group| group.with(Outcome::Inconclusive).count()).sum();
    if inconclusive == 0 {
        return None;
    }
    let (is, s) = if inconclusive == 1 { ("is", "") } else { ("are", "s") };
    let made = made(&model.analysis.workloads);
    let more = start.blocks.max(made).saturating_mul(2).max(USUAL);
    Some(format!(
        "Next: {inconclusive} comparison{s} {is} inconclusive; `--{}s {more}` narrows the intervals.",
        start.repetition()
    ))
}

/// Which servers differ from the baseline, and which do not.
pub(super) fn result(model: &Model<'_>) -> String {
    let Some((block, group)) = model.blocks.first().and_then(|it| Some((it, it.groups.first()?)))
    else {
        return "Nothing was measured.".to_owned();
    };
    let Some(baseline) = &group.baseline() else {
        return "No baseline has figures, so nothing is compared.".to_owned();
    };
    let mut sentences: Vec<String> = Vec::new();
    if group.with(Outcome::Withheld).any(|row| block.rows[row] == *baseline) {
        sentences.push(format!("the baseline {baseline} is not valid, so nothing is compared."));
    } else {
        let (what, per) = noun(group.metric());
        let [more, less] = [Outcome::More, Outcome::Less].map(|it| different(block, group, it));
        sentences.extend(needs(&more, factor, &format!(" the {what} of {baseline}{per}")));
        let than = format!(" less {what} than {baseline}{per}");
        let than = if sentences.is_empty() { &than } else { " less" };
        sentences.extend(needs(&less, |it| format!("{:.0} %", (1.0 - it) * 100.0), than));
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
fn load(model: &Model<'_>, block: &Block<'_>, group: &Group<'_>) -> String {
    if model.groups().count() < 2 {
        String::new()
    } else {
        format!("{}, {}: ", block.title, group.title)
    }
}

/// The rows that differ, with their ratios: the farthest from 1 first.
fn different<'b>(block: &'b Block<'_>, group: &Group<'_>, outcome: Outcome) -> Vec<(&'b str, f64)> {
    let ratio = |row: usize| Some((&*block.rows[row], group.ratio(row)?.estimate.value));
    let mut found: Vec<(&str, f64)> = group.with(outcome).filter_map(ratio).collect();
    found.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
    found
}

/// What the rows that differ need, such as `node/http needs 2.3x the CPU of c/epoll per request, go/net 1.2x.`; `what`
/// follows the ratio of the first one.
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
fn rest(group: &Group<'_>, baseline: &str, is_first: bool) -> Option<String> {
    let [same, inconclusive, withheld] =
        [Outcome::Same, Outcome::Inconclusive, Outcome::Withheld].map(|it| group.with(it).count());
    let of = if is_first { baseline } else { "it" };
    let is = |number: usize| if number == 1 { "is" } else { "are" };
    let mut parts = Vec::new();
    if same > 0 {
        let servers = if same == 1 { "server is" } else { "servers are" };
        let margin = percent(group.comparison().margin);
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
fn noun(metric: Metric) -> (&'static str, String) {
    let subject = subject(metric);
    let (what, per) = subject.split_once(" per ").unwrap_or((subject, ""));
    (what, if per.is_empty() { String::new() } else { format!(" per {per}") })
}
