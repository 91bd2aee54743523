//! Rejects a verb of the program that imports another verb: shared code belongs in a module that
//! both import.

use std::{collections::BTreeSet, fs, path::Path};

use super::sources;

/// The folder with one file, and perhaps one folder, per verb.
const VERBS: &str = "crates/cli/src/cmd";

/// A complaint for each file of a verb that names another verb's module.
pub(super) fn complaints(root: &Path) -> Vec<String> {
    let folder = root.join(VERBS);
    let mut files = Vec::new();
    for path in sources(root) {
        let Ok(inner) = path.strip_prefix(&folder) else { continue };
        let first = inner.iter().next().unwrap_or_default().to_string_lossy();
        let verb = first.trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(&path).unwrap_or_default();
        files.push((verb, format!("{VERBS}/{}", inner.display()), text));
    }
    imports(&files)
}

/// `files` are a verb, a file of it and its text. Only `mod.rs` may name all verbs.
fn imports(files: &[(String, String, String)]) -> Vec<String> {
    let verbs: BTreeSet<&str> = files.iter().map(|(verb, ..)| verb.as_str()).collect();
    let mut complaints = Vec::new();
    for (verb, shown, text) in files.iter().filter(|(verb, ..)| verb != "mod") {
        for other in verbs.iter().filter(|other| *other != verb) {
            if text.contains(&format!("cmd::{other}::")) || text.contains(&format!("cmd::{other},"))
            {
                complaints.push(format!(
                    "{shown}: imports the verb `{other}`: move what both need into a shared module"
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_that_imports_another_verb_is_named() {
        let file = |verb: &str, text: &str| {
            (verb.to_owned(), format!("{VERBS}/{verb}.rs"), text.to_owned())
        };
        let own = file("run", "use crate::cmd::run::Setting;");
        assert_eq!(imports(&[own, file("ab", "use crate::session::Setting;")]), [""; 0]);
        let complaints = imports(&[file("run", ""), file("ab", "use crate::cmd::run::Setting;")]);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("crates/cli/src/cmd/ab.rs: imports the verb `run`"));
    }
}
