//! Request sets: each reply is checked against its own expectation, and figures stand by name.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex},
};
use wirebench_schema::load::{
    Body, LoadModel, LoadReport, NamedRequests, RateCurve, RequestFile, RequestOrder, RequestSet,
    SampleReply, SeqStart,
};

use crate::{
    counted, each_engine, flawless, load, refusal,
    server::{Server, answer},
};

/// Answers with the method, the path and the body of each request. `/no` is not found, `/wrong` is wrong from its
/// third time on.
fn echoing() -> Server {
    Server::start(|_, stream, _| {
        let mut reader = BufReader::new(stream);
        let mut wrong = 0;
        while let Some((line, body)) = read(&mut reader) {
            let (status, body) = match line.as_str() {
                "GET /no" => ("404 Not Found", "no".to_owned()),
                "GET /wrong" => {
                    wrong += 1;
                    ("200 OK", if wrong > 2 { "wrong" } else { "right" }.to_owned())
                }
                _ => ("200 OK", format!("{line} {body}")),
            };
            let length = body.len();
            let reply = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
            if { stream }.write_all(reply.as_bytes()).is_err() {
                return;
            }
        }
    })
}

/// Method and path of the next request, and its body.
fn read(reader: &mut BufReader<&TcpStream>) -> Option<(String, String)> {
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let before = head.len();
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
        if let Some(value) = head[before..].strip_prefix("Content-Length: ") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = head.lines().next()?.trim_end_matches(" HTTP/1.1").to_owned();
    Some((line, String::from_utf8(body).ok()?))
}

fn set(text: &str, order: RequestOrder) -> Option<RequestSet> {
    Some(RequestFile::parse(text, order).unwrap().set)
}

fn figures(report: &LoadReport) -> Vec<(&str, u64, u64)> {
    let of = |it: &'_ NamedRequests| (it.requests, it.errors);
    report.by_name.iter().map(|it| (it.name.as_str(), of(it).0, of(it).1)).collect()
}

#[test]
fn each_reply_is_checked_against_its_own_request() {
    let server = echoing();
    let text = [
        r#"{"path": "/a", "expect": {"body": "GET /a "}}"#,
        r#"{"path": "/much/longer?x=1", "name": "longer"}"#,
        r#"{"path": "/no", "name": "no", "expect": {"status": [404, 410]}}"#,
        r#"{"method": "POST", "path": "/{seq}", "name": "create", "body_text": "{uuid}",
            "expect": {"contains": "POST /"}}"#,
    ]
    .map(|line| line.replace('\n', ""))
    .join("\n");
    each_engine(|engine| {
        for pipeline in [1, 8] {
            let mut config = counted(&server.http(), engine, 400);
            config.pipeline = pipeline;
            config.requests = set(&text, RequestOrder::InTurn);
            let report = load(&config);
            assert_eq!(
                (report.errors.total(), report.requests),
                (0, 400),
                "{:?}",
                report.error_examples
            );
            let named = figures(&report);
            let names: Vec<&str> = named.iter().map(|it| it.0).collect();
            assert_eq!(names, ["GET /a", "longer", "no", "create"]);
            for (name, requests, errors) in named {
                // Threads begin at different places of the turn, and each ends where its share of the count does.
                assert!((90..=110).contains(&requests) && errors == 0, "{name}: {requests}");
            }
            assert!(report.by_name.iter().all(|it| it.latency.is_some()));
        }
    });
}

#[test]
fn a_wrong_reply_is_an_error_of_its_name() {
    let server = echoing();
    each_engine(|engine| {
        let mut config = counted(&server.http(), engine, 100);
        (config.connections, config.threads) = (1, 1);
        config.requests = set("/a\n/wrong\n/no", RequestOrder::InTurn);
        let report = load(&config);
        let named = figures(&report);
        assert_eq!(named[0].2, 0, "{named:?}");
        // Each connection gives two right ones at first. What is in flight with a wrong one is the wrong one alone.
        assert!(named[1].2 > 0 && report.errors.wrong_reply == named[1].2, "{named:?}");
        assert!(named[2].2 > 0 && report.errors.status == named[2].2, "{named:?}");
        let example = report.error_examples.iter().map(ToString::to_string).collect::<String>();
        let differs =
            "wrong reply: request `GET /wrong`: the body differs from the expected one at byte 0";
        assert!(example.contains(differs), "{example}");
        assert!(example.contains("status: request `GET /no`: a reply had status 404"), "{example}");
    });
}

