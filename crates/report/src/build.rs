//! Journals and loads become views.

mod cells;
mod run;

pub(crate) use cells::{cell, of_requests, of_workload};
pub(crate) use run::{cells, loads, run};
