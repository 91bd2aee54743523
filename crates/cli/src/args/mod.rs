//! Options that several verbs share, each group with the code that interprets it. An option whose meaning differs in
//! one verb is defined with that verb.

pub(crate) mod cohorts;
pub(crate) mod filter;
pub(crate) mod fleet;
pub(crate) mod format;
pub(crate) mod gate;
pub(crate) mod idle;
pub(crate) mod machine;
pub(crate) mod output;
pub(crate) mod project;
pub(crate) mod services;
pub(crate) mod why;