#[test]
fn files_are_looked_for_beside_the_file_of_requests() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("body.txt"), "from a file").unwrap();
    std::fs::write(folder.path().join("names.txt"), "ann\n\nbob\n").unwrap();
    let server = echoing();
    let text = "{\"method\": \"POST\", \"path\": \"/x?who={choose:names.txt}\", \"body_file\": \"body.txt\", \
                \"expect\": {\"contains\": \"from a file\"}}";
    each_engine(|engine| {
        let mut config = counted(&server.http(), engine, 20);
        let requests = set(text, RequestOrder::InTurn).unwrap();
        let file = Some(folder.path().join("api.jsonl").display().to_string());
        config.requests = Some(RequestSet { file, ..requests });
        let report = load(&config);
        assert_eq!(
            (report.requests, report.errors.total()),
            (20, 0),
            "{:?}",
            report.error_examples
        );
        // With one name the figures of the load are its figures.
        assert!(report.by_name.is_empty());
    });
    let mut config = counted(&server.http(), wirebench_schema::load::EngineChoice::Epoll, 20);
    config.requests = set("POST /\n@no-such-file", RequestOrder::InTurn);
    let refused = refusal(&config);
    assert!(refused.starts_with("request `POST /`: `no-such-file` cannot be read"), "{refused}");
}

#[test]
fn an_expectation_of_the_load_is_that_of_each_request_without_its_own() {
    let server = echoing();
    let folder = tempfile::tempdir().unwrap();
    let body = folder.path().join("reply.txt");
    std::fs::write(&body, "GET /a ").unwrap();
    let body = Some(body.display().to_string());
    each_engine(|engine| {
        let mut config = counted(&format!("{}a", server.http()), engine, 20);
        config.expect_body_file.clone_from(&body);
        flawless(&config);
        (config.expect_body_file, config.expect_contains) = (None, Some("GET /b".to_owned()));
        let refused = refusal(&config);
        assert!(
            refused.contains("the body, 7 bytes, does not contain the expected text"),
            "{refused}"
        );

        config.requests = set(
            "{\"path\": \"/b\"}\n{\"path\": \"/bc\"}\n{\"path\": \"/a\", \"expect\": {\"body\": \"GET /a \"}}",
            RequestOrder::InTurn,
        );
        flawless(&config);
        (config.expect_body_file, config.expect_contains) = (body.clone(), None);
        let refused = refusal(&config);
        let expected = "request `GET /b`: http://127.0.0.1:PORT/b does not reply as expected: ";
        assert!(refused.starts_with(expected), "{refused}");
    });
}

#[test]
fn no_number_and_no_identifier_comes_twice_in_loads_of_one_seed() {
    let (paths, earlier) = (Arc::new(Mutex::new(Vec::new())), Mutex::new(BTreeSet::new()));
    let noted = Arc::clone(&paths);
    let server = Server::start(move |_, stream, _| {
        let mut reader = BufReader::new(stream);
        while let Some((line, _)) = read(&mut reader) {
            noted.lock().unwrap().push(line);
            if { stream }.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                return;
            }
        }
    });
    each_engine(|engine| {
        for seq in [None, None, Some(SeqStart { from: 7, at_us: u64::MAX })] {
            let mut config = counted(&server.http(), engine, 200);
            let text = "{\"path\": \"/{seq}/{uuid}\"}\n{\"path\": \"/constant\"}";
            let set = seq.and_then(|_| set(text, RequestOrder::InTurn));
            config.requests = set.map(|it| RequestSet { seq, ..it });
            config.target = config.target.with_path("/{seq}/{uuid}").unwrap();
            assert_eq!(load(&config).errors.total(), 0);
            let seen = std::mem::take(&mut *paths.lock().unwrap());
            let varying = seen.iter().filter_map(|it| it.strip_prefix("GET /")?.split_once('/'));
            let varying: Vec<_> = varying.collect();
            let numbers: BTreeSet<u64> = varying.iter().map(|it| it.0.parse().unwrap()).collect();
            assert!(varying.len() >= 90 && numbers.len() == varying.len(), "{varying:?}");
            match seq {
                None => assert!(numbers.first() > Some(&1_700_000_000_000_000), "{numbers:?}"),
                // The time at which the option was read has not come.
                Some(_) => assert!(numbers.first() == Some(&7) || numbers.first() == Some(&8)),
            }
            let now: BTreeSet<String> =
                varying.iter().flat_map(|it| [it.0.to_owned(), it.1.to_owned()]).collect();
            let mut earlier = earlier.lock().unwrap();
            assert!(seq.is_some() || earlier.is_disjoint(&now), "{earlier:?}");
            earlier.extend(now);
        }
    });
}

