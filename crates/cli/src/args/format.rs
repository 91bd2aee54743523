//! The options that choose the form of a result. What is to be shared does not say whose machine it comes from.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use wirebench_report::{
    Report,
    analysis::Metric,
    format::{Format, Written},
    redact,
};
use wirebench_schema::{printable::printable, secrets::hidden_variables};

use crate::out;

/// The name of the group of `--format` and `--json`.
pub(crate) const GROUP: &str = "form";

/// The form of a result.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(id = GROUP, multiple = false)]
pub(crate) struct FormatOption {
    /// Form of the result; without it text
    #[arg(long, value_name = "NAME", value_parser = one_of(Format::ALL))]
    format: Option<Format>,
    /// Short for --format json
    #[arg(long)]
    json: bool,
}

/// The form of a result that may be shared.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormatArgs {
    #[command(flatten)]
    pub(crate) form: FormatOption,
    /// Keep folders, host and user names, and variables in these forms
    #[arg(long, hide_short_help = true)]
    no_redact: bool,
    #[command(flatten)]
    secrets: SecretsOption,
}

/// Secrets of commands and requests in everything that is written and printed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SecretsOption {
    /// Keep secrets: values of headers, options, parameters and fields with names such as token
    #[arg(long, hide_short_help = true)]
    show_secrets: bool,
}

/// The parser of a form that is one of these.
pub(crate) fn one_of<const N: usize>(forms: [Format; N]) -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(forms.map(Format::name))
        .try_map(move |name| forms.into_iter().find(|it| it.name() == name).ok_or(name))
}

impl FormatOption {
    /// None is what people read on a terminal.
    pub(crate) fn get(self) -> Option<Format> {
        self.format.or(self.json.then_some(Format::Json))
    }
}

impl FormatArgs {
    /// A result in the form that was chosen, or as `page` shows it on a terminal. Warns about figures that a
    /// form cannot show.
    pub(crate) fn text(
        self,
        report: &dyn Report,
        metric: Option<Metric>,
        page: impl FnOnce() -> String,
    ) -> String {
        let Some(format) = self.form.get() else { return page() };
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

    /// A text as it may be shared.
    pub(crate) fn shared(self, text: &str) -> String {
        let text = printable(text);
        if self.no_redact { text.into_owned() } else { redacted(&text) }
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
