//! Notes below a table: findings of one kind become one note, with the range of their figures and the first
//! example, so that a hundred runs on a busy machine do not bury the table. The journal keeps each.

use serde::{Serialize, Serializer};
use std::fmt;
use wirebench_judge::standing::voids;
use wirebench_schema::journal::{ProgramShare, Reason};

/// Prefix of a reason that makes the figures invalid.
pub(crate) const INVALID: &str = "! ";
/// Prefix of a reason that makes only the tail of the latencies invalid.
const TAIL_INVALID: &str = "! p99 and above: ";

/// Programs that a short text names.
const NAMED_PROGRAMS: usize = 2;

/// A remark on a row, in addition to its figures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Remark {
    prefix: String,
    content: Content,
    /// The least and the most of the figures.
    figures: Option<(f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Finding(Reason),
    /// Text, and what follows a figure in percent.
    Text(String, &'static str),
}

impl Remark {
    /// A finding, with a mark where it makes figures invalid.
    pub(crate) fn marked(reason: &Reason) -> Self {
        let mark = match [false, true].map(|in_tail| voids(reason, in_tail, &[])) {
            [true, _] => INVALID,
            [_, true] => TAIL_INVALID,
            _ => "",
        };
        Self::from(reason).prefixed(mark)
    }

    /// A text with figures in percent at the end, before `after`.
    pub(crate) fn of_percents(text: String, figures: (f64, f64), after: &'static str) -> Self {
        Self { content: Content::Text(text, after), figures: Some(figures), ..Self::from("") }
    }

    pub(crate) fn prefixed(mut self, prefix: &str) -> Self {
        self.prefix.insert_str(0, prefix);
        self
    }

    /// Whether both are the same but for their figures and examples.
    fn is_like(&self, other: &Self) -> bool {
        let is_same = match (&self.content, &other.content) {
            (Content::Finding(one), Content::Finding(other)) => {
                (one.kind, one.weight, one.side) == (other.kind, other.weight, other.side)
            }
            (one, other) => one == other,
        };
        is_same && self.prefix == other.prefix
    }

    /// The event without details, and the next step. A disturbance has the names of programs instead: of those to be
    /// stopped, or else of all.
    pub(crate) fn short(&self) -> String {
        let Content::Finding(reason) = &self.content else { return self.to_string() };
        let says = reason.says(self.figures);
        if !reason.kind.is_disturbance() {
            return format!("{says}; {}", reason.next_step());
        }
        let programs = || reason.programs.iter().flatten();
        let none_to_stop = !programs().any(ProgramShare::is_worth_stopping);
        let named = programs().filter(|it| none_to_stop || it.is_worth_stopping());
        let names: Vec<&str> = named.take(NAMED_PROGRAMS).map(|it| it.name.as_str()).collect();
        if names.is_empty() { says } else { format!("{says} ({})", names.join(", ")) }
    }

    /// Both together, which are of one kind.
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    fn add(&mut self, other: Self) {
        let figures = [self.figures, other.figures].into_iter().flatten();
        let figures: Vec<f64> = figures.flat_map(|(least, most)| [least, most]).collect();
        self.figures = wirebench_stats::range(&figures);
        let (Content::Finding(own), Content::Finding(other)) = (&mut self.content, other.content)
        else {
            return;
        };
        own.side = own.side.filter(|_| own.side == other.side);
        own.detail = own.detail.take().or(other.detail);
        match (&mut own.programs, other.programs) {
            (Some(own), Some(other)) => other.into_iter().for_each(|it| add_program(own, it)),
            (own, other) => *own = own.take().or(other),
        }
    }
}

/// Adds the larger share of a program, those with more first.
fn add_program(programs: &mut Vec<ProgramShare>, program: ProgramShare) {
    match programs.iter_mut().find(|it| it.name == program.name) {
        Some(known) => known.share = known.share.max(program.share),
        None => programs.push(program),
    }
    programs.sort_by(|one, other| other.share.total_cmp(&one.share));
}

impl From<&Reason> for Remark {
    fn from(reason: &Reason) -> Self {
        let figures = reason.figure.map(|figure| (figure, figure));
        Self { content: Content::Finding(reason.clone()), figures, ..Self::from("") }
    }
}

impl From<String> for Remark {
    fn from(text: String) -> Self {
        Self { prefix: String::new(), content: Content::Text(text, ""), figures: None }
    }
}

impl From<&str> for Remark {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.prefix)?;
        match (&self.content, self.figures) {
            (Content::Finding(reason), figures) => formatter.write_str(&reason.text_of(figures)),
            (Content::Text(text, _), None) => formatter.write_str(text),
            (Content::Text(text, after), Some((least, most))) => {
                let [least, most] = [least, most].map(|percent| format!("{percent:.1}"));
                let range = if least == most { least } else { format!("{least}..{most}") };
                write!(formatter, "{text}{range} %{after}")
            }
        }
    }
}

