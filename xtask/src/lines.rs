//! `cargo xtask lines`: how many lines of Rust each crate has, by what they are.

use anyhow::Context;
use std::{
    collections::BTreeMap,
    fs,
    iter::Sum,
    path::{Path, PathBuf},
};
use walkdir::WalkDir;

use crate::step::root;

/// Lines of a text, without empty ones.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Lines {
    code: usize,
    comments: usize,
    /// Lines of tests, with their comments.
    tests: usize,
}

impl Sum for Lines {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, it| Self {
            code: sum.code + it.code,
            comments: sum.comments + it.comments,
            tests: sum.tests + it.tests,
        })
    }
}

/// Prints a table with a row for each crate.
pub(crate) fn run() -> anyhow::Result<()> {
    let crates = fs::read_dir(root().join("crates"))?.flatten().map(|it| it.path());
    let mut folders: Vec<PathBuf> =
        crates.chain(["lab", "xtask"].map(|it| root().join(it))).collect();
    folders.sort();
    let mut rows: BTreeMap<String, Lines> = BTreeMap::new();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        rows.insert(name, of_folder(&folder)?);
    }
    let all = ("all".to_owned(), rows.values().copied().sum());
    println!("| crate | code | comments | tests | sum |\n|---|---:|---:|---:|---:|");
    for (name, Lines { code, comments, tests }) in rows.into_iter().chain([all]) {
        println!("| {name} | {code} | {comments} | {tests} | {} |", code + comments + tests);
    }
    Ok(())
}

fn of_folder(folder: &Path) -> anyhow::Result<Lines> {
    let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut of_tests: Vec<PathBuf> = ["tests", "benches"].map(|it| folder.join(it)).to_vec();
    for entry in WalkDir::new(folder).into_iter().flatten() {
        let path = entry.into_path();
        if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            of_tests.extend(split(&text).1.iter().map(|module| place(&path, module)));
            files.insert(path, text);
        }
    }
    let count = |(path, text): (&PathBuf, &String)| {
        let is_test = |it: &PathBuf| path.starts_with(it) || *path == it.with_extension("rs");
        let lines = split(text).0;
        match of_tests.iter().any(is_test) {
            true => Lines { tests: lines.code + lines.comments + lines.tests, ..Lines::default() },
            false => lines,
        }
    };
    Ok(files.iter().map(count).sum())
}

/// Where the files of a module are that is declared in the file `path`, without the end `.rs`.
fn place(path: &Path, module: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default();
    let folder = match ["mod", "lib", "main"].iter().any(|it| stem == *it) {
        true => path.with_file_name(""),
        false => path.with_extension(""),
    };
    folder.join(module)
}

/// The lines of a file, and the modules in files of their own that are compiled for tests only.
fn split(text: &str) -> (Lines, Vec<&str>) {
    let mut found = Lines::default();
    let mut modules = Vec::new();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    while let Some(line) = lines.next() {
        let shown = line.trim();
        if !(shown.starts_with("#[cfg(") && shown.contains("test")) {
            let is_comment = shown.starts_with("//");
            *(if is_comment { &mut found.comments } else { &mut found.code }) += 1;
            continue;
        }
        found.tests += 1;
        for next in lines.by_ref() {
            found.tests += 1;
            let declared = next.trim().strip_suffix(';');
            modules.extend(declared.and_then(|it| it.split("mod ").nth(1)));
            if indent(next) == indent(line) && next.ends_with([';', '}']) {
                break;
            }
        }
    }
    (found, modules)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_no_code_whether_they_are_in_the_file_or_beside_it() {
        let text = "//! Words.\n\nuse a::b;\n\n#[cfg(test)]\nmod fixtures;\n\nfn c() {\n    // Why.\n    d();\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    #[test]\n    fn e() {\n        f();\n    }\n}\n";
        let (lines, modules) = split(text);
        assert_eq!((lines.code, lines.comments, lines.tests), (4, 2, 9));
        assert_eq!(modules, ["fixtures"]);
        assert_eq!(place(Path::new("src/lib.rs"), "fixtures"), Path::new("src/fixtures"));
        assert_eq!(place(Path::new("src/a.rs"), "tests"), Path::new("src/a/tests"));
    }
}
