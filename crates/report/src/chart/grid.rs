//! A map of figures: a cell for each combination of two numbers, the stronger its colour the more.

use maud::{Markup, html};

use super::{
    HeatCell, Heatmap,
    svg::{Drawn, number},
};

/// A cell of the map, and the space for its labels, in CSS pixels.
const CELL: (f64, f64) = (84.0, 30.0);
const LEFT: f64 = 90.0;
const TOP: f64 = 40.0;
/// The colour of the largest figure, as a share of the full one: text on it stays readable.
const STRONGEST: f64 = 0.45;

pub(super) fn drawing(title: &str, grid: &Heatmap) -> Drawn {
    let Heatmap { names: [down, right], columns, rows } = grid;
    let x = |column: usize| LEFT + CELL.0 * column as f64;
    let y = |row: usize| TOP + CELL.1 * row as f64;
    let content = html! {
        text.tick x="2" y=(number(TOP - 8.0)) { (down) }
        text.tick x=(number(LEFT)) y="12" { (right) }
        @for (place, column) in columns.iter().enumerate() {
            text.tick x=(number(x(place) + CELL.0 / 2.0)) y=(number(TOP - 8.0)) text-anchor="middle" { (column) }
        }
        @for (place, (row, cells)) in rows.iter().enumerate() {
            text.tick x=(number(LEFT - 8.0)) y=(number(y(place) + 19.0)) text-anchor="end" { (row) }
            @for (of, cell) in cells.iter().enumerate() { (square(cell, (x(of), y(place)))) }
        }
    };
    let size = (x(columns.len()), y(rows.len()));
    Drawn::new("map", title, size, content)
}

fn square(HeatCell { text, share, is_best }: &HeatCell, (x, y): (f64, f64)) -> Markup {
    let (width, height) = (number(CELL.0 - 2.0), number(CELL.1 - 2.0));
    html! {
        rect.estimate.heat.best[*is_best] x=(number(x + 1.0)) y=(number(y + 1.0)) width=(width)
            height=(height) fill-opacity=(format!("{:.2}", share * STRONGEST)) {}
        text.name x=(number(x + CELL.0 / 2.0)) y=(number(y + 19.0)) text-anchor="middle" { (text) }
    }
}
