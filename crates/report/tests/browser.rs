//! The pages of the golden files in headless Chromium: no message in the console, no text outside its box
//! on a narrow and on a wide screen in both colour schemes, and nothing that axe finds.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde::{Deserialize, de::DeserializeOwned};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const LAYOUT: &str = include_str!("browser/layout.js");
const SORTED: &str = include_str!("browser/sorted.js");
/// Widths of a telephone and of a small notebook, in CSS pixels.
const WIDTHS: [u32; 2] = [390, 1280];

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
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    assert!(!pages.is_empty());
    pages
}

/// Opens a document and returns what its scripts wrote into `#result`. Fails on messages in the console.
fn opened<T: DeserializeOwned>(document: &str, scheme: Scheme) -> T {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    fs::write(&file, document).unwrap();
    let scheme = match scheme {
        Scheme::Dark => 0,
        Scheme::Light => 1,
    };
    let output = Command::new("timeout")
        .args([
            "60",
            "chromium",
            "--disable-dev-shm-usage",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
        ])
        .args(["--window-size=1300,900", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
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

fn layout(page: &str, width: u32, scheme: Scheme) -> Layout {
    framed(page, width, scheme, LAYOUT)
}

/// What `script` finds in a page in a frame of this width.
fn framed<T: DeserializeOwned>(page: &str, width: u32, scheme: Scheme, script: &str) -> T {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    let frame = format!(
        "<iframe width=\"{width}\" height=\"800\" style=\"border: 0\" srcdoc=\"{page}\"></iframe>"
    );
    opened(
        &format!("<!doctype html>{frame}<pre id=\"result\"></pre><script>{script}</script>"),
        scheme,
    )
}

#[test]
#[ignore = "needs chromium"]
fn no_text_leaves_its_box_with_chromium() {
    for (path, page) in pages() {
        for width in WIDTHS {
            let [light, dark] = [Scheme::Light, Scheme::Dark].map(|it| layout(&page, width, it));
            for found in [&light, &dark] {
                assert_eq!(found.problems, [""; 0], "{} at {width} px", path.display());
                assert_eq!(found.pictures, page.matches("role=\"img\"").count());
            }
            assert_ne!(light.background, dark.background, "both are {}", dark.background);
        }
    }
}

/// The servers of the golden page, in the order in which they are shown.
#[test]
#[ignore = "needs chromium"]
fn tables_are_sorted_and_filtered_with_chromium() {
    let (_, page) = pages().into_iter().find(|(path, _)| path.ends_with("run.html")).unwrap();
    let found: Vec<String> = framed(&page, 1280, Scheme::Light, SORTED);
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
    ];
    assert_eq!(found, expected);
}

#[test]
#[ignore = "needs chromium"]
fn a_page_that_is_too_wide_is_found_with_chromium() {
    let page = "<main><p style=\"width: 300px; white-space: nowrap; overflow: hidden\">\
                a line of text that is longer than its paragraph is wide, by far</p>\
                <div style=\"width: 500px\">wide</div>\
                <svg role=\"img\" width=\"90\" height=\"20\"><text x=\"0\" y=\"15\">1.00</text>\
                <text x=\"20\" y=\"15\">1.02</text><text x=\"85\" y=\"15\">1.10</text></svg></main>";
    let found = layout(page, 390, Scheme::Light).problems.join("\n");
    for problem in [
        "px wide",
        "outside the page: <div>",
        "text leaves its box: <p>",
        "overlap",
        "leaves its picture",
        "no mark",
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
    let script = "axe.run().then((found) => {\
        const text = (it) => it.id + ': ' + it.nodes.map((node) => node.html).join(' ');\
        const result = document.createElement('pre');\
        result.id = 'result';\
        result.textContent = JSON.stringify({\
            passes: found.passes.length, violations: found.violations.map(text)});\
        document.body.append(result);\
    });";
    let with_axe = |page: &str| {
        let policy = page
            .find("<meta http-equiv")
            .map_or(0..0, |start| start..start + page[start..].find('>').unwrap() + 1);
        let mut page = page.to_owned();
        page.replace_range(policy, "");
        format!("{page}<script>{axe}</script><script>{script}</script>")
    };
    for (path, page) in pages() {
        for scheme in [Scheme::Light, Scheme::Dark] {
            let found: Axe = opened(&with_axe(&page), scheme);
            assert_eq!(found.violations, [""; 0], "{} in {scheme:?}", path.display());
            assert!(found.passes > 10, "{found:?}");
        }
    }
    let unnamed: Axe = opened(&with_axe("<!doctype html><img src=\"data:,\">"), Scheme::Light);
    assert!(unnamed.violations.iter().any(|it| it.starts_with("image-alt")), "{unnamed:?}");
}

/// Where `cargo xtask test` installs it.
fn axe() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/axe/node_modules/axe-core/axe.min.js")
}
