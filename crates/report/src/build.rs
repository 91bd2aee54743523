//! Journals and loads become views.

mod cells;
mod run;

pub(crate) use cells::{cell, constant_rate, of_workload, request_figures};
pub(crate) use run::{loads, run};
