//! The options that choose the form of a result: one for each of [`Format::ALL`], of which at most one
//! may be given.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches};
use wirebench_report::{
    Report,
    analysis::Metric,
    format::{Format, Written},
};

use crate::out;

/// The name of the group of these options.
pub(crate) const GROUP: &str = "format";

/// The form that was chosen; none of them is what people read on a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormatOption(pub(crate) Option<Format>);

impl FormatOption {
    /// A result in the form that was chosen. Warns about figures that this form cannot show.
    pub(crate) fn text(self, report: &dyn Report, metric: Option<Metric>) -> Option<String> {
        let Written { text, skipped } = self.0?.write(report, metric);
        if skipped > 0 {
            let figures = if skipped == 1 { "figure is" } else { "figures are" };
            out::note(&format!(
                "warning: {skipped} {figures} not valid and skipped; see wirebench report --explain"
            ));
        }
        Some(text)
    }
}

impl Args for FormatOption {
    fn augment_args(command: Command) -> Command {
        let names = Format::ALL.map(Format::name);
        let option = |format: Format| {
            let name = format.name();
            Arg::new(name).long(name).help(format.about()).action(ArgAction::SetTrue)
        };
        command.args(Format::ALL.map(option)).group(ArgGroup::new(GROUP).args(names))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FormatOption {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self(Format::ALL.into_iter().find(|format| matches.get_flag(format.name()))))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
