//! `cargo xtask lines`: lines of code, of tests and of golden files of each crate.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use crate::{
    step::root,
    tidy::sources::{Source, read},
};

/// Lines of code without comments and empty lines, lines of tests with their comments, and all lines of golden files.
pub(crate) type Lines = [usize; 3];

/// Prints a table with a row for each crate.
pub(crate) fn run() -> anyhow::Result<()> {
    let sources = read(root())?;
    let lines = of_crates(&sources);
    let sum = |column: usize| lines.values().map(|it| it[column]).sum();
    let all = [("all", [sum(0), sum(1), sum(2)])];
    println!("| {:<10} | {:>6} | {:>6} | {:>6} |", "crate", "code", "tests", "golden");
    println!("|------------|--------|--------|--------|");
    for (name, [code, tests, golden]) in lines.into_iter().chain(all) {
        println!("| {name:<10} | {code:>6} | {tests:>6} | {golden:>6} |");
    }
    Ok(())
}

/// Lines of each crate.
pub(crate) fn of_crates(sources: &[Source]) -> BTreeMap<&str, Lines> {
    let mut crates: BTreeMap<&str, Lines> = BTreeMap::new();
    let mut of_tests: HashSet<PathBuf> = HashSet::new();
    let mut files = Vec::new();
    for source in sources {
        let Some(name) = source.crate_name() else { continue };
        let lines = crates.entry(name).or_default();
        if source.is_golden() {
            lines[2] += source.text.lines().count();
        } else if source.is_rust() {
            lines[0] += source.code().lines().filter(|line| is_code(line.trim_start())).count();
            let (all, tests, modules) = split(&source.text);
            let path = Path::new(&source.path);
            of_tests.extend(modules.iter().map(|module| place(path, module)));
            files.push((name, path, all, tests));
        }
    }
    for (name, path, all, tests) in files {
        let in_folder = |it: &&Path| it.ends_with(name) || it.ends_with("xtask");
        let folder = path.ancestors().filter(in_folder).last().unwrap_or(path);
        let is_of_folder = ["tests", "benches"].iter().any(|it| path.starts_with(folder.join(it)));
        let mut places = path.ancestors().map(Path::to_owned).chain([path.with_extension("")]);
        let is_test = is_of_folder || places.any(|it| of_tests.contains(&it));
        crates.entry(name).or_default()[1] += if is_test { all } else { tests };
    }
    crates
}

fn is_code(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("//")
}

/// Path of a module that is declared in the file `path`, without the end `.rs`.
fn place(path: &Path, module: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default();
    let folder = match ["mod", "lib", "main"].iter().any(|it| stem == *it) {
        true => path.with_file_name(""),
        false => path.with_extension(""),
    };
    folder.join(module)
}

/// The number of lines that are not empty, how many of them are tests, and the modules in files of their own that are
/// compiled for tests only.
fn split(text: &str) -> (usize, usize, Vec<&str>) {
    let (mut all, mut tests, mut modules) = (0, 0, Vec::new());
    let mut lines = text.lines().filter(|line| !line.trim_start().is_empty());
    while let Some(line) = lines.next() {
        all += 1;
        let shown = line.trim_start();
        if !(shown.starts_with("#[cfg(") && shown.contains("test")) {
            continue;
        }
        tests += 1;
        for next in lines.by_ref() {
            (all, tests) = (all + 1, tests + 1);
            let declared = next.trim().strip_suffix(';');
            modules.extend(declared.and_then(|it| it.split("mod ").nth(1)));
            if indent(next) == indent(line) && next.ends_with([';', '}']) {
                break;
            }
        }
    }
    (all, tests, modules)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sources::tests::source;

    #[test]
    fn tests_in_a_file_and_in_files_of_their_own_are_no_code() {
        let text = "//! Words.\n\nuse a::b;\n\n#[cfg(test)]\nmod fixed;\n\nfn c() {\n    // Why.\n    d();\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    #[test]\n    fn e() {\n        f();\n    }\n}\n";
        let sources = [
            source("crates/a/src/lib.rs", text),
            source("crates/a/src/fixed.rs", "fn g() {}\n\nfn h() {}\n"),
            source("crates/a/src/b/fixed.rs", "fn g() {}\n"),
            source("crates/a/tests/it.rs", "// Why.\nfn i() {}\n"),
            source("crates/a/tests/golden/it.md", "one\n\ntwo\n"),
            source("xtask/src/main.rs", "fn main() {}\n"),
            source("docs/golden/a.md", "one\n"),
        ];
        // The folder of another module is not that of the tests, and `fixed.rs` is code by its name.
        let expected = [("a", [9, 13, 3]), ("xtask", [1, 0, 0])];
        assert_eq!(of_crates(&sources), expected.into());
    }
}
