//! `wirebench new`: begins an entry from a template that already passes `verify` for `hello`.

use wirebench_catalogue::template::{NewError, State, create, languages};

use crate::{
    context::Context,
    exit::{Exit, usage},
    options::ProjectOption,
    out,
};

/// Arguments of `wirebench new`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The new entry: its language and its own name, such as rust/mine
    #[arg(value_name = "LANGUAGE/NAME")]
    name: String,
    #[command(flatten)]
    project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let Some(root) = &context.project.root else {
        return Err(usage(
            "no folder here or above has entries/ and suites/: go into a checkout of wirebench, or \
             make both folders",
        ));
    };
    let name = &arguments.name;
    let fresh = create(&root.join("entries"), name).map_err(|error| match error {
        NewError::Name(_) | NewError::Exists(_) => usage(error),
        NewError::Io { .. } => error.into(),
    })?;
    for file in &fresh.files {
        out::result(&format!("made entries/{name}/{file}"));
    }
    let languages = languages().collect::<Vec<_>>().join(", ");
    let steps = match fresh.state {
        State::Serves => [
            format!("wirebench verify {name}   builds it and checks it: it passes as it is"),
            format!("change entries/{name}/: the server, title and skips of entry.toml, README.md"),
            format!("wirebench run {name}      measures it beside the baseline"),
        ],
        State::Describes => [
            format!("write the server in entries/{name}/ (templates with one: {languages})"),
            format!("fill in entries/{name}/entry.toml, which explains itself, and README.md"),
            format!("wirebench verify {name}   builds it and says what is wrong with it"),
        ],
    };
    for (number, step) in (1..).zip(steps) {
        out::result(&format!("{number}. {step}"));
    }
    Ok(Exit::Fine)
}
