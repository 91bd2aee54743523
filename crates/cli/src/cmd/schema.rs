//! `wirebench schema`: prints the JSON Schema of a kind of JSON result.

use clap::builder::PossibleValuesParser;
use wirebench_report::schemas;

use crate::{exit::Exit, out};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Kind of JSON; without it, the kinds are listed
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(schemas::names()))]
    name: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Exit {
    match arguments.name.as_deref().and_then(schemas::text) {
        Some(schema) => out::result(&schema),
        None => schemas::names().for_each(out::result),
    }
    Exit::Fine
}
