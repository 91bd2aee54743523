//! Journals and loads become views.

mod cells;
mod run;

pub(crate) use cells::cell;
pub(crate) use run::{loads, run};
