//! The requests of a set: which one is next, and its bytes.

mod order;
mod render;

pub(crate) use order::Picker;
pub(crate) use render::{Choices, Head, Rendered, Template, choice_files, has_placeholder};
