//! Everything that people read, and what programs read of a run: a journal or a load's report goes
//! in; text, Markdown, HTML, JSON, CSV and JUnit XML come out.
//!
//! This crate reads no clock, no file and no socket, so everything that it shows can be shown
//! again.
#![forbid(unsafe_code)]

pub mod ab;
pub mod analysis;
mod build;
mod by_name;
mod chart;
pub mod commands;
pub mod compare;
mod conclusions;
pub mod distribution;
pub mod document;
mod escape;
pub mod exposition;
mod figure_text;
pub mod filter;
#[cfg(test)]
mod fixtures;
pub mod format;
pub mod gates;
mod generators;
pub mod hgrm;
mod html;
mod idle_words;
mod interval;
pub mod junit;
pub mod load;
mod load_tables;
pub mod load_text;
mod load_words;
mod not_measured;
mod notes;
mod order;
mod origin;
mod pairs;
mod published_rows;
mod published_table;
pub mod redact;
mod remarks;
pub mod schemas;
pub mod screen;
mod services;
mod shown;
pub mod site;
mod suites;
pub mod table;
pub mod table_units;
pub mod tune;
pub mod view;
pub mod visits;
pub mod why;
pub mod wrap;
pub mod wrk_units;

pub use chart::svg;
pub use idle_words::wake_up;
pub use not_measured::is_named;
pub use shown::refused;

use self::{
    analysis::Analysis,
    document::{Document, Paint},
    view::ResultView,
};

/// A result in the forms that its folder has.
pub trait Report {
    /// All of it, for the forms that people read.
    fn document(&self) -> Document;
    fn details(&self) -> String {
        self.document().text(Paint::FILE)
    }
    fn markdown(&self) -> String {
        self.document().markdown()
    }
    /// What a browser shows of it.
    fn page(&self) -> Document {
        self.document()
    }
    /// The page in one file.
    fn html(&self) -> String {
        self.page().html()
    }
    /// Its facts, for forms of other programs.
    fn view(&self) -> ResultView<'_>;
    fn json(&self) -> String {
        self.view().json()
    }
    /// The name of the file with the JSON.
    fn json_file(&self) -> &'static str {
        "report.json"
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Details<'a> {
    pub analysis: &'a Analysis<'a>,
    /// What rows are compared by; the primary metric of each phase if it is not chosen.
    pub metric: Option<analysis::Metric>,
    /// What the journal does not know.
    pub facts: screen::Facts<'a>,
}

impl Report for Details<'_> {
    fn document(&self) -> Document {
        let mut document = table::document(self.analysis, self.facts.machine, self.metric);
        // The first line says what was measured.
        document.blocks.insert(1, gates::words::conditions_block(self.facts.gate));
        document
    }

    /// Text needs no title, because its first line has the name of the suite.
    fn markdown(&self) -> String {
        let document = self.document();
        format!("# wirebench {}\n\n{}", escape::markdown(&document.title), document.markdown())
    }

    fn page(&self) -> Document {
        screen::html::page(self.analysis, &self.facts)
    }

    fn view(&self) -> ResultView<'_> {
        build::run(self.analysis, self.facts.gate)
    }
}
