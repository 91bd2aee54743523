//! Comments on wirebench itself, and on compilers, runtimes and build tools.

use wirebench_host::environment::TOOLS;
use wirebench_schema::environment::{BuildProfile, Environment};

use super::{Comment, State, fine, warning};

pub(super) fn examine(environment: &Environment) -> Vec<Comment> {
    let mut comments = vec![wirebench(environment)];
    comments.extend(TOOLS.iter().map(|(name, _)| match environment.tools.get(*name) {
        Some(version) => fine(name, version.clone()),
        None => Comment {
            name,
            state: State::Missing,
            text: format!("`{name}` does not run: entries that need it cannot be built"),
            remedy: Some("wirebench setup".to_owned()),
        },
    }));
    comments
}

fn wirebench(environment: &Environment) -> Comment {
    let mut text = format!("version {}", environment.wirebench);
    if let Some(revision) = &environment.revision {
        text += &format!(", revision {revision} of the project");
    }
    if let Some(digest) = &environment.program.digest {
        text += &format!(", digest {digest}");
    }
    match environment.program.profile {
        Some(BuildProfile::Debug) => warning(
            "wirebench",
            format!("{text}: the load generator is slow in a debug build"),
            "cargo build --release",
        ),
        Some(BuildProfile::Release) | None => fine("wirebench", text),
    }
}
