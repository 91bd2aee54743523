//! Notes below a table: those that differ in nothing but numbers become one, with the range of each
//! number, so that a hundred runs on a busy machine do not bury the table. A number that is a name, such
//! as that of a block or of a status, makes no range. The journal keeps each.

mod numbers;

use std::{collections::BTreeSet, fmt};

use numbers::{Number, split, value};

/// Names of the same thing that a note tells at most.
const NAMED_MOST: usize = 3;

/// The notes of a table, each with the texts that it stands for.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    notes: Vec<Note>,
}

/// What stands between the numbers, and what has stood in the place of each.
#[derive(Debug)]
struct Note {
    between: Vec<String>,
    places: Vec<Place>,
}

/// What has stood in the place of a number.
#[derive(Debug)]
enum Place {
    /// Quantities, from the least to the most.
    Range(String, String),
    Names(BTreeSet<u64>),
}

impl Notes {
    /// Adds a note, and returns its number, from 1.
    pub(crate) fn add(&mut self, text: &str) -> usize {
        let (between, numbers) = split(text);
        let known = self.notes.iter_mut().position(|note| note.between == between);
        let index = known.unwrap_or_else(|| {
            let places = numbers.iter().map(Place::of).collect();
            self.notes.push(Note { between, places });
            self.notes.len() - 1
        });
        for (place, number) in self.notes[index].places.iter_mut().zip(numbers) {
            place.add(number);
        }
        index + 1
    }

    /// The texts, in the order of their numbers.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.notes.iter().map(|note| {
            let places = note.places.iter().map(ToString::to_string).chain([String::new()]);
            note.between.iter().zip(places).map(|(part, place)| format!("{part}{place}")).collect()
        })
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

impl Place {
    fn of(number: &Number) -> Self {
        match number {
            Number::Quantity(least, most) => Self::Range(least.clone(), most.clone()),
            Number::Name(_) => Self::Names(BTreeSet::new()),
        }
    }

    fn add(&mut self, number: Number) {
        match (self, number) {
            (Self::Range(least, most), Number::Quantity(low, high)) => {
                if value(&low) < value(least) {
                    *least = low;
                }
                if value(&high) > value(most) {
                    *most = high;
                }
            }
            (Self::Names(names), Number::Name(name)) => {
                names.insert(name);
            }
            // What stands in front of a number says what it is.
            (Self::Range(..), Number::Name(_)) | (Self::Names(_), Number::Quantity(..)) => {}
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(least, most) if least == most => formatter.write_str(least),
            Self::Range(least, most) => write!(formatter, "{least}..{most}"),
            Self::Names(names) => {
                let shown: Vec<String> =
                    names.iter().take(NAMED_MOST).map(u64::to_string).collect();
                let text = match shown.split_last() {
                    _ if names.len() > NAMED_MOST => format!("{} and others", shown.join(", ")),
                    Some((last, others)) if !others.is_empty() => {
                        format!("{} and {last}", others.join(", "))
                    }
                    _ => shown.concat(),
                };
                formatter.write_str(&text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(notes: &[&str]) -> (Vec<usize>, Vec<String>) {
        let mut all = Notes::default();
        let numbers = notes.iter().map(|note| all.add(note)).collect();
        (numbers, all.texts().collect())
    }

    #[test]
    fn notes_that_differ_in_numbers_alone_become_one_with_ranges() {
        let (numbers, texts) = texts(&[
            "others used 19 % of 2 CPUs",
            "not pinned",
            "others used 4.5 % of 2 CPUs",
            "others used 100 % of 2 CPUs",
        ]);
        assert_eq!(numbers, [1, 2, 1, 1]);
        assert_eq!(texts, ["others used 4.5..100 % of 2 CPUs", "not pinned"]);
    }

    #[test]
    fn a_number_that_is_a_name_makes_no_range() {
        let (numbers, texts) = texts(&[
            "had status 404 in 2 runs",
            "had status 503 in 3 runs",
            "had status 404 in 7 runs",
            "left behind: sh, process 12, killed",
            "left behind: sh, process 9, killed",
            "left behind: sh, process 7, killed",
            "of process 1",
            "of process 2",
            "of process 3",
            "of process 4",
        ]);
        assert_eq!(numbers, [1, 2, 1, 3, 3, 3, 4, 4, 4, 4]);
        let expected = [
            "had status 404 in 2..7 runs",
            "had status 503 in 3 runs",
            "left behind: sh, process 7, 9 and 12, killed",
            "of process 1, 2, 3 and others",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn notes_of_the_same_blocks_become_one_and_those_of_others_do_not() {
        let (numbers, texts) = texts(&[
            "blocks 1 and 10 are outliers: 6.6..11.1 % above",
            "block 1 is an outlier: 5 % above",
            "block 10 is an outlier: 5 % above",
            "blocks 1 and 10 are outliers: 3.5..7 % above",
            "blocks 1, 2 and 10 are outliers: 3..7 % above",
        ]);
        assert_eq!(numbers, [1, 2, 3, 1, 4]);
        assert_eq!(texts[0], "blocks 1 and 10 are outliers: 3.5..11.1 % above");
    }

    #[test]
    fn numbers_with_a_sign_are_numbers() {
        let (numbers, texts) = texts(&["changed by +1.8 %", "changed by -14.9 %", "by +-2 %"]);
        assert_eq!((numbers, texts[0].as_str()), (vec![1, 1, 2], "changed by -14.9..+1.8 %"));
    }

    #[test]
    fn references_that_follow_each_other_are_a_range() {
        assert_eq!(references([1, 2, 3, 5, 7, 8]), "1-3,5,7,8");
        assert_eq!((references([4]), references([])), ("4".to_owned(), String::new()));
    }

    #[test]
    fn a_number_that_is_a_part_of_a_word_makes_another_note() {
        let notes = ["from 127.0.0.1:80", "from 127.0.0.1:81", "p99", "p50", "", "7", "8 (9)"];
        let (numbers, again) = texts(&notes);
        assert_eq!((numbers, again), ((1..=7).collect(), notes.map(str::to_owned).to_vec()));
    }
}
