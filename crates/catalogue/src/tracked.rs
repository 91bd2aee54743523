//! What git says of a folder, such as which files it tracks.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

/// The output of git in `folder`, without the end of the line.
///
/// # Errors
///
/// Git is not installed, or fails; the error has what it printed.
pub fn git(folder: &Path, words: &[&str]) -> io::Result<String> {
    run(Command::new("git").arg("-C").arg(folder).args(words))
}

/// The output of a command of git, without the end of the line.
///
/// # Errors
///
/// As of [`git`].
pub fn run(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(io::Error::other(format!("git failed: {}", text(&output.stderr).trim_start())))
}

/// The uppermost folder of the repository that `folder` is in.
///
/// # Errors
///
/// As of [`git`], such as outside of a repository.
pub fn top(folder: &Path) -> io::Result<PathBuf> {
    PathBuf::from(git(folder, &["rev-parse", "--show-toplevel"])?).canonicalize()
}

/// The tracked files below `folder`, with those of submodules; none outside of a repository.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let listed = git(folder, &["ls-files", "-z", "--recurse-submodules"]).unwrap_or_default();
    listed.split_terminator('\0').map(|path| folder.join(path)).collect()
}

pub(crate) fn is_tracked(path: &Path) -> bool {
    let place = path.parent().zip(path.file_name().and_then(|name| name.to_str()));
    let is_listed = |(folder, name)| git(folder, &["ls-files", "--error-unmatch", "--", name]);
    place.map(is_listed).is_some_and(|it| it.is_ok())
}
