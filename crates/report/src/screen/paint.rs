//! Colours for a terminal, and none elsewhere. The text is the same with and without them.

use crate::tune::Look;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shade {
    /// Not at all.
    Plain,
    /// As the head of a column.
    Head,
    Faint,
    /// As a figure that is better than the baseline's.
    Better,
    /// As a figure that is worse than the baseline's.
    Worse,
}

/// Applies shades, or does not, in a page of this many columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) Look, pub(super) usize);

impl Paint {
    /// Whether there are colours and bars.
    pub(super) fn is_terminal(self) -> bool {
        self.0 == Look::Colours
    }

    pub(super) fn apply(self, shade: Shade, text: &str) -> String {
        let code = match shade {
            Shade::Plain => return text.to_owned(),
            Shade::Head => "1",
            Shade::Faint => "2",
            Shade::Better => "32",
            Shade::Worse => "31",
        };
        if text.is_empty() || !self.is_terminal() {
            return text.to_owned();
        }
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
