//! A sweep as people read it: a table, two pictures, and what they say in words.

use wirebench_stats::MIN_COHORTS;

use super::{
    CellRank, Look, Sweep, SweepCell,
    picture::{bars, heat_map},
};
use crate::{
    table::{Style, count, filled_table, page::Page},
    table_units::{latency, thousands},
};

pub(super) fn text(sweep: &Sweep, style: Style, look: Look) -> String {
    let mut page = Page::new(style);
    page.headed(&format!(
        "tune {}: {} over workers and connections",
        sweep.variant, sweep.scenario
    ));
    page.paragraph(&sweep.headline);
    if sweep.best().is_some() {
        add_table(&mut page, sweep);
        for picture in [heat_map(sweep, look), bars(sweep, look)] {
            page.raw(&match style {
                Style::Text => picture.trim_end().to_owned(),
                Style::Markdown => format!("```text\n{picture}```"),
            });
        }
    }
    let lines = [findings(sweep), sweep.notes.clone()].concat();
    match style {
        Style::Text => lines.iter().for_each(|line| page.line(line)),
        Style::Markdown => page.points(&lines),
    }
    format!("{}\n", page.text().trim_end())
}

fn add_table(page: &mut Page, sweep: &Sweep) {
    let columns = sweep.connections.iter().map(ToString::to_string);
    let head: Vec<String> =
        ["workers \\ connections".to_owned()].into_iter().chain(columns).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let row = |workers: &u32| {
        let cells = sweep.connections.iter().map(|connections| {
            sweep.cell(*workers, *connections).map_or_else(|| "-".to_owned(), shown)
        });
        [workers.to_string()].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = sweep.workers.iter().map(row).collect();
    let table = filled_table(page.style, &head, &rows, 0..head.len());
    page.paragraph("requests/s (median)");
    page.table(&table, std::iter::empty());
    // At the beginning of a line of Markdown an asterisk would begin a list.
    let highest = if page.style == Style::Markdown { "\\* highest" } else { "* highest" };
    let mut key = vec![highest, "= not significantly slower"];
    if sweep.cells.iter().any(SweepCell::is_limited) {
        key.push(">= lower bound: the load generator was saturated");
    }
    if sweep.cells.iter().any(|cell| cell.invalid) {
        key.push("! not valid, see below");
    }
    page.paragraph(&key.join("; "));
}

fn shown(cell: &SweepCell) -> String {
    let Some(rate) = cell.requests_per_second else { return "-".to_owned() };
    let invalid = if cell.invalid { "!" } else { "" };
    let limited = if cell.is_limited() { ">=" } else { "" };
    let standing = match cell.standing {
        CellRank::Best => " *",
        CellRank::Alike => " =",
        CellRank::Slower | CellRank::Unknown => "  ",
    };
    format!("{invalid}{limited}{}{standing}", thousands(rate))
}

/// What the table says, in sentences.
fn findings(sweep: &Sweep) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(best) = sweep.best() else {
        lines.push("no measurements".to_owned());
        return lines;
    };
    lines.push(highest(best));
    lines.extend(alike(sweep));
    let candidates = sweep.cells.iter().filter(|it| is_near(it.standing));
    let least = candidates.min_by_key(|cell| (cell.workers, cell.connections));
    lines.extend(least.filter(|it| it.standing != CellRank::Best).map(|cell| {
        let p99 = cell.latency_ns_p99.map_or_else(|| "-".to_owned(), latency);
        format!("fewest workers and connections among these: {} (p99 {p99})", place(cell))
    }));
    if best.is_limited() {
        lines.push(
            "the load generator was saturated there: the highest rate is a lower bound, and its place \
             depends on the generator"
                .to_owned(),
        );
    }
    let more = sweep.workers.iter().any(|workers| *workers as usize > sweep.server_cpus);
    if more {
        let cpus = count(sweep.server_cpus, "server CPU");
        let verb = if sweep.server_cpus == 1 { "is" } else { "are" };
        lines.push(format!(
            "there {verb} {cpus}: more workers share them, so their rate with more CPUs is unknown"
        ));
    }
    if let Some(runs) = fewest_runs(sweep).filter(|runs| *runs < MIN_COHORTS) {
        let runs = count(runs, "run");
        lines.push(format!("{runs} per cell: comparing cells needs {MIN_COHORTS}, use --blocks 3"));
    }
    lines
}

fn highest(best: &SweepCell) -> String {
    let rate = thousands(best.requests_per_second.unwrap_or_default());
    let p99 = best.latency_ns_p99.map_or_else(|| "-".to_owned(), latency);
    let bound: Vec<String> = best.bound.iter().map(ToString::to_string).collect();
    let (low, high) = best.requests_per_second_range.unwrap_or_default();
    let runs = match best.runs {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs from {} to {}", thousands(low), thousands(high)),
    };
    format!(
        "highest: {rate} requests/s with {} (p99 {p99}; bound by {}; {runs})",
        place(best),
        bound.join("/")
    )
}

fn is_near(standing: CellRank) -> bool {
    matches!(standing, CellRank::Best | CellRank::Alike)
}

/// The figures of the measured cell that has the fewest; a sweep that ended early has fewer than were
/// planned.
fn fewest_runs(sweep: &Sweep) -> Option<usize> {
    let counts = sweep.cells.iter().map(|cell| cell.requests_per_second_by_block.len());
    counts.filter(|count| *count > 0).min()
}

/// The cells that are not slower than the best one, by workers, and what is known of the others.
fn alike(sweep: &Sweep) -> Option<String> {
    let mut parts = Vec::new();
    for workers in &sweep.workers {
        let mine = sweep.cells.iter().filter(|it| it.workers == *workers);
        let alike = mine.filter(|cell| cell.standing == CellRank::Alike);
        let connections: Vec<String> = alike.map(|cell| cell.connections.to_string()).collect();
        if !connections.is_empty() {
            let workers = count(*workers, "worker");
            parts.push(format!("{workers} with {} connections", connections.join(", ")));
        }
    }
    if !parts.is_empty() {
        return Some(format!("not significantly slower: {}", parts.join("; ")));
    }
    let all = |wanted| sweep.cells.iter().filter(move |cell| cell.standing == wanted);
    let (slower, unknown) = (all(CellRank::Slower).count(), all(CellRank::Unknown).count());
    let measured = all(CellRank::Unknown).any(|cell| cell.requests_per_second.is_some());
    match (slower, unknown) {
        (0, _) => measured.then(|| "no other cell can be compared with it".to_owned()),
        (_, 0) => Some("every other cell is slower".to_owned()),
        _ => Some(format!(
            "every other cell is slower, except {unknown} that cannot be compared with it: without \
             figures, with too few, or at the load generator's limit"
        )),
    }
}

fn place(cell: &SweepCell) -> String {
    let connections = count(cell.connections, "connection");
    format!("{} and {connections}", count(cell.workers, "worker"))
}
