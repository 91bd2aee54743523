//! A table of typed cells: what each form writes of it, and how columns are laid out in text.

use super::paint::{Paint, Shade};
use crate::{
    notes::{Notes, Remark, references},
    wrap::{WIDTH, length, wrap},
};
use std::{collections::BTreeSet, ops::RangeInclusive};

/// Bars shorter than this show nothing, and longer ones nothing more.
const BAR: RangeInclusive<usize> = 8..=24;
const BAR_GAP: &str = "   ";
/// Characters of a line that most terminals and pages have room for.
const WIDEST: usize = 120;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Align {
    /// Of words.
    Left,
    /// Of figures.
    Right,
    /// Of ratios with their intervals, which begin at the same place and are never broken.
    Interval,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// With `\n` where text may break it.
    pub(crate) head: String,
    pub(crate) align: Align,
    /// What text has above the head of this column and those that follow it. They stay together where a
    /// table continues below.
    pub(crate) group: Option<String>,
    /// Narrow forms drop the columns with the smallest of these first, and those of the last group after
    /// all others; none stays in every form.
    pub(crate) dispensable: Option<u8>,
    /// The width to which text breaks its cells, which are sentences.
    pub(crate) wrap: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// With `\n` between several lines.
    pub(crate) text: String,
    pub(crate) shade: Shade,
    /// Of which terminals show a bar, if there is room.
    pub(crate) figure: Option<f64>,
    /// What is written below the table, with a number that the cell refers to.
    pub(crate) notes: Vec<Remark>,
    /// The page that HTML links it to.
    pub(crate) link: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// Whether it is among the details.
    pub(crate) is_folded: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// Columns in front that name a row: a table with some that is too wide for text continues below, with
    /// them again.
    pub(crate) keys: usize,
    /// What text says of folded rows, after their number.
    pub(crate) folded: &'static str,
}

/// The columns and the notes of a table as one form writes them.
pub(super) struct Numbered {
    /// Row by row.
    pub(super) cells: Vec<Vec<String>>,
    pub(super) notes: Vec<String>,
}

impl Table {
    /// A table whose first columns have words, and the others figures.
    pub(crate) fn of<W: Into<String>, F: Into<String>, C: Into<Cell>>(
        words: impl IntoIterator<Item = W>,
        figures: impl IntoIterator<Item = F>,
        rows: impl IntoIterator<Item = Vec<C>>,
    ) -> Self {
        let figures = figures.into_iter().map(Column::right);
        let columns = words.into_iter().map(Column::left).chain(figures).collect();
        let cells = |row: Vec<C>| row.into_iter().map(Into::into).collect();
        Self::new(columns, rows.into_iter().map(cells))
    }
}

impl Column {
    pub(crate) fn left(head: impl Into<String>) -> Self {
        Self { head: head.into(), align: Align::Left, group: None, dispensable: None, wrap: None }
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
        Self { columns, rows: rows.into_iter().map(row).collect(), ..Self::default() }
    }

    pub(super) fn folds(&self) -> bool {
        self.rows.iter().any(|row| row.is_folded)
    }

    /// The rows that are shown, and with `folded` all of them.
    pub(super) fn shown(&self, folded: bool) -> Vec<&Row> {
        self.rows.iter().filter(|row| folded || !row.is_folded).collect()
    }

    /// The texts of some rows, with references to the notes below them.
    pub(super) fn numbered(rows: &[&Row]) -> Numbered {
        let mut notes = Notes::default();
        let mut text = |cell: &Cell| {
            let numbers: BTreeSet<usize> =
                cell.notes.iter().map(|note| notes.add(note.clone())).collect();
            match numbers.is_empty() {
                true => cell.text.clone(),
                false => format!("{} [{}]", cell.text, references(numbers)).trim_start().to_owned(),
            }
        };
        let cells = rows.iter().map(|row| row.cells.iter().map(&mut text).collect()).collect();
        let notes = (1..).zip(notes.texts());
        Numbered {
            cells,
            notes: notes.map(|(number, note)| format!("[{number}] {note}")).collect(),
        }
    }

    /// The characters of a line for a form that has room for `most`. A browser breaks sentences, so that a table
    /// of them needs no parts.
    pub(super) fn room(&self, most: usize) -> usize {
        if self.columns.iter().any(|column| column.wrap.is_some()) { usize::MAX } else { most }
    }

    /// The cells of text, with sentences in several lines.
    pub(super) fn wrapped(&self, cells: &[Vec<String>]) -> Vec<Vec<String>> {
        let cell = |(column, cell): (&Column, &String)| match column.wrap {
            Some(width) => wrap(cell, width, "").join("\n"),
            None => cell.clone(),
        };
        cells.iter().map(|row| self.columns.iter().zip(row).map(cell).collect()).collect()
    }

