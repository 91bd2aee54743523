//! The project that a verb is about.

use std::path::{Path, PathBuf};
use wirebench_catalogue::project::{self, Found, Project, ProjectError, Trust};

use crate::{embedded, exit::usage};

/// Environment variable with the project folder; `--project` overrides it.
const PROJECT_VARIABLE: &str = "WIREBENCH_PROJECT";

/// The project option.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ProjectOption {
    /// Project folder, even if another user owns it [default: $WIREBENCH_PROJECT, or the checkout at
    /// or above the current folder, or the entries and suites inside this program]
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    project: Option<PathBuf>,
}

impl ProjectOption {
    /// The project given, or the one that contains the current folder.
    pub(crate) fn project(&self) -> anyhow::Result<Project> {
        let variable = || std::env::var_os(PROJECT_VARIABLE).filter(|value| !value.is_empty());
        let named = self.project.clone().or_else(|| variable().map(PathBuf::from));
        let (found, trust) = match named {
            Some(root) => (project::named(&root), Trust::Named),
            None => (project::find(Path::new(".")), Trust::Checked),
        };
        let found = found.map_err(|error| match error {
            ProjectError::Io(_) => error.into(),
            ProjectError::Untrusted { .. } | ProjectError::Absent(_) => usage(error),
        })?;
        match found {
            Found::Checkout(root) => Ok(Project::checkout(root, trust)),
            Found::Own(root) => embedded::project(Some(root), trust),
            Found::Nothing => embedded::project(None, trust),
        }
    }
}
