//! An entry or a command of the user's as it was at a revision of git: all files of the revision in a
//! folder of their own below the project's, in which it is built. The repository stays as it is: no
//! branch, no working tree of git's and no index is made or changed.

use anyhow::Context as _;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use wirebench_catalogue::{
    discover,
    project::{Project, Trust},
    subject::Subject,
};
use wirebench_server::digest;

use crate::{
    context::{Context, only_one},
    exit::usage,
};

/// Digits of a commit's name that distinguish it from all others in a project.
const DIGITS: usize = 16;
/// Digits of a commit's name in a title.
const SHORT_DIGITS: usize = 10;

/// A folder as it is at a revision, or in the working tree.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    /// A project in which the same name is built in a folder of its own.
    pub(super) project: Project,
    /// A digest of all files of the repository.
    pub(super) sources: String,
    /// What a title says of it.
    pub(super) name: String,
}

/// The entry `name` at `revision`.
pub(super) fn subject(context: &Context, name: &str, revision: &str) -> anyhow::Result<Subject> {
    let root = context.project.root.as_deref().ok_or_else(|| {
        usage("--old needs a git repository: change to a checkout, or to the folder of your own entries/")
    })?;
    let Place { folder, project: Project { state, .. }, .. } = place(context, root, revision)?;
    if !folder.join("entries").is_dir() {
        return Err(usage(format!("`{revision}` has no entries/")));
    }
    let project = Project::checkout(folder, Trust::Checked);
    let project = Project { results: state.clone(), state, ..project };
    let known = discover::subjects(&project, &context.program).map_err(usage)?;
    let named = discover::select(&known, &[name.to_owned()])
        .map_err(|error| usage(format!("at `{revision}`: {error}")))?;
    only_one(named, name)
}

/// The folder `root` of a repository as it was at `revision`.
pub(super) fn place(context: &Context, root: &Path, revision: &str) -> anyhow::Result<Place> {
    let prefix = prefix(root)?;
    let commit = commit(root, revision)?;
    let all = context.project.state.join("revisions").join(&commit[..DIGITS]);
    if !all.is_dir() {
        check_out(root, &commit, &all).with_context(|| format!("cannot check out `{revision}`"))?;
    }
    let folder = all.join(&prefix);
    if !folder.is_dir() {
        return Err(usage(format!(
            "`{revision}` has no folder `{}`",
            prefix.trim_end_matches('/')
        )));
    }
    let sources = git(root, &["rev-parse", &format!("{commit}^{{tree}}")])?;
    let name = format!("{revision} ({})", &commit[..SHORT_DIGITS]);
    let project = Project::without_entries(&all.join("wirebench-state"));
    Ok(Place { folder, project, sources, name })
}

/// The folder `root` of a repository as it is. Files that git does not track are not looked at.
pub(super) fn working_tree(context: &Context, root: &Path) -> anyhow::Result<Place> {
    prefix(root)?;
    commit(root, "HEAD")?;
    let mut sources = git(root, &["rev-parse", "HEAD^{tree}"])?;
    let changes = git(root, &["diff", "--binary", "--no-ext-diff", "HEAD"])?;
    if !changes.is_empty() {
        sources += &format!(" {}", digest::of_text(&changes));
    }
    let state =
        context.project.state.join("own").join(digest::of_text(&root.display().to_string()));
    let project = Project::without_entries(&state);
    Ok(Place { folder: root.to_owned(), project, sources, name: "as it is now".to_owned() })
}

/// Where `root` is in its repository; empty at the top.
fn prefix(root: &Path) -> anyhow::Result<String> {
    let prefix = git(root, &["rev-parse", "--show-prefix"]).map_err(|error| {
        usage(format!("--old needs a git repository: change to one ({error:#})"))
    })?;
    Ok(prefix.trim_end_matches('/').to_owned())
}

/// The full name of the commit that `revision` means.
fn commit(root: &Path, revision: &str) -> anyhow::Result<String> {
    let wanted = format!("{revision}^{{commit}}");
    let found = git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
    let found = found.map_err(|_| {
        let is_shallow = git(root, &["rev-parse", "--is-shallow-repository"]);
        let shallow = match is_shallow.as_deref() {
            Ok("true") => ", which is a shallow clone: run `git fetch --unshallow` in it",
            _ => "",
        };
        let root = root.display();
        usage(format!("`{revision}` is not a revision of the repository at {root}{shallow}"))
    })?;
    anyhow::ensure!(
        found.len() >= DIGITS,
        "git resolves `{revision}` to `{found}`, which is not a commit name"
    );
    Ok(found)
}

/// Writes all files of `commit` into `folder`, which is there afterwards as a whole or not at all.
fn check_out(root: &Path, commit: &str, folder: &Path) -> anyhow::Result<()> {
    let begun = folder.with_extension(format!("begun-{}", std::process::id()));
    let index = folder.with_extension(format!("index-{}", std::process::id()));
    fs::create_dir_all(&begun)?;
    let tree = format!("--work-tree={}", begun.display());
    let written = run(Command::new("git")
        .arg("-C")
        .arg(top(root)?)
        .args([&tree, "read-tree", "--reset", "-u", commit])
        .env("GIT_INDEX_FILE", &index));
    let _ = fs::remove_file(&index);
    let moved = written.and_then(|_| Ok(fs::rename(&begun, folder)?));
    if moved.is_err() {
        let _ = fs::remove_dir_all(&begun);
    }
    moved
}

/// The uppermost folder of the repository.
fn top(root: &Path) -> anyhow::Result<PathBuf> {
    git(root, &["rev-parse", "--show-toplevel"]).map(PathBuf::from)
}

/// What git says, without the end of the line.
fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    run(Command::new("git").arg("-C").arg(root).args(arguments))
}

fn run(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().context("cannot run git")?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    anyhow::ensure!(output.status.success(), "git failed: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
