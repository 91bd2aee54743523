//! The message for an unknown name: the name, and the nearest known one or all of them. The caller
//! may append a command that lists the names.

use std::collections::BTreeSet;

/// The maximum number of listed names; more would hide their sentence.
const LISTED: usize = 32;

/// `unknown KIND `NAME`` with the nearest of `known`, or with all of them when none is near and they
/// are not too many.
pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut seen = BTreeSet::new();
    let known: Vec<&str> = known.into_iter().filter(|&name| seen.insert(name)).collect();
    let hint = match nearest(name, &known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are none".to_owned(),
        None if known.len() > LISTED => "none is named like it".to_owned(),
        None => format!("known: {}", known.join(", ")),
    };
    format!("unknown {kind} `{name}`: {hint}")
}

/// The known name that a mistyped one most likely meant.
///
/// Nearness is the Jaro-Winkler similarity of the whole name or of the part behind its last slash,
/// so that `epol` finds `c/epoll`.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    const ENOUGH: f64 = 0.8;
    let last = |text: &str| text.rsplit('/').next().unwrap_or(text).to_owned();
    known
        .iter()
        .map(|candidate| {
            let whole = strsim::jaro_winkler(name, candidate);
            let part = strsim::jaro_winkler(&last(name), &last(candidate));
            (whole.max(part * 0.99), *candidate)
        })
        .filter(|(score, _)| *score >= ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
        // In a short name, one wrong letter is a large part.
        .or_else(|| known.iter().copied().find(|it| strsim::osa_distance(name, it) == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_also_by_its_last_part() {
        let known = ["c/epoll", "c/threads", "go/net"];
        assert_eq!(nearest("c/epol", &known), Some("c/epoll"));
        assert_eq!(nearest("epol", &known), Some("c/epoll"));
        assert_eq!(nearest("go/nett", &known), Some("go/net"));
        assert_eq!(nearest("zzz", &known), None);
        assert_eq!(nearest("rn", &["ab", "run"]), Some("run"));
    }

    #[test]
    fn without_a_near_name_all_are_listed() {
        let sentence = unknown("entry", "zzz", ["a", "b", "a"]);
        assert_eq!(sentence, "unknown entry `zzz`: known: a, b");
    }

    #[test]
    fn names_that_would_fill_the_screen_are_not_listed() {
        let many: Vec<String> = (0..100).map(|number| format!("entry-{number}")).collect();
        let sentence = unknown("entry", "zzz", many.iter().map(String::as_str));
        assert_eq!(sentence, "unknown entry `zzz`: none is named like it");
    }
}
