//! The Markdown form of a result as HTML. Of the HTML in it only what opens and closes details is HTML
//! here as well; links and pictures are text.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};

use super::safe;

const TAGS: [&str; 4] = ["<details>", "</details>", "<summary>", "</summary>"];

/// The body of a document with `markdown`.
pub(crate) fn body(markdown: &str) -> String {
    let markdown = safe(markdown);
    let mut tables = 0;
    let events = Parser::new_ext(&markdown, Options::ENABLE_TABLES).flat_map(|event| match event {
        Event::Start(Tag::Table(_)) => {
            tables += 1;
            vec![html(scroll(&format!("table {tables}"))), event]
        }
        Event::End(TagEnd::Table | TagEnd::CodeBlock) => vec![event, html("</div>".to_owned())],
        Event::Start(Tag::CodeBlock(_)) => {
            tables += 1;
            vec![html(scroll(&format!("text {tables}"))), event]
        }
        Event::Start(Tag::Link { .. } | Tag::Image { .. })
        | Event::End(TagEnd::Link | TagEnd::Image) => Vec::new(),
        Event::Html(text) | Event::InlineHtml(text) if !is_ours(&text) => vec![Event::Text(text)],
        other => vec![other],
    });
    let mut body = String::new();
    push_html(&mut body, events);
    body
}

fn html(text: String) -> Event<'static> {
    Event::Html(CowStr::from(text))
}

fn scroll(name: &str) -> String {
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">")
}

/// Whether a piece of HTML has tags of ours and no others.
fn is_ours(text: &str) -> bool {
    let ours: usize = TAGS.iter().map(|tag| text.matches(tag).count()).sum();
    ours > 0 && ours == text.matches('<').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_details_become_html_and_foreign_html_does_not() {
        let body = body(
            "**a**\n\n| x |\n|---|\n| 1 |\n\n<details><summary>more</summary>\n\n- <b>b</b> \
             [c](javascript:d)\n\n<script>e</script>\n\n</details>\n",
        );
        assert_eq!(
            body.replace('\n', ""),
            "<p><strong>a</strong></p><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"table 1\"><table><thead><tr><th>x</th></tr></thead><tbody>\
             <tr><td>1</td></tr></tbody></table></div><details><summary>more</summary>\
             <ul><li>&lt;b&gt;b&lt;/b&gt; c</li></ul>&lt;script&gt;e&lt;/script&gt;</details>"
        );
    }
}
