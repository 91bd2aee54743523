//! The options of `-h`, which fits on a screen. Options are left to `--help` by their heading, or one by one with
//! `hide_short_help`.

use clap::{Arg, Command, builder::Resettable};
use std::ffi::OsString;

/// Headings of options that are seldom needed.
const SELDOM: [&str; 6] = ["Connections", "Machine", "Other hosts", "Requests", "Services", "TLS"];
/// The options of these headings that `load` shows.
const OF_LOAD: [&str; 4] = ["method", "header", "body", "requests"];

/// The program whose `-h` has the most used options alone. Where `words` ask for the whole help, nothing is hidden:
/// clap would print an empty line behind each option.
pub(crate) fn shortened(program: Command, mut words: impl Iterator<Item = OsString>) -> Command {
    let is_short = words.any(|word| word == "-h");
    program.mut_subcommands(|verb| {
        let often = if verb.get_name() == "load" { &OF_LOAD[..] } else { &[] };
        let verb = verb.mut_args(|option| {
            let heading = option.get_help_heading().unwrap_or_default();
            let name = option.get_long().unwrap_or_default();
            let is_seldom = SELDOM.contains(&heading) && !often.contains(&name);
            let is_hidden = is_short && (is_seldom || option.is_hide_short_help_set());
            option.hide_short_help(is_hidden)
        });
        let hides_some = verb.get_arguments().any(Arg::is_hide_short_help_set);
        if hides_some { verb.after_help(Resettable::Reset) } else { verb }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, examples::added_to};
    use clap::CommandFactory as _;
    use expect_test::expect_file;

    #[test]
    fn short_help_fits_a_screen_and_the_whole_one_has_at_most_82_options() {
        for (word, most, most_lines) in [("-h", 23, 59), ("--help", 82, 190)] {
            let mut program = added_to(shortened(Arguments::command(), [word.into()].into_iter()));
            program.build();
            for verb in program.get_subcommands_mut().filter(|it| !it.is_hide_set()) {
                let is_shown = |it: &&Arg| !it.is_positional() && !it.is_hide_short_help_set();
                let shown = verb.get_arguments().filter(is_shown).count();
                let lines = verb.clone().term_width(100).render_help().to_string().lines().count();
                let name = verb.get_name();
                assert!(shown <= most, "{word} of {name} has {shown} options");
                assert!(lines <= most_lines, "{word} of {name} has {lines} lines");
            }
        }
    }

    /// Options of a command and of its subcommands, hidden ones included.
    fn options(command: &Command) -> usize {
        let own = command.get_arguments().filter(|it| !it.is_positional()).count();
        own + command.get_subcommands().map(options).sum::<usize>()
    }

    #[test]
    fn the_golden_file_has_the_number_of_options_of_each_verb_for_tidy() {
        let mut program = Arguments::command();
        program.build();
        let verbs = program.get_subcommands().filter(|it| it.get_name() != "help");
        let lines: String =
            verbs.map(|it| format!("{} {}\n", it.get_name(), options(it))).collect();
        expect_file!["../tests/golden/options.txt"].assert_eq(&lines);
    }
}
