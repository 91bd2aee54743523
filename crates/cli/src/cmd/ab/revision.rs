//! An entry or a command of the user's as it was at a revision of git: all files of the revision and of its
//! submodules in a folder of their own below the project's, in which it is built. The folder is a repository that
//! shares the objects of the user's, in which no branch, working tree or index is made or changed.

use anyhow::Context as _;
use rustix::{
    fs::{FlockOperation, fcntl_lock},
    io::Errno,
};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};
use wirebench_catalogue::{
    discover,
    project::{Project, Trust},
    subject::Subject,
    tracked::{git, run, top},
};
use wirebench_server::digest;

use crate::{
    context::{Context, only_one},
    exit::usage,
    out,
};

/// Digits of a commit's name that distinguish it from all others in a project.
const DIGITS: usize = 16;
/// Digits of a commit's name in a title.
const SHORT_DIGITS: usize = 10;

/// The mode of a submodule in an index.
const SUBMODULE: &str = "160000 ";

/// A folder as it is at a revision, or in the working tree.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    /// A project in which the same name is built in a folder of its own.
    pub(super) project: Project,
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
    let (revision, commit) = commit(root, revision)?;
    let all = context.project.state.join("revisions").join(&commit[..DIGITS]);
    let project = project(context, &all)?;
    check_out(&top(root)?, &commit, &all)
        .with_context(|| format!("cannot check out `{revision}`"))?;
    let folder = all.join(&prefix);
    if !folder.is_dir() {
        return Err(usage(format!(
            "`{revision}` has no folder `{}`",
            prefix.trim_end_matches('/')
        )));
    }
    let name = format!("{revision} ({})", &commit[..SHORT_DIGITS]);
    Ok(Place { folder, project, name })
}

/// The folder `root` of a repository as it is.
pub(super) fn working_tree(context: &Context, root: &Path) -> anyhow::Result<Place> {
    let project = project(context, &top(root)?)?;
    Ok(Place { folder: root.to_owned(), project, name: "as it is now".to_owned() })
}

/// A project for builds in `tree`, which no other process uses until this one ends.
fn project(context: &Context, tree: &Path) -> anyhow::Result<Project> {
    let state =
        context.project.state.join("own").join(digest::of_text(&tree.display().to_string()));
    fs::create_dir_all(&state)?;
    let file = File::create(state.join("lock"))?;
    let locked = fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive);
    anyhow::ensure!(
        !matches!(locked, Err(Errno::AGAIN | Errno::ACCESS)),
        "another `wirebench ab --old` builds or measures in {}: wait for its end, or use another clone",
        tree.display()
    );
    // Closing the file would end the lock.
    std::mem::forget(file);
    Ok(Project::without_entries(&state))
}

/// Where `root` is in its repository; empty at the top.
fn prefix(root: &Path) -> anyhow::Result<String> {
    let prefix = git(root, &["rev-parse", "--show-prefix"]).map_err(|error| {
        usage(format!("--old needs a git repository: change to one ({error:#})"))
    })?;
    Ok(prefix.trim_end_matches('/').to_owned())
}

/// The name that `revision` means and the full name of its commit. Of a branch, `origin` may have the only copy.
fn commit(root: &Path, revision: &str) -> anyhow::Result<(String, String)> {
    let names = [revision.to_owned(), format!("origin/{revision}")];
    let find = |name: String| {
        let wanted = format!("{name}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        Some((name, git(root, &words).ok()?))
    };
    let (name, found) = names.into_iter().find_map(find).ok_or_else(|| {
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
        "git resolves `{name}` to `{found}`, which is not a commit name"
    );
    if name != revision {
        out::note(&format!("there is no local `{revision}`: using `{name}`"));
    }
    Ok((name, found))
}

/// Puts all files of `commit` of the repository in `top` into `folder`, which is there afterwards as a whole or not
/// at all, and the submodules that the working tree has.
fn check_out(top: &Path, commit: &str, folder: &Path) -> anyhow::Result<()> {
    if !folder.join(".git").exists() {
        let begun = folder.with_added_extension("begun");
        let _ = fs::remove_dir_all(&begun);
        clone(top, commit, &begun)?;
        fs::rename(&begun, folder)?;
    }
    let index = git(folder, &["ls-files", "--stage", "-z"])?;
    let entries = index.split('\0').filter_map(|it| it.strip_prefix(SUBMODULE)?.split_once('\t'));
    for (commit, path) in entries {
        let (from, commit) = (top.join(path), commit.trim_end_matches(" 0"));
        // One that is not initialised is empty on both sides.
        if from.join(".git").exists() {
            let what = || format!("submodule `{path}`: run `git fetch` in {}", from.display());
            check_out(&from, commit, &folder.join(path)).with_context(what)?;
        }
    }
    Ok(())
}

/// A repository in `folder` with the files of `commit`, as the settings of the one in `top` write them.
fn clone(top: &Path, commit: &str, folder: &Path) -> anyhow::Result<()> {
    let path = folder.display().to_string();
    git(top, &["clone", "--quiet", "--shared", "--no-checkout", ".", &path])?;
    run(Command::new("git")
        .arg("-C")
        .arg(top)
        .args(["-c", "submodule.recurse=false", &format!("--work-tree={path}")])
        .args(["read-tree", "--reset", "-u", commit])
        .env("GIT_INDEX_FILE", folder.join(".git/index")))?;
    Ok(fs::write(folder.join(".git/HEAD"), format!("{commit}\n"))?)
}
