//! The page of a run: the sentences, the tables with a picture of each ratio, what disturbed the measurement, and the
//! charts.

mod bars;
mod ladder;
mod latency;
mod lines;
mod modes;
mod scaling;
mod servers;
mod table;
mod timeline;

pub(crate) use self::servers::section as servers;

use maud::{Markup, html};
use wirebench_schema::journal::{Described, Journal};

use super::{
    Facts,
    causes::causes,
    headline,
    model::{self, Model},
};
use crate::{
    analysis::Analysis,
    by_name,
    chart::ratio::{LEGEND, RINGS},
    document::{Block, Document},
    gates::words::conditions_block,
    generators,
    origin::Origin,
    pairs, published_rows,
    table::{headline::suite, of_document, pairs_of_conclusions, rows_of_document},
    why,
};

const KNOWN: &str = "deviates from its scenario in a declared point: see below, at the server";

/// The result of a run.
#[must_use]
pub fn page(analysis: &Analysis<'_>, facts: &Facts<'_>) -> Document {
    let Analysis { journal, workloads, .. } = analysis;
    let model = Model::of(analysis);
    let (causes, disturbed) = causes(analysis);
    let setting = headline::setting(&model, facts);
    let of_block = |block: &model::Block<'_>| {
        let tables = Block::Html(table::tables(journal, block).into_string());
        Block::Section(block.title.clone(), vec![Block::Charts(bars::charts(block)), tables])
    };
    let result = headline::result(&model);
    let mut blocks = vec![
        Block::Origin(vec![Origin::of_run(&journal.start)]),
        conditions_block(facts.gate),
        Block::Html(html! { p.setting { (setting) } }.into_string()),
    ];
    let mut more = Vec::new();
    match of_document(analysis, facts.machine) {
        None => blocks.push(Block::Headline(result, None)),
        Some((introduction, tables)) => {
            blocks.extend(introduction.map(Block::line));
            blocks.extend(tables);
            blocks.push(Block::List(None, published_rows::summary(journal)));
            blocks.push(Block::Html(html! { p.result { (result) } }.into_string()));
            more.extend(rows_of_document(analysis));
            let pairs = pairs_of_conclusions(analysis);
            more.extend(
                pairs.map(|it| Block::Folded("Pairs of the conclusions".to_owned(), vec![it])),
            );
        }
    }
    blocks.extend(model.blocks.iter().map(of_block));
    blocks.push(Block::Html(legend(journal, &model).into_string()));
    blocks.push(Block::section("What disturbed or qualifies the measurement", causes));
    blocks.push(Block::Lines(headline::hint(&model, disturbed).into_iter().collect()));
    blocks.extend(by_name::sections(workloads));
    blocks.extend(why::sections(journal, workloads));
    blocks.extend(more);
    blocks.extend(model.blocks.iter().map(|block| pictures_of(journal, block)));
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
fn pictures_of(journal: &Journal, block: &model::Block<'_>) -> Block {
    let latencies = block.groups.iter().filter_map(|group| latency::chart(journal, block, group));
    let (latencies, tables): (Vec<_>, Vec<_>) = latencies.unzip();
    let ladders = ladder::charts(journal, block);
    let charts = Block::Charts(ladders.chain(latencies).collect());
    let blocks = [charts].into_iter().chain(tables).chain(modes::section(block));
    Block::Section(format!("{} in pictures", block.title), blocks.collect())
}

fn legend(journal: &Journal, model: &Model<'_>) -> Markup {
    let has_ratio =
        |group: &model::Group<'_>| (0..group.places.len()).any(|row| group.ratio(row).is_some());
    let is_known = |it: &Described| table::deviates(journal, &it.variant);
    let known =
        journal.start.variants.iter().any(is_known).then(|| (table::KNOWN, KNOWN.to_owned()));
    html! {
        p.legend {
            @if model.groups().any(has_ratio) {
                (LEGEND) (RINGS) "Orange is more than the baseline, blue is less; only significant "
                "differences are coloured. "
            }
            "With another row to compare with, intervals hold for all pairs of rows. "
            @for (mark, meaning) in model.marks("not valid".to_owned()).into_iter().chain(known) {
                (mark) @if !mark.is_empty() { ": " } (meaning) ". "
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
