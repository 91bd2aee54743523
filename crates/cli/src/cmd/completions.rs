//! `wirebench completions`: prints a completion script for a shell. Its values are those of this program and of
//! the project.

use clap::{
    Arg, Command,
    builder::{PossibleValue, PossibleValuesParser},
};
use clap_complete::{Shell, generate};
use std::{any::TypeId, collections::BTreeSet};
use wirebench_catalogue::{discover, project::Project};
use wirebench_report::analysis::{Metric, MetricFacts};
use wirebench_schema::{
    entry::Mechanism,
    journal::{Generator, Procedure},
    scenario::Scenario,
    suite::{Phase, Scale},
};

use crate::{args::project::ProjectOption, exit::Exit, out, suites};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Names of entries and suites are those that the project has now: after adding some, print the \
                  script again."
)]
pub(crate) struct Arguments {
    /// Shell
    shell: Shell,
    #[command(flatten)]
    project: ProjectOption,
}

/// Prints the script for `command`, the whole program.
pub(crate) fn run(arguments: &Arguments, command: &Command) -> anyhow::Result<Exit> {
    let names = arguments.project.project().and_then(|project| Names::of(&project));
    let names = names.unwrap_or_else(|error| {
        out::note(&format!("warning: entries and suites are not completed: {error:#}"));
        Names::default()
    });
    let mut script = Vec::new();
    let mut program = visible(command, &names);
    generate(arguments.shell, &mut program, "wirebench", &mut script);
    let mut script = String::from_utf8(script)?;
    if arguments.shell == Shell::Fish {
        script += &arguments_of_fish(&program);
    }
    out::script(&script);
    Ok(Exit::Fine)
}

/// The values of arguments without a name, which the script for fish lacks.
fn arguments_of_fish(program: &Command) -> String {
    let line = |verb: &Command, argument: &Arg| {
        let values = argument.get_possible_values();
        let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        let verb = verb.get_name();
        let of = format!("complete -c wirebench -n \"__fish_wirebench_using_subcommand {verb}\"");
        (!names.is_empty()).then(|| format!("{of} -f -a \"{}\"\n", names.join(" ")))
    };
    let of_verb = |verb: &Command| -> String {
        verb.get_positionals().filter_map(|argument| line(verb, argument)).collect()
    };
    program.get_subcommands().map(of_verb).collect()
}

/// The program without its internal verbs, which the scripts for some shells would complete.
fn visible(command: &Command, names: &Names) -> Command {
    let verbs = command.get_subcommands().filter(|it| !it.is_hide_set()).cloned();
    Command::new("wirebench")
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments().cloned())
        .subcommands(verbs)
        .mut_subcommands(|verb| verb.mut_args(|argument| names.completed(argument)))
}

/// What can be named on the command line.
#[derive(Default)]
struct Names {
    entries: BTreeSet<String>,
    languages: BTreeSet<String>,
    frameworks: BTreeSet<String>,
    suites: BTreeSet<String>,
}

impl Names {
    fn of(project: &Project) -> anyhow::Result<Self> {
        let mut names = Self { suites: suites::names(project), ..Self::default() };
        for subject in discover::subjects(project, &std::env::current_exe()?)? {
            let id = subject.variant.id;
            names.entries.insert(id.entry().to_owned());
            names.languages.insert(id.language().to_owned());
            names.frameworks.insert(id.framework().to_owned());
        }
        Ok(names)
    }

    /// An argument whose values a shell can complete, if they are known.
    fn completed(&self, argument: Arg) -> Arg {
        let values = fixed(&argument).unwrap_or_else(|| self.named(&argument));
        if values.is_empty() {
            argument
        } else {
            argument.value_parser(PossibleValuesParser::new(values))
        }
    }

    /// The names that an argument takes, as its value is named in the help.
    fn named(&self, argument: &Arg) -> Vec<&'static str> {
        let value = argument.get_value_names().unwrap_or_default().join(" ");
        let takes = |name: &str| value.split(" | ").any(|it| it == name);
        let id = argument.get_id().as_str();
        let is_names = id == "names";
        let sets = [
            (takes("SUITE"), &self.suites),
            (takes("ENTRY") || is_names, &self.entries),
            (is_names || id == "languages", &self.languages),
            (id == "frameworks", &self.frameworks),
        ];
        let names = sets.into_iter().filter(|(is_taken, _)| *is_taken).flat_map(|(_, set)| set);
        // clap keeps static names, and the program ends with this verb.
        names.map(|name| &*name.clone().leak()).collect()
    }
}

/// The values of an argument that is one of the program's own enumerations.
fn fixed(argument: &Arg) -> Option<Vec<&'static str>> {
    macro_rules! values {
        ($($type:ty),+) => {
            [$((TypeId::of::<$type>(), <$type>::ALL.map(<$type>::name).to_vec())),+]
        };
    }
    let known = values![Generator, Mechanism, Metric, Phase, Procedure, Scale, Scenario];
    let parser = argument.get_value_parser().type_id();
    known.into_iter().find(|(id, _)| parser == *id).map(|(_, values)| values)
}
