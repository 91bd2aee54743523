//! The pages of the golden files and of the largest result in headless Chromium: no message in the console,
//! no text outside its box on a narrow, a middle and a wide screen in both colour schemes, and nothing that
//! axe finds.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};
use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use wirebench_report::{Details, Report as _, analysis::Analysis, screen::Facts};
use wirebench_schema::journal::Journal;

/// Where a result that is kept has its runs.
const JOURNAL: &str = "runs.jsonl.gz";
const STYLE: &str = include_str!("../src/html/style.css");
const SCRIPT: &str = include_str!("../src/html/table.js");
const LAYOUT: &str = include_str!("browser/layout.js");
const AXE: &str = include_str!("browser/axe.js");
const FRAMES: &str = include_str!("browser/frames.js");
const SORTED: &str = include_str!("browser/sorted.js");
/// Widths of a telephone, a tablet and a small notebook, in CSS pixels.
const WIDTHS: [u32; 3] = [390, 800, 1280];

/// Frames of one document. Few browsers open many frames each: on a busy machine the start of one takes seconds, and so
/// does axe in each frame.
const PAGES_AT_ONCE: usize = 16;
/// The end of a browser that hangs.
const MOST_SECONDS: &str = "300";

#[derive(Clone, Copy, Debug)]
enum Scheme {
    Dark,
    Light,
}

#[derive(Debug, Deserialize)]
struct Layout {
    problems: Vec<String>,
    background: String,
    pictures: usize,
}

#[derive(Debug, Deserialize)]
struct Axe {
    passes: usize,
    violations: Vec<String>,
}

fn pages() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/page");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let pages: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "html"))
        .map(|path| (path.clone(), whole(&fs::read_to_string(path).unwrap())))
        .collect();
    assert!(!pages.is_empty());
    pages
}

/// The page of the largest result that is kept.
fn largest() -> (PathBuf, String) {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let journals = folders(&results).iter().flat_map(|folder| folders(folder)).collect::<Vec<_>>();
    let size = |folder: &PathBuf| fs::metadata(folder.join(JOURNAL)).map_or(0, |it| it.len());
    let folder = journals.into_iter().max_by_key(size).unwrap();
    let mut text = String::new();
    let file = fs::File::open(folder.join(JOURNAL)).unwrap();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    let journal = Journal::parse(&text).unwrap();
    let analysis = Analysis::of(&journal);
    let details = Details { analysis: &analysis, metric: None, facts: Facts::default() };
    (folder, details.html())
}

/// A page with the style and the script that its golden file only names.
fn whole(page: &str) -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    page.replace("<style></style>", &format!("<style>{STYLE}</style>"))
        .replace("<script></script>", &format!("<script>{SCRIPT}</script>"))
        .replace("'sha256-'", &format!("'sha256-{hash}'"))
}

