//! The number of options of each verb, for the limits of `cargo xtask tidy`.

use clap::{Command, CommandFactory as _};
use expect_test::expect_file;

use crate::Arguments;

/// Options of a command and of its subcommands, hidden ones included.
fn options(command: &Command) -> usize {
    let own = command.get_arguments().filter(|it| !it.is_positional()).count();
    own + command.get_subcommands().map(options).sum::<usize>()
}

#[test]
fn the_golden_file_has_the_number_of_options_of_each_verb() {
    let mut program = Arguments::command();
    program.build();
    let verbs = program.get_subcommands().filter(|it| it.get_name() != "help");
    let lines: Vec<String> =
        verbs.map(|it| format!("{} {}\n", it.get_name(), options(it))).collect();
    assert!(!lines.is_empty());
    expect_file!["../tests/golden/options.txt"].assert_eq(&lines.concat());
}
