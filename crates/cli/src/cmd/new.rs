//! `wirebench new`: begins an entry from a template that already passes `verify` for `hello`.

use anyhow::Context as _;
use wirebench_catalogue::template::{NewError, State, create, languages};

use crate::{
    args::project::ProjectOption,
    context::Context,
    exit::{Exit, usage},
    out,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Language and name of the new entry, such as rust/mine
    #[arg(value_name = "LANGUAGE/NAME")]
    name: String,
    #[command(flatten)]
    project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    // Outside a checkout an own entry is added to the embedded ones.
    let root = match &context.project.root {
        Some(root) => root.clone(),
        None => std::env::current_dir().context("the current folder cannot be read")?,
    };
    let name = &arguments.name;
    if context.subjects()?.iter().any(|it| it.variant.id.entry() == name) {
        return Err(usage(NewError::Exists(format!("entries/{name}"))));
    }
    let fresh = create(&root.join("entries"), name).map_err(|error| match error {
        NewError::Name(_) | NewError::Exists(_) => usage(error),
        NewError::Io { .. } => error.into(),
    })?;
    for file in &fresh.files {
        out::result(&format!("created entries/{name}/{file}"));
    }
    let languages = languages().collect::<Vec<_>>().join(", ");
    let steps = match fresh.state {
        State::Serves => [
            format!("wirebench verify {name}   build and check it; it passes as created"),
            format!("edit entries/{name}/: the server, title and skips in entry.toml, README.md"),
            format!("wirebench run {name}      compare it with the baseline"),
        ],
        State::Describes => [
            format!(
                "write the server in entries/{name}/ (languages with a working template: {languages})"
            ),
            format!("fill in entries/{name}/entry.toml, which has comments, and README.md"),
            format!("wirebench verify {name}   build it and report failed checks"),
        ],
    };
    for (number, step) in (1..).zip(steps) {
        out::result(&format!("{number}. {step}"));
    }
    Ok(Exit::Fine)
}
