//! Where a result is kept, its label, and what is shown of it.

use std::{
    io,
    path::{Path, PathBuf},
};
use wirebench_catalogue::project::Project;
use wirebench_schema::labels::{Labels, parse_label};

use super::project::ProjectOption;
use crate::{context::Context, deliver::DeliveryArgs, embedded, live::progress::Reporter};

/// Project, result folder and progress output.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ResultOptions {
    /// Create the result folder in this folder [default: target/wirebench in a checkout,
    /// $XDG_STATE_HOME/wirebench elsewhere]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    label: LabelOption,
    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) project: ProjectOption,
    #[command(flatten)]
    pub(crate) delivery: DeliveryArgs,
}

/// The label of a result.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LabelOption {
    /// Version to record and show with the result, such as v1.2; the git revision of the current folder
    /// is always recorded
    #[arg(long, value_name = "TEXT", value_parser = parse_label, hide_short_help = true)]
    label: Option<String>,
}

impl LabelOption {
    pub(crate) fn labels(&self, revision: Option<String>) -> Labels {
        Labels { label: self.label.clone(), revision }
    }
}

impl ResultOptions {
    /// The measured version, which is that of the current folder.
    pub(crate) fn labels(&self, context: &Context) -> Labels {
        self.label.labels(context.revision(Path::new(".")))
    }

    /// The project, with its results where they were asked for.
    pub(crate) fn project(&self, context: &Context) -> io::Result<Project> {
        let mut project = context.project.clone();
        if let Some(output) = &self.output {
            project.results = std::path::absolute(output)?;
        } else {
            embedded::make_results(&project)?;
        }
        Ok(project)
    }

    /// Shows as much as was asked for.
    pub(crate) fn reporter(&self) -> Reporter {
        Reporter::new(self.quiet)
    }
}
