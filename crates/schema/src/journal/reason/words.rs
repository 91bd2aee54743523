//! The sentence of a finding, from its kind, figure, side, detail and programs. All texts, on the terminal,
//! in documents and in files, come from here.

use super::{Reason, RunSide};
use crate::journal::program::listed;

impl Reason {
    /// What happened, what it means and what to do, in at most 130 characters.
    #[must_use]
    pub fn brief(&self) -> String {
        let (first, rest) = self.next_step().split_at(1);
        format!("{}. {}{rest}.", self.says(self.range()), first.to_uppercase())
    }

    /// The same with the details.
    #[must_use]
    pub fn text(&self) -> String {
        self.text_of(self.range())
    }

    /// The same of several findings of the kind, with the least and the most of their figures.
    #[must_use]
    pub fn text_of(&self, figures: Option<(f64, f64)>) -> String {
        let details = self.detail.iter().cloned().chain(self.programs.as_deref().map(listed));
        let details = details.collect::<Vec<_>>().join("; ");
        let details = if details.is_empty() { details } else { format!(" ({details})") };
        format!("{}{details}; {}", self.says(figures), self.next_step())
    }

    fn range(&self) -> Option<(f64, f64)> {
        self.figure.map(|figure| (figure, figure))
    }

    /// The event and its meaning, of findings with these figures.
    #[must_use]
    pub fn says(&self, figures: Option<(f64, f64)>) -> String {
        let side = self.side.map_or("server or generator", RunSide::name);
        let text = self.kind.guide().says.replace("{side}", side);
        let Some((head, rest)) = text.split_once('{') else { return text };
        let Some((unit, tail)) = rest.split_once('}') else { return text };
        let shown = match figures.map(|(least, most)| (written(unit, least), written(unit, most))) {
            None => "some".to_owned(),
            Some((least, most)) if least == most => least.join(" ").trim_end().to_owned(),
            Some(([least, one], [most, other])) if one == other => {
                format!("{least}..{most} {one}").trim_end().to_owned()
            }
            Some((least, most)) => format!("{}..{}", least.join(" "), most.join(" ")),
        };
        format!("{head}{shown}{tail}")
    }
}

/// A figure as digits and unit.
fn written(unit: &str, figure: f64) -> [String; 2] {
    let (digits, unit) = match unit {
        "percent" if figure < 0.0995 => (format!("{:.1}", figure * 100.0), "%"),
        "percent" => (format!("{:.0}", figure * 100.0), "%"),
        "change" => (format!("{:+.1}", figure * 100.0), "%"),
        "time" if figure < 1e9 => (format!("{:.1}", figure / 1e6), "ms"),
        "time" => (format!("{:.1}", figure / 1e9), "s"),
        "count" => (format!("{figure:.0}"), ""),
        _ => (format!("{figure:.2}"), ""),
    };
    [digits, unit.to_owned()]
}

#[cfg(test)]
mod tests {
    use crate::journal::{ReasonKind, RunSide, Weight};

    /// The most characters of a sentence.
    const LONGEST_BRIEF: usize = 130;

    #[test]
    fn every_reason_fits_the_terminal_with_a_long_figure() {
        for kind in ReasonKind::ALL {
            let says = kind.guide().says;
            let figure = match says {
                says if says.contains("{percent}") || says.contains("{change}") => -0.999,
                says if says.contains("{time}") => 3.6e12,
                _ => 1_000_000_000.0,
            };
            for figure in [Some(figure), None] {
                let text = kind.reason(Weight::Note, figure, "").brief();
                assert!(text.len() <= LONGEST_BRIEF, "{} characters: {text}", text.len());
                assert!(!text.contains(['{', '}']) && text.ends_with('.'), "{text}");
            }
        }
    }

    #[test]
    fn a_figure_has_the_unit_of_its_kind_and_several_are_a_range() {
        let stolen = ReasonKind::Stolen.reason(Weight::Note, Some(0.062), "");
        let brief = "the hypervisor took 6.2 % of the CPU time of server or generator. Measure again, or on a \
                     dedicated machine.";
        assert_eq!(stolen.brief(), brief);
        let text = |kind: ReasonKind, figures| {
            let reason = kind.reason(Weight::Note, None, "an example").of(RunSide::Server);
            reason.text_of(figures).replace("; ", "\n") + "\n"
        };
        let texts = [
            text(ReasonKind::Stolen, Some((0.0451, 1.0))),
            text(ReasonKind::ServerStall, Some((7.68e6, 1.25e9))),
            text(ReasonKind::WrongReplies, Some((2.0, 7.0))),
            text(ReasonKind::WrongReplies, None),
            text(ReasonKind::Drifting, Some((-0.149, -0.149))),
        ];
        expect_test::expect![[r"
            the hypervisor took 4.5..100 % of the CPU time of the server (an example)
            measure again, or on a dedicated machine
            the server stalled for 7.7 ms..1.2 s (an example)
            look for garbage collection, locks or timers
            2..7 replies were wrong (an example)
            run `wirebench verify` on the entry
            some replies were wrong (an example)
            run `wirebench verify` on the entry
            CPU per request drifted by -14.9 % over the run (an example)
            warm up for longer with --steady
        "]]
        .assert_eq(&texts.concat());
    }
}
