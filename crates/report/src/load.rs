//! The result of `wirebench load` as a document, and as rows and figures. `load_text` has the lines in wrk's layout.

mod charts;
mod document;
mod metrics;
mod view;

pub(crate) use self::{
    document::sentence,
    view::{cells, doubts},
};
pub use self::{metrics::LoadMetrics, view::gate};

use wirebench_schema::load::LoadResult;

use crate::{
    Report,
    document::Document,
    view::{Gate, ResultView},
};

/// A load and what its file does not know.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    pub result: &'a LoadResult,
    /// The CPU of the generator, if known.
    pub machine: Option<&'a str>,
    /// The result of the conditions that the user set.
    pub gate: Option<&'a Gate>,
}

impl Report for Load<'_> {
    fn document(&self) -> Document {
        document::document(self)
    }

    fn view(&self) -> ResultView<'_> {
        ResultView { gate: self.gate, ..view::view(self.result) }
    }

    fn json_file(&self) -> &'static str {
        LOAD_FILE
    }
}

/// The file with the result in a folder.
pub const LOAD_FILE: &str = "load.json";

#[cfg(test)]
pub(crate) mod tests;
