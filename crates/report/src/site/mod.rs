//! A static site of many results: what changed, and a page for each run, load, server and machine. All links
//! are relative, so that it works from a file system.
//!
//! Not here: files. The pages are made from [`Summary`] and [`Changes`], which are kept with the runs.

mod changes;
mod loads;
mod pages;
mod summary;

pub use changes::{Change, Changes, changes, pairs};
pub use loads::load_summary;
pub use pages::{Page, pages, run_page};
pub use summary::{FORMAT, LoadPoint, Machine, Summary, summary};

#[cfg(test)]
mod tests;
