//! `cargo xtask lines`: lines of code, of tests and of golden files of each crate.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use crate::step::root;
use crate::tidy::sources::{Source, read};

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
            let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
            lines[0] += source.code().lines().map(str::trim_start).filter(is_code).count();
            let (all, tests, modules) = split(&source.text);
            let path = Path::new(&source.path);
            of_tests.extend(modules.iter().map(|module| place(path, module)));
            files.push((name, path, all, tests));
        }
    }
    for (name, path, all, tests) in files {
        let mut places = path.ancestors().map(Path::to_owned).chain([path.with_extension("")]);
        let is_of_folder = path.iter().any(|folder| folder == "tests" || folder == "benches");
        let is_test = is_of_folder || places.any(|it| of_tests.contains(&it));
        crates.entry(name).or_default()[1] += if is_test { all } else { tests };
    }
    crates
}

/// Path of a module that is declared in the file `path`, without the end `.rs`.
fn place(path: &Path, module: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default();
    let is_folder = ["mod", "lib", "main"].iter().any(|it| stem == *it);
    if is_folder { path.with_file_name(module) } else { path.with_extension("").join(module) }
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
    use crate::tidy::sources::source;

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
        ];
        // The folder of another module is not that of the tests, and `fixed.rs` is code by its name.
        let expected = [("a", [9, 13, 3]), ("xtask", [1, 0, 0])];
        assert_eq!(of_crates(&sources), expected.into());
    }
}
