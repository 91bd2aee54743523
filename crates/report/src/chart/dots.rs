//! A chart of marks, each kind with its look and its meaning in a key.

use maud::{Markup, html};

use super::{
    Axis, Marks, Outline,
    frame::{BELOW, BOTTOM, EDGE, Frame, LEFT, TOP},
    svg::{Drawn, marks, number},
};

/// The width of the area of the marks, in CSS pixels.
const WIDTH: f64 = 500.0;

impl Outline {
    const fn path(self) -> &'static str {
        match self {
            Self::Dot | Self::Strip => "h0",
            Self::Cross => "m-3.5-3.5l7 7m0-7l-7 7",
            Self::Ring => "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
        }
    }
}

pub(super) fn drawing(
    title: &str,
    (x, y): (&Axis, &Axis),
    all: &[Marks],
    level: Option<f64>,
    begins: &[f64],
) -> Drawn {
    let frame = Frame { width: WIDTH, x, y };
    let place = |of: &Marks, at: (f64, f64)| match (frame.place(at), of.outline) {
        ((x, _), Outline::Strip) => (x, BOTTOM),
        (place, _) => place,
    };
    let content = html! {
        (frame.axes())
        @for begin in begins {
            @let x = number(frame.place((*begin, 1.0)).0);
            line.one x1=(x) x2=(x) y1=(TOP) y2=(BOTTOM) {}
        }
        @if let Some(level) = level {
            @let y = number(frame.place((0.0, level)).1);
            line.one x1=(LEFT) x2=(LEFT + WIDTH) y1=(y) y2=(y) {}
        }
        @for of in all {
            path class={ "estimate visit " (of.class) }
                d=(marks(of.outline.path(), of.points.iter().map(|at| place(of, *at)))) {}
        }
    };
    let size = (LEFT + WIDTH + EDGE, BOTTOM + BELOW);
    Drawn { key: key(all), ..Drawn::new("dots", title, size, content) }
}

fn key(all: &[Marks]) -> Markup {
    html! {
        ul.key {
            @for Marks { class, outline, words, .. } in all {
                li {
                    svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" {
                        path class={ "visit " (class) } d={ "M7 7" (outline.path()) } {}
                    }
                    (words)
                }
            }
        }
    }
}
