//! Examples of each verb: the end of its `--help`, and a section of its manual page.

use clap::Command;

/// What is typed, whose second word is the verb, and what it does.
const ALL: [(&str, &str); 34] = [
    ("wirebench run", "the suite `quick`"),
    ("wirebench run c/epoll rust/tokio go/net", "three entries"),
    ("wirebench run --server './my-server {port}'", "a server and the baseline"),
    ("wirebench ab --a './old {port}' --b './new {port}'", "two programs"),
    ("wirebench ab rust/tokio --old HEAD~1", "changes since a commit"),
    ("wirebench load -c64 -d10s http://127.0.0.1:8080/", "as fast as it answers"),
    ("wirebench load -c64 -R 20k http://127.0.0.1:8080/", "20 000 requests/s"),
    ("wirebench tune go/net", "workers x connections"),
    ("wirebench tune go/net --objective 'p99 < 2ms'", "the highest rate"),
    ("wirebench report FOLDER --explain", "all details"),
    ("wirebench report FOLDER --format html > report.html", "a page to share"),
    ("wirebench compare OLD NEW", "significant changes"),
    ("wirebench compare OLD NEW --fail-if 'cpu > +3%'", "exit code 4 if so"),
    ("wirebench join out/* -o whole", "all cohorts of a plan"),
    ("wirebench site target/wirebench -o site", "all results of a checkout"),
    ("wirebench list --missing", "entries that are not ready, and why"),
    ("wirebench list 'rust/*'", "each variant"),
    ("wirebench list cpp/asio", "all details of an entry"),
    ("wirebench new rust/mine", "the folder entries/rust/mine"),
    ("wirebench build go", "all entries in Go"),
    ("wirebench verify c/epoll", "all its scenarios"),
    ("wirebench verify --server './my-server {port}'", "a program of your own"),
    ("wirebench verify --list", "what each check is for"),
    ("wirebench serve rust/tokio", "until Ctrl-C"),
    ("wirebench versions rust", "all entries in Rust"),
    ("wirebench setup --dry-run", "what it would install"),
    ("wirebench setup d", "only for entries in D"),
    ("wirebench doctor", "problems, and how to undo each remedy"),
    ("wirebench doctor --strict", "exit code 1 unless every check is fine"),
    ("wirebench doctor --detect", "which differences `ab` finds here"),
    ("wirebench schema result > schema.json", "for any validator"),
    ("wirebench completions bash > ~/.local/share/bash-completion/completions/wirebench", ""),
    ("wirebench completions fish > ~/.config/fish/completions/wirebench.fish", ""),
    ("wirebench man ~/.local/share/man/man1", "then `man wirebench-run`"),
];

/// The examples of a verb, a line each.
pub(crate) fn lines(verb: &str) -> Vec<String> {
    let examples = || ALL.iter().filter(|(command, _)| command.split(' ').nth(1) == Some(verb));
    let width = examples().map(|(command, _)| command.len()).max().unwrap_or(0);
    let line = |(command, about): &(&str, &str)| match *about {
        "" => (*command).to_owned(),
        about => format!("{command:width$}  # {about}"),
    };
    examples().map(line).collect()
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
            let lines = lines(verb);
            assert!(!lines.is_empty(), "{verb}");
            let is_of_verb = |it: &&(&str, &str)| it.0.split(' ').nth(1) == Some(verb);
            for (command, _) in ALL.iter().filter(is_of_verb) {
                assert!(command.starts_with(&format!("wirebench {verb}")), "{command}");
                // What follows is the shell's.
                let words = shlex::split(command).unwrap();
                let words = words.into_iter().take_while(|word| word != ">");
                if let Err(error) = Arguments::try_parse_from(words) {
                    panic!("{command}: {error}");
                }
            }
            for line in lines {
                assert!(line.len() <= 78 || !line.contains('#'), "{line}");
            }
        }
    }
}
