//! The conclusions of a document as tables: a line for each, and a line for each pair of rows.

use wirebench_schema::journal::Published;

use super::{
    Answer, ConclusionReport, PairReport,
    words::{answers, here, sentence, sizes, summary},
};
use crate::{
    chart::{Chart, ChartKind, Dumbbell},
    document::{Align, Block, Cell, Column, Table},
    interval::factor,
    notes::{Notes, Remark},
    published_rows::name_of,
    view::ComparedRatio,
};

const CHART: &str = "Each line is a pair of rows, from the published ratio, a ring, to the measured one, a dot with \
                     its interval of 95 % confidence, on a logarithmic axis.";
/// What text has room for on a line.
const SENTENCE: usize = 42;
const ANSWER: usize = 20;
/// Notes on why pairs are inconclusive or not measured; the table of pairs has all.
const WHYS: usize = 3;

/// A line for each conclusion, with the reasons of its size below; nothing without conclusions.
pub(crate) fn table(conclusions: &[ConclusionReport]) -> Option<Block> {
    let title = summary(conclusions)?;
    let wrapped = |head: &str, width| Column { wrap: Some(width), ..Column::left(head) };
    let grouped = |column| Column { group: Some(String::new()), ..column };
    let columns = vec![
        wrapped("conclusion", SENTENCE),
        grouped(wrapped("answer", ANSWER)),
        grouped(Column { align: Align::Interval, ..Column::left("ratio") }),
    ];
    let row = |it: &ConclusionReport| {
        let reasons = it.reasons.iter().map(|it| Remark::from(it.as_str()));
        let sentence = Cell { notes: reasons.collect(), ..sentence(it).into() };
        let answers = Cell { notes: whys(it), ..answers(it).into() };
        vec![sentence, answers, sizes(it).into()]
    };
    let rows = conclusions.iter().map(row);
    let table = Table { keys: 1, ..Table::new(columns, rows) };
    Some(Block::Section(title, vec![Block::Table(table), picture(conclusions)]))
}

/// Both ratios of each pair that was measured; empty without one.
fn picture(conclusions: &[ConclusionReport]) -> Block {
    let row = |it: &ConclusionReport| {
        let pairs = it.pairs.iter().map(|pair| &pair.mean);
        let pairs = pairs.filter(|mean| mean.answer != Answer::NotMeasured);
        let pairs = pairs.filter_map(|mean| Some((mean.published, mean.measured?)));
        Dumbbell { name: sentence(it), text: sizes(it), pairs: pairs.collect() }
    };
    let rows: Vec<Dumbbell> =
        conclusions.iter().map(row).filter(|it| !it.pairs.is_empty()).collect();
    let chart = (!rows.is_empty()).then(|| {
        let title = "published and measured ratios";
        Chart::new(title, ChartKind::Dumbbells(rows)).explained(CHART)
    });
    Block::Charts(chart.into_iter().collect())
}

/// Why pairs are inconclusive or not measured.
fn whys(conclusion: &ConclusionReport) -> Vec<Remark> {
    let why = |it: &ComparedRatio| {
        let name = it.answer.name();
        it.why.clone().map(|why| why.prefixed(&format!("{name}: ")))
    };
    let ratios = conclusion.pairs.iter().flat_map(|pair| {
        let workloads = pair.workloads.iter().map(|it| &it.ratio);
        let missing = workloads.filter(|it| it.answer == Answer::NotMeasured);
        std::iter::once(&pair.mean).chain(missing)
    });
    let whys = Notes::of(ratios.filter_map(why)).into_remarks();
    whys.into_iter().take(WHYS).collect()
}

/// A line for each workload of each pair, and one for their mean; nothing without pairs.
pub(crate) fn pairs(published: &Published, conclusions: &[ConclusionReport]) -> Option<Block> {
    let rows: Vec<Vec<Cell>> = (1..)
        .zip(conclusions)
        .flat_map(|(number, it)| it.pairs.iter().map(move |pair| (number, pair)))
        .flat_map(|(number, pair)| lines(published, number, pair))
        .collect();
    let columns = vec![
        Column::right("no."),
        Column::left("pair"),
        Column::left("workload"),
        Column::right("published"),
        Column::left("here"),
        Column::left("answer"),
    ];
    let table = Block::Table(Table::new(columns, rows));
    (!conclusions.is_empty())
        .then(|| Block::Section("pairs of the conclusions".to_owned(), vec![table]))
}

fn lines(published: &Published, number: usize, pair: &PairReport) -> Vec<Vec<Cell>> {
    let name = |text: &str| {
        text.parse().map_or_else(|_| text.to_owned(), |variant| name_of(published, &variant))
    };
    let [row, reference] = [&pair.row, &pair.reference].map(|it| {
        let base =
            pair.relative_to.as_ref().map_or_else(String::new, |it| format!(" / {}", name(it)));
        name(it) + &base
    });
    let rows = match pair.workloads.iter().any(|it| it.against.is_some()) {
        true if row == reference => row,
        _ => format!("{row} {} {reference}", pair.relation),
    };
    let line = |workload: String, ratio: &ComparedRatio| -> Vec<Cell> {
        let published = factor(ratio.published, None);
        let answer = ratio.answer.name().to_owned();
        let texts = [number.to_string(), rows.clone(), workload, published, here(ratio), answer];
        texts.into_iter().map(Cell::from).collect()
    };
    let mean = (pair.workloads.len() > 1).then(|| line("mean".to_owned(), &pair.mean));
    let each = pair.workloads.iter().map(|it| {
        let workload = match &it.against {
            Some(against) => format!("{} {} {against}", it.workload, pair.relation),
            None => it.workload.clone(),
        };
        line(workload, &it.ratio)
    });
    each.chain(mean).collect()
}
