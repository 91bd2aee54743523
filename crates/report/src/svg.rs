//! The pictures of an HTML report as files of their own, for documents and slides.

use crate::html::{STYLE, chart::CUT};

/// Where a picture begins that is large enough to stand alone.
const BEGIN: &str = "<svg class=\"chart\"";
const END: &str = "</svg>";

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Picture {
    pub name: String,
    pub text: String,
}

/// The pictures of `page`, in its order. They follow the colour scheme of their reader.
#[must_use]
pub fn pictures(page: &str) -> Vec<Picture> {
    let mut pictures: Vec<Picture> = Vec::new();
    let mut rest = page;
    while let Some((_, found)) = rest.split_once(BEGIN) {
        let Some((picture, after)) = found.split_once(END) else { break };
        let picture = picture.replace(&format!(" preserveAspectRatio=\"{CUT}\""), "");
        let name = format!("{:02}-{}.svg", pictures.len() + 1, slug(label(&picture)));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\"{picture}<style>{STYLE}\
             svg {{ background: var(--back); }}</style>{END}\n"
        );
        pictures.push(Picture { name, text });
        rest = after;
    }
    pictures
}

fn label(picture: &str) -> &str {
    let value = picture.split_once("aria-label=\"").map_or("", |(_, value)| value);
    value.split('"').next().unwrap_or("")
}

/// The words of a text as a part of a file's name.
fn slug(text: &str) -> String {
    let signs = text
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { ' ' });
    signs.collect::<String>().split_whitespace().collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chart_of_a_page_is_a_whole_file() {
        let page = include_str!("../tests/golden/page/run.html");
        let pictures = pictures(page);
        let names: Vec<&str> = pictures.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "01-hello-saturated-cpu-per-request-less-is-better.svg",
                "02-hello-saturated-requests-s-more-is-better.svg",
                "03-hello-cpu-time-per-request-over-the-rate-of-requests.svg",
                "04-hello-p99-latency-over-the-rate-of-requests.svg",
                "05-hello-at-20k-s-latency-by-percentile.svg",
                "06-timeline-cpu-per-request-of-each-slice-in-the-order-in-which-they-ran.svg",
                "07-slices-of-c-epoll-1-under-hello-cohort-1-of-6.svg",
                "08-slices-of-go-net-under-hello-cohort-1-of-6.svg",
                "09-slices-of-own-server-under-hello-cohort-1-of-6.svg",
            ]
        );
        for picture in pictures {
            let mut reader = quick_xml::Reader::from_str(&picture.text);
            let mut depth = 0;
            loop {
                match reader.read_event().unwrap() {
                    quick_xml::events::Event::Start(_) => depth += 1,
                    quick_xml::events::Event::End(_) => depth -= 1,
                    quick_xml::events::Event::Eof => break,
                    _ => {}
                }
            }
            assert_eq!(depth, 0, "{}", picture.name);
            assert!(picture.text.contains("--text: "), "its colours");
        }
    }
}
