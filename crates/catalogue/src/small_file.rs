//! Reads files that people write. It knows nothing of what is in them.

use std::path::Path;
use wirebench_schema::{load::RequestFile, secrets::learn};

/// No description and no lock file is larger.
const FILE_LIMIT_BYTES: u64 = 16 << 20;

/// The text of a regular file of moderate size; a pipe or an endless device would never be read.
pub(crate) fn read_small(file: &Path) -> Result<String, String> {
    read_at_most(file, FILE_LIMIT_BYTES)
}

/// The same of a file of requests, which may be larger, and whose secrets are hidden from now on.
pub(crate) fn read_requests(file: &Path) -> Result<String, String> {
    read_at_most(file, RequestFile::LIMIT_BYTES).inspect(learn)
}

fn read_at_most(file: &Path, limit: u64) -> Result<String, String> {
    let metadata = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if !metadata.is_file() || metadata.len() > limit {
        return Err(format!("it is not a regular file of at most {limit} bytes"));
    }
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}
