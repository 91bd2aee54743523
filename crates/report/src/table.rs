//! The tables of a run, for terminals and as Markdown.

use comfy_table::{CellAlignment, Table, presets};
use std::{collections::BTreeSet, fmt::Write};
use wirebench_schema::{
    journal::{EndReason, Generator, Journal, Start},
    load::{Arrivals, LoadModel, RateCurve, Stop},
    scenario::Protocol,
    suite::{Scale, Workload},
    units::write_duration,
};

use crate::{
    notes::Notes,
    published,
    summary::{Figures, Ratio, Reads, Row, WorkloadSummary, summarise},
    table_units::{bytes, latency, thousands},
};

/// The look of a table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// Aligned columns and thin lines.
    Text,
    /// A table of Markdown.
    Markdown,
}

const HEAD: [&str; 10] = [
    "entry",
    "class",
    "requests/s",
    "ratio (least..most)",
    "p50",
    "p99",
    "server CPU us/request",
    "peak memory",
    "errors",
    "bound by",
];

/// Everything that `journal` says, as text: a table for each workload, its notes, and what could
/// not be measured.
#[must_use]
pub fn report(journal: &Journal, style: Style) -> String {
    let mut text = String::new();
    if style == Style::Markdown {
        let _ = writeln!(text, "# wirebench {}\n", journal.start.suite);
    }
    let _ = writeln!(text, "{}\n", headline(journal));
    if let Some(paragraph) = published::paragraph(journal) {
        let _ = writeln!(text, "{paragraph}\n");
    }
    for summary in &summarise(journal) {
        add_workload(&mut text, summary, style);
        // The figures of the smallest scale mean nothing, so nothing is put beside them.
        let tells = journal.start.scale != Scale::Smoke;
        let published = journal.start.published.as_deref().filter(|_| tells);
        if let Some(beside) = published.and_then(|it| published::beside(it, summary, style)) {
            let _ = writeln!(text, "{beside}\n");
        }
    }
    add_list(&mut text, style, "not measured", &unavailable(journal));
    add_list(&mut text, style, "what they leave out", &skips(journal));
    add_list(&mut text, style, "how to read this", &reading_aid(journal));
    text
}

fn headline(journal: &Journal) -> String {
    let start = &journal.start;
    let placement = &start.placement;
    let sides = if placement.pinned {
        format!(
            "server on CPU {}, generator on CPU {}",
            list(&placement.server_cpus),
            list(&placement.generator_cpus)
        )
    } else {
        "not pinned".to_owned()
    };
    let ended = match journal.end.as_ref().map(|end| end.reason) {
        Some(EndReason::Complete | EndReason::Precise) => "",
        Some(EndReason::Budget) => "; the time was up, these are the blocks until then",
        Some(EndReason::Interrupted) => "; interrupted, these are the runs until then",
        None => "; cut off, these are the runs until then",
    };
    let scale = match start.scale {
        Scale::Machine if start.published.is_none() => String::new(),
        scale => format!(" at {scale} scale"),
    };
    let blocks = count(start.blocks, "block");
    let before = match start.warmup_blocks {
        0 => String::new(),
        number => format!(" after {}", count(number, "warm-up block")),
    };
    let generator = match start.generator.name {
        Generator::Wirebench => String::new(),
        _ => format!(", load by {}", start.generator),
    };
    let Start { suite, seed, .. } = start;
    format!("suite {suite}{scale}, {blocks}{before}, seed {seed}, {sides}{generator}{ended}")
}

