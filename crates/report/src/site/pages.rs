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
    document::Document,
    html::{Cells, document, link, safe, table, text},
    screen::{Facts, Point},
    table::headline::labels,
    table_units::thousands,
    tune::Tuned,
};

const ONE_LOAD: &str =
    "Each is one load, so a difference between two of them has no interval: it may be noise.";
const NOTHING_COMPARED: &str = "Nothing was compared: this needs two runs of the same suite and programs on the same \
                                machine. Nothing is claimed of loads.";
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
    let mut pages = vec![Page { path: "index.html".to_owned(), text: index(runs, changes) }];
    let of_server = |name| Page { path: server_path(name), text: server(name, runs) };
    pages.extend(servers(runs).into_iter().map(of_server));
    let of_machine = |it| Page { path: machine_path(it), text: machine(it, runs) };
    pages.extend(machines(runs).into_iter().map(of_machine));
    pages
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

fn index(results: &[Summary], changes: &[Changes]) -> String {
    let (loads, runs): (Vec<_>, Vec<_>) = results.iter().partition(|it| it.load.is_some());
    let by_id: BTreeMap<&str, &Summary> = runs.iter().map(|run| (&*run.id, *run)).collect();
    let compared = changes.iter().filter(|it| it.refused.is_none()).count();
    let mut changed: Vec<_> = changes
        .iter()
        .filter(|it| !it.changes.is_empty())
        .filter_map(|it| Some((*by_id.get(it.new.as_str())?, it)))
        .collect();
    changed.reverse();
    let body = html! {
        h1 { "Results" }
        p.setting {
            (runs.len()) " runs. Each is compared with the one before it of the same suite and programs on the same "
            "machine: "
            (compared) " comparisons, " (changed.len()) " with significant changes."
        }
        section {
            h2 { "Changes" }
            @if compared == 0 { p { (NOTHING_COMPARED) } }
            @else if changed.is_empty() { p { "No significant change." } }
            @for (run, changes) in changed { (change(run, changes)) }
        }
        section { h2 { "Runs" } (run_table("runs", &runs, "", |_| None)) }
        @if !loads.is_empty() {
            section { h2 { "Loads" } p.legend { (ONE_LOAD) } (run_table("loads", &loads, "", |_| None)) }
        }
        section {
            h2 { "Servers" }
            ul.names { @for name in servers(results) { li { (link(&server_path(name), name)) } } }
        }
        section {
            h2 { "Machines" }
            ul.names {
                @for machine in machines(results) {
                    li { (link(&machine_path(machine), &machine.name)) }
                }
            }
        }
    };
    document("Results", &body)
}

fn change(run: &Summary, changes: &Changes) -> Markup {
    let old = format!("runs/{}/index.html", changes.old);
    html! {
        h3 { (link(&run.page(), &run.started)) " " (safe(&run.suite)) (safe(&labels(&run.labels)))
            ", compared with " (link(&old, "the run before")) }
        @if !changes.versions.is_empty() {
            p.legend { @for version in &changes.versions { (safe(version)) br; } }
        }
        ul {
            @for it in &changes.changes {
                li {
                    b { bdi { (safe(&it.server)) } } " " (safe(&it.workload)) ": "
                    span class=(if it.is_better { "less2" } else { "more2" }) { (safe(&it.change)) }
                    ", margin " (it.margin) ", " (if it.is_better { "better" } else { "worse" })
                }
            }
        }
    }
}

/// The link to a result from a page with this way to the first one.
fn result_link(root: &str, run: &Summary) -> Markup {
    let started = if run.started.is_empty() { "unknown" } else { &run.started };
    link(&format!("{root}{}", run.page()), started)
}

/// A table of results, the newest first, with a column of the caller's.
fn run_table(
    name: &str,
    runs: &[&Summary],
    root: &str,
    more: impl Fn(&Summary) -> Option<String>,
) -> Markup {
    let row = |run: &&Summary| {
        let started = result_link(root, run);
        let result = more(run).unwrap_or_else(|| run.sentence.clone());
        vec![started, text(&run.suite), text(version(&run.labels)), text(result)]
    };
    let rows: Vec<Vec<Markup>> = runs.iter().rev().map(row).collect();
    let words = Cells::Words.of(["suite", "version", "result"]);
    let heads = [Cells::Figures.of(["started"]), words].concat();
    table(name, &heads, &rows)
}

/// The history of a server under each load.
fn server(name: &str, runs: &[Summary]) -> String {
    type Key<'a> = (&'a str, Option<&'a str>, &'a str);
    let mut loads: BTreeMap<Key<'_>, Vec<(&Summary, &Point)>> = BTreeMap::new();
    for run in runs {
        for point in run.points.iter().filter(|point| point.server == name) {
            let key = (&*point.load, point.program.as_deref(), &*run.requests);
            loads.entry(key).or_default().push((run, point));
        }
    }
    let body = html! {
        p { (link("../index.html", "All results")) }
        h1 { bdi { (safe(name)) } }
        @for ((load, program, _), points) in &loads {
            section {
                h2 { (safe(load)) @if let Some(program) = program { ": " (safe(program)) } }
                @if points[0].0.load.is_some() { p.legend { (ONE_LOAD) } }
                @if let Some(picture) = picture(load, points) { (picture) }
                (history_table(load, points))
            }
        }
    };
    document(name, &body)
}

/// The ratios of runs, or the rates of loads, on each machine over their place among all of this load; none without
/// any. Small dots are the ends of intervals, and a load that is not valid is hollow.
fn picture(load: &str, points: &[(&Summary, &Point)]) -> Option<Markup> {
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
    Some(Chart::new(format!("{load}: {what}"), kind).html())
}

fn history_table(load: &str, points: &[(&Summary, &Point)]) -> Markup {
    let outcome = match points[0].0.load {
        Some(_) => "limit",
        None => "compared with the baseline",
    };
    let heads = [
        Cells::Figures.of(["run", "started"]),
        Cells::Words.of(["version"]),
        Cells::Figures.of(["figure", outcome]),
        Cells::Words.of(["versions", "machine"]),
    ]
    .concat();
    let row = |(place, (run, point)): (usize, &(&Summary, &Point))| {
        vec![
            text((place + 1).to_string()),
            result_link("../", run),
            text(version(&run.labels)),
            text(&point.figure),
            text(&point.outcome),
            text(&point.versions),
            link(&format!("../{}", machine_path(&run.machine)), &run.machine.name),
        ]
    };
    let rows: Vec<Vec<Markup>> = points.iter().enumerate().rev().map(row).collect();
    table(load, &heads, &rows)
}

/// The noise of a machine over time.
fn machine(machine: &Machine, runs: &[Summary]) -> String {
    let own: Vec<&Summary> = runs.iter().filter(|run| run.machine == *machine).collect();
    let percent =
        |share: Option<f64>| share.map_or("-".to_owned(), |it| format!("{:.1} %", it * 100.0));
    let body = html! {
        p { (link("../index.html", "All results")) }
        h1 { (safe(&machine.name)) }
        p.legend {
            "For each run the median half width of the intervals of its ratios, and the share of its visits that were "
            "disturbed. Both are low on a quiet machine."
        }
        (run_table("runs", &own, "../", |run| run.load.is_none().then(|| format!(
            "half width {}, {} of the visits disturbed", percent(run.noise), percent(run.disturbed)
        ))))
    };
    document(&machine.name, &body)
}
