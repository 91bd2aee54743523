//! The numbers of a sentence, and what stands between them. What becomes of several sentences that
//! differ in them alone is not known here.

/// Words after which a number is a name with few values. Two such numbers stay two sentences:
/// "status 404..503" would suggest statuses that never occurred.
const TELLING: [&str; 6] = ["block", "code", "error", "line", "signal", "status"];

/// Words behind which a number is a name of which there are many, and none of interest by itself.
const COUNTLESS: [&str; 4] = ["connection", "port", "process", "thread"];

/// What precedes a list of numbers that are names.
const LIST: &str = "blocks ";

/// A number, as it was written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Number {
    /// A quantity, from the least to the most of it.
    Quantity(String, String),
    /// A name, which has neither a least nor a most.
    Name(u64),
}

/// The text around its numbers, and the numbers: digits, with at most one point between them and a
/// sign in front, or two of them with `..` between. A number that is a part of a word, as in `p99`,
/// is text, and so is one that tells its sentence from another.
pub(super) fn split(text: &str) -> (Vec<String>, Vec<Number>) {
    let mut between = vec![String::new()];
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let before = between.last().map_or("", String::as_str);
        let number = if begins_word(before) { number(before, rest) } else { None };
        let taken = number.as_ref().map_or(character.len_utf8(), |(length, _)| *length);
        let (head, tail) = rest.split_at(taken);
        match (number, between.last_mut()) {
            (Some((_, Some(number))), _) => {
                numbers.push(number);
                between.push(String::new());
            }
            (_, Some(part)) => part.push_str(head),
            (_, None) => {}
        }
        rest = tail;
    }
    (between, numbers)
}

/// A quantity as a number; not a number if it is none.
pub(super) fn value(quantity: &str) -> f64 {
    quantity.parse().unwrap_or(f64::NAN)
}

fn begins_word(before: &str) -> bool {
    before.chars().next_back().is_none_or(|before| before == ' ' || before == '(')
}

/// The length of the number that `text` begins with, if it is a word of its own, and what it is
/// behind `before`; nothing if it belongs to the text.
fn number(before: &str, text: &str) -> Option<(usize, Option<Number>)> {
    let word = text.find([' ', ',', ';', ')']).map_or(text, |end| &text[..end]);
    let (least, most) = word.split_once("..").unwrap_or((word, word));
    if !(is_quantity(least) && is_quantity(most)) {
        return None;
    }
    let noun = before.trim_end().rsplit([' ', '(']).next().unwrap_or("");
    let name = word.parse().ok().filter(|_| COUNTLESS.contains(&noun));
    let number = match name {
        _ if TELLING.contains(&noun) || is_in_list(before) => None,
        Some(name) => Some(Number::Name(name)),
        None => Some(Number::Quantity(least.to_owned(), most.to_owned())),
    };
    Some((word.len(), number))
}

fn is_quantity(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && value(word).is_finite()
}

/// Whether all that has come since the head of a list is a part of it.
fn is_in_list(before: &str) -> bool {
    let is_part = |word: &str| word == "and" || word.bytes().all(|byte| byte.is_ascii_digit());
    before.rsplit_once(LIST).is_some_and(|(_, list)| list.split([' ', ',']).all(is_part))
}
