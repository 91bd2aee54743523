//! A table of typed cells: what each form writes of it, and how columns are laid out in text.

use super::paint::{Paint, Shade};
use crate::{
    notes::{Notes, references},
    wrap::length,
};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Align {
    /// Of words.
    Left,
    /// Of figures.
    Right,
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// With `\n` where text may break it.
    pub(crate) head: String,
    pub(crate) align: Align,
    /// What text has above the head of this column and those that follow it.
    pub(crate) group: Option<String>,
    /// Narrow forms drop the columns with the smallest of these first; none stays in every form.
    pub(crate) dispensable: Option<u8>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) shade: Shade,
    /// What is written below the table, with a number that the cell refers to.
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// Whether it is among the details.
    pub(crate) is_folded: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// What text says of folded rows, after their number.
    pub(crate) folded: &'static str,
}

/// The columns and the notes of a table as one form writes them.
pub(super) struct Numbered {
    /// Row by row.
    pub(super) cells: Vec<Vec<String>>,
    pub(super) notes: Vec<String>,
}

impl Column {
    pub(crate) fn left(head: impl Into<String>) -> Self {
        Self { head: head.into(), align: Align::Left, group: None, dispensable: None }
    }

    pub(crate) fn right(head: impl Into<String>) -> Self {
        Self { align: Align::Right, ..Self::left(head) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Table {
    pub(crate) fn new(columns: Vec<Column>, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        let row = |cells| Row { cells, is_folded: false };
        Self { columns, rows: rows.into_iter().map(row).collect(), folded: "" }
    }

    pub(super) fn folds(&self) -> bool {
        self.rows.iter().any(|row| row.is_folded)
    }

    pub(super) fn shown(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.is_folded)
    }

    /// The texts of some rows, with references to the notes below them.
    pub(super) fn numbered(rows: &[&Row]) -> Numbered {
        let mut notes = Notes::default();
        let mut text = |cell: &Cell| {
            let numbers: BTreeSet<usize> = cell.notes.iter().map(|note| notes.add(note)).collect();
            match numbers.is_empty() {
                true => cell.text.clone(),
                false => format!("{} [{}]", cell.text, references(numbers)).trim_start().to_owned(),
            }
        };
        let cells = rows.iter().map(|row| row.cells.iter().map(&mut text).collect()).collect();
        Numbered { cells, notes: notes.texts().collect() }
    }

    /// The columns of which the widest row of `cells` has at most `most` characters, with `between` them.
    pub(super) fn fitting(&self, cells: &[Vec<String>], between: usize, most: usize) -> Vec<usize> {
        let mut columns: Vec<usize> = (0..self.columns.len()).collect();
        let width = |columns: &[usize]| {
            let widths = columns.iter().map(|column| self.width(cells, *column) + between);
            widths.sum::<usize>().saturating_sub(between)
        };
        while width(&columns) > most {
            let order = |column: &usize| self.columns[*column].dispensable.map(|it| (it, *column));
            let Some((_, dropped)) = columns.iter().filter_map(order).min() else { break };
            columns.retain(|column| *column != dropped);
        }
        columns
    }

    fn width(&self, cells: &[Vec<String>], column: usize) -> usize {
        let heads = self.columns[column].head.split('\n').map(length);
        heads.chain(cells.iter().map(|row| length(&row[column]))).max().unwrap_or(0)
    }

    /// The lines of some rows below their heads, in text.
    pub(super) fn lines(&self, rows: &[&Row], cells: &[Vec<String>], paint: Paint) -> Vec<String> {
        let fits = |between: &usize| {
            let all = (0..self.columns.len()).map(|it| self.width(cells, it) + between);
            all.sum::<usize>() <= paint.1.saturating_add(*between)
        };
        let between = [2, 1].into_iter().find(fits).unwrap_or(1);
        let columns = self.fitting(cells, between, paint.1);
        let line = |text: &dyn Fn(usize) -> (String, Shade)| {
            let mut line = String::new();
            for (place, column) in columns.iter().enumerate() {
                let (text, shade) = text(*column);
                let gap = if place == 0 { 0 } else { between };
                let room = self.width(cells, *column).saturating_sub(length(&text));
                let text = paint.apply(shade, &text);
                line += &match self.columns[*column].align {
                    Align::Left => format!("{:gap$}{text}{:room$}", "", ""),
                    Align::Right => format!("{:gap$}{:room$}{text}", "", ""),
                };
            }
            line.trim_end().to_owned()
        };
        let mut lines = Vec::new();
        if columns.iter().any(|column| self.columns[*column].group.is_some()) {
            lines.push(self.groups(&columns, cells, between, paint));
        }
        let high = self.columns.iter().map(|it| it.head.split('\n').count()).max().unwrap_or(1);
        for at in 0..high {
            lines.push(line(&|column| {
                let parts: Vec<&str> = self.columns[column].head.split('\n').collect();
                // A head of fewer lines is at the bottom.
                let part = (at + parts.len()).checked_sub(high).map_or("", |it| parts[it]);
                (part.trim_end().to_owned(), Shade::Head)
            }));
        }
        for (row, cells) in rows.iter().zip(cells) {
            lines.push(line(&|column| (cells[column].clone(), row.cells[column].shade)));
        }
        lines
    }

    /// What is above the heads.
    fn groups(
        &self,
        columns: &[usize],
        cells: &[Vec<String>],
        between: usize,
        paint: Paint,
    ) -> String {
        let (mut line, mut at, mut end) = (String::new(), 0, 0);
        for (place, column) in columns.iter().enumerate() {
            at += if place == 0 { 0 } else { between };
            if let Some(group) = &self.columns[*column].group {
                line += &" ".repeat(at.saturating_sub(end).max(usize::from(end > 0)));
                line += &paint.apply(Shade::Head, group);
                end = at.max(end) + length(group);
            }
            at += self.width(cells, *column);
        }
        line
    }
}
