//! What `wirebench load -o` writes, and what other verbs make of it.

use crate::{
    load::served,
    world::{World, assert_has, entries},
};
use std::{fs, path::PathBuf, time::Duration};
use wirebench_schema::load::{BodyCheck, LoadConfig, LoadModel, LoadResult, Stop};

/// A short load that writes a folder in `results`, and the folder.
fn folder(world: &World, arguments: &[&str]) -> (String, PathBuf) {
    let results = world.path("results");
    let begin = ["load", "-c2", "-d350ms", "--interval=100ms", "--output=results"];
    let before = entries(&results);
    let outcome = world.wirebench(&[&begin, arguments].concat()).ended(0);
    let mut new = entries(&results);
    new.retain(|path| !before.contains(path));
    assert_eq!(new.len(), 1, "{new:?}");
    (outcome.stdout, new.remove(0))
}

/// Two requests of the built-in server, as a file.
fn requests(world: &World) -> String {
    let other = r#"{"path": "/", "name": "<other>"}"#;
    world.write("api.jsonl", format!("{{\"path\": \"/\", \"name\": \"home\"}}\n{other}\n"))
}

#[test]
fn a_folder_has_the_result_the_machine_and_a_page_and_report_shows_it() {
    let (world, _server, url) = served("hello");
    let requests = requests(&world);
    let (printed, folder) =
        folder(&world, &["--requests", &requests, "-H", "Cookie: secret", &url]);
    assert_has(&printed, &["Requests/sec:", "Report: ", "report.html"]);
    let names: Vec<_> =
        entries(&folder).iter().map(|it| it.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["environment.json", "load.json", "report.html"]);
    let text = fs::read_to_string(folder.join("load.json")).unwrap();
    let result = LoadResult::parse(&text).unwrap().unwrap();
    assert!(result.report.requests > 0 && result.intervals.len() >= 3, "{text}");
    assert_eq!(result.report.by_name.len(), 2);
    assert_eq!(result.command[1], "load");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert_has(
        &page,
        &[
            "Requests by name",
            "&lt;other&gt;",
            "latency by percentile",
            "Over time",
            "requests: 2 of api.jsonl",
        ],
    );
    assert!(!page.contains("secret"), "headers with secrets are removed");
    let folder = folder.display().to_string();
    world.wirebench(&["report", &folder]).assert_prints(0, &[printed.trim_end()]);
    world
        .wirebench(&["report", &folder, "--explain"])
        .assert_prints(0, &["Latency Distribution", "Engine: "]);
    for (form, part) in [
        ("markdown", "# Load on http://"),
        ("html", "<h1>Load on http://"),
        ("csv", ",requests_per_second,"),
        ("bencher", "\"load http://"),
    ] {
        world.wirebench(&["report", &folder, "--format", form]).assert_prints(0, &[part]);
    }
    let json = world.stdout(&["report", &folder, "--json"]);
    let alone = world.write("alone.json", &json);
    world.wirebench(&["report", &alone]).assert_prints(0, &["Requests/sec:", "Limit: "]);
    world
        .wirebench(&["report", &folder, "--svg=pictures"])
        .assert_prints(0, &["latency-by-percentile.svg"]);
}

#[test]
fn a_stored_load_is_repeated_and_options_change_it() {
    let (world, _server, url) = served("hello");
    let requests = requests(&world);
    let (_, folder) = folder(
        &world,
        &["-R", "500.5", "--requests", &requests, "-H", "Accept: a/b", "--timeout", "7s", &url],
    );
    let config = |text: &str| LoadResult::parse(text).unwrap().unwrap().report.config;
    let stored = config(&fs::read_to_string(folder.join("load.json")).unwrap());
    let path = folder.join("load.json").display().to_string();
    let repeat = ["load", "--json", "--config", &path];
    assert_eq!(config(&world.stdout(&repeat)), stored);
    let others = ["-n7", "--delay", "1ms", "-c1", "--any-body"];
    let changed = config(&world.stdout(&[&repeat, &others[..]].concat()));
    let delay = Duration::from_millis(1);
    let (model, stop) = (LoadModel::Think { delay }, Stop::Requests(7));
    let (connections, threads, body_check) = (1, 1, BodyCheck::Any);
    assert_eq!(changed, LoadConfig { model, stop, connections, threads, body_check, ..stored });
    world
        .wirebench(&["load", "--config", &requests])
        .assert_refused(2, &["not the JSON of a load: "]);
}

