//! The pages of a site.

use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

use super::{
    Changes, Machine, Summary,
    summary::{digest, version},
};
use crate::{
    Details, Report,
    ab::{Ab, AbOptions},
    analysis::Analysis,
    chart::{self, Axis, Chart, ChartKind, Line},
    document::{Block, Cell, Column, Document, Table},
    figure_text::or_absent,
    html::link,
    screen::{Facts, Point},
    table::headline::labels,
    table_units::thousands,
    tune::Tuned,
};

const ONE_LOAD: &str =
    "Each is one load, so a difference between two of them has no interval: it may be noise.";
const NOTHING_COMPARED: &str = "Nothing was compared: this needs two runs of the same suite and programs on the same \
                                machine. Nothing is claimed of loads.";
const NOISE: &str = "For each run the median half width of the intervals of its ratios, and the share of its visits \
                     that were disturbed. Both are low on a quiet machine.";
/// Characters of the name of a file, which may be 255 with its end.
const LONGEST_NAME: usize = 200;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// Its path below the folder of the site.
    pub path: String,
    pub text: String,
}

/// The page of a run, whatever verb made it.
#[must_use]
pub fn run_page(analysis: &Analysis<'_>, facts: Facts<'_>) -> Document {
    let journal = analysis.journal;
    if let Some(ab) = Ab::of(journal, &AbOptions::default()) {
        return Report::page(&ab);
    }
    match Tuned::of(journal) {
        Some(tuned) => tuned.page(),
        None => Details { analysis, metric: None, facts }.page(),
    }
}

/// All pages but those of runs and loads, which are in the order of their start, and so are `changes`.
#[must_use]
pub fn pages(runs: &[Summary], changes: &[Changes]) -> Vec<Page> {
    let index = ("index.html".to_owned(), index(runs, changes));
    let servers = servers(runs).into_iter().map(|it| (server_path(it), server(it, runs)));
    let machines = machines(runs).into_iter().map(|it| (machine_path(it), machine(it, runs)));
    let pages = [index].into_iter().chain(servers).chain(machines);
    pages.map(|(path, document)| Page { path, text: document.html() }).collect()
}

/// The servers but for their further copies, such as `builtin/epoll (A/A)`: those show noise and have no history.
fn servers(runs: &[Summary]) -> BTreeSet<&str> {
    let points = runs.iter().flat_map(|run| &run.points);
    points.map(|point| point.server.as_str()).filter(|name| !name.contains(' ')).collect()
}

fn machines(runs: &[Summary]) -> BTreeSet<&Machine> {
    runs.iter().map(|run| &run.machine).collect()
}

fn server_path(name: &str) -> String {
    format!("servers/{}.html", slug(name))
}

fn machine_path(machine: &Machine) -> String {
    format!("machines/{}.html", slug(&machine.key))
}

/// A name as a file's name. Different names of servers have different ones: what is replaced is written
/// as its code. URLs may be longer than the names of files.
fn slug(name: &str) -> String {
    let one = |it: char| match it {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => it.to_string(),
        other => format!("~{:x}~", u32::from(other)),
    };
    let slug: String = name.replace('/', "--").replace(':', "__").chars().map(one).collect();
    if slug.len() <= LONGEST_NAME { slug } else { digest(name) }
}

