//! Everything that an entry declares.

use wirebench_catalogue::checkouts::Checkouts;
use wirebench_schema::argv::display;

use super::overview::Listed;

/// A line for each thing that a variant declares.
pub(super) fn details((subject, availability): &Listed) -> String {
    let variant = &subject.variant;
    let mut lines = vec![format!("{}: {}", variant.id, subject.title)];
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("  {name:13} {text}"));
        }
    };
    add("description", &subject.description);
    add("variant", variant.note.as_deref().unwrap_or_default());
    add("home", subject.url.as_deref().unwrap_or_default());
    if subject.is_described() {
        let kinds = [variant.class.to_string(), variant.model.to_string()];
        let kinds = format!("{}, {}, {}", kinds.join(", "), variant.mechanism, variant.sharing);
        add("kind", &kinds);
        let scenarios: Vec<&str> = variant.scenarios.iter().map(|it| it.name()).collect();
        add("scenarios", &scenarios.join(", "));
        variant.skips.iter().for_each(|skipped| add("skips", skipped));
        variant.known_issues.iter().for_each(|issue| add("known issue", issue));
        for it in &variant.deviations {
            add("fails check", &format!("{}: {}", it.check, it.reason));
        }
        let sources = subject.checkouts.iter().flat_map(Checkouts::shown);
        sources.for_each(|source| add("source", &source));
        let patches = variant.sources.iter().flat_map(|source| &source.patches);
        patches.for_each(|patch| add("patched", &patch.reason));
        variant.build.iter().for_each(|step| add("built by", &display(&step.command)));
        add("started by", &display(&variant.run.command));
    }
    add("state", availability.state());
    add("", availability.reason().as_deref().unwrap_or_default());
    lines.join("\n") + "\n"
}
