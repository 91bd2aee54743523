//! Examples of each verb: the end of its `--help`, and a section of its manual page.

use clap::Command;

/// Commands, each with its effect behind `#`. The second word is the verb.
const ALL: &str = include_str!("examples.txt");

/// The examples of a verb, a line each.
pub(crate) fn lines(verb: &str) -> Vec<String> {
    ALL.lines().filter(|it| it.split(' ').nth(1) == Some(verb)).map(str::to_owned).collect()
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
        assert!(verbs.map(|it| lines(it.get_name())).all(|it| !it.is_empty()));
        for line in ALL.lines() {
            // What follows is the shell's.
            let words = shlex::split(line).unwrap();
            let words = words.into_iter().take_while(|word| !word.starts_with(['>', '#']));
            if let Err(error) = Arguments::try_parse_from(words) {
                panic!("{line}: {error}");
            }
            assert!(line.len() <= 78 || !line.contains('#'), "{line}");
        }
    }
}
