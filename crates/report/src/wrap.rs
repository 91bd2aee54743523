//! Breaks a text into lines of a width, at spaces.

use std::collections::BTreeSet;

/// What a terminal shows: no line of a first screen is longer, unless a single word is.
pub(crate) const WIDTH: usize = 100;

/// Stands for what is not shown.
const GAP: &str = "...";

/// A name of up to `most` characters: a gap replaces the middle of a longer one, since names differ at
/// either end.
pub(crate) fn cut(text: &str, most: usize) -> String {
    cut_at(text, most, middle(most))
}

/// Names of up to `most` characters that stay different, with the gap of all of them at the same place, as near to the
/// middle as that allows. Where no place does, it is the middle.
pub(crate) fn cut_apart(names: &[&str], most: usize) -> Vec<String> {
    let kept = most - GAP.len();
    let mut starts: Vec<usize> = (0..=kept).collect();
    starts.sort_by_key(|start| start.abs_diff(middle(most)));
    let all = |start: usize| names.iter().map(|name| cut_at(name, most, start)).collect::<Vec<_>>();
    let different = names.iter().collect::<BTreeSet<_>>().len();
    let stay_different = |cut: &Vec<String>| cut.iter().collect::<BTreeSet<_>>().len() == different;
    let found = starts.into_iter().map(all).find(stay_different);
    found.unwrap_or_else(|| all(middle(most)))
}

/// Characters in front of a gap in the middle.
const fn middle(most: usize) -> usize {
    (most - GAP.len()).div_ceil(2)
}

/// A name of up to `most` characters, `start` of them in front of the gap.
fn cut_at(text: &str, most: usize, start: usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    let end = text.chars().skip(length(text) - (most - GAP.len() - start));
    text.chars().take(start).chain(GAP.chars()).chain(end).collect()
}

/// The lines of a text, at most `most` of them: a gap replaces the words before its last clause,
/// which is advice where there is any.
pub(crate) fn shorten(text: &str, most: usize, width: usize, indent: &str) -> Vec<String> {
    let lines = wrap(text, width, indent);
    if lines.len() <= most {
        return lines;
    }
    let end = last_clause(text, if most == 1 { width / 3 } else { width / 2 });
    let mut lines = wrap(text, width - GAP.len() - 1, indent);
    lines.truncate(most);
    let room = width - length(&end) - GAP.len() - 2;
    let last = wrap(&lines.pop().unwrap_or_default(), room, "").swap_remove(0);
    lines.push(format!("{last} {GAP} {end}").trim_end().to_owned());
    lines
}

/// As many clauses at the end of a text as have `room` characters; none that begins in a quotation.
fn last_clause(text: &str, room: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let ends = (1..words.len()).filter(|it| words[it - 1].ends_with([':', ';', '.']));
    let ends = ends.map(|it| words[it..].join(" "));
    let is_whole = |end: &String| ['"', '`'].iter().all(|mark| end.matches(*mark).count() % 2 == 0);
    ends.filter(is_whole).find(|end| length(end) <= room).unwrap_or_default()
}

pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// The lines of `text`, none longer than `width` unless a word is; all but the first begin with
/// `indent`. The spaces in front of the text stay.
#[must_use]
pub fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    let start = text.len() - text.trim_start().len();
    let mut lines = Vec::new();
    let mut line = text[..start].to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let room = width.saturating_sub(line.chars().count() + usize::from(!is_empty));
        if !is_empty && word.chars().count() > room {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_a_long_word_stays_whole() {
        let lines = wrap("  one two three", 9, "    ");
        assert_eq!(lines, ["  one two", "    three"]);
        assert_eq!(wrap("a verylongword b", 4, ""), ["a", "verylongword", "b"]);
        assert_eq!(wrap("", 4, ""), [""]);
    }

    #[test]
    fn names_that_are_cut_stay_different_where_a_place_for_the_gap_allows_it() {
        let names =
            ["fev:epoll-sharing-mpmc", "fev:epoll-stealing-mpmc", "fev:uring-sharing-mpmc", "go"];
        let cut = cut_apart(&names, 19);
        assert_eq!(
            cut,
            ["fev:epo...ring-mpmc", "fev:epo...ling-mpmc", "fev:uri...ring-mpmc", "go"]
        );
        assert_eq!(cut_apart(&["abcdef1ghijkl", "abcdef2ghijkl"], 9), ["abc...jkl"; 2]);
        assert_eq!(cut_apart(&["same", "same"], 9), ["same"; 2]);
    }

    #[test]
    fn what_is_too_long_keeps_both_ends() {
        assert_eq!(cut("abcdefghijk", 8), "abc...jk");
        assert_eq!(cut("abcdefgh", 8), "abcdefgh");
        let text = "one two three four five six seven: give eight";
        assert_eq!(shorten(text, 1, 31, ""), ["one two three ... give eight"]);
        let lines = ["one two three", "  five ... give eight"];
        assert_eq!(shorten(text, 2, 22, "  "), ["one two three four", lines[1]]);
        let quoted = "one two three is \"four: five\" (six)";
        assert_eq!(shorten(quoted, 1, 24, ""), ["one two three is ..."]);
        assert_eq!(shorten("one two", 1, 31, ""), ["one two"]);
    }
}