/// Opens a document and returns what its scripts wrote into `#result`. Fails on messages in the console.
fn opened<T: DeserializeOwned>(document: &str, scheme: Scheme) -> T {
    let options =
        ["--enable-logging=stderr", "--window-size=1300,900", "--virtual-time-budget=20000"];
    let output = chromium(document, scheme, &[&options[..], &["--dump-dom"]].concat());
    let [dom, log] =
        [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    let messages: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(messages.is_empty(), "{messages:#?}");
    let result =
        dom.split_once("<pre id=\"result\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (result, _) = result.unwrap_or_else(|| panic!("no result in {dom}\n{log}"));
    let text = [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&")]
        .into_iter()
        .fold(result.to_owned(), |text, (from, to)| text.replace(from, to));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}\n{log}"))
}

/// Opens a document with more options.
fn chromium(document: &str, scheme: Scheme, options: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    fs::write(&file, document).unwrap();
    let scheme = match scheme {
        Scheme::Dark => 0,
        Scheme::Light => 1,
    };
    Command::new("timeout")
        .args([MOST_SECONDS, "chromium", "--disable-dev-shm-usage", "--headless", "--no-sandbox"])
        .args(["--disable-gpu", "--hide-scrollbars"])
        .args(options)
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap()
}

/// What the `inspect` of `script` finds in each page, in a frame of its width.
fn framed<T: DeserializeOwned>(pages: &[(String, u32)], scheme: Scheme, script: &str) -> Vec<T> {
    let found = |pages| framed_at_once::<T>(pages, scheme, script);
    pages.chunks(PAGES_AT_ONCE).flat_map(found).collect()
}

/// One browser opens them all.
fn framed_at_once<T: DeserializeOwned>(
    pages: &[(String, u32)],
    scheme: Scheme,
    script: &str,
) -> Vec<T> {
    let frame = |(page, width): &(String, u32)| {
        let page = page.replace('&', "&amp;").replace('"', "&quot;");
        format!(
            "<iframe width=\"{width}\" height=\"800\" style=\"border: 0\" srcdoc=\"{page}\"></iframe>"
        )
    };
    let frames: String = pages.iter().map(frame).collect();
    let end = format!("<pre id=\"result\"></pre><script>{script}{FRAMES}</script>");
    opened(&format!("<!doctype html>{frames}{end}"), scheme)
}

#[test]
#[ignore = "needs chromium"]
fn no_text_leaves_its_box_with_chromium() {
    let all: Vec<_> = pages().into_iter().chain([largest()]).collect();
    let pages = WIDTHS.map(|width| all.iter().map(move |(path, page)| (path, page, width)));
    let pages: Vec<_> = pages.into_iter().flatten().collect();
    let frames: Vec<_> = pages.iter().map(|(_, page, width)| ((*page).clone(), *width)).collect();
    let [light, dark] =
        [Scheme::Light, Scheme::Dark].map(|scheme| framed::<Layout>(&frames, scheme, LAYOUT));
    let mut problems = Vec::new();
    for (((path, page, width), light), dark) in pages.iter().zip(&light).zip(&dark) {
        for found in [light, dark] {
            let place = format!("{} at {width} px", path.display());
            problems.extend(found.problems.iter().map(|it| format!("{place}: {it}")));
            assert_eq!(found.pictures, page.matches("role=\"img\"").count());
        }
        assert_ne!(light.background, dark.background, "both are {}", dark.background);
    }
    assert_eq!((light.len(), dark.len()), (pages.len(), pages.len()));
    assert!(problems.is_empty(), "{problems:#?}");
}

/// To be looked at: `target/screenshots/` has each page on a wide and on a narrow screen.
#[test]
#[ignore = "needs chromium"]
fn each_page_has_screenshots_with_pictures() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../screenshots");
    fs::create_dir_all(&folder).unwrap();
    for (path, page) in pages() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for (scheme, size) in [(Scheme::Light, "1280,1600"), (Scheme::Dark, "500,1600")] {
            let file = folder.join(format!("{name}-{scheme:?}.png").to_lowercase());
            let _ = fs::remove_file(&file);
            let picture = format!("--screenshot={}", file.display());
            let output = chromium(&page, scheme, &[&format!("--window-size={size}"), &picture]);
            let bytes = fs::read(&file).unwrap_or_default();
            assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 5000, "{name}: {output:?}");
        }
    }
}

/// The servers of the golden page, in the order in which they are shown.
#[test]
#[ignore = "needs chromium"]
fn tables_are_sorted_and_filtered_with_chromium() {
    let (_, page) = pages().into_iter().find(|(path, _)| path.ends_with("run.html")).unwrap();
    let found: Vec<Vec<String>> = framed(&[(page, 1280)], Scheme::Light, SORTED);
    let expected = [
        "at first: c/epoll own/server go/net",
        "by CPU: own/server c/epoll go/net",
        "aria-sort: ascending",
        "by CPU again: go/net c/epoll own/server",
        "as at first: c/epoll own/server go/net",
        "by name: c/epoll go/net own/server",
        "without a figure last: c/epoll go/net own/server",
        "filter by name: go/net, 1 of 3 rows",
        "filter by class: c/epoll, 1 of 3 rows",
        "with the baseline: c/epoll reference, go/net 1.25 (1.22..1.29), own/server 0.75 (0.73..0.78)",
        "vs go/net: c/epoll 0.80 (0.78..0.82), go/net reference, own/server 0.60 (0.58..0.62)",
        "vs c/epoll: c/epoll reference, go/net 1.25 (1.22..1.29), own/server 0.75 (0.73..0.78)",
    ];
    assert_eq!(found, [expected]);
}

