//! Results in folders: written, found, read, copied, and put into documents.

pub(crate) mod archive;
pub(crate) mod latest;
pub(crate) mod loads;
pub(crate) mod splice;
pub(crate) mod stored;
