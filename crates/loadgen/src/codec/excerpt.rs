//! Bytes of a server as parts of sentences.

use wirebench_schema::printable::printable;

/// At most the first 32 bytes, escaped so that they can stand in a sentence.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const EXCERPT_BYTES: usize = 32;
    let shown = &bytes[..bytes.len().min(EXCERPT_BYTES)];
    let mut text = shown.escape_ascii().to_string();
    if shown.len() < bytes.len() {
        text.push('…');
    }
    text
}

/// The text at the start of a page in one line, without markup and control characters.
pub(crate) fn page_text(bytes: &[u8]) -> String {
    const TEXT_CHARACTERS: usize = 160;
    let page = String::from_utf8_lossy(bytes);
    let mut parts = page.split('<');
    let before = parts.next().unwrap_or_default();
    let behind_tags = parts.filter_map(|part| part.split_once('>').map(|(_, text)| text));
    let words = std::iter::once(before).chain(behind_tags).flat_map(str::split_whitespace);
    let text = words.collect::<Vec<_>>().join(" ");
    let shown: String = text.chars().take(TEXT_CHARACTERS).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{}{more}", printable(&shown))
}
