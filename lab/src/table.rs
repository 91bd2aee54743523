//! Tables of text and of Markdown, and large numbers.

/// A table in which columns from `figures` on are aligned to the right, without a line feed at its end.
pub(crate) fn text(head: &[&str], figures: usize, rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|it| (*it).to_owned()).collect();
    let wide = |column: usize| {
        let cells = std::iter::once(&head).chain(rows).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let line = |row: &Vec<String>| {
        let cell = |(column, cell): (usize, &String)| match (column < figures, wide(column)) {
            (true, width) => format!("{cell:<width$}"),
            (false, width) => format!("{cell:>width$}"),
        };
        row.iter().enumerate().map(cell).collect::<Vec<_>>().join(" ").trim_end().to_owned()
    };
    std::iter::once(&head).chain(rows).map(line).collect::<Vec<_>>().join("\n")
}

/// A table in Markdown, all columns of which are aligned to the right.
pub(crate) fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let rule = format!("|{}", "---:|".repeat(head.len()));
    let rows = rows.iter().map(|row| format!("| {} |", row.join(" | ")));
    let lines = [format!("| {} |", head.join(" | ")), rule].into_iter().chain(rows);
    lines.collect::<Vec<_>>().join("\n")
}

/// A number without digits after the point, in groups of three.
pub(crate) fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "1 000"], ["long", "2"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(text(&["name", "n"], 1, &rows), "name     n\na    1 000\nlong     2");
        let expected = "| name | n |\n|---:|---:|\n| a | 1 000 |\n| long | 2 |";
        assert_eq!(markdown(&["name", "n"], &rows), expected);
    }

    #[test]
    fn thousands_stand_apart() {
        let rows = [(999.4, "999"), (1000.0, "1 000"), (1_234_567.0, "1 234 567")];
        rows.iter().for_each(|(value, text)| assert_eq!(thousands(*value), *text));
    }
}
