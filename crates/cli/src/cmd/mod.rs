//! The verbs: each file has the arguments of one, and one function that carries it out.

pub(crate) mod ab;
pub(crate) mod build;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod hidden;
pub(crate) mod join;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod site;
pub(crate) mod tune;
pub(crate) mod verify;
pub(crate) mod versions;
