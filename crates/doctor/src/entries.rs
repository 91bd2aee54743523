//! Comments on what the entries need and is not there.

use super::{Comment, State, fine};
use wirebench_catalogue::setup::Setup;

pub(super) fn examine(setup: &Setup) -> Vec<Comment> {
    let missing = |name, text, remedy: Option<&str>| Comment {
        name,
        state: State::Missing,
        text,
        remedy: remedy.map(str::to_owned),
    };
    let mut comments = Vec::new();
    if setup.packages.is_empty() {
        comments.push(fine("packages", "all packages for the entries are installed"));
    } else {
        let names: Vec<&str> = setup.packages.iter().map(String::as_str).collect();
        let text = format!("missing for some entries: {}", names.join(" "));
        comments.push(missing("packages", text, Some("wirebench setup")));
    }
    for fetch in &setup.fetches {
        let text = format!("missing for some entries: {}", fetch.what);
        comments.push(missing("registries", text, Some("wirebench setup")));
    }
    for (variant, reason) in &setup.out_of_reach {
        comments.push(missing(
            "entry",
            format!("{variant} cannot be measured here: {reason}"),
            None,
        ));
    }
    comments
}
