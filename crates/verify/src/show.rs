//! Bytes and counts as people read them. Pure; it judges nothing but where two byte strings part.

use std::fmt::Write;

/// Bytes that an excerpt shows at most.
const EXCERPT_BYTES: usize = 64;
/// How many bytes are looked up elsewhere in what was sent, to tell a wrong order from wrong bytes.
const NEEDLE_BYTES: usize = 8;

/// `"HTTP/1.1 200 OK\r\n…" (48 bytes)`.
pub(super) fn bytes(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes.iter().take(EXCERPT_BYTES) {
        match byte {
            b'\r' => text.push_str("\\r"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    let more = if bytes.len() > EXCERPT_BYTES { "…" } else { "" };
    format!("{text}{more}\" ({})", count(bytes.len(), "byte", "bytes"))
}

/// `1 reply`, `16 replies`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Where `came` parts from what it should be: the bytes of `sent` that begin at `offset`. `None`
/// when it does not.
pub(super) fn difference(sent: &[u8], offset: usize, came: &[u8]) -> Option<String> {
    let expected = &sent[offset.min(sent.len())..];
    if came.len() > expected.len() && came.starts_with(expected) {
        let surplus = &came[expected.len()..];
        return Some(format!(
            "{} were sent and came back, and then more came: {}",
            count(sent.len(), "byte", "bytes"),
            bytes(surplus)
        ));
    }
    let at = came.iter().zip(expected).position(|(came, expected)| came != expected)?;
    let (seen, wanted) = (came[at], expected[at]);
    let mut text =
        format!("byte {} came back as 0x{seen:02x}, sent was 0x{wanted:02x}", offset + at);
    let needle = &came[at..came.len().min(at + NEEDLE_BYTES)];
    let elsewhere = (needle.len() == NEEDLE_BYTES)
        .then(|| sent.windows(NEEDLE_BYTES).position(|window| window == needle))
        .flatten();
    if let Some(elsewhere) = elsewhere {
        let _ = write!(text, ": it is from position {elsewhere}, so the order is wrong");
    } else if (seen ^ wanted).count_ones() == 1 {
        text.push_str(": one bit differs");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_readable_and_says_how_long_the_whole_is() {
        assert_eq!(bytes(b"a\r\n\t\"\\\x00\xff"), r#""a\r\n\t\"\\\x00\xff" (8 bytes)"#);
        let long = bytes(&[b'x'; 65]);
        assert!(long.ends_with("x…\" (65 bytes)"), "{long}");
        assert_eq!(bytes(b""), "\"\" (0 bytes)");
        assert_eq!(bytes(b"!"), "\"!\" (1 byte)");
    }

    #[test]
    fn what_came_back_unchanged_does_not_differ() {
        assert_eq!(difference(b"abcdef", 2, b"cde"), None);
        assert_eq!(difference(b"abcdef", 6, b""), None);
    }

    #[test]
    fn a_flipped_bit_a_wrong_order_and_a_surplus_are_distinguished() {
        let sent: Vec<u8> = (0..=255).collect();
        let mut flipped = sent.clone();
        flipped[100] ^= 4;
        let text = difference(&sent, 0, &flipped).unwrap();
        assert_eq!(text, "byte 100 came back as 0x60, sent was 0x64: one bit differs");

        let mut turned = sent.clone();
        turned.rotate_left(128);
        let text = difference(&sent, 0, &turned).unwrap();
        assert_eq!(
            text,
            "byte 0 came back as 0x80, sent was 0x00: it is from position 128, so the \
             order is wrong"
        );

        let text = difference(b"abc", 1, b"bc\0\0").unwrap();
        assert_eq!(
            text,
            r#"3 bytes were sent and came back, and then more came: "\x00\x00" (2 bytes)"#
        );
    }
}
