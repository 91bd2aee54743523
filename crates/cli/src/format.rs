//! The options that choose the form of a result: one for each of [`Format::ALL`], of which at most one
//! may be given. What is to be shared does not say whose machine it comes from.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches};
use wirebench_report::{
    Report,
    analysis::Metric,
    format::{Format, Written},
    redact,
};

use wirebench_schema::{printable::printable, secrets::hidden_variables};

use crate::{options::SecretsOption, out};

/// The name of the group of these options.
pub(crate) const GROUP: &str = "format";

/// The option that keeps folders and names.
const NO_REDACT: &str = "no-redact";

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormatOption {
    /// None is what people read on a terminal.
    pub(crate) format: Option<Format>,
    /// Whether folders and names stay.
    keeps_names: bool,
}

impl FormatOption {
    /// A result in the form that was chosen, or as `page` shows it on a terminal. Warns about figures that a
    /// form cannot show.
    pub(crate) fn text(
        self,
        report: &dyn Report,
        metric: Option<Metric>,
        page: impl FnOnce() -> String,
    ) -> String {
        let Some(format) = self.format else { return page() };
        let Written { text, skipped, remarks } = format.write(report, metric);
        remarks.iter().for_each(|remark| out::note(&format!("warning: {remark}")));
        if skipped > 0 {
            let figures = if skipped == 1 { "figure is" } else { "figures are" };
            out::note(&format!(
                "warning: {skipped} {figures} not valid and skipped; see wirebench report --explain"
            ));
        }
        self.shared(&text)
    }

    /// Prints a result that has just been measured and says where it is: with other forms apart from them.
    pub(crate) fn print(
        self,
        report: &dyn Report,
        place: String,
        page: impl FnOnce(String) -> String,
    ) {
        if self.format.is_some() {
            out::note(&place);
        }
        out::result(&self.text(report, None, || page(place)));
    }

    /// A text as it may be shared.
    pub(crate) fn shared(self, text: &str) -> String {
        let text = printable(text);
        if self.keeps_names { text.into_owned() } else { redacted(&text) }
    }
}

/// A text without folders, secrets, and the names of host and user.
pub(crate) fn redacted(text: &str) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let users =
        ["USER", "LOGNAME", "SUDO_USER"].map(|name| std::env::var(name).unwrap_or_default());
    let text = out::hide(text.to_owned(), |it| hidden_variables(&it));
    redact::text(&text, &[&[host], &users[..]].concat())
}

impl Args for FormatOption {
    fn augment_args(command: Command) -> Command {
        let names = Format::ALL.map(Format::name);
        let option = |format: Format| {
            let name = format.name();
            Arg::new(name).long(name).help(format.about()).action(ArgAction::SetTrue)
        };
        let keep = Arg::new(NO_REDACT).long(NO_REDACT).action(ArgAction::SetTrue);
        let keep = keep.help("Keep folders, host and user names, and variables in these forms");
        let command = SecretsOption::augment_args(command);
        command.args(Format::ALL.map(option)).group(ArgGroup::new(GROUP).args(names)).arg(keep)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FormatOption {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self {
            format: Format::ALL.into_iter().find(|format| matches.get_flag(format.name())),
            keeps_names: matches.get_flag(NO_REDACT),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