/// A list of CPUs.
fn list(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn add_workload(text: &mut String, summary: &WorkloadSummary, style: Style) {
    let heading = describe(&summary.workload);
    let _ = match style {
        Style::Text => writeln!(text, "{heading}"),
        Style::Markdown => writeln!(text, "## {heading}\n"),
    };
    if summary.rows.is_empty() {
        let _ = writeln!(text, "nothing was measured\n");
        return;
    }
    let mut table = new_table(style, &HEAD);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut notes = Notes::default();
    for row in &summary.rows {
        table.add_row(cells(row, &mut notes));
    }
    let _ = writeln!(text, "{table}");
    for (index, note) in notes.texts().enumerate() {
        let bullet = if style == Style::Markdown { "- " } else { "  " };
        let _ = writeln!(text, "{bullet}[{}] {note}", index + 1);
    }
    text.push('\n');
}

/// An empty table in `style` with `head` as its first row.
#[must_use]
pub fn new_table(style: Style, head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(match style {
        Style::Text => presets::NOTHING,
        Style::Markdown => presets::ASCII_MARKDOWN,
    });
    table.set_header(head);
    table
}

fn describe(workload: &Workload) -> String {
    let payload = match workload.scenario.protocol() {
        Protocol::Http1 => String::new(),
        Protocol::Echo => format!(", {} bytes a message", workload.payload_bytes),
    };
    let stop = describe_stop(workload.stop);
    let Workload { name, scenario, connections, .. } = workload;
    let (model, shape) = (describe_model(&workload.model), describe_shape(workload));
    format!("{name}: {scenario}, {model}, {connections} connections{shape}{payload}, {stop}")
}

/// When a run ends.
pub(crate) fn describe_stop(stop: Stop) -> String {
    match stop {
        Stop::After(duration) => format!("{} a run", write_duration(duration)),
        Stop::Requests(requests) => format!("{requests} requests a run"),
        Stop::RequestsPerConnection(requests) => format!("{requests} requests a connection a run"),
    }
}

/// How requests are offered.
pub(crate) fn describe_model(model: &LoadModel) -> String {
    let (curve, arrivals) = match model {
        LoadModel::Closed => return "closed loop".to_owned(),
        LoadModel::Think { delay } => {
            return format!("closed loop with a pause of {}", write_duration(*delay));
        }
        LoadModel::Rate { curve, arrivals, .. } => (curve, arrivals),
    };
    let rates = match curve {
        RateCurve::Constant(rate) => rate.to_string(),
        RateCurve::Ramp(from, to) => format!("{from} to {to}"),
        RateCurve::Steps(rates) => {
            rates.iter().map(u64::to_string).collect::<Vec<_>>().join(", then ")
        }
    };
    match arrivals {
        Arrivals::Even => format!("{rates} requests/s"),
        Arrivals::Poisson => format!("{rates} requests/s at random"),
    }
}

/// What is not usual about the connections.
fn describe_shape(workload: &Workload) -> String {
    let mut shape = String::new();
    if workload.idle_connections > 0 {
        let _ = write!(shape, " and {} idle ones", workload.idle_connections);
    }
    if workload.pipeline > 1 {
        let _ = write!(shape, ", {} requests in flight on each", workload.pipeline);
    }
    if let Some(requests) = workload.requests_per_connection {
        let _ = write!(shape, ", {requests} requests before each is closed");
    }
    shape
}

/// The cells of a row. Its notes get the numbers that they have in `notes`.
fn cells(row: &Row, notes: &mut Notes) -> Vec<String> {
    let marks: BTreeSet<usize> = row.notes.iter().map(|note| notes.add(note)).collect();
    let marks: String = marks.iter().map(|mark| format!(" [{mark}]")).collect();
    let role = if row.is_baseline { " (baseline)" } else { "" };
    let mut cells = vec![
        format!("{}{role}{marks}", row.variant),
        row.class.map_or("own".to_owned(), |class| class.to_string()),
    ];
    match &row.figures {
        Some(figures) => cells.extend(figure_cells(figures)),
        None => cells.extend(HEAD.iter().skip(cells.len()).map(|_| "-".to_owned())),
    }
    cells
}

/// The sign in front of a ratio.
pub(crate) const fn sign(reads: Reads) -> &'static str {
    match reads {
        Reads::Exactly => "",
        Reads::AtLeast => ">=",
        Reads::AtMost => "<=",
        Reads::Either => "~",
    }
}

fn ratio(ratio: Ratio) -> String {
    let reads = sign(ratio.reads);
    format!("{reads}{:.2} ({:.2}..{:.2})", ratio.median, ratio.least, ratio.most)
}

fn figure_cells(figures: &Figures) -> [String; 8] {
    let dash = || "-".to_owned();
    let time = |value: Option<f64>| value.map_or_else(dash, latency);
    let bound: Vec<String> = figures.bound.iter().map(ToString::to_string).collect();
    [
        thousands(figures.requests_per_second),
        figures.ratio.map_or_else(dash, ratio),
        time(figures.latency_ns_p50),
        time(figures.latency_ns_p99),
        figures.server_cpu_ns_per_request.map_or_else(dash, |ns| format!("{:.2}", ns / 1000.0)),
        bytes(figures.memory_peak_bytes),
        figures.errors.to_string(),
        bound.join("/"),
    ]
}

/// A titled list, unless there is nothing in it.
fn add_list(text: &mut String, style: Style, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = match style {
        Style::Text => writeln!(text, "{title}"),
        Style::Markdown => writeln!(text, "## {title}\n"),
    };
    let bullet = if style == Style::Markdown { "- " } else { "  " };
    for item in items {
        let _ = writeln!(text, "{bullet}{item}");
    }
    text.push('\n');
}

fn unavailable(journal: &Journal) -> Vec<String> {
    let left_out = journal.start.left_out.iter().map(|it| format!("{}: {}", it.what, it.reason));
    let unavailable = journal.unavailable.iter();
    left_out.chain(unavailable.map(|it| format!("{}: {}", it.variant, it.reason))).collect()
}

/// What each entry that was measured leaves out, as it declares itself.
fn skips(journal: &Journal) -> Vec<String> {
    let declared = journal.start.variants.iter().filter(|described| !described.skips.is_empty());
    declared.map(|it| format!("{}: {}", it.variant, it.skips.join("; "))).collect()
}

/// What the columns mean, and what they cannot show.
fn reading_aid(journal: &Journal) -> Vec<String> {
    let mut lines = [
        "a ratio to the baseline is made within each block; the median is shown",
        "<= (>=): the load generator was at its limit in the baseline's (the row's) runs; ~: in both",
        "bound by generator: the load generator was at its limit, the server may do more",
        "figures are medians of the runs; memory is the peak, errors are the sum",
        "a..b in a note: from the least to the most over all runs that have it",
    ]
    .map(str::to_owned)
    .to_vec();
    if journal.start.scale == Scale::Smoke {
        lines
            .push("at smoke scale figures mean nothing: it shows that everything works".to_owned());
    } else if journal.start.published.is_some() {
        lines.push(
            "published: a figure of the document, and its ratio to the same row's; only ratios can \
             be compared, and only as far as the loads are alike"
                .to_owned(),
        );
    }
    if journal.start.warmup_blocks > 0 {
        lines.push("runs of warm-up blocks are in the journal and in no figure".to_owned());
    }
    // Wilcoxon's signed-rank test needs six pairs before 5 % can be reached: 2 / 2^6.
    if journal.start.blocks < 6 {
        let blocks = count(journal.start.blocks, "block");
        lines
            .push(format!("{blocks} cannot show that a small difference is real: try --blocks 10"));
    }
    lines
}

/// A number with its noun.
pub(crate) fn count(number: u32, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
pub(crate) mod tests;
