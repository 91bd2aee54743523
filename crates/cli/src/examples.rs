//! Examples of each verb: the end of its `--help`, and a section of its manual page.

use clap::Command;

/// What is typed, and what it does.
type Example = (&'static str, &'static str);

const ALL: [(&str, &[Example]); 18] = [
    (
        "run",
        &[
            ("wirebench run", "the suite `quick`"),
            ("wirebench run c/epoll rust/tokio go/net", "three entries"),
            ("wirebench run --server './my-server {port}'", "a server and the baseline"),
        ],
    ),
    (
        "ab",
        &[
            ("wirebench ab --a './old {port}' --b './new {port}'", "two programs"),
            ("wirebench ab rust/tokio --old HEAD~1", "changes since a commit"),
        ],
    ),
    (
        "load",
        &[
            ("wirebench load -c64 -d10s http://127.0.0.1:8080/", "as fast as it answers"),
            ("wirebench load -c64 -R 20k http://127.0.0.1:8080/", "20 000 requests/s"),
        ],
    ),
    (
        "tune",
        &[
            ("wirebench tune go/net", "workers x connections"),
            ("wirebench tune go/net --objective 'p99 < 2ms'", "the highest rate"),
        ],
    ),
    (
        "report",
        &[
            ("wirebench report FOLDER --explain", "all details"),
            ("wirebench report FOLDER --html > report.html", "a page to share"),
        ],
    ),
    (
        "compare",
        &[
            ("wirebench compare OLD NEW", "significant changes"),
            ("wirebench compare OLD NEW --fail-if 'cpu > +3%'", "exit code 4 if so"),
        ],
    ),
    ("site", &[("wirebench site target/wirebench -o site", "all results of a checkout")]),
    (
        "list",
        &[
            ("wirebench list --missing", "entries that are not ready, and why"),
            ("wirebench list 'rust/*'", "each variant"),
            ("wirebench list cpp/asio", "all details of an entry"),
        ],
    ),
    ("new", &[("wirebench new rust/mine", "the folder entries/rust/mine")]),
    ("build", &[("wirebench build go", "all entries in Go")]),
    (
        "verify",
        &[
            ("wirebench verify c/epoll", "all its scenarios"),
            ("wirebench verify --server './my-server {port}'", "a program of your own"),
            ("wirebench verify --list", "what each check is for"),
        ],
    ),
    ("serve", &[("wirebench serve rust/tokio", "until Ctrl-C")]),
    ("versions", &[("wirebench versions rust", "all entries in Rust")]),
    (
        "setup",
        &[
            ("wirebench setup --dry-run", "what it would install"),
            ("wirebench setup d", "only for entries in D"),
        ],
    ),
    (
        "doctor",
        &[
            ("wirebench doctor", "problems, and how to undo each remedy"),
            ("wirebench doctor --strict", "exit code 1 unless every check is fine"),
        ],
    ),
    ("schema", &[("wirebench schema report > schema.json", "for any validator")]),
    (
        "completions",
        &[
            (
                "wirebench completions bash > ~/.local/share/bash-completion/completions/wirebench",
                "",
            ),
            ("wirebench completions fish > ~/.config/fish/completions/wirebench.fish", ""),
        ],
    ),
    ("man", &[("wirebench man ~/.local/share/man/man1", "then `man wirebench-run`")]),
];

/// The examples of a verb, a line each.
pub(crate) fn lines(verb: &str) -> Vec<String> {
    let of = ALL.iter().find(|(name, _)| *name == verb);
    let examples = of.map_or(&[][..], |(_, examples)| examples);
    let width = examples.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let line = |(command, about): &Example| match *about {
        "" => (*command).to_owned(),
        about => format!("{command:width$}  # {about}"),
    };
    examples.iter().map(line).collect()
}

/// The program with the examples of each verb at the end of its help.
pub(crate) fn added_to(program: Command) -> Command {
    program.mut_subcommands(|verb| {
        let lines = lines(verb.get_name());
        if lines.is_empty() {
            return verb;
        }
        let rest = verb.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
        verb.after_help(format!("{rest}Examples:\n  {}", lines.join("\n  ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arguments;
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn each_verb_has_an_example_and_the_parser_accepts_all_of_them() {
        let program = Arguments::command();
        let verbs = program.get_subcommands().filter(|it| !it.is_hide_set());
        for verb in verbs.map(Command::get_name) {
            let examples = ALL.iter().find(|(name, _)| *name == verb);
            let (_, examples) = examples.unwrap_or_else(|| panic!("`{verb}` has no example"));
            assert!(!examples.is_empty(), "{verb}");
            for (command, _) in *examples {
                assert!(command.starts_with(&format!("wirebench {verb}")), "{command}");
                // What follows is the shell's.
                let words = shlex::split(command).unwrap();
                let words = words.into_iter().take_while(|word| word != ">");
                if let Err(error) = Arguments::try_parse_from(words) {
                    panic!("{command}: {error}");
                }
            }
            for line in lines(verb) {
                assert!(line.len() <= 78 || !line.contains('#'), "{line}");
            }
        }
    }
}
