//! The first screen as an HTML document: the sentences, the tables with a picture of each ratio, and
//! what disturbed the measurement.

mod bars;
mod ladder;
mod latency;
mod lines;
mod modes;
mod scaling;
mod servers;
mod slices;
mod table;
mod timeline;

pub(crate) use self::servers::section as servers;

use maud::{Markup, html};
use wirebench_schema::journal::Journal;

use super::{
    Facts, Stage, adapter,
    figures::{BOUND, BOUND_MEANING, HIDDEN, WAKING_MEANING},
    headline,
    model::{Block, Model, Value},
};
use crate::{
    analysis::{Analysis, WorkloadRows},
    by_name,
    document::parts,
    gates::conditions_block,
    generators,
    html::{
        document,
        ratio::{LEGEND, RINGS},
        safe,
    },
    origin::{self, Origin},
    pairs,
    table::{headline::suite, of_document, pairs_of_conclusions, rows_of_document},
    why,
};

/// The result of a run as one file.
#[must_use]
pub fn page(analysis: &Analysis<'_>, facts: &Facts<'_>) -> String {
    let Analysis { journal, workloads, .. } = analysis;
    let model = adapter::model(analysis, Stage::Final);
    let members = adapter::members(workloads);
    let suite = suite(&journal.start);
    let of_document = of_document(analysis);
    let body = html! {
        header {
            h1 { (safe(&suite)) }
            p.setting { (safe(&headline::setting(&model, facts))) }
            (origin::html(&[Origin::of_run(&journal.start)]))
            @if of_document.is_none() { p.result { (safe(&headline::result(&model))) } }
            (parts(&[conditions_block(facts.gate)]))
        }
        @if let Some((introduction, tables)) = &of_document {
            section {
                p { (safe(introduction)) }
                (parts(tables))
                ul { @for line in &model.published { li { (safe(line)) } } }
            }
            p.result { (safe(&headline::result(&model))) }
        }
        @for (block, loads) in model.blocks.iter().zip(&members) {
            section {
                h2 { (safe(&block.title)) }
                (bars::section(block))
                (table::tables(journal, block, loads))
            }
        }
        (legend(journal, &model))
        (lines("What disturbed or qualifies the measurement", &model.causes))
        @if let Some(hint) = headline::hint(&model) { p { (safe(&hint)) } }
        (parts(&by_name::sections(workloads)))
        (parts(&why::sections(journal, workloads)))
        @if of_document.is_some() { section { (parts(&rows_of_document(analysis))) } }
        @if let Some(pairs) = pairs_of_conclusions(analysis) {
            details {
                summary { "Pairs of the conclusions" }
                (parts(&[pairs]))
            }
        }
        @for (block, members) in model.blocks.iter().zip(&members) { (pictures(journal, block, members)) }
        @if let Some(scaling) = scaling::section(journal, workloads) { (scaling) }
        @if let Some(timeline) = timeline::section(analysis) { (timeline) }
        (lines("Pairs of hosts", &pairs::lines(journal)))
        (lines("Load generators", &generators::lines(journal)))
        (servers(analysis))
    };
    document(&suite, &body)
}

fn pictures(journal: &Journal, block: &Block, members: &[&WorkloadRows<'_>]) -> Markup {
    let titled: Vec<_> = members.iter().map(|member| (adapter::title(member), *member)).collect();
    let latencies =
        titled.iter().filter_map(|(title, load)| latency::section(journal, block, title, load));
    let modes = modes::section(block, &titled);
    let ladders = ladder::pictures(journal, &block.title, members);
    let pictures: Vec<Markup> = ladders.chain(latencies).collect();
    html! {
        @if !pictures.is_empty() || modes.is_some() {
            section {
                h2 { (safe(&block.title)) " in pictures" }
                div.pictures {
                    @for picture in pictures { div { (picture) } }
                }
                @if let Some(modes) = modes { (modes) }
            }
        }
    }
}

/// A section with a list, unless there is nothing in it.
fn lines(title: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            section {
                h2 { (title) }
                ul { @for line in lines { li { (safe(line)) } } }
            }
        }
    }
}

fn legend(journal: &Journal, model: &Model<'_>) -> Markup {
    let variants = || journal.start.variants.iter().map(|it| &it.variant);
    let has_known = variants().any(|it| table::deviates(journal, it));
    html! {
        p.legend {
            @if model.blocks.iter().flat_map(|it| &it.groups).any(|it| it.ratios.iter().any(Option::is_some)) {
                (LEGEND) (RINGS) "Orange is more than the baseline, blue is less; only significant "
                "differences are coloured. "
            }
            "With another row to compare with, intervals hold for all pairs of rows. "
            @if model.count(|value| matches!(value, Value::Bound(_))) > 0 {
                (BOUND) ": " (BOUND_MEANING) ". "
            }
            @if model.has_waking() { (WAKING_MEANING) ". " }
            @if has_known {
                (table::KNOWN) " deviates from its scenario in a declared point: see below, at the server. "
            }
            @if model.count(Value::is_hidden) > 0 { (HIDDEN) " is a figure that is not valid. " }
        }
    }
}

#[cfg(test)]
mod tests;
