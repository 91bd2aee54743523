//! Lays a block of the table out: columns side by side, as many of them as fit the width. It knows
//! neither journals nor analyses.

use super::{
    figures::{cell, head, subject},
    model::{Block, Column, Group, Outcome, Value},
};
use crate::{
    analysis::Metric,
    document::{Paint, Shade},
    wrap::{cut, length},
};

const LONGEST_NAME: usize = 36;
/// The widest outcome, and so the widest head of its column.
const OUTCOME_WIDTH: usize = "inconclusive".len();
/// A title may be this much wider than its columns, which are then moved apart.
const TITLE_EXCESS: usize = 2;
/// Bars shorter than this show nothing, and longer ones nothing more.
const BAR: std::ops::RangeInclusive<usize> = 8..=24;

/// Which of the latencies are shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Latencies {
    All,
    /// Those of the last load that has some: the highest rate.
    Last,
    /// Not even those: one load is too wide for the terminal.
    None,
}

/// How much of a block is shown, and how far apart.
#[derive(Clone, Copy, Debug)]
struct Detail {
    latencies: Latencies,
    /// Spaces between groups and between columns.
    gaps: (usize, usize),
}

/// From the most to the least.
const DETAILS: [Detail; 5] = [
    Detail { latencies: Latencies::All, gaps: (3, 2) },
    Detail { latencies: Latencies::All, gaps: (2, 1) },
    Detail { latencies: Latencies::Last, gaps: (3, 2) },
    Detail { latencies: Latencies::Last, gaps: (2, 1) },
    Detail { latencies: Latencies::None, gaps: (2, 1) },
];

#[derive(Debug)]
struct Strip {
    head: String,
    cells: Vec<String>,
    shades: Vec<Shade>,
    is_left: bool,
    gap: usize,
    width: usize,
    /// What is above it, if it is the first of its group.
    title: Option<String>,
}

/// The lines of a block. Loads that do not fit next to each other are below each other.
pub(super) fn lines(block: &Block, paint: Paint) -> Vec<String> {
    if let Some(strips) = fitting(block, paint.1) {
        return render(block, &strips, paint);
    }
    let part = |groups: &[Group]| Block { groups: groups.to_vec(), ..block.clone() };
    let fits = |count: &usize| fitting(&part(&block.groups[..*count]), paint.1).is_some();
    let count = (1..block.groups.len()).rev().find(fits).unwrap_or(1);
    if count >= block.groups.len() {
        return render(block, &strips(block, DETAILS[DETAILS.len() - 1]), paint);
    }
    let (first, rest) = block.groups.split_at(count);
    let mut lines = lines(&part(first), paint);
    lines.push(String::new());
    lines.extend(self::lines(&part(rest), paint));
    lines
}

/// The columns with the most detail that fits.
fn fitting(block: &Block, most: usize) -> Option<Vec<Strip>> {
    // Loads go below each other before latencies go.
    let is_meant = |it: &Detail| it.latencies != Latencies::None || block.groups.len() == 1;
    let mut all = DETAILS.into_iter().filter(is_meant).map(|detail| strips(block, detail));
    all.find(|strips| width(strips) <= most)
}

fn width(strips: &[Strip]) -> usize {
    strips.iter().map(|strip| strip.gap + strip.width).sum()
}

fn strips(block: &Block, detail: Detail) -> Vec<Strip> {
    let names = block.rows.iter().map(|name| cut(name, LONGEST_NAME)).collect();
    let mut strips = vec![Strip::new(String::new(), names, Vec::new(), true, 0)];
    let is_cpu = block.groups.iter().all(|group| group.metric == Metric::Cpu);
    let title =
        if is_cpu { format!("{}: CPU us/request", block.title) } else { block.title.clone() };
    strips[0].width = strips[0].width.max(length(&title));
    strips[0].title = Some(title);
    let is_latency =
        |it: &Column| [Metric::LatencyP50, Metric::LatencyP99].map(Column::Figure).contains(it);
    let last = block.groups.iter().rposition(|group| group.columns.iter().any(is_latency));
    for (place, group) in block.groups.iter().enumerate() {
        let mut group = group.clone();
        let has_latencies = match detail.latencies {
            Latencies::All => true,
            Latencies::Last => Some(place) == last,
            Latencies::None => false,
        };
        group.retain(|column| has_latencies || !is_latency(&column));
        strips.extend(of_group(&group, place == 0, detail.gaps));
    }
    strips
}

