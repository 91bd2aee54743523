//! Notes below a table: those that differ in nothing but numbers become one, with the range of each
//! number, so that a hundred runs on a busy machine do not bury the table. The journal keeps each.

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
}

impl Notes {
    /// Adds a note, and returns its number, from 1.
    pub(crate) fn add(&mut self, text: &str) -> usize {
        let (between, numbers) = split(text);
        let known = self.notes.iter_mut().position(|note| note.between == between);
        let index = known.unwrap_or_else(|| {
            let ranges = numbers.iter().map(|number| (number.clone(), number.clone())).collect();
            self.notes.push(Note { between, ranges });
            self.notes.len() - 1
        });
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
            for part in &note.between {
                text += part;
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
    fn a_number_that_is_a_part_of_a_word_makes_another_note() {
        let notes = ["from 127.0.0.1:80", "from 127.0.0.1:81", "p99", "p50", "", "7", "8 (9)"];
        let (numbers, again) = texts(&notes);
        assert_eq!((numbers, again), ((1..=7).collect(), notes.map(str::to_owned).to_vec()));
    }
}
