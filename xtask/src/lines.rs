//! `cargo xtask lines`: lines of code, of tests and of golden files of each crate.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use crate::step::root;
use crate::tidy::sources::{Source, read};

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

/// Of each crate: lines of code without comments and empty lines, lines of tests with their comments, and all lines of
/// golden files.
pub(crate) fn of_crates(sources: &[Source]) -> BTreeMap<&str, [usize; 3]> {
    let mut crates: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let (mut of_tests, mut files) = (HashSet::new(), Vec::new());
    for source in sources {
        let Some(name) = source.crate_name() else { continue };
        let lines = crates.entry(name).or_default();
        if source.path.contains("/golden/") {
            lines[2] += source.lines.len();
        } else if source.is_rust() {
            let is_code = |line: &&&str| !line.is_empty() && !line.starts_with("//");
            lines[0] += source.code().iter().filter(is_code).count();
            let (tests, modules) = tests(source);
            let path = Path::new(&source.path);
            of_tests.extend(modules.iter().map(|module| place(path, module)));
            files.push((name, path, source, tests));
        }
    }
    for (name, path, source, tests) in files {
        let mut places = path.ancestors().map(Path::to_owned).chain([path.with_extension("")]);
        let is_of_folder = path.iter().any(|folder| folder == "tests" || folder == "benches");
        let is_test = is_of_folder || places.any(|it| of_tests.contains(&it));
        let all = || source.trimmed.iter().filter(|line| !line.is_empty()).count();
        crates.entry(name).or_default()[1] += if is_test { all() } else { tests };
    }
    crates
}

/// Path of a module that is declared in the file `path`, without the end `.rs`.
fn place(path: &Path, module: &str) -> PathBuf {
    let is_folder = ["mod.rs", "lib.rs", "main.rs"].iter().any(|it| path.ends_with(it));
    if is_folder { path.with_file_name(module) } else { path.with_extension("").join(module) }
}

/// The number of lines of tests in a file of code, and the modules in files of their own that are compiled for tests
/// only.
fn tests(source: &Source) -> (usize, Vec<&str>) {
    let (mut tests, mut modules) = (0, Vec::new());
    let lines = source.lines.iter().zip(&source.trimmed).filter(|it| !it.1.is_empty());
    // The indent of the attribute above what is counted.
    let mut within = None;
    for (line, trimmed) in lines {
        let indent = line.len() - trimmed.len();
        if let Some(outer) = within {
            modules.extend(
                trimmed.trim_end().strip_suffix(';').and_then(|it| it.split("mod ").nth(1)),
            );
            if indent == outer && line.ends_with([';', '}']) {
                within = None;
            }
        } else if trimmed.starts_with("#[cfg(") && trimmed.contains("test") {
            within = Some(indent);
        } else {
            continue;
        }
        tests += 1;
    }
    (tests, modules)
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