#[test]
fn an_archive_of_a_load_shows_what_the_load_shows_without_secrets() {
    let (world, _server, url) = served("hello");
    let folder = folder(&world, &["-H", "Cookie: hidden-value", &url]).1.display().to_string();
    assert_eq!(world.stdout(&["report", &folder, "--archive", "kept"]), "kept\n");
    let kept = world.path("kept");
    let names = entries(&kept);
    assert_eq!(names, ["environment.json", "load.json.gz"].map(|it| kept.join(it)));
    let json = |result: &str| world.stdout(&["report", result, "--json"]);
    assert_eq!(json("kept"), json(&folder));
    assert_eq!(json("kept/load.json.gz"), json("kept"));
    let all = world.stdout(&["report", "kept", "--json", "--no-redact"]);
    assert!(!all.contains("hidden-value") && all.contains("Cookie: [redacted]"), "{all}");
    world.wirebench(&["compare", "kept", "kept"]).assert_prints(0, &["requests/s"]);
    assert_has(&world.stdout(&["site", "kept", "-o", "site"]), &["1 load"]);
    let again = "cannot write the archive in kept: kept/load.json.gz: File exists (os error 17)";
    world.wirebench(&["report", &folder, "--archive", "kept"]).assert_error(1, again);
    let bytes = fs::read(kept.join("load.json.gz")).unwrap();
    fs::write(kept.join("load.json.gz"), &bytes[..bytes.len() - 6]).unwrap();
    let damaged = "kept/load.json.gz: the load is damaged: unexpected end of file";
    world.wirebench(&["report", "kept"]).assert_error(2, damaged);
    fs::write(kept.join("load.json"), "{\n  \"format\": 4,\n").unwrap();
    let damaged =
        "kept/load.json: the load is damaged: EOF while parsing an object at line 3 column 0";
    for arguments in [["report", "kept"], ["load", "--config=kept"], ["report", "kept/load.json"]] {
        world.wirebench(&arguments).assert_error(2, damaged);
    }
}

#[test]
fn a_load_that_fails_leaves_no_folder_and_a_wrong_place_is_an_error_before_it() {
    let world = World::new();
    world.wirebench(&["load", "--output=results", "http://127.0.0.1:1/"]).ended(1);
    assert_eq!(entries(&world.path("results")), [""; 0].map(PathBuf::from));
    let file = world.write("file", "");
    let outcome = world.wirebench(&["load", "-o", &file, "http://127.0.0.1:1/"]);
    assert_has(&outcome.ended(1).stderr, &["file: "]);
}

#[test]
fn two_loads_are_compared_and_other_pairs_are_refused() {
    let (world, _server, url) = served("hello");
    let [old, new] = [folder(&world, &[&url]).1, folder(&world, &[&url]).1];
    let [old, new] = [old, new].map(|it| it.display().to_string());
    let parts =
        ["requests/s", "p99.9", "change", "One load each: no interval is known", "wirebench ab"];
    world.wirebench(&["compare", &old, &new]).assert_prints(0, &parts);
    let json = format!("{new}/load.json");
    world
        .wirebench(&["compare", &old, &json, "--json"])
        .assert_prints(0, &["\"metric\": \"latency_ns_p99\""]);
    let refused = "--fail-if 'throughput < -3%': no interval of a change is known from one load each: write a limit \
                   of the newer one such as 'p99 > 5ms', or use `wirebench ab`";
    world
        .wirebench(&["compare", &old, &new, "--fail-if", "p99 > 1ns"])
        .assert_prints(4, &["FAILED 'p99 > 1 ns'"]);
    world
        .wirebench(&["compare", &old, &new, "--fail-if", "throughput < -3%"])
        .assert_error(2, refused);
    let other = folder(&world, &["-p", "2", "-R", "1000", &url]).1.display().to_string();
    let outcome = world.wirebench(&["compare", &old, &other]);
    outcome.assert_refused(3, &["because these differ", "`pipeline` was `1` and is `2`"]);
    let forced = world.wirebench(&["compare", &old, &other, "--force"]);
    forced.assert_prints(0, &["with --force despite"]);
    let journal = world.write("runs.jsonl", "{\"record\":\"start\"}\n");
    for [a, b] in [[&old, &journal], [&journal, &old]] {
        let refused = format!(
            "{old} is a load and {journal} is not: compare two loads, or two results of `wirebench run`"
        );
        world.wirebench(&["compare", a, b]).assert_error(2, &refused);
    }
}

#[test]
fn a_site_lists_loads_with_their_pages() {
    let (world, _server, url) = served("hello");
    for _ in 0..2 {
        folder(&world, &["-H", "Cookie: secret", &url]);
    }
    let printed = "0 runs, 0 with significant changes, 2 loads: site/index.html\n";
    assert_eq!(world.stdout(&["site", "results", "-o", "site"]), printed);
    // Those that are there stay.
    assert_eq!(world.stdout(&["site", "results", "-o", "site"]), printed);
    let site = world.path("site");
    let page = fs::read_to_string(site.join("index.html")).unwrap();
    assert_has(&page, &["<h2>Loads</h2>", &url, "href=\"servers/http__----127.0.0.1__"]);
    let all = entries(&site.join("loads"));
    assert_eq!(all.len(), 2);
    for own in all {
        let name = own.file_name().unwrap().to_string_lossy().into_owned();
        assert!(page.contains(&format!("href=\"loads/{name}/index.html\"")), "{page}");
        let page = fs::read_to_string(own.join("index.html")).unwrap();
        assert_has(&page, &["<h1>Load on http://"]);
        let json = fs::read_to_string(own.join("load.json")).unwrap();
        assert!(LoadResult::parse(&json).unwrap().is_ok() && !json.contains("secret"), "{json}");
    }
}