impl Serialize for Remark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The notes of a table, each with the findings that it stands for.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    notes: Vec<Remark>,
}

impl Notes {
    pub(crate) fn of(remarks: impl IntoIterator<Item = Remark>) -> Self {
        let mut notes = Self::default();
        remarks.into_iter().for_each(|remark| {
            notes.add(remark);
        });
        notes
    }

    /// Adds a note, and returns its number, from 1.
    pub(crate) fn add(&mut self, remark: impl Into<Remark>) -> usize {
        let remark = remark.into();
        match self.notes.iter().position(|note| note.is_like(&remark)) {
            Some(index) => {
                self.notes[index].add(remark);
                index + 1
            }
            None => {
                self.notes.push(remark);
                self.notes.len()
            }
        }
    }

    pub(crate) fn into_remarks(self) -> Vec<Remark> {
        self.notes
    }

    /// The texts, in the order of their numbers.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.notes.iter().map(ToString::to_string)
    }
}

/// Numbers of notes as a row shows them: `1-4,7`.
pub(crate) fn references(numbers: impl IntoIterator<Item = usize>) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let shown: Vec<String> = runs
        .into_iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first},{last}"),
            _ => format!("{first}-{last}"),
        })
        .collect();
    shown.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::journal::{Owner, ReasonKind, Weight};

    #[test]
    fn findings_of_a_kind_become_one_note_with_the_range_the_first_example_and_all_programs() {
        let program =
            |name: &str, share| ProgramShare { name: name.into(), owner: Owner::Other, share };
        let others = |share, program| {
            let reason = ReasonKind::Neighbour.reason(Weight::Invalid, Some(share), "");
            Remark::marked(&reason.by(&[program]))
        };
        let wrong = |count, example| {
            Remark::from(&ReasonKind::WrongReplies.reason(Weight::Invalid, Some(count), example))
        };
        let remarks = [
            others(0.19, program("cc1", 0.2)),
            Remark::from("not pinned"),
            others(0.045, program("rustc", 0.3)),
            wrong(2.0, "status 404"),
            others(1.0, program("cc1", 0.1)),
            wrong(7.0, "status 503"),
            Remark::from("not pinned"),
            wrong(7.0, "").prefixed("in the older result: "),
        ];
        let mut notes = Notes::default();
        assert_eq!(remarks.map(|it| notes.add(it)), [1, 2, 1, 3, 1, 3, 2, 4]);
        expect_test::expect![[r#"
            ! p99 and above: other work took 4.5..100 % of the CPU time of server or generator
            rustc 30.0 %, cc1 20.0 %)
            stop these programs and measure again
            not pinned
            2..7 replies were wrong (status 404)
            run `wirebench verify` on the entry
            in the older result: 7 replies were wrong
            run `wirebench verify` on the entry"#]]
        .assert_eq(
            &notes
                .texts()
                .collect::<Vec<_>>()
                .join("\n")
                .replace("; ", "\n")
                .replace(" (rustc", "\nrustc"),
        );
    }

    #[test]
    fn outliers_of_the_same_blocks_become_one_note_and_those_of_others_do_not() {
        let outliers = |blocks: &str, figures| {
            Remark::of_percents(format!("blocks {blocks} are outliers: "), figures, " above")
        };
        let notes = Notes::of([
            outliers("1 and 10", (6.6, 11.1)),
            outliers("1 and 2", (5.0, 5.0)),
            outliers("1 and 10", (3.5, 7.0)),
        ]);
        let texts: Vec<String> = notes.texts().collect();
        let first = "blocks 1 and 10 are outliers: 3.5..11.1 % above";
        assert_eq!(texts, [first, "blocks 1 and 2 are outliers: 5.0 % above"]);
    }

    #[test]
    fn references_that_follow_each_other_are_a_range() {
        assert_eq!(references([1, 2, 3, 5, 7, 8]), "1-3,5,7,8");
        assert_eq!((references([4]), references([])), ("4".to_owned(), String::new()));
    }
}
