//! Colours for a terminal, and none elsewhere. The text is the same with and without them.

/// What tables and pictures of text are made of.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Look {
    /// Colours and blocks, for a terminal.
    Colours,
    #[default]
    Plain,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Shade {
    #[default]
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
pub(crate) struct Paint(pub(crate) Look, pub(crate) usize);

impl Paint {
    /// A file: no colours, and as wide as it takes.
    pub(crate) const FILE: Self = Self(Look::Plain, usize::MAX);

    /// Whether there are colours and bars.
    pub(crate) fn is_terminal(self) -> bool {
        self.0 == Look::Colours
    }

    pub(crate) fn apply(self, shade: Shade, text: &str) -> String {
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