fn index(results: &[Summary], changes: &[Changes]) -> Document {
    let (loads, runs): (Vec<_>, Vec<_>) = results.iter().partition(|it| it.load.is_some());
    let by_id: BTreeMap<&str, &Summary> = runs.iter().map(|run| (&*run.id, *run)).collect();
    let compared = changes.iter().filter(|it| it.refused.is_none()).count();
    let changed = changes.iter().filter(|it| !it.changes.is_empty()).rev();
    let changed: Vec<_> = changed
        .filter_map(|it| Some(change(by_id.get(it.new.as_str())?, it)))
        .map(|it| Block::Html(it.into_string()))
        .collect();
    let setting = format!(
        "{} runs. Each is compared with the one before it of the same suite and programs on the same machine: \
         {compared} comparisons, {} with significant changes.",
        runs.len(),
        changed.len()
    );
    let changes = match changed.as_slice() {
        _ if compared == 0 => vec![Block::line(NOTHING_COMPARED)],
        [] => vec![Block::line("No significant change.")],
        _ => changed,
    };
    let of_loads = loads.first().map(|_| Block::line(ONE_LOAD));
    let of_loads = of_loads.into_iter().chain([run_table(&loads, "", |_| None)]).collect();
    let servers = servers(results).into_iter().map(|it| (server_path(it), it));
    let machines = machines(results).into_iter().map(|it| (machine_path(it), it.name.as_str()));
    let blocks = vec![
        Block::line(setting),
        Block::Section("Changes".to_owned(), changes),
        Block::Section("Runs".to_owned(), vec![run_table(&runs, "", |_| None)]),
        Block::Section("Loads".to_owned(), of_loads),
        Block::Section("Servers".to_owned(), vec![links(servers)]),
        Block::Section("Machines".to_owned(), vec![links(machines)]),
    ];
    Document { title: "Results".to_owned(), blocks }
}

fn links<'a>(pages: impl Iterator<Item = (String, &'a str)>) -> Block {
    let list = html! { ul.names { @for (path, name) in pages { li { (link(&path, name)) } } } };
    Block::Html(list.into_string())
}

fn change(run: &Summary, changes: &Changes) -> Markup {
    let old = format!("runs/{}/index.html", changes.old);
    html! {
        h3 { (link(&run.page(), &run.started)) " " (run.suite) (labels(&run.labels))
            ", compared with " (link(&old, "the run before")) }
        @if !changes.versions.is_empty() {
            p.legend { @for version in &changes.versions { (version) br; } }
        }
        ul {
            @for it in &changes.changes {
                li {
                    b { bdi { (it.server) } } " " (it.workload) ": "
                    span class=(if it.is_better { "less2" } else { "more2" }) { (it.change) }
                    ", margin " (it.margin) ", " (if it.is_better { "better" } else { "worse" })
                }
            }
        }
    }
}

fn linked(text: &str, path: String) -> Cell {
    Cell { link: Some(path), ..Cell::from(text) }
}

/// The link to a result from a page with this way to the first one.
fn result_link(root: &str, run: &Summary) -> Cell {
    let started = if run.started.is_empty() { "unknown" } else { &run.started };
    linked(started, format!("{root}{}", run.page()))
}

/// A table of results, the newest first, with a column of the caller's.
fn run_table(runs: &[&Summary], root: &str, more: impl Fn(&Summary) -> Option<String>) -> Block {
    let row = |run: &&Summary| {
        let result = more(run).unwrap_or_else(|| run.sentence.clone());
        let words = [run.suite.clone(), version(&run.labels), result].map(Cell::from);
        [result_link(root, run)].into_iter().chain(words).collect()
    };
    let rows: Vec<Vec<Cell>> = runs.iter().rev().map(row).collect();
    Block::Table(Table::of(["started", "suite", "version", "result"], [""; 0], rows))
}

fn all_results() -> Block {
    Block::Html(html! { p { (link("../index.html", "All results")) } }.into_string())
}

/// The history of a server under each load.
fn server(name: &str, runs: &[Summary]) -> Document {
    type Key<'a> = (&'a str, Option<&'a str>, &'a str);
    let mut loads: BTreeMap<Key<'_>, Vec<(&Summary, &Point)>> = BTreeMap::new();
    for run in runs {
        for point in run.points.iter().filter(|point| point.server == name) {
            let key = (&*point.load, point.program.as_deref(), &*run.requests);
            loads.entry(key).or_default().push((run, point));
        }
    }
    let section = |((load, program, _), points): (Key<'_>, Vec<(&Summary, &Point)>)| {
        let program = program.map(|it| format!(": {it}")).unwrap_or_default();
        let of_load = points[0].0.load.as_ref().map(|_| ONE_LOAD.to_owned());
        let blocks = vec![
            Block::Lines(of_load.into_iter().collect()),
            Block::Charts(picture(load, &points).into_iter().collect()),
            history_table(&points),
        ];
        Block::Section(format!("{load}{program}"), blocks)
    };
    let blocks = [all_results()].into_iter().chain(loads.into_iter().map(section)).collect();
    Document { title: name.to_owned(), blocks }
}

