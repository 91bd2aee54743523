//! Secrets go in by every way that requests and commands have, and are in nothing that wirebench writes or prints.

use crate::{
    servers,
    world::{Outcome, World, entries, result_in},
};
use rustix::process::Signal;
use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read, Write},
    net::TcpStream,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};
use wirebench_experiment::journal::unpacked;

/// The beginning of all secrets.
const MARK: &str = "hush";
/// The same behind a user name in base64.
const ENCODED: &str = "YW5uOmh1c2";

/// Answers one request with the secrets in it and without their names: in the reason phrase, in a header line that is
/// not valid, or in the body.
fn tattle(mut stream: &TcpStream) -> io::Result<()> {
    static REPLIES: AtomicUsize = AtomicUsize::new(0);
    let mut buffer = vec![0; 1 << 16];
    let length = stream.read(&mut buffer)?;
    let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
    let words = request.split(|it: char| !it.is_ascii_alphanumeric() && it != '=');
    let words = words.flat_map(|it| it.split_once('=').map_or([it, ""], |(_, it)| [it, ""]));
    let words: Vec<&str> = words.filter(|it| it.contains(MARK) || it.contains(ENCODED)).collect();
    let words = words.join(" ");
    match REPLIES.fetch_add(1, Ordering::Relaxed) % 4 {
        0 => write!(stream, "HTTP/1.1 403 {words} is not known\r\nContent-Length: 0\r\n\r\n"),
        1 => write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {words}\r\n\r\n"),
        2 => write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{words} and more"),
        _ => write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"),
    }
}

/// JSON lines, with secrets in queries, names, header lines, bodies and expectations.
const LINES: &str = include_str!("secrets.jsonl");
/// URLs with and without credentials, as vegeta has its targets.
const TARGETS: &str = "GET http://ann:hush16@ADDRESS/users/5?api_key=hush17\nX-Api-Key: hush18\n\n\
                       GET http://ADDRESS/users/6\nProxy-Authorization: Basic hush19\n";
const ARCHIVE: &str = r#"{"log": {"entries": [{"request": {"method": "POST", "url": "http://ADDRESS/login?auth=hush20",
"headers": [{"name": "cookie", "value": "a=\"hush21\"; b=hush22"}],
"postData": {"text": "{\"credentials\": {\"user\": \"hush23\"}, \"apikey\": \"hush24\"}"}}}]}}"#;

#[test]
fn no_output_of_a_load_has_a_secret() {
    let world = World::new();
    search_loads(&world, &servers::local_api().to_string(), Some(0));
}

#[test]
fn no_output_of_a_load_has_a_secret_that_the_server_gives_back_without_its_name() {
    let world = World::new();
    let serve = |stream| _ = tattle(&stream);
    let address = servers::in_threads("127.0.0.1".parse().unwrap(), serve);
    search_loads(&world, &address.to_string(), None);
}

