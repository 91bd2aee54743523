//! Options that several verbs share, each group with the code that interprets it.

pub(crate) mod shape;
