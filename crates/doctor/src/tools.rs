//! Comments on wirebench itself, and on compilers, runtimes and build tools.

use wirebench_host::environment::TOOLS;
use wirebench_schema::environment::{BuildProfile, Environment};

use super::{Comment, Named, change, fine, missing};

pub(super) fn examine(environment: &Environment) -> Vec<Named> {
    let tool = |name: &'static str| match environment.tools.get(name) {
        Some(version) => (name, fine(version.clone())),
        None => {
            let text = format!("`{name}` does not run: entries that need it cannot be built");
            let undo = "apt-get remove the packages that `wirebench setup --dry-run` lists before";
            (name, missing(text, Some(change("wirebench setup", undo))))
        }
    };
    let own = std::iter::once(("wirebench", wirebench(environment)));
    own.chain(TOOLS.iter().map(|(name, _)| tool(name))).collect()
}

fn wirebench(environment: &Environment) -> Comment {
    let mut text = format!("version {}", environment.wirebench);
    if let Some(revision) = &environment.revision {
        text += &format!(", revision {revision} of the project");
    }
    if let Some(digest) = &environment.program.digest {
        text += &format!(", digest {digest}");
    }
    fine(text).warning_if(
        environment.program.profile == Some(BuildProfile::Debug),
        ": the load generator is slow in a debug build",
        change("cargo build --release", "cargo clean --release"),
    )
}
