//! The sentence of a reason for the terminal: its kind, its figure and the next step. Details are in
//! the reason's text, which JSON and `report --explain` have.

use super::Reason;

impl Reason {
    /// What happened, what it means and what to do, in at most 130 characters.
    #[must_use]
    pub fn brief(&self) -> String {
        let (first, rest) = self.next_step().split_at(1);
        let next_step = first.to_uppercase() + rest;
        format!("{}. {next_step}.", with_figure(self.kind.guide().says, self.figure))
    }
}

/// The text with `figure` in its placeholder.
fn with_figure(text: &str, figure: Option<f64>) -> String {
    let Some((head, rest)) = text.split_once('{') else { return text.to_owned() };
    let Some((unit, tail)) = rest.split_once('}') else { return text.to_owned() };
    let shown = match (unit, figure) {
        (_, None) => "some".to_owned(),
        ("percent", Some(share)) => percent(share),
        ("change", Some(share)) => format!("{:+.1} %", share * 100.0),
        ("time", Some(nanoseconds)) => time(nanoseconds),
        ("count", Some(count)) => format!("{count:.0}"),
        (_, Some(number)) => format!("{number:.2}"),
    };
    format!("{head}{shown}{tail}")
}

fn percent(share: f64) -> String {
    let digits = if share < 0.0995 { 1 } else { 0 };
    format!("{:.digits$} %", share * 100.0)
}

fn time(nanoseconds: f64) -> String {
    if nanoseconds < 1e9 {
        format!("{:.1} ms", nanoseconds / 1e6)
    } else {
        format!("{:.1} s", nanoseconds / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use crate::journal::{ReasonKind, Weight};

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
    fn a_figure_has_the_unit_of_its_kind() {
        let brief = |kind: ReasonKind, figure| kind.reason(Weight::Note, Some(figure), "").brief();
        let stall = "a load generator thread was delayed by up to 7.7 ms: latencies include it. Measure for \
                     longer, or on another machine.";
        assert_eq!(brief(ReasonKind::GeneratorStall, 7.68e6), stall);
        let stolen = "the hypervisor took 6.2 % of the CPU time of server or generator. Measure again, or on a \
                      dedicated machine.";
        assert_eq!(brief(ReasonKind::Stolen, 0.062), stolen);
    }
}