/// The results of all verbs. A reader sees how to repeat them before what they are.
#[test]
fn each_result_begins_with_its_command_and_date() {
    let named = |name: &str| pages().into_iter().find(|(path, _)| path.ends_with(name)).unwrap().1;
    for (name, results) in [
        ("run.html", 1),
        ("ab.html", 1),
        ("sweep.html", 1),
        ("search.html", 1),
        ("compare.html", 2),
        ("compare-loads.html", 2),
        ("load.html", 1),
    ] {
        let page = named(name);
        let (begin, _) = page.split_once("class=\"result\"").unwrap();
        let (_, origin) = begin.split_once("class=\"origin\"").unwrap_or_default();
        for fact in ["command", "measured", "program"] {
            assert_eq!(origin.matches(&format!("<dt>{fact}</dt>")).count(), results, "{name}");
        }
    }
}

#[test]
#[ignore = "needs chromium"]
fn a_page_that_is_too_wide_is_found_with_chromium() {
    let page = "<main><p style=\"width: 300px; white-space: nowrap; overflow: hidden\">\
                a line of text that is longer than its paragraph is wide, by far</p>\
                <div style=\"width: 500px\">wide</div>\
                <svg role=\"img\" width=\"90\" height=\"20\"><text x=\"0\" y=\"15\">1.00</text>\
                <text x=\"20\" y=\"15\">1.02</text><text x=\"85\" y=\"15\">1.10</text>\
                <text x=\"50\" y=\"35\">low</text></svg>\
                <table><thead><tr><th>server</th></tr></thead></table>\
                <pre>####</pre><div class=\"plot lines\" style=\"width: 90px\">\
                <svg role=\"img\" width=\"90\" height=\"20\" viewBox=\"0 0 180 40\">\
                <text x=\"9\" y=\"20\" font-size=\"12\">5 ms</text></svg></div>\
                <table><thead><tr><th>ratio</th></tr></thead><tr><td class=\"picture\">\
                <svg class=\"ratio\" width=\"90\" height=\"20\"></svg></td></tr></table></main>";
    let lines = "<path class=\"line\"/>".repeat(13);
    let page = page.replace("5 ms</text>", &format!("5 ms</text>{lines}"));
    let found: Vec<Layout> = framed(&[(page, 390)], Scheme::Light, LAYOUT);
    let found = found[0].problems.join("\n");
    for problem in [
        "px wide",
        "outside the page: <div>",
        "text leaves its box: <p>",
        "overlap",
        "leaves its picture: <text> 1.10",
        "leaves its picture: <text> low",
        "no cards: <table>",
        "no mark",
        "text is too small",
        "no labels on an axis",
        "too many lines",
        "a ratio without an axis",
        "a narrow picture",
        "a picture of characters",
    ] {
        assert!(found.contains(problem), "{problem}: {found}");
    }
}

#[test]
#[ignore = "needs chromium"]
#[should_panic(expected = "a message")]
fn a_message_in_the_console_fails_with_chromium() {
    let page = "<pre id=\"result\">0</pre><script>console.error('a message')</script>";
    let _: u32 = opened(page, Scheme::Light);
}

#[test]
#[ignore = "needs chromium and axe-core"]
fn axe_finds_nothing_with_axe() {
    let axe = fs::read_to_string(axe()).unwrap();
    let with_axe = |page: &str| {
        let policy = page
            .find("<meta http-equiv")
            .map_or(0..0, |start| start..start + page[start..].find('>').unwrap() + 1);
        let mut page = page.to_owned();
        page.replace_range(policy, "");
        (format!("{page}<script>{axe}</script>"), 1280)
    };
    let mut pages: Vec<String> = pages().into_iter().map(|(_, page)| page).collect();
    pages.push("<!doctype html><img src=\"data:,\">".to_owned());
    let frames: Vec<_> = pages.iter().map(|page| with_axe(page)).collect();
    for scheme in [Scheme::Light, Scheme::Dark] {
        let mut found: Vec<Axe> = framed(&frames, scheme, AXE);
        assert_eq!(found.len(), pages.len());
        let unnamed = found.pop().unwrap();
        assert!(unnamed.violations.iter().any(|it| it.starts_with("image-alt")), "{unnamed:?}");
        for (page, found) in pages.iter().zip(found) {
            assert_eq!(found.violations, [""; 0], "{page} in {scheme:?}");
            assert!(found.passes > 10, "{found:?}");
        }
    }
}

/// Where `cargo xtask test` installs it.
fn axe() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/axe/node_modules/axe-core/axe.min.js")
}