    /// The groups of columns behind the keys. Without keys a part could not repeat the names of its rows.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for column in self.keys..self.columns.len() {
            match groups.last_mut() {
                Some(group) if self.columns[column].group.is_none() || self.keys == 0 => {
                    group.push(column);
                }
                _ => groups.push(vec![column]),
            }
        }
        groups
    }

    /// The columns of these groups that fit into `most` characters, and the largest of `gaps` between them
    /// with which they do. None if several groups do not fit.
    fn fit(
        &self,
        groups: &[Vec<usize>],
        cells: &[Vec<String>],
        gaps: &[usize],
        most: usize,
    ) -> Option<(Vec<usize>, usize)> {
        let is_dispensable = |column: &usize| self.columns[*column].dispensable.is_some();
        let last = groups.iter().rfind(|group| group.iter().any(is_dispensable));
        let is_last = |column: &usize| last.is_some_and(|group| group.contains(column));
        let order = |column: &usize| Some((is_last(column), self.columns[*column].dispensable?));
        let mut columns: Vec<usize> = (0..self.keys).chain(groups.concat()).collect();
        loop {
            // Files are as wide as it takes, and wide tables in them narrower where they can be.
            let room = |gap: usize| if gaps.last() == Some(&gap) { most } else { most.min(WIDEST) };
            let fits = |gap: &&usize| self.width_of(&columns, cells, **gap) <= room(**gap);
            if let Some(gap) = gaps.iter().find(fits) {
                return Some((columns, *gap));
            }
            let next = columns.iter().filter_map(order).min();
            match next.filter(|(is_last, _)| !is_last || groups.len() == 1) {
                Some(next) => columns.retain(|column| order(column) != Some(next)),
                None if groups.len() > 1 => return None,
                None => return Some((columns, gaps.last().copied().unwrap_or(1))),
            }
        }
    }

    /// The columns of each part of the table, below each other, with the largest of `gaps` between them.
    pub(super) fn parts(
        &self,
        cells: &[Vec<String>],
        gaps: &[usize],
        most: usize,
    ) -> Vec<(Vec<usize>, usize)> {
        let groups = self.groups();
        let (mut rest, mut parts) = (groups.as_slice(), Vec::new());
        while !rest.is_empty() {
            let fit = |number: usize| Some((number, self.fit(&rest[..number], cells, gaps, most)?));
            let Some((number, part)) = (1..=rest.len()).rev().find_map(fit) else { break };
            parts.push(part);
            rest = &rest[number..];
        }
        parts
    }

    fn width(&self, cells: &[Vec<String>], column: usize) -> usize {
        let heads = self.columns[column].head.split('\n').map(str::trim_end);
        let lines = cells.iter().flat_map(|row| row[column].split('\n'));
        heads.chain(lines).map(length).max().unwrap_or(0)
    }

    fn title(&self, column: usize) -> Option<&str> {
        self.columns[column].group.as_deref().filter(|title| !title.is_empty())
    }

    /// The gap in front of each column and its width. The last column of a group is as wide as the title
    /// needs it.
    fn layout(&self, columns: &[usize], cells: &[Vec<String>], gap: usize) -> Vec<(usize, usize)> {
        let before = |place: usize| match self.title(columns[place]) {
            _ if place == 0 => 0,
            Some(_) => gap + 1,
            None => gap,
        };
        let mut layout: Vec<(usize, usize)> = (0..columns.len())
            .map(|place| (before(place), self.width(cells, columns[place])))
            .collect();
        let begins = |place: &usize| self.columns[columns[*place]].group.is_some();
        for begin in (0..columns.len()).filter(begins) {
            let end = (begin + 1..columns.len()).find(begins).unwrap_or(columns.len());
            let room: usize = layout[begin..end].iter().map(|(gap, width)| gap + width).sum();
            let title = self.title(columns[begin]).map_or(0, length) + layout[begin].0;
            layout[end - 1].1 += title.saturating_sub(room);
        }
        layout
    }

    fn width_of(&self, columns: &[usize], cells: &[Vec<String>], gap: usize) -> usize {
        self.layout(columns, cells, gap).iter().map(|(gap, width)| gap + width).sum()
    }

    /// The lines of some rows below their heads, in text.
    pub(super) fn lines(&self, rows: &[&Row], cells: &[Vec<String>], paint: Paint) -> Vec<String> {
        let most = if self.keys > 0 { paint.1.min(WIDTH) } else { paint.1 };
        let parts = self.parts(cells, &[2, 1], most).into_iter();
        let parts = parts.map(|(columns, gap)| self.part(rows, cells, &columns, gap, paint));
        parts.collect::<Vec<_>>().join(&String::new())
    }

    fn part(
        &self,
        rows: &[&Row],
        cells: &[Vec<String>],
        columns: &[usize],
        gap: usize,
        paint: Paint,
    ) -> Vec<String> {
        let layout = self.layout(columns, cells, gap);
        let line = |text: &dyn Fn(usize) -> (String, Shade)| {
            let mut line = String::new();
            for (column, (gap, width)) in columns.iter().zip(&layout) {
                let (text, shade) = text(*column);
                let room = width.saturating_sub(length(&text));
                let text = paint.apply(shade, &text);
                line += &match self.columns[*column].align {
                    Align::Left | Align::Interval => format!("{:gap$}{text}{:room$}", "", ""),
                    Align::Right => format!("{:gap$}{:room$}{text}", "", ""),
                };
            }
            line
        };
        let mut lines = Vec::new();
        if columns.iter().any(|column| self.title(*column).is_some()) {
            lines.push(self.titles(columns, &layout, paint));
        }
        let high = columns.iter().map(|it| self.columns[*it].head.split('\n').count()).max();
        let high = high.unwrap_or(1);
        for at in 0..high {
            lines.push(line(&|column| {
                let parts: Vec<&str> = self.columns[column].head.split('\n').collect();
                // A head of fewer lines is at the bottom.
                let part = (at + parts.len()).checked_sub(high).map_or("", |it| parts[it]);
                (part.trim_end().to_owned(), Shade::Head)
            }));
        }
        for (row, cells) in rows.iter().zip(cells) {
            for cells in in_lines(cells) {
                lines.push(line(&|column| (cells[column].to_owned(), row.cells[column].shade)));
            }
        }
        let used = layout.iter().map(|(gap, width)| gap + width).sum();
        for (line, bar) in
            lines.iter_mut().rev().zip(self.bars(rows, columns, used, paint).iter().rev())
        {
            *line += bar;
        }
        lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
    }

    /// What is above the heads.
    fn titles(&self, columns: &[usize], layout: &[(usize, usize)], paint: Paint) -> String {
        let (mut line, mut at, mut end) = (String::new(), 0, 0);
        for (column, (gap, width)) in columns.iter().zip(layout) {
            at += gap;
            if let Some(title) = self.title(*column) {
                line += &" ".repeat(at - end);
                line += &paint.apply(Shade::Head, title);
                end = at + length(title);
            }
            at += width;
        }
        line
    }

    /// A bar for each row below the title of its group: the first figure of the row. None where there is no
    /// room for them.
    fn bars(&self, rows: &[&Row], columns: &[usize], used: usize, paint: Paint) -> Vec<String> {
        let room = paint.1.saturating_sub(used + BAR_GAP.len());
        let has_figure =
            |column: &&usize| rows.iter().any(|it| it.cells[**column].figure.is_some());
        let Some(column) = columns.iter().find(has_figure) else { return Vec::new() };
        if !paint.is_terminal() || room < *BAR.start() {
            return Vec::new();
        }
        let figures = rows.iter().map(|row| row.cells[*column].figure.unwrap_or(0.0).max(0.0));
        let most = figures.clone().fold(0.0, f64::max);
        let bar = |figure: f64| {
            let share = if most > 0.0 { figure / most } else { 0.0 };
            let signs = (share * room.min(*BAR.end()) as f64).round() as usize;
            format!("{BAR_GAP}{}", paint.apply(Shade::Faint, &"█".repeat(signs)))
        };
        let groups = columns.iter().skip(self.keys).filter(|it| self.title(**it).is_some()).count();
        let title = self.title(*column).filter(|_| groups > 1).unwrap_or_default();
        let head = format!("{BAR_GAP}{}", paint.apply(Shade::Head, title));
        [head].into_iter().chain(figures.map(bar)).collect()
    }
}

/// The lines of a row, each with a text for every cell.
pub(super) fn in_lines(cells: &[String]) -> Vec<Vec<&str>> {
    let lines: Vec<Vec<&str>> = cells.iter().map(|cell| cell.split('\n').collect()).collect();
    let number = lines.iter().map(Vec::len).max().unwrap_or(1);
    let line = |at: usize| lines.iter().map(|cell| cell.get(at).copied().unwrap_or("")).collect();
    (0..number).map(line).collect()
}
