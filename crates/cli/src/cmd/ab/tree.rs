//! Whether the two sides of `--old` start what was built of their own trees. A file outside of both, such as an
//! interpreter, may be shared if no build writes it.

use std::{collections::BTreeMap, os::unix::fs::MetadataExt as _, path::Path, path::PathBuf};
use wirebench_catalogue::{named::CommandFiles, subject::Subject, tracked};

use crate::{exit::usage, out};

/// Lists what git ignores, folders as a whole.
const IGNORED: [&str; 6] =
    ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];

/// Files outside of the trees, each with its inode and the time of its last change.
pub(super) type SharedFiles = BTreeMap<PathBuf, (u64, i64, i64)>;

/// The files outside of all trees that commands of `sides` name.
pub(super) fn shared_files(sides: &[Subject]) -> SharedFiles {
    let trees: Vec<PathBuf> = sides.iter().flat_map(|it| tracked::top(&it.source)).collect();
    let mut shared = SharedFiles::new();
    for path in sides.iter().flat_map(files) {
        if let (Ok(it), false) = (path.metadata(), trees.iter().any(|tree| path.starts_with(tree)))
        {
            shared.insert(path, (it.ino(), it.ctime(), it.ctime_nsec()));
        }
    }
    shared
}

fn files(side: &Subject) -> Vec<PathBuf> {
    let named = CommandFiles::of(side);
    named.all().filter(|it| it.is_file()).flat_map(|it| it.canonicalize()).collect()
}

/// Refuses to compare a file with itself. The files in `before` were shared before the builds.
pub(super) fn check(before: &SharedFiles, sides: &[Subject]) -> anyhow::Result<()> {
    let after = shared_files(sides);
    let is_written = |path: &&PathBuf| before.get(*path) != after.get(*path);
    // Where a build failed, there may be none.
    let program = |side: &Subject| {
        let files = files(side);
        let is_only = side.variant.run.command[0].contains('/')
            && files.iter().all(|path| after.contains_key(path));
        files.into_iter().next().filter(|_| is_only)
    };
    let path = after.keys().find(is_written).cloned();
    let Some(path) = path.or_else(|| sides.iter().find_map(program)) else { return Ok(()) };
    Err(usage(format!(
        "both sides would start {}, which is outside of the repository: have --build write below the current folder \
         and name that file in --server, or name an interpreter without its folder",
        path.display()
    )))
}

/// Names the files that git ignores and that the old tree lacks. They are not copied: a product or a dependency of the
/// working tree would be measured as if it were of the old one.
pub(super) fn note_ignored(state: &Path, [old, new]: [&Path; 2]) {
    let ignored = tracked::git(new, &IGNORED).unwrap_or_default();
    let is_new = |it: &&str| !old.join(it).exists() && !state.starts_with(new.join(it));
    let only: Vec<&str> = ignored.split_terminator('\0').filter(is_new).collect();
    if !only.is_empty() {
        out::note(&format!(
            "warning: only the working tree has {}, which git ignores: if the server reads them, let --build make them",
            only.join(", ")
        ));
    }
}
