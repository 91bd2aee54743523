//! Text of users and other programs in each form: one function for each. Those for terminals and JSON are in the schema
//! (`printable`).

use wirebench_schema::printable::{is_unsafe, printable};

/// Text in HTML without characters that change how other text is shown: those of control, except line feeds, and those
/// that turn the direction of writing. Maud escapes what has a meaning in HTML.
pub(crate) fn html(text: &str) -> String {
    text.chars().map(|it| if is_unsafe(it) { '\u{fffd}' } else { it }).collect()
}

/// A line of Markdown, which would take parts of it for HTML, links, pictures, headings and lines of its own. What was
/// done already changes nothing.
pub(crate) fn markdown(text: &str) -> String {
    let sign = if text.starts_with(['#', '>', '*']) { "\\" } else { "" };
    sign.to_owned() + &markdown_inline(text)
}

/// A cell of a table in Markdown.
pub(crate) fn markdown_cell(text: &str) -> String {
    let mut cell = String::new();
    for sign in markdown_inline(text).chars() {
        if sign == '|' {
            // Those in front of it would escape each other.
            let backslashes = cell.len() - cell.trim_end_matches('\\').len();
            cell += &"\\".repeat(backslashes + 1);
        }
        cell.push(sign);
    }
    cell
}

/// `<=` is a bound, and begins nothing in Markdown.
fn markdown_inline(text: &str) -> String {
    let line = text.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ");
    printable(&line).replace('<', "&lt;").replace("&lt;=", "<=").replace("](", "]\\(")
}

/// A block of lines in Markdown, between fences that none of its lines ends.
pub(crate) fn markdown_block(text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", printable(text.trim_end()))
}

/// A cell of CSV, which a spreadsheet does not take for a formula. Quotes are the writer's matter.
pub(crate) fn csv(text: &str) -> String {
    let text = printable(text);
    let is_formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if is_formula { format!("'{text}") } else { text.into_owned() }
}

/// A label or a description of OpenMetrics.
pub(crate) fn openmetrics(text: &str) -> String {
    printable(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Text of XML, which has neither control characters nor U+FFFE and U+FFFF. Maud escapes what has a meaning in XML.
pub(crate) fn xml(text: &str) -> String {
    printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// The value of an attribute in XML, in which readers take a line end for a blank.
pub(crate) fn xml_attribute(text: &str) -> String {
    xml(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests;