/// Makes loads with secrets on the server at `address`, which end with `code` if it is known.
fn search_loads(world: &World, address: &str, code: Option<i32>) {
    let url = format!("http://{address}/");
    let here = |text: &str| text.replace("ADDRESS", address);
    world.write("api.jsonl", LINES);
    world.write("targets.txt", here(TARGETS));
    world.write("archive.har", here(ARCHIVE));
    world.write("body.json", "{\"token\": \"hush25\"}");
    let path = format!("{url}users/7?session_token=hush26");
    world.write("words.txt", "hush49\nhush51\n");
    let chosen = format!("{url}users/8?token={{choose:words.txt}}");
    let header = "X-Auth-Token: {choose:words.txt}";
    let loads: [&[&str]; 7] = [
        &["--requests", "api.jsonl", &url],
        &["--requests", "targets.txt"],
        &["--requests", "archive.har"],
        &["--method", "POST", "--body-file", "body.json", &url],
        &[
            "-H",
            "Authorization: Bearer hush27",
            "--header=Cookie: s=\"hush28 x\"; t='hush29'",
            &path,
        ],
        &["--method", "POST", "-H", "token: hush30", "--body", "pin=1&secret=hush31 hush32", &url],
        &["-H", header, &chosen],
    ];
    let mut shown = Vec::new();
    for (number, load) in loads.iter().enumerate() {
        let parent = format!("results/{number}");
        let files = ["csv", "hgrm", "openmetrics", "intervals"]
            .map(|it| format!("--{it}=out-{number}.{it}"));
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let common = ["load", "-c2", "-d200ms", "-o", &parent];
        shown.push(world.wirebench(&[&common, &files[..], load].concat()));
        shown.push(world.wirebench(&[&["load", "-c1", "-n8", "--json"], *load].concat()));
        shown.push(world.wirebench(&[&["load", "-c1", "-n8", "--events"], *load].concat()));
        // Where no reply was right, there is no result.
        let parent = world.path(&parent);
        if code.is_none() && entries(&parent).is_empty() {
            continue;
        }
        let folder = result_in(&parent).display().to_string();
        assert_read(world, &folder, &format!("kept-{number}"), &mut shown);
    }
    for words in [["load", "http://ann:hush33@127.0.0.1/"], ["load", "--password=hush33"]] {
        shown.push(world.wirebench(&words).ended(2));
    }
    assert_hidden(
        world,
        &shown,
        &["api.jsonl", "targets.txt", "archive.har", "body.json", "words.txt"],
    );
    if code != Some(0) {
        return;
    }
    let report = crate::load::read(&shown[1].stdout);
    let names: BTreeSet<&str> = report.by_name.iter().map(|it| it.name.as_str()).collect();
    let requests = report.config.requests.as_ref().unwrap();
    let paths: BTreeSet<&str> = requests.requests.iter().map(|it| it.path.as_str()).collect();
    assert!(
        names.contains("user token=[redacted]") && names.contains("user token=[redacted-2]"),
        "{names:?}"
    );
    assert!(paths.contains("/users/1?token=[redacted]") && paths.len() == 8, "{paths:?}");
}

#[test]
fn no_output_of_a_run_has_a_secret() {
    let world = World::new();
    let api = servers::command("api");
    let program = api.strip_suffix(" {port}").unwrap();
    world.write("srv.sh", format!("exec {program} \"$1\"\n"));
    world.write("api.jsonl", LINES.lines().next().unwrap());
    let server = |words: &str| format!("env {words} --listen redis://ann:hush41@h/0");
    let a = server(
        "TOKEN=hush34 'DB_PASSWORD=hush35 hush36' sh srv.sh {port} --api-key hush37 --auth=hush38 --user bob:hush48",
    );
    let b = server("TOKEN=hush39 sh srv.sh {port} --password 'hush40 x'");
    let run = ["run", "--server", &a, "--server", &b, "--phase", "saturate", "--steady", "0s"];
    let short =
        ["--cohorts", "1", "--duration", "200ms", "--warmup", "0s", "-H", "X-Auth-Token: hush42"];
    let requests = ["--path", "/users/1?key=hush43", "--expect-contains", "id"];
    let mut shown = vec![world.wirebench(&[&run[..], &short, &requests, &["--dry-run"]].concat())];
    let outcome = world.wirebench(&[&run[..], &short, &requests].concat());
    shown.push(outcome);
    let folder = world.results().display().to_string();
    assert_read(&world, &folder, "kept", &mut shown);
    shown.push(world.wirebench(&["compare", &folder, &folder, "--format=html"]));
    shown.push(world.wirebench(&["compare", &folder, "kept", "--json"]));
    world.write("tell.sh", "echo \"$TOKEN and $2 are not known\" >&2\nexit 1\n");
    let telling = ["run", "--server", "env TOKEN=hush46 sh tell.sh {port} --auth=hush47"];
    shown.push(world.wirebench(&[&telling[..], &short, &["-o", "telling"]].concat()).ended(1));
    shown.push(world.wirebench(&[
        "verify",
        "--server",
        &a,
        "--path",
        "/none?token=hush44",
        "--junit",
        "checks.xml",
    ]));
    shown.push(world.wirebench(&[
        "run",
        "--server",
        "no-such-server {port} --secret hush45",
        "--no-verify",
    ]));
    assert_hidden(&world, &shown, &["srv.sh", "api.jsonl"]);
    let commands: Vec<_> =
        world.journal().runs.iter().map(|it| it.server_command.join(" ")).collect();
    assert!(commands.iter().any(|it| it.contains("--api-key [redacted]")), "{commands:?}");
}

