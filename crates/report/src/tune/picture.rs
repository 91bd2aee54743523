//! Pictures out of characters: a heat map and bars. Where colours are not wanted they are made of
//! plain ones, which any font and any log can show.

use std::fmt::Write;

use super::{Sweep, SweepCell};
use crate::{document::Look, table::count, table_units::thousands};

/// From little to much. The shades accompany the colours, for readers with colour blindness.
const PLAIN: [char; 8] = ['.', ':', '-', '=', '+', '*', '#', '@'];
const SHADES: [char; 8] = ['░', '░', '▒', '▒', '▓', '▓', '█', '█'];
/// From dark blue over green to yellow, which grows lighter all the way (of the 256 colours of
/// xterm).
const COLOURS: [u8; 8] = [54, 60, 25, 31, 36, 71, 149, 220];
/// A heat map spans at least this share of the highest rate, so that noise does not look like a
/// mountain.
const LEAST_SPAN: f64 = 0.2;
/// Characters of a cell of the heat map.
const CELL_WIDTH: usize = 4;
/// Characters of the longest bar.
const BAR_WIDTH: usize = 40;
/// The last character of a bar, in eighths.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Rows of workers, columns of connections, the darker the slower.
pub(super) fn heat_map(sweep: &Sweep, look: Look) -> String {
    let rates: Vec<f64> = sweep.cells.iter().filter_map(|it| it.requests_per_second).collect();
    let Some((least, most)) = wirebench_stats::range(&rates) else { return String::new() };
    let least = least.min(most * (1.0 - LEAST_SPAN));
    let level = |cell: &SweepCell| cell.requests_per_second.map(|it| level(it, least, most));
    let label = label_width(sweep);
    let column = CELL_WIDTH.max(sweep.connections.iter().map(|it| digits(*it)).max().unwrap_or(0));
    let mut text = format!("{:label$}", "connections");
    for connections in &sweep.connections {
        let _ = write!(text, " {connections:>column$}");
    }
    text.push('\n');
    for workers in &sweep.workers {
        let _ = write!(text, "{:label$}", count(*workers, "worker"));
        for connections in &sweep.connections {
            let cell = sweep.cell(*workers, *connections).and_then(level);
            let block = cell.map_or_else(|| "?".repeat(column), |it| block(it, column, look));
            let _ = write!(text, " {block}");
        }
        text.push('\n');
    }
    let (first, last) = (block(0, 2, look), block(PLAIN.len() - 1, 2, look));
    let (least, most) = (thousands(least), thousands(most));
    let _ = writeln!(text, "{:label$} {first} {least} to {last} {most} requests/s", "");
    text
}

/// A bar for each cell, from zero.
pub(super) fn bars(sweep: &Sweep, look: Look) -> String {
    let rates = sweep.cells.iter().filter_map(|it| it.requests_per_second);
    let most = rates.fold(0.0, f64::max);
    let width = sweep.connections.iter().map(|it| digits(*it)).max().unwrap_or(0);
    let mut text = String::new();
    for workers in &sweep.workers {
        let _ = writeln!(text, "{}", count(*workers, "worker"));
        for connections in &sweep.connections {
            let rate = sweep.cell(*workers, *connections).and_then(|it| it.requests_per_second);
            let (bar, shown) = match rate {
                Some(rate) => (bar(rate / most, look), thousands(rate)),
                None => (String::new(), "no figures".to_owned()),
            };
            let gap = if bar.is_empty() { "" } else { " " };
            let _ = writeln!(text, "  {connections:>width$} {bar}{gap}{shown}");
        }
    }
    text
}

fn label_width(sweep: &Sweep) -> usize {
    let rows = sweep.workers.iter().map(|it| count(*it, "worker").len());
    rows.chain(["connections".len()]).max().unwrap_or(0)
}

fn digits(number: usize) -> usize {
    number.to_string().len()
}

/// Which of the levels, from 0.
// The cast is safe, because the result is cut to the number of levels.
fn level(value: f64, least: f64, most: f64) -> usize {
    let share = if most > least { (value - least) / (most - least) } else { 1.0 };
    ((share.clamp(0.0, 1.0) * PLAIN.len() as f64) as usize).min(PLAIN.len() - 1)
}

fn block(level: usize, width: usize, look: Look) -> String {
    match look {
        Look::Plain => PLAIN[level].to_string().repeat(width),
        Look::Colours => {
            let shade = SHADES[level].to_string().repeat(width);
            format!("\u{1b}[38;5;{}m{shade}\u{1b}[0m", COLOURS[level])
        }
    }
}

// The casts are safe, because a share is between 0 and 1.
fn bar(share: f64, look: Look) -> String {
    let length = share.clamp(0.0, 1.0) * BAR_WIDTH as f64;
    match look {
        Look::Plain => "#".repeat((length.round() as usize).max(1)),
        Look::Colours => {
            let eighths = ((length * 8.0).round() as usize).max(1);
            let mut bar = "█".repeat(eighths / 8);
            bar.extend((eighths % 8).checked_sub(1).map(|index| EIGHTHS[index]));
            bar
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_go_from_the_least_to_the_most() {
        let levels: Vec<_> = (0..=8).map(|it| level(f64::from(it), 0.0, 8.0)).collect();
        assert_eq!(levels, [0, 1, 2, 3, 4, 5, 6, 7, 7]);
        assert_eq!((level(1.0, 1.0, 1.0), level(-5.0, 0.0, 1.0)), (7, 0));
    }

    #[test]
    fn a_bar_is_as_long_as_its_share_and_never_nothing() {
        assert_eq!(bar(1.0, Look::Plain).len(), BAR_WIDTH);
        assert_eq!(bar(0.0, Look::Plain), "#");
        assert_eq!(bar(0.5, Look::Colours).chars().count(), BAR_WIDTH / 2);
        assert_eq!(bar(1.0 / 80.0, Look::Colours), "▌");
    }

    #[test]
    fn without_colours_there_is_nothing_but_plain_characters() {
        assert!(block(3, 4, Look::Plain).is_ascii() && bar(0.3, Look::Plain).is_ascii());
        assert!(block(3, 4, Look::Colours).contains("\u{1b}[38;5;31m▒▒▒▒\u{1b}[0m"));
    }
}