fn of_group(group: &Group, is_first: bool, (before, between): (usize, usize)) -> Vec<Strip> {
    let strip = |(place, column): (usize, &Column)| {
        let values = group.cells.iter().map(|cells| cells.as_ref().map(|cells| cells[place]));
        let values: Vec<Option<Value>> = values.collect();
        let text = |value: &Option<Value>| value.map_or(String::new(), |it| cell(*column, it));
        let gap = if place == 0 { before } else { between };
        let head = head(*column, group.baseline.as_deref(), OUTCOME_WIDTH);
        let shades = values.iter().map(|value| value.map_or(Shade::Plain, shade)).collect();
        let texts = values.iter().map(text).collect();
        Strip::new(head, texts, shades, *column == Column::Outcome, gap)
    };
    let mut strips: Vec<Strip> = group.columns.iter().enumerate().map(strip).collect();
    let room = width(&strips).saturating_sub(before);
    let full = format!("{}: {}", group.title, subject(group.metric));
    let has_subject = is_first && group.metric != Metric::Cpu;
    let title = if has_subject && length(&full) <= room + TITLE_EXCESS {
        full
    } else {
        group.title.clone()
    };
    if let Some(last) = strips.last_mut() {
        last.width += length(&title).saturating_sub(room);
    }
    if let Some(first) = strips.first_mut() {
        first.title = Some(title);
    }
    strips
}

impl Strip {
    fn new(
        head: String,
        cells: Vec<String>,
        shades: Vec<Shade>,
        is_left: bool,
        gap: usize,
    ) -> Self {
        let width = cells.iter().chain([&head]).map(|text| length(text)).max().unwrap_or(0);
        Self { head, cells, shades, is_left, gap, width, title: None }
    }

    fn padded(&self, text: &str, shade: Shade, paint: Paint) -> String {
        let (gap, room) = (" ".repeat(self.gap), " ".repeat(self.width - length(text)));
        let text = paint.apply(shade, text);
        if self.is_left { format!("{gap}{text}{room}") } else { format!("{gap}{room}{text}") }
    }
}

fn render(block: &Block, strips: &[Strip], paint: Paint) -> Vec<String> {
    let heads = |strip: &Strip| strip.padded(&strip.head, Shade::Head, paint);
    let mut lines = vec![titles(strips, paint), strips.iter().map(heads).collect::<String>()];
    let bars = bars(block, width(strips), paint);
    if let (false, [first, _, ..]) = (bars.is_empty(), &block.groups[..]) {
        lines[1] += &format!("   {}", paint.apply(Shade::Head, &first.title));
    }
    for row in 0..block.rows.len() {
        let cell = |strip: &Strip| {
            let shade = strip.shades.get(row).copied().unwrap_or(Shade::Plain);
            strip.padded(&strip.cells[row], shade, paint)
        };
        let bar = bars.get(row).map_or("", String::as_str);
        lines.push(format!("{}{bar}", strips.iter().map(cell).collect::<String>()));
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The first line: what each group is.
fn titles(strips: &[Strip], paint: Paint) -> String {
    let (mut line, mut at, mut end) = (String::new(), 0, 0);
    for strip in strips {
        at += strip.gap;
        if let Some(title) = &strip.title {
            line += &" ".repeat(at - end);
            line += &paint.apply(Shade::Head, title);
            end = at + length(title);
        }
        at += strip.width;
    }
    line
}

/// A bar for each row: the first figure of the first load. None where there is no room for them.
fn bars(block: &Block, used: usize, paint: Paint) -> Vec<String> {
    let room = paint.1.saturating_sub(used + 3);
    if !paint.is_terminal() || room < *BAR.start() {
        return Vec::new();
    }
    let longest = room.min(*BAR.end());
    let first = |row: usize| {
        let values = block.groups.first()?.cells[row].as_ref()?;
        values.iter().find_map(|value| match value {
            Value::Exact(figure) | Value::Bound(figure) => Some(*figure),
            _ => None,
        })
    };
    let figures: Vec<Option<f64>> = (0..block.rows.len()).map(first).collect();
    let most = figures.iter().flatten().copied().fold(0.0, f64::max);
    let bar = |figure: &Option<f64>| {
        let share = figure.filter(|_| most > 0.0).map_or(0.0, |figure| (figure / most).max(0.0));
        let blocks = "█".repeat((share * longest as f64).round() as usize);
        format!("   {}", paint.apply(Shade::Faint, &blocks))
    };
    figures.iter().map(bar).collect()
}

fn shade(value: Value) -> Shade {
    match value {
        Value::Compared(Outcome::Different { ratio, .. }) if ratio > 1.0 => Shade::Worse,
        Value::Compared(Outcome::Different { .. }) => Shade::Better,
        Value::Empty
        | Value::Hidden
        | Value::Compared(Outcome::Inconclusive | Outcome::Withheld) => Shade::Faint,
        Value::Exact(_) | Value::Bound(_) | Value::Compared(_) => Shade::Plain,
    }
}
