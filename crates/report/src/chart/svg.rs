//! The one writer of charts: each as a part of a page, or as files of their own for documents and slides.

use maud::{Markup, PreEscaped, html};
use std::fmt::Write as _;

use super::{Chart, ChartKind, dots, flame, grid, lines, rows};
use crate::{
    document::Document,
    html::{STYLE, safe},
};

/// How a picture keeps its left end where it is cut off.
const CUT: &str = "xMinYMin slice";

/// A file with a picture.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Picture {
    pub name: String,
    pub text: String,
}

/// The pictures of a document, in its order, with all text as `shared` returns it. They follow the colour scheme of
/// their reader.
#[must_use]
pub fn pictures(document: &Document, shared: impl Fn(&str) -> String) -> Vec<Picture> {
    let drawn = document.charts().into_iter().flat_map(Chart::drawn);
    let file = |(number, drawn): (usize, Drawn)| {
        let name = format!("{number:02}-{}.svg", slug(&shared(&safe(&drawn.title))));
        Picture { name, text: shared(&drawn.file()) }
    };
    (1..).zip(drawn).map(file).collect()
}

/// The first picture of a chart as a file.
pub(crate) fn file(chart: &Chart) -> Option<String> {
    chart.drawn().first().map(Drawn::file)
}

/// The words of a text as a part of a file's name.
fn slug(text: &str) -> String {
    let signs = text
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { ' ' });
    signs.collect::<String>().split_whitespace().collect::<Vec<_>>().join("-")
}

/// A picture whose parts have their places.
pub(super) struct Drawn {
    /// Its class in the style sheet.
    pub(super) class: &'static str,
    pub(super) title: String,
    /// In CSS pixels.
    pub(super) size: (f64, f64),
    pub(super) content: Markup,
    /// The part of its width that a narrow screen shows.
    pub(super) shown: f64,
    /// The meanings of marks.
    pub(super) key: Markup,
}

impl Chart {
    fn drawn(&self) -> Vec<Drawn> {
        let title = &self.title;
        match &self.kind {
            ChartKind::Lines { x, y, lines } => lines::drawing(title, x, y, lines),
            ChartKind::Dots { x, y, marks, level, begins } => {
                vec![dots::drawing(title, (x, y), marks, *level, begins)]
            }
            ChartKind::Bars(bars) => vec![rows::of_bars(title, bars)],
            ChartKind::Forest(ratios) => rows::of_ratios(title, ratios).into_iter().collect(),
            ChartKind::Dumbbells(rows) => rows::of_dumbbells(title, rows).into_iter().collect(),
            ChartKind::Grid(grid) => vec![grid::drawing(title, grid)],
            ChartKind::Flame(flame) => vec![flame::drawing(title, flame)],
        }
    }

    /// The chart as a part of a page.
    pub(crate) fn html(&self) -> Markup {
        let pictures = self.drawn();
        html! {
            @if !self.heading.is_empty() { h3 { (self.heading) } }
            @if !self.legend.is_empty() { p.legend { (self.legend) } }
            @for picture in pictures { (picture.plot()) (picture.key) }
        }
    }
}

impl Drawn {
    pub(super) fn new(class: &'static str, title: &str, size: (f64, f64), content: Markup) -> Self {
        Self { class, title: title.to_owned(), size, content, shown: size.0, key: html! {} }
    }

    /// A picture as wide as the page has space. A narrow screen shows a part of it, in which the style sheet keeps
    /// texts readable.
    fn plot(&self) -> Markup {
        let Self { class, title, size, .. } = self;
        let style = format!("--width: {}; --height: {}", self.shown, size.1);
        let picture = svg("chart", *size, title, &self.content);
        let plot = html! { div class={ "plot " (class) } style=(style) { (picture) } };
        // What cannot become narrower scrolls by itself.
        html! {
            @if *class == "map" {
                div.scroll tabindex="0" role="region" aria-label=(title) { (plot) }
            } @else { (plot) }
        }
    }

    /// The picture with the style sheet.
    fn file(&self) -> String {
        let style = format!("{STYLE}svg {{ background: var(--back); }}");
        let content = html! { (self.content) style { (PreEscaped(style)) } };
        let picture = svg("chart", self.size, &self.title, &content).into_string();
        let picture = picture.replacen("<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"", 1);
        safe(&picture.replacen(&format!(" preserveAspectRatio=\"{CUT}\""), "", 1)) + "\n"
    }
}

/// A picture of this size in CSS pixels, which `words` describe.
pub(super) fn svg(class: &str, size: (f64, f64), words: &str, content: &Markup) -> Markup {
    let (width, height) = size;
    let view = format!("0 0 {width} {height}");
    let cut = (class == "chart").then_some(CUT);
    html! {
        svg class=(class) width=(width) height=(height) viewBox=(view) preserveAspectRatio=[cut] role="img"
            aria-label=(words) {
            title { (words) }
            (content)
        }
    }
}

/// Dots as one path, because a mark for each would make large files.
pub(super) fn dots(places: impl Iterator<Item = (f64, f64)>) -> String {
    marks("h0", places)
}

/// Marks of this outline in the same way.
pub(super) fn marks(outline: &str, places: impl Iterator<Item = (f64, f64)>) -> String {
    places.fold(String::new(), |mut path, (x, y)| {
        let _ = write!(path, "M{x:.1} {y:.1}{outline}");
        path
    })
}

/// A coordinate, with as many digits as can be seen.
pub(super) fn number(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::html::tests::{page_of, run};

    #[test]
    fn each_chart_of_a_page_is_a_whole_file() {
        let pictures = pictures(&page_of(&run()), str::to_owned);
        let names: Vec<&str> = pictures.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "01-hello-saturated-cpu-per-request-less-is-better.svg",
                "02-hello-saturated-requests-s-more-is-better.svg",
                "03-hello-cpu-time-per-request-over-the-rate-of-requests.svg",
                "04-hello-p99-latency-over-the-rate-of-requests.svg",
                "05-hello-at-20k-s-latency-by-percentile.svg",
                "06-timeline-cpu-per-request-of-each-visit-in-the-order-in-which-they-ran.svg",
                "07-visits-of-c-epoll-1-under-hello-cohort-1-of-6.svg",
                "08-visits-of-go-net-under-hello-cohort-1-of-6.svg",
                "09-visits-of-own-server-under-hello-cohort-1-of-6.svg",
            ]
        );
        for picture in pictures {
            let mut reader = quick_xml::Reader::from_str(&picture.text);
            while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
            let is_whole = picture.text.ends_with("</svg>\n") && picture.text.contains("--text: ");
            assert!(is_whole, "{}", picture.name);
        }
    }
}
