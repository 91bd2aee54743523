//! A flame graph: a frame for each function in its place among the stacks, as wide as the CPU time of a request in it
//! and in all that it calls.

use maud::html;

use super::{
    Flame,
    svg::{Drawn, number},
};
use crate::{
    table_units::{percent, thousands},
    wrap::cut,
};

/// The picture, a frame and a sign in it, in CSS pixels.
const WIDTH: f64 = 1200.0;
const TITLE: f64 = 26.0;
const FRAME: f64 = 17.0;
const SIGN_WIDTH: f64 = 7.3;
/// Narrower frames are not drawn, nor what they call.
const LEAST_WIDTH: f64 = 0.4;
/// Fewer signs say nothing.
const LEAST_SIGNS: usize = 3;
/// The end of the names of functions of the kernel.
const KERNEL: &str = "_[k]";

/// A function at one place among the stacks.
struct Frame<'a> {
    symbol: &'a str,
    depth: usize,
    /// The CPU time of all frames at its left, its own, and that in the other profile.
    start: f64,
    ns: [f64; 2],
}

type Stack<'a> = (Vec<&'a str>, [f64; 2]);

pub(super) fn drawing(title: &str, flame: &Flame) -> Drawn {
    let frames = |stack| ["all"].into_iter().chain(str::split(stack, ';')).collect();
    let mut stacks: Vec<Stack<'_>> =
        flame.stacks.iter().map(|(stack, ns)| (frames(stack.as_str()), *ns)).collect();
    stacks.sort_by(|(a, _), (b, _)| a.cmp(b));
    let all = sum(&stacks)[0].max(f64::MIN_POSITIVE);
    let mut frames = Vec::new();
    add(&stacks, 0, (0.0, all * LEAST_WIDTH / WIDTH), &mut frames);
    let most = frames.iter().map(|it| (it.ns[0] - it.ns[1]).abs()).fold(0.0, f64::max);
    let height = TITLE + FRAME * frames.iter().map(|it| it.depth + 1).max().unwrap_or(0) as f64;
    let content = html! {
        rect width=(WIDTH) height=(height) fill="#fff" {}
        text.frame x="2" y="17" { (title) }
        g data-frames="" {
            @for frame in &frames {
                @let (x, width) = (frame.start / all * WIDTH, frame.ns[0] / all * WIDTH);
                @let y = height - FRAME * (frame.depth + 1) as f64;
                @let name = frame.symbol.trim_end_matches(KERNEL);
                @let signs = ((width - 6.0) / SIGN_WIDTH) as usize;
                g {
                    title { (words(frame, name, all, flame.is_difference)) }
                    rect x=(number(x)) y=(y) width=(number(width)) height=(FRAME - 1.0) rx="2"
                        fill=(colour(frame, flame.is_difference.then_some(most))) {}
                    @if signs >= LEAST_SIGNS { text.frame x=(number(x + 3.0)) y=(y + 12.0) { (cut(name, signs)) } }
                }
            }
        }
    };
    Drawn::new("map", title, (WIDTH, height), content)
}

fn sum(stacks: &[Stack<'_>]) -> [f64; 2] {
    stacks.iter().fold([0.0; 2], |sum, (_, ns)| [sum[0] + ns[0], sum[1] + ns[1]])
}

/// Adds the frames of stacks that are the same up to `depth`, from the left.
fn add<'a>(
    stacks: &[Stack<'a>],
    depth: usize,
    (mut start, least): (f64, f64),
    frames: &mut Vec<Frame<'a>>,
) {
    for stacks in stacks.chunk_by(|(a, _), (b, _)| a.get(depth) == b.get(depth)) {
        let ns = sum(stacks);
        if let Some(symbol) = stacks[0].0.get(depth).filter(|_| ns[0] >= least) {
            frames.push(Frame { symbol, depth, start, ns });
            add(stacks, depth + 1, (start, least), frames);
        }
        start += ns[0];
    }
}

/// `read (1 000 ns per request, 25.0 %)`
fn words(frame: &Frame<'_>, name: &str, all: f64, is_difference: bool) -> String {
    let [own, other] = frame.ns;
    let (time, share) = (thousands(own.round()), percent(own / all));
    let sign = if own < other { "-" } else { "+" };
    let more = match is_difference {
        true => format!("; {sign}{} ns", thousands((own - other).abs().round())),
        false => String::new(),
    };
    format!("{name} ({time} ns per request, {share}{more})")
}

/// Functions of the kernel are orange, and others between yellow and green. Of a difference, red is more time and blue
/// less, the stronger the more of the largest difference.
fn colour(frame: &Frame<'_>, most: Option<f64>) -> String {
    if let Some(most) = most {
        let share = (frame.ns[0] - frame.ns[1]) / most.max(f64::MIN_POSITIVE);
        let hue = if share > 0.0 { 10 } else { 215 };
        return format!("hsl({hue}, 90%, {:.0}%)", 95.0 - 30.0 * share.abs());
    }
    let add = |hash: u32, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte));
    let hash = frame.symbol.bytes().fold(0, add);
    let (hue, range) = if frame.symbol.ends_with(KERNEL) { (20, 20) } else { (55, 80) };
    format!("hsl({}, 75%, {}%)", hue + hash % range, 65 + hash / range % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_equal_stacks_meet_and_narrow_ones_collapse() {
        let stacks = [("a", 1.0), ("a;b", 2.0), ("a;b;c", 4.0), ("d", 0.1)]
            .map(|(stack, ns)| (stack.split(';').collect(), [ns, 0.0]));
        let mut frames = Vec::new();
        add(&stacks, 0, (0.0, 0.5), &mut frames);
        let seen = frames.iter().map(|it| (it.symbol, it.start, it.ns[0]));
        assert!(seen.eq([("a", 0.0, 7.0), ("b", 1.0, 6.0), ("c", 3.0, 4.0)]));
    }
}
