//! Files of requests: those of other tools, ours, and wrong ones.

use super::*;
use proptest::prelude::*;

fn read(text: &str) -> RequestFile {
    RequestFile::parse(text, RequestOrder::InTurn).unwrap_or_else(|error| panic!("{error}"))
}

fn shown(text: &str) -> Vec<String> {
    let show = |request: &RequestSpec| {
        let headers = request.headers.iter().map(|(name, value)| format!(" {name}: {value};"));
        let body = match &request.body {
            None => String::new(),
            Some(Body::Text(text)) => format!(" <{text}>"),
            Some(Body::File(file)) => format!(" <@{file}>"),
        };
        let headers: String = headers.collect();
        format!("{} {}{headers}{body}", request.method, request.path)
    };
    read(text).set.requests.iter().map(show).collect()
}

#[test]
fn bare_urls_and_paths_are_requests_of_one_server() {
    let file = read("# list\nhttp://localhost:8080/a?x=1\n\n/b\nlocalhost:8080/c\n");
    assert_eq!(file.target.unwrap().authority(), "localhost:8080");
    assert_eq!(file.set.names(), ["GET /a", "GET /b", "GET /c"]);
    assert_eq!(file.set.requests[0].path, "/a?x=1");
}

#[test]
fn targets_of_vegeta_have_headers_and_bodies() {
    let text = "GET http://goku:9090/path/to/dragon?item=ball\nX-Account-ID: 8675309\n\
                DELETE http://goku:9090/path/to/remove\n\n\
                POST http://goku:9090/things\n@/path/to/newthing.json\nX-Account-ID: 99\n\
                # a comment does not end it\nX-Two: 2\n";
    assert_eq!(
        shown(text),
        [
            "GET /path/to/dragon?item=ball X-Account-ID: 8675309;",
            "DELETE /path/to/remove",
            "POST /things X-Account-ID: 99; X-Two: 2; <@/path/to/newthing.json>",
        ]
    );
}

#[test]
fn urls_of_siege_have_variables_and_bodies() {
    let text = "# comment\nPROTO=http\nHOST=www.example.com\n$(PROTO)://$(HOST)/index.html\n\
                ${HOST}/cgi-bin/post.jsp POST name=value&other=1\nwww.example.com/f POST </tmp/body\n";
    let form = "Content-Type: application/x-www-form-urlencoded;";
    assert_eq!(
        shown(text),
        [
            "GET /index.html".to_owned(),
            format!("POST /cgi-bin/post.jsp {form} <name=value&other=1>"),
            format!("POST /f {form} <@/tmp/body>"),
        ]
    );
}

#[test]
fn json_lines_have_the_fields_of_vegeta_and_expectations() {
    let text = r#"{"method":"POST","url":"http://h/a","body":"aGk=","header":{"X":["1","2"],"Y":"3"}}

{"path":"/b","name":"b","weight":3,"body_text":"t","expect":{"status":404,"contains":"no"}}"#;
    assert_eq!(shown(text), ["POST /a X: 1; X: 2; Y: 3; <hi>", "GET /b <t>"]);
    let file = read(text);
    let b = &file.set.requests[1];
    assert_eq!((b.name.as_str(), b.weight, &b.expect.status[..]), ("b", 3, &[404][..]));
    assert_eq!(b.expect.contains.as_deref(), Some("no"));
    let again: RequestSet =
        serde_json::from_str(&serde_json::to_string(&file.set).unwrap()).unwrap();
    assert_eq!(again, file.set);
}

#[test]
fn an_archive_gives_its_requests_without_what_belongs_to_the_connection() {
    let text = r#"{"log": {"version": "1.2", "entries": [
        {"request": {"method": "GET", "url": "https://h/x?y=1#top", "headers": [
            {"name": ":authority", "value": "h"}, {"name": "Host", "value": "h"},
            {"name": "Accept", "value": "*/*"}]}},
        {"request": {"method": "POST", "url": "https://h/p", "headers": [],
            "postData": {"mimeType": "text/plain", "text": "body"}}}]}}"#;
    assert_eq!(shown(text), ["GET /x?y=1 Accept: */*;", "POST /p <body>"]);
    assert!(read(text).target.unwrap().is_tls());
}

#[test]
fn many_requests_without_names_are_named_by_their_method() {
    let many: String = (0..100_000).map(|n| format!("/{n}\n")).collect();
    let set = read(&(many + "/x POST a=b\n")).set;
    assert_eq!((set.requests.len(), set.names()), (100_001, vec!["GET", "POST"]));
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_the_next_step() {
    for (text, expected) in [
        ("", "line 1: the file has no request: write a URL or a path on each line"),
        ("/a\nftp://h/", "line 2: `ftp://h/`: wirebench does not speak `ftp`"),
        ("http://a/\nhttp://b/", "line 2: b:80 is another server than a:80 of line 1"),
        ("/a\n@file", "line 2: `@file` follows no request"),
        ("GET /a\nno header", "line 2: `no header` is not a header"),
        ("/a b", "line 1: `b` behind the URL is no method: write a space as %20"),
        ("/ä", "line 1: the path has the byte 0xc3: write it as %C3"),
        (
            "{\"url\": \"/\", \"wieght\": 1}",
            "line 1: not a request as JSON: unknown field `wieght`",
        ),
        ("{\"url\": \"/\", \"body\": \"?\"}", "line 1: \"body\" is not base64"),
        ("{\"url\": \"/\", \"body\": \"\", \"body_file\": \"f\"}", "line 1: give one of \"body\""),
        ("{\"url\": \"/\", \"method\": \"A B\"}", "line 1: `A B` is no method of a request"),
        ("GET /\nContent-Length: 1", "line 1: `Content-Length` is written by wirebench itself"),
        ("{\"url\": \"/\", \"header\": {\"A\": \"1\\n\"}}", "line 1: `A: 1\n` is no header"),
        ("{\"url\": \"/\", \"expect\": {\"status\": 99}}", "line 1: status 99 ends no reply"),
        (
            "{\"url\": \"/\", \"expect\": {\"any\": true, \"body\": \"\"}}",
            "line 1: expect one of body, body_file, contains and any",
        ),
        (
            "{\"url\": \"/\", \"expect\": {\"contains\": \"\"}}",
            "line 1: every body contains an empty text: expect any",
        ),
        ("{\"log\": 1}", "line 1: not an HTTP archive"),
    ] {
        let error = RequestFile::parse(text, RequestOrder::InTurn).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:?}: {error}");
    }
    let many = |n: usize| format!("{{\"url\": \"/\", \"name\": \"{n}\"}}\n");
    let many: String = (0..65).map(many).collect();
    let error = RequestFile::parse(&many, RequestOrder::InTurn).unwrap_err();
    assert!(error.reason.starts_with("the requests have 65 names"), "{error}");
    let idle = "{\"url\": \"/\", \"weight\": 0}";
    let error = RequestFile::parse(idle, RequestOrder::Weighted).unwrap_err();
    assert!(error.reason.starts_with("every weight is 0"), "{error}");
}

proptest! {
    #[test]
    fn no_text_makes_the_readers_panic(text in "\\PC*") {
        let _ = RequestFile::parse(&text, RequestOrder::Shuffled);
    }

    #[test]
    fn no_lines_make_the_readers_panic(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "GET /", "@f", "A: b", "A=b", "$(A)", "{", "{\"url\":\"/\"}", "", "#", "/a POST <x", "http://h", "\u{feff}",
            ]),
            0..8,
        ),
    ) {
        let _ = RequestFile::parse(&lines.join("\n"), RequestOrder::Weighted);
    }
}