/// The ratios of runs, or the rates of loads, on each machine over their place among all of this load; none without
/// any. Small dots are the ends of intervals, and a load that is not valid is hollow.
fn picture(load: &str, points: &[(&Summary, &Point)]) -> Option<Chart> {
    let is_of_loads = points[0].0.load.is_some();
    let ratios = points.iter().zip(1..).filter_map(|((run, point), number)| {
        let (value, interval) = match &run.load {
            Some(load) => (load.requests_per_second, None),
            None => point.ratio?,
        };
        let raw = interval.into_iter().flat_map(|(low, high)| [low, high]).collect();
        let is_hollow = run.load.as_ref().is_some_and(|it| !it.doubts.is_empty());
        let at = (f64::from(number), value);
        Some((&run.machine, chart::Point { raw, is_hollow, ..chart::Point::new(at) }))
    });
    let mut machines: BTreeMap<&Machine, Vec<chart::Point>> = BTreeMap::new();
    ratios.for_each(|(machine, point)| machines.entry(machine).or_default().push(point));
    let lines: Vec<Line> = (0..)
        .zip(machines)
        .map(|(place, (machine, points))| Line { name: machine.name.clone(), place, points })
        .collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = points().map(|it| it.at.0).reduce(f64::max)?;
    let values = points().flat_map(|it| it.raw.iter().copied().chain([it.at.1, 1.0]));
    let (y, x, what) = match is_of_loads {
        true => {
            let y = Axis::linear("requests/s", values.fold(0.0, f64::max), thousands);
            (y, "load", "requests/s of each load")
        }
        false => {
            let y = Axis::logarithmic("ratio", values, |it| format!("{it}x"))?;
            (y, "run", "ratio to the baseline in each run")
        }
    };
    let kind = ChartKind::Lines { x: Axis::numbered(x, most), y, lines };
    Some(Chart::new(format!("{load}: {what}"), kind))
}

fn history_table(points: &[(&Summary, &Point)]) -> Block {
    let outcome = match points[0].0.load {
        Some(_) => "limit",
        None => "compared with the baseline",
    };
    let columns = vec![
        Column::right("run"),
        Column::right("started"),
        Column::left("version"),
        Column::right("figure"),
        Column::right(outcome),
        Column::left("versions"),
        Column::left("machine"),
    ];
    let row = |(place, (run, point)): (usize, &(&Summary, &Point))| {
        let machine = format!("../{}", machine_path(&run.machine));
        vec![
            (place + 1).to_string().into(),
            result_link("../", run),
            version(&run.labels).into(),
            point.figure.as_str().into(),
            point.outcome.as_str().into(),
            point.versions.as_str().into(),
            linked(&run.machine.name, machine),
        ]
    };
    Block::Table(Table::new(columns, points.iter().enumerate().rev().map(row)))
}

/// The noise of a machine over time.
fn machine(machine: &Machine, runs: &[Summary]) -> Document {
    let own: Vec<&Summary> = runs.iter().filter(|run| run.machine == *machine).collect();
    let percent = |share: Option<f64>| or_absent(share.map(|it| format!("{:.1} %", it * 100.0)));
    let noise = |run: &Summary| {
        let [noise, disturbed] = [run.noise, run.disturbed].map(percent);
        let text = format!("half width {noise}, {disturbed} of the visits disturbed");
        run.load.is_none().then_some(text)
    };
    let blocks = vec![all_results(), Block::line(NOISE), run_table(&own, "../", noise)];
    Document { title: machine.name.clone(), blocks }
}