#[test]
fn secrets_are_shown_where_they_are_asked_for_and_a_run_without_them_is_not_resumed() {
    let (world, server) = (World::new(), servers::command("api"));
    let line = format!("env TOKEN=hush50 {server}");
    let run =
        ["run", "--server", &line, "--path", "/users/1", "--phase", "saturate", "--steady", "0s"];
    let short = ["--cohorts", "1", "--duration", "200ms", "--warmup", "0s"];
    let results = |name: &str| result_in(&world.path(name)).display().to_string();
    let running = world.start(&[&run[..], &short[2..], &["--cohorts", "9"]].concat());
    let hidden = world.wait_for_records("run", 1).display().to_string();
    running.signal(Signal::INT);
    running.end().assert_prints(130, &["It cannot be resumed, because the result does not keep"]);
    world.wirebench(&[&run[..], &short, &["-o", "shown", "--show-secrets"]].concat());
    let refused = world.wirebench(&["run", "--resume", &hidden]).ended(2).stderr;
    assert!(refused.contains("the result does not keep the secrets of its command"), "{refused}");
    assert!(refused.contains("--show-secrets"), "{refused}");
    let shown = results("shown");
    let file = Path::new(&shown).join("runs.jsonl");
    let journal = fs::read_to_string(&file).unwrap();
    assert!(journal.contains("TOKEN=hush50"), "{journal}");
    let end = journal.trim_end().rfind('\n').unwrap() + 1;
    fs::write(&file, &journal[..end]).unwrap();
    world.wirebench(&["run", "--resume", &shown]);
    assert!(!world.stdout(&["report", &shown, "--format=html"]).contains(MARK));
    assert!(!world.stdout(&["completions", "zsh"]).contains("[redacted"));
    let page = world.stdout(&["report", &shown, "--format=html", "--show-secrets"]);
    assert!(page.contains("TOKEN=hush50"));
    world.stdout(&["report", &shown, "--archive", "archived"]);
    let (_, kept) = wirebench_experiment::journal::text(&world.path("archived")).unwrap();
    assert!(kept.contains("TOKEN=[redacted]") && !kept.contains(MARK), "{kept}");
}

/// Shows the result in `folder` in all forms, and copies it.
fn assert_read(world: &World, folder: &str, copy: &str, shown: &mut Vec<Outcome>) {
    let forms = "markdown html csv json bencher github-action-benchmark openmetrics".split(' ');
    let forms = forms.map(|it| format!("--format={it}"));
    for form in forms.chain(["--explain", "--no-redact"].map(str::to_owned)) {
        shown.push(world.wirebench(&["report", folder, &form]).ended(0));
    }
    let junit = format!("--junit={copy}.xml");
    shown.push(world.wirebench(&["report", folder, "--fail-if", "errors > 0", &junit]));
    shown.push(world.wirebench(&["report", folder, "--json", "--no-redact"]).ended(0));
    shown.push(world.wirebench(&["report", folder, "--archive", copy]).ended(0));
    shown.push(world.wirebench(&["report", copy, "--json", "--no-redact"]).ended(0));
    shown.push(world.wirebench(&["site", folder, copy, "-o", "site", "--no-redact"]));
}

/// Searches everything that was printed, and every file below the world but `inputs`.
#[track_caller]
fn assert_hidden(world: &World, shown: &[Outcome], inputs: &[&str]) {
    let mut found = BTreeSet::new();
    let mut look = |place: &str, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        for (at, _) in text.match_indices(MARK).chain(text.match_indices(ENCODED)) {
            found.insert(format!("{} in {place}", text[at..].chars().take(6).collect::<String>()));
        }
    };
    for outcome in shown {
        look("stdout", outcome.stdout.as_bytes());
        look("stderr", outcome.stderr.as_bytes());
    }
    let mut folders = vec![world.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !inputs.contains(&name.as_str()) {
                let bytes = unpacked(fs::read(&path).unwrap()).unwrap();
                look(&name, &bytes);
            }
        }
    }
    assert!(found.is_empty(), "{} places: {found:#?}", found.len());
}
