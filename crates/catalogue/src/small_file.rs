//! Reads files that people write. It knows nothing of what is in them.

use std::path::Path;

/// No description and no lock file is larger.
const FILE_LIMIT_BYTES: u64 = 16 << 20;

/// The text of a regular file of moderate size; a pipe or an endless device would never be read.
pub(crate) fn read_small(file: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if !metadata.is_file() || metadata.len() > FILE_LIMIT_BYTES {
        return Err(format!("it is not a regular file of at most {FILE_LIMIT_BYTES} bytes"));
    }
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}
