//! The pages of a site.

use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

use super::{Changes, Machine, Summary};
use crate::{
    Details, Report,
    ab::{Ab, AbOptions},
    analysis::Analysis,
    html::{document, safe},
    screen::{
        Facts, Point,
        history::{self, Run, Series},
    },
    tune::Tuned,
};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page {
    /// Its path below the folder of the site.
    pub path: String,
    pub text: String,
}

/// The page of a run, whatever verb made it.
#[must_use]
pub fn run_page(analysis: &Analysis<'_>, facts: Facts<'_>) -> String {
    let journal = analysis.journal;
    if let Some(ab) = Ab::of(journal, &AbOptions::default()) {
        return ab.html();
    }
    match Tuned::of(journal) {
        Some(tuned) => tuned.html(),
        None => Details { analysis, facts }.html(),
    }
}

/// All pages but those of runs. `runs` are in the order of their start, and so are `changes`.
#[must_use]
pub fn pages(runs: &[Summary], changes: &[Changes]) -> Vec<Page> {
    let mut pages = vec![Page { path: "index.html".to_owned(), text: index(runs, changes) }];
    let of_server = |name| Page { path: server_path(name), text: server(name, runs) };
    pages.extend(servers(runs).into_iter().map(of_server));
    let of_machine = |it| Page { path: machine_path(it), text: machine(it, runs) };
    pages.extend(machines(runs).into_iter().map(of_machine));
    pages
}

fn servers(runs: &[Summary]) -> BTreeSet<&str> {
    runs.iter().flat_map(|run| &run.points).map(|point| point.server.as_str()).collect()
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
/// as its code.
fn slug(name: &str) -> String {
    let one = |it: char| match it {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => it.to_string(),
        other => format!("~{:x}~", u32::from(other)),
    };
    name.replace('/', "--").replace(':', "__").chars().map(one).collect()
}

fn index(runs: &[Summary], changes: &[Changes]) -> String {
    let by_id: BTreeMap<&str, &Summary> = runs.iter().map(|run| (run.id.as_str(), run)).collect();
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
            (runs.len()) " runs. Each is compared with the one before it of the same suite on the same machine: "
            (compared) " comparisons, " (changed.len()) " with significant changes."
        }
        section {
            h2 { "Changes" }
            @if changed.is_empty() { p { "No significant change." } }
            @for (run, changes) in changed { (change(run, changes)) }
        }
        section { h2 { "Runs" } (run_table(runs, "", |_| None)) }
        section {
            h2 { "Servers" }
            ul.names { @for name in servers(runs) { li { (link(&server_path(name), name)) } } }
        }
        section {
            h2 { "Machines" }
            ul.names {
                @for machine in machines(runs) {
                    li { (link(&machine_path(machine), &machine.name)) }
                }
            }
        }
    };
    document("Results", &body)
}

fn change(run: &Summary, changes: &Changes) -> Markup {
    let (new, old) = (run_path(&changes.new), run_path(&changes.old));
    html! {
        h3 { (link(&new, &run.started)) " " (safe(&run.suite)) ", compared with " (link(&old, "the run before")) }
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

fn run_path(id: &str) -> String {
    format!("runs/{id}/index.html")
}

fn link(path: &str, text: &str) -> Markup {
    html! { a href=(path) { bdi { (safe(text)) } } }
}

/// A table of runs, the newest first, with a column of the caller's.
fn run_table(runs: &[Summary], root: &str, more: impl Fn(&Summary) -> Option<String>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="runs" {
            table {
                thead {
                    tr {
                        th scope="col" { "started" }
                        th.words scope="col" { "suite" }
                        th.words scope="col" { "result" }
                    }
                }
                tbody {
                    @for run in runs.iter().rev() {
                        tr {
                            td { (link(&format!("{root}{}", run_path(&run.id)), &run.started)) }
                            td.words { (safe(&run.suite)) }
                            td.words { (safe(&more(run).unwrap_or_else(|| run.sentence.clone()))) }
                        }
                    }
                }
            }
        }
    }
}

/// The history of a server under each load.
fn server(name: &str, runs: &[Summary]) -> String {
    let mut loads: BTreeMap<&str, Vec<(&Summary, &Point)>> = BTreeMap::new();
    for run in runs {
        for point in run.points.iter().filter(|point| point.server == name) {
            loads.entry(&point.load).or_default().push((run, point));
        }
    }
    let body = html! {
        p { (link("../index.html", "All results")) }
        h1 { bdi { (safe(name)) } }
        @for (load, points) in &loads {
            section {
                h2 { (safe(load)) }
                @if let Some(picture) = history::picture(load, &by_machine(points)) { (picture) }
                (history_table(load, points))
            }
        }
    };
    document(name, &body)
}

/// The ratios on each machine, with the place of their runs among all of this load.
fn by_machine(points: &[(&Summary, &Point)]) -> Vec<Series> {
    let mut machines: BTreeMap<&Machine, Vec<Run>> = BTreeMap::new();
    for (place, (run, point)) in points.iter().enumerate() {
        if let Some((ratio, interval)) = point.ratio {
            let run_of_load = Run { number: place + 1, ratio, interval };
            machines.entry(&run.machine).or_default().push(run_of_load);
        }
    }
    let series = |(machine, runs): (&Machine, _)| Series { name: machine.name.clone(), runs };
    machines.into_iter().map(series).collect()
}

fn history_table(load: &str, points: &[(&Summary, &Point)]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(safe(load)) {
            table {
                thead {
                    tr {
                        th scope="col" { "run" } th scope="col" { "started" } th scope="col" { "figure" }
                        th scope="col" { "compared with the baseline" } th.words scope="col" { "versions" }
                        th.words scope="col" { "machine" }
                    }
                }
                tbody {
                    @for (place, (run, point)) in points.iter().enumerate().rev() {
                        tr {
                            td { (place + 1) }
                            td { (link(&format!("../{}", run_path(&run.id)), &run.started)) }
                            td { (safe(&point.figure)) }
                            td { (safe(&point.outcome)) }
                            td.words { (safe(&point.versions)) }
                            td.words { (link(&format!("../{}", machine_path(&run.machine)), &run.machine.name)) }
                        }
                    }
                }
            }
        }
    }
}

/// The noise of a machine over time.
fn machine(machine: &Machine, runs: &[Summary]) -> String {
    let own: Vec<Summary> = runs.iter().filter(|run| run.machine == *machine).cloned().collect();
    let percent =
        |share: Option<f64>| share.map_or("-".to_owned(), |it| format!("{:.1} %", it * 100.0));
    let body = html! {
        p { (link("../index.html", "All results")) }
        h1 { (safe(&machine.name)) }
        p.legend {
            "For each run the median half width of the intervals of its ratios, and the share of its slices that were "
            "disturbed. Both are low on a quiet machine."
        }
        (run_table(&own, "../", |run| Some(format!(
            "half width {}, {} of the slices disturbed", percent(run.noise), percent(run.disturbed)
        ))))
    };
    document(&machine.name, &body)
}