#[test]
fn requests_that_learn_replies_are_no_faster_than_the_load() {
    let server = echoing();
    let paths: String = (0..100).map(|it| format!("/{it}\n")).collect();
    each_engine(|engine| {
        let mut config = counted(&server.http(), engine, 2);
        config.model = LoadModel::rate(RateCurve::per_second(20));
        config.requests = set(&paths, RequestOrder::InTurn);
        let report = load(&config);
        // One at once, and 20 a second for two seconds.
        assert!((2..=41).contains(&report.requests_before), "{}", report.requests_before);
        assert_eq!((report.requests, report.errors.total()), (2, 0));
        config.model = LoadModel::Closed;
        assert_eq!(load(&config).requests_before, 200);
    });
}

#[test]
fn the_report_says_what_the_first_replies_were() {
    let server = Server::start(|_, stream, _| {
        let interim = "HTTP/1.1 103 Early Hints\r\nContent-Type: text/none\r\n\r\n";
        let field = "content-type: Text/HTML; charset=utf-8\r\nContent-Length: 3";
        answer(stream, format!("{interim}HTTP/1.1 201 OK\r\n{field}\r\n\r\nabc").as_bytes());
    });
    each_engine(|engine| {
        let mut config = counted(&server.http(), engine, 2);
        let any = "{\"path\": \"/first\"}\n{\"path\": \"/second\", \"expect\": {\"any\": true}}";
        config.requests = set(any, RequestOrder::InTurn);
        let of = |request: &str, any_body| SampleReply {
            request: request.to_owned(),
            status: 201,
            body_bytes: Some(3),
            any_body,
            content_type: "text/html".to_owned(),
            interim_replies: 1,
        };
        let both = [of("GET /first", false), of("GET /second", true)];
        assert_eq!(load(&config).sample_replies, both);
    });
}

#[test]
fn the_content_of_files_that_are_sent_has_a_digest() {
    let server = echoing();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body");
    each_engine(|engine| {
        let digest = |content: &str| {
            std::fs::write(&file, content).unwrap();
            let mut config = counted(&server.http(), engine, 2);
            config.method = "POST".to_owned();
            config.body = Some(Body::File(file.display().to_string()));
            let of_one = load(&config).files_digest;
            let path = file.display();
            let text =
                format!("{{\"method\": \"POST\", \"path\": \"/\", \"body_file\": \"{path}\"}}");
            (config.body, config.requests) = (None, set(&text, RequestOrder::InTurn));
            assert_eq!(load(&config).files_digest, of_one);
            of_one.unwrap()
        };
        assert_ne!(digest("one"), digest("two"));
        assert_eq!(load(&counted(&server.http(), engine, 2)).files_digest, None);
    });
}

#[test]
fn a_reply_before_the_end_of_a_request_counts_and_the_connection_goes_on_or_ends_as_it_says() {
    for (head, closes) in [("", false), ("Connection: close\r\n", true)] {
        let server = Server::start(move |_, stream, _| {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            let mut rest = 0;
            while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    rest = value.trim().parse().unwrap();
                }
                let is_end = line == "\r\n";
                line.clear();
                if !is_end {
                    continue;
                }
                let reply = format!("HTTP/1.1 413 No\r\n{head}Content-Length: 0\r\n\r\n");
                let _ = { stream }.write_all(reply.as_bytes());
                if closes {
                    let _ = stream.shutdown(Shutdown::Write);
                }
                // Unread bytes would take the reply away with a reset.
                let _ = std::io::copy(&mut { &mut reader }.take(rest), &mut std::io::sink());
            }
        });
        each_engine(|engine| {
            let mut config = counted(&server.http(), engine, 20);
            config.method = "POST".to_owned();
            config.body = Some(Body::Text("x".repeat(8 << 20)));
            config.expect_status = vec![413];
            let report = load(&config);
            assert_eq!((report.requests, report.errors.total()), (20, 0), "{:?}", report.errors);
            assert_eq!(report.server_closes > 0, closes, "{}", report.server_closes);
        });
    }
}
