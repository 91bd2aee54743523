//! The page of a run: the sentences, the tables with a picture of each ratio, what disturbed the measurement, and the
//! charts.

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
    Facts, adapter,
    figures::{BOUND, BOUND_MEANING, HIDDEN, WAKING_MEANING},
    headline,
    model::{self, Model, Value},
};
use crate::{
    analysis::{Analysis, WorkloadRows},
    by_name,
    chart::ratio::{LEGEND, RINGS},
    document::{Block, Document},
    gates::words::conditions_block,
    generators,
    origin::Origin,
    pairs,
    table::{headline::suite, of_document, pairs_of_conclusions, rows_of_document},
    why,
};

/// The result of a run.
#[must_use]
pub fn page(analysis: &Analysis<'_>, facts: &Facts<'_>) -> Document {
    let Analysis { journal, workloads, .. } = analysis;
    let model = adapter::model(analysis);
    let members = adapter::members(workloads);
    let setting = headline::setting(&model, facts);
    let of_block = |(block, loads): (&model::Block, &Vec<_>)| {
        let tables = Block::Html(table::tables(journal, block, loads).into_string());
        Block::Section(block.title.clone(), vec![Block::Charts(bars::charts(block)), tables])
    };
    let result = headline::result(&model);
    let mut blocks = vec![
        Block::Origin(vec![Origin::of_run(&journal.start)]),
        conditions_block(facts.gate),
        Block::Html(html! { p.setting { (setting) } }.into_string()),
    ];
    let of_document = of_document(analysis);
    let (rows, pairs) = match &of_document {
        Some(_) => (rows_of_document(analysis), pairs_of_conclusions(analysis)),
        None => (Vec::new(), None),
    };
    match of_document {
        None => blocks.push(Block::Headline(result, None)),
        Some((introduction, tables)) => {
            blocks.push(Block::line(introduction));
            blocks.extend(tables);
            blocks.push(Block::List(None, model.published.clone()));
            blocks.push(Block::Html(html! { p.result { (result) } }.into_string()));
        }
    }
    blocks.extend(model.blocks.iter().zip(&members).map(of_block));
    blocks.push(Block::Html(legend(journal, &model).into_string()));
    let disturbed = "What disturbed or qualifies the measurement";
    blocks.push(Block::section(disturbed, model.causes.clone()));
    blocks.push(Block::Lines(headline::hint(&model).into_iter().collect()));
    blocks.extend(by_name::sections(workloads));
    blocks.extend(why::sections(journal, workloads));
    blocks.extend(rows);
    blocks.extend(pairs.map(|pairs| Block::folded("Pairs of the conclusions", vec![pairs])));
    let pictures = model.blocks.iter().zip(&members);
    blocks.extend(pictures.map(|(block, loads)| pictures_of(journal, block, loads)));
    blocks.extend([
        scaling::section(journal, workloads),
        timeline::section(analysis),
        Block::section("Pairs of hosts", pairs::lines(journal)),
        Block::section("Load generators", generators::lines(journal)),
        servers(analysis),
    ]);
    Document { title: suite(&journal.start), blocks }
}

/// The charts of a scenario.
fn pictures_of(journal: &Journal, block: &model::Block, members: &[&WorkloadRows<'_>]) -> Block {
    let titled: Vec<_> = members.iter().map(|member| (adapter::title(member), *member)).collect();
    let latencies =
        titled.iter().filter_map(|(title, load)| latency::chart(journal, block, title, load));
    let (latencies, tables): (Vec<_>, Vec<_>) = latencies.unzip();
    let ladders = ladder::charts(journal, &block.title, members);
    let charts = Block::Charts(ladders.chain(latencies).collect());
    let blocks = [charts].into_iter().chain(tables).chain(modes::section(block, &titled));
    Block::Section(format!("{} in pictures", block.title), blocks.collect())
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
pub(crate) mod tests;
