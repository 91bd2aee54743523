//! Options that several verbs share, each group with the code that interprets it. An option whose meaning differs in one
//! verb is defined with that verb.

pub(crate) mod shape;
