//! The description of a kind of reason, and its row in the documents.

/// The description of a kind of reason.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KindGuide {
    /// The name in files.
    pub name: &'static str,
    /// What was seen and what that means, with placeholders for the side and for the figure: `{count}`,
    /// `{number}`, `{percent}`, `{change}` or `{time}`.
    pub says: &'static str,
    /// Its weight, and what that depends on.
    pub weight: &'static str,
    /// What its figure is; `-` where it has none.
    pub figure: &'static str,
    /// The next step.
    pub next_step: &'static str,
}

impl KindGuide {
    /// The row of the table in `docs/formats.md`.
    #[must_use]
    pub fn markdown_row(&self) -> String {
        let Self { name, says, weight, figure, next_step } = self;
        format!("| `{name}` | {says} | {weight} | {figure} | {next_step} |")
    }
}
