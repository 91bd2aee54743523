//! Which names are those of secrets.

/// The option that keeps secrets.
pub const SHOW_OPTION: &str = "--show-secrets";
/// Endings of words that mark a secret in any part of a name.
const ENDINGS: &str = "auth authorization oauth2 token secret password passwd passphrase cookie credential signature \
                       apikey accesskey authkey privatekey sessionid sessid jwt bearer";
/// Words that mark a secret at the end of a name.
const LAST: &str = "key session pass pwd sig otp";
/// Words after which `key` and `token` are no secrets, as in `cache-key` and `max_tokens`.
const HARMLESS: &str = "cache sort primary foreign partition public max min num total";
/// Words at the end of names of places.
const PLACES: &str = "file path dir folder";

/// Tells if the value of this name is a secret. Whole words count: `monkey` has none, `apiKey` and `x-auth` have one.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let words = words(name);
    let is = |all: &str, word: &str| all.split(' ').any(|it| it == word);
    let Some(last) = words.iter().rfind(|it| !is("id value", it)) else { return false };
    let is_harmless = words.iter().any(|it| is(HARMLESS, it));
    let marks = |word: &String| {
        let one = word.strip_suffix('s').unwrap_or(word);
        ENDINGS.split(' ').any(|it| one.ends_with(it)) && !(is_harmless && one == "token")
    };
    let is_last = is(LAST, last) && !(is_harmless && last == "key");
    name != SHOW_OPTION && !is(PLACES, last) && (is_last || words.iter().any(marks))
}

/// The words of a name in lower case, without numbers behind them. In a query a name may have encoded characters.
fn words(name: &str) -> Vec<String> {
    let (name, mut words) = (decoded(name), vec![String::new()]);
    let name = String::from_utf8_lossy(&name);
    let (mut before, mut signs) = ('-', name.chars().peekable());
    while let Some(sign) = signs.next() {
        let is_next_lower = signs.peek().is_some_and(char::is_ascii_lowercase);
        let begins = sign.is_ascii_uppercase() && (!before.is_ascii_uppercase() || is_next_lower);
        match words.last_mut() {
            Some(word) if sign.is_ascii_alphanumeric() && !begins => word.push(sign),
            _ => words.push(sign.to_ascii_lowercase().into()),
        }
        before = sign;
    }
    let of_word = |it: char| !it.is_ascii_lowercase();
    words
        .iter()
        .map(|it| it.to_ascii_lowercase().trim_matches(of_word).to_owned())
        .filter(|it| !it.is_empty())
        .collect()
}

/// The bytes of a text, those that `%` and two digits stand for among them (RFC 3986, 2.1).
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let mut pieces = text.split('%');
    let first = pieces.next().unwrap_or_default().as_bytes().to_vec();
    pieces.fold(first, |decoded, piece| {
        let digits = piece.get(..2).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => [&decoded, &[byte][..], &piece.as_bytes()[2..]].concat(),
            None => [&decoded, &b"%"[..], piece.as_bytes()].concat(),
        }
    })
}
