//! Notes below a table: those that differ in nothing but numbers and programs become one, with the
//! range of each number and the names that came most often, so that a hundred runs on a busy machine
//! do not bury the table. The journal keeps each.

use std::{cmp::Reverse, collections::BTreeMap};

/// Programs that a note names, at most.
const NAMED_MOST: usize = 3;

/// The notes of a table, each with the texts that it stands for.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    notes: Vec<Note>,
}

/// What stands between the numbers, and from where to where each number goes.
#[derive(Debug)]
struct Note {
    between: Vec<String>,
    ranges: Vec<(String, String)>,
    /// Programs that are named in brackets: where in the first part, and how often each.
    programs: Option<(usize, BTreeMap<String, usize>)>,
}

impl Notes {
    /// Adds a note, and returns its number, from 1.
    pub(crate) fn add(&mut self, text: &str) -> usize {
        let (text, programs) = without_programs(text);
        let (between, numbers) = split(&text);
        let known = self.notes.iter_mut().position(|note| note.between == between);
        let index = known.unwrap_or_else(|| {
            let ranges = numbers.iter().map(|number| (number.clone(), number.clone())).collect();
            self.notes.push(Note { between, ranges, programs: None });
            self.notes.len() - 1
        });
        if let Some((at, names)) = programs {
            let (_, counts) = self.notes[index].programs.get_or_insert((at, BTreeMap::new()));
            for name in names {
                *counts.entry(name).or_default() += 1;
            }
        }
        for (range, number) in self.notes[index].ranges.iter_mut().zip(numbers) {
            if value(&number) < value(&range.0) {
                range.0.clone_from(&number);
            }
            if value(&number) > value(&range.1) {
                range.1 = number;
            }
        }
        index + 1
    }

    /// The texts, in the order of their numbers.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.notes.iter().map(|note| {
            let mut text = String::new();
            let mut ranges = note.ranges.iter();
            for (index, part) in note.between.iter().enumerate() {
                match note.programs.as_ref().filter(|_| index == 0) {
                    Some((at, counts)) => {
                        let (head, tail) = part.split_at(*at);
                        text += &format!("{head} ({}){tail}", named(counts));
                    }
                    None => text += part,
                }
                match ranges.next() {
                    Some((least, most)) if least == most => text += least,
                    Some((least, most)) => text += &format!("{least}..{most}"),
                    None => {}
                }
            }
            text
        })
    }
}

/// The text without the programs in its first brackets, where they stood, and their names. They are
/// written `name, process 7, name, process 8`.
fn without_programs(text: &str) -> (String, Option<(usize, Vec<String>)>) {
    let listed = text.split_once(" (").and_then(|(head, rest)| {
        let (list, tail) = rest.split_once(')')?;
        let words: Vec<&str> = list.split(", ").collect();
        let is_program = |pair: &[&str]| pair.len() == 2 && pair[1].starts_with("process ");
        let is_list = words.chunks(2).all(is_program) && !head.contains(|it: char| it.is_numeric());
        let names = words.chunks(2).map(|pair| pair[0].to_owned()).collect();
        is_list.then(|| (format!("{head}{tail}"), Some((head.len(), names))))
    });
    listed.unwrap_or_else(|| (text.to_owned(), None))
}

/// The names that came most often.
fn named(counts: &BTreeMap<String, usize>) -> String {
    let mut names: Vec<(&String, &usize)> = counts.iter().collect();
    names.sort_by_key(|(_, count)| Reverse(**count));
    let shown: Vec<&str> = names.iter().take(NAMED_MOST).map(|(name, _)| name.as_str()).collect();
    let others = if names.len() > NAMED_MOST { " and others" } else { "" };
    format!("{}{others}", shown.join(", "))
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

fn value(number: &str) -> f64 {
    number.parse().unwrap_or(f64::NAN)
}

/// The text around its numbers, and the numbers: digits, with at most one point between them. A
/// number that is a part of a word, as in `p99`, is text.
fn split(text: &str) -> (Vec<String>, Vec<String>) {
    let mut between = vec![String::new()];
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let before = between.last().and_then(|part| part.chars().next_back());
        let begins = before.is_none_or(|before| before == ' ' || before == '(');
        let length = if begins { number_length(rest) } else { 0 };
        let taken = if length > 0 { length } else { character.len_utf8() };
        let (head, tail) = rest.split_at(taken);
        if length > 0 {
            numbers.push(head.to_owned());
            between.push(String::new());
        } else if let Some(part) = between.last_mut() {
            part.push_str(head);
        }
        rest = tail;
    }
    (between, numbers)
}

/// The length of the number that `text` begins with, if it is a word of its own.
fn number_length(text: &str) -> usize {
    let word = text.find([' ', ',', ';', ')']).map_or(text, |end| &text[..end]);
    let digits = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if digits && word.parse::<f64>().is_ok() { word.len() } else { 0 }
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
    fn notes_that_differ_in_programs_too_become_one_that_names_the_most_frequent() {
        let note = |programs: &str, cpu| format!("other programs{programs} used 80 % of CPU {cpu}");
        let (numbers, texts) = texts(&[
            &note(" (rustc, process 7, cc, process 8)", 0),
            &note("", 1),
            &note(" (rustc, process 9)", 1),
            &note(" (ld, process 10, kworker/u8:1+flush-254:0, process 11)", 1),
            "a load (rustc, process 7) and (not a program) stay",
            "512 of 600 (rustc, process 7)",
        ]);
        assert_eq!(numbers, [1, 1, 1, 1, 2, 3]);
        let expected = "other programs (rustc, cc, kworker/u8:1+flush-254:0 and others) used 80 % \
                        of CPU 0..1";
        assert_eq!(texts[0], expected);
        assert_eq!(texts[1], "a load (rustc) and (not a program) stay");
        assert_eq!(texts[2], "512 of 600 (rustc, process 7)");
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
