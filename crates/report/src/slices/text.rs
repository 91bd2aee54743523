//! The slices of a server as text: a drawing for each load, with its legend.

use super::{CohortSlices, OTHERS, READING};
use crate::{
    analysis::Analysis,
    view::meant,
    wrap::{WIDTH, wrap},
};

/// The drawing in characters, without its labels.
const COLUMNS: usize = 80;
const ROWS: usize = 15;
/// Space for labels at the left.
const LEFT: usize = 8;
/// The least space between two labels of an axis.
const BETWEEN: (f64, f64) = (8.0, 2.0);
/// Marks of what is not a slice of the server.
const OTHER: char = '.';
const VALUE: char = '-';
const CHANGED: char = '/';

/// The slices of one server, a drawing for each load.
///
/// # Errors
///
/// A name that means no server of the run, or more than one, and a server without slices.
pub fn text(analysis: &Analysis<'_>, name: &str) -> Result<String, String> {
    let server = meant(analysis.journal, name)?;
    let of = |rows| CohortSlices::of(analysis, rows, &server);
    let drawn: Vec<String> =
        analysis.workloads.iter().filter_map(of).map(|it| drawing(&it)).collect();
    if drawn.is_empty() {
        return Err(format!(
            "{server} has no slices with a CPU time: only cohorts of `wirebench run` and `ab` measure in slices"
        ));
    }
    Ok(format!("{}\n\n{}", wrap(READING, WIDTH, "").join("\n"), drawn.join("\n")))
}

fn drawing(slices: &CohortSlices) -> String {
    let (x, y) = slices.axes();
    let place = |share: f64, count: usize| (share * (count - 1) as f64).round() as usize;
    let column = |seconds: f64| place(x.share(seconds), COLUMNS);
    let row = |us: f64| place(1.0 - y.share(us), ROWS);
    let mut grid = vec![vec![' '; COLUMNS]; ROWS];
    if let Some(us) = slices.value {
        grid[row(us)].iter_mut().step_by(2).for_each(|it| *it = VALUE);
    }
    for (seconds, us) in &slices.others {
        grid[row(*us)][column(*seconds)] = OTHER;
    }
    for (used, places) in slices.uses() {
        places.iter().for_each(|(seconds, us)| grid[row(*us)][column(*seconds)] = used.sign());
    }
    let mut labels = vec![String::new(); ROWS];
    for (at, label) in y.labelled((ROWS - 1) as f64, BETWEEN.1) {
        label.clone_into(&mut labels[ROWS - 1 - at.round() as usize]);
    }
    let mut below = vec![' '; COLUMNS + LEFT];
    for (at, label) in x.labelled((COLUMNS - 1) as f64, BETWEEN.0) {
        let signs = below.iter_mut().skip(at.round() as usize);
        signs.zip(label.chars()).for_each(|(sign, it)| *sign = it);
    }
    let line = |label: &str, signs: Vec<char>| {
        format!("{label:>LEFT$} |{}", signs.into_iter().collect::<String>()).trim_end().to_owned()
    };
    let mut lines = vec![slices.title.clone(), y.name.clone()];
    lines.extend(labels.iter().zip(grid).map(|(label, signs)| line(label, signs)));
    lines.push(line("", vec!['-'; COLUMNS]).replace('|', "+"));
    if !slices.states.is_empty() {
        let mut strip = vec![' '; COLUMNS];
        for (state, _, begun) in slices.by_state() {
            begun.iter().for_each(|seconds| strip[column(*seconds)] = digit(state));
        }
        lines.push(line("state", strip));
    }
    lines.push(line("", below).replace('|', " "));
    lines.push(format!("{:LEFT$}  {}", "", x.name));
    lines.extend(legend(slices));
    lines.join("\n") + "\n"
}

/// The number of a state from 1, or the mark of a change.
fn digit(state: Option<usize>) -> char {
    let number = state.and_then(|state| u32::try_from(state + 1).ok());
    number.and_then(|it| char::from_digit(it, 10)).unwrap_or(CHANGED)
}

fn legend(slices: &CohortSlices) -> Vec<String> {
    let uses = slices.uses().map(|(used, places)| (used.sign(), used.words(places.len())));
    let value = (VALUE, slices.value_words());
    let states = slices.by_state().map(|(state, words, _)| (digit(state), words.to_owned()));
    let lines = uses.chain([(OTHER, OTHERS.to_owned()), value]).chain(states);
    lines.map(|(sign, words)| format!("  {sign}  {words}")).collect()
}
