//! Files of requests: those of other tools, ours, and wrong ones.

use super::*;
use crate::load::Body;
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
    assert_eq!(file.target.unwrap().unwrap().authority(), "localhost:8080");
    assert_eq!(file.set.names(), ["GET /a", "GET /b", "GET /c"]);
    assert_eq!(file.set.requests[0].path, "/a?x=1");
}

/// Each form of targets that vegeta's manual describes.
const VEGETA: &str = "\
GET http://shop:9090/items?page=2
GET http://ann:p%40ss@shop:9090/account
HEAD http://shop:9090/health

GET http://ann:secret@shop:9090/account
X-Account-ID: 42

DELETE http://shop:9090/items/7
Confirmation-Token: 90215
Authorization: Token ABC

POST http://shop:9090/items
@/tmp/new-item.json

PATCH http://shop:9090/items/7
@/tmp/item-7.json

# look at one item
GET http://shop:9090/items/7
# as a customer
X-Account-ID: 99
";

#[test]
fn all_forms_of_vegetas_targets_are_read() {
    assert_eq!(
        shown(VEGETA),
        [
            "GET /items?page=2",
            "GET /account Authorization: Basic YW5uOnBAc3M=;",
            "HEAD /health",
            "GET /account X-Account-ID: 42; Authorization: Basic YW5uOnNlY3JldA==;",
            "DELETE /items/7 Confirmation-Token: 90215; Authorization: Token ABC;",
            "POST /items <@/tmp/new-item.json>",
            "PATCH /items/7 <@/tmp/item-7.json>",
            "GET /items/7 X-Account-ID: 99;",
        ]
    );
    assert_eq!(read(VEGETA).target.unwrap().unwrap().authority(), "shop:9090");
    // What `jq -c` and vegeta's library write.
    let json = r#"{"method":"GET","url":"http://shop:9090"}
{"method":"POST","url":"http://shop:9090/items","body":"SGVsbG8h","header":{"Content-Type":["text/plain"]}}"#;
    assert_eq!(shown(json), ["GET /", "POST /items Content-Type: text/plain; <Hello!>"]);
}

#[test]
fn urls_of_oha_are_one_on_each_line() {
    let text = "http://127.0.0.1:8000/a/1\nhttp://127.0.0.1:8000/b?x=1\r\nhttp://127.0.0.1:8000\n";
    assert_eq!(shown(text), ["GET /a/1", "GET /b?x=1", "GET /"]);
    assert_eq!(read(text).set.names(), ["GET /a/1", "GET /b", "GET /"]);
}

/// Each form of lines that siege's manual describes.
const SIEGE: &str = "\
#
# The regression of a shop
#
HOST = shop.example
SCRIPTS=cgi-bin
PROTO=http
$(PROTO)://$(HOST)/index.html
http://${HOST}/${SCRIPTS}/show.cgi?1013
shop.example/browse.cgi?first=a.&last=b
# a form
shop.example/${SCRIPTS}/order.cgi POST first=a&last=b
# the content of a file
http://shop.example/my.jsp POST </tmp/data.txt
";

#[test]
fn all_forms_of_sieges_lines_are_read() {
    let form = "Content-Type: application/x-www-form-urlencoded;";
    assert_eq!(
        shown(SIEGE),
        [
            "GET /index.html".to_owned(),
            "GET /cgi-bin/show.cgi?1013".to_owned(),
            "GET /browse.cgi?first=a.&last=b".to_owned(),
            format!("POST /cgi-bin/order.cgi {form} <first=a&last=b>"),
            format!("POST /my.jsp {form} <@/tmp/data.txt>"),
        ]
    );
    assert_eq!(read(SIEGE).target.unwrap().unwrap().authority(), "shop.example:80");
}

#[test]
fn a_file_of_several_servers_has_no_target_and_its_requests_can_still_be_sent_to_one() {
    let file = read("http://a/x\n/y\nhttps://a/z\nhttp://b/");
    assert_eq!(
        file.target.unwrap_err().to_string(),
        "line 3: https://a:443 is another server than http://a:80 of line 1: name the one that gets all requests"
    );
    let paths: Vec<&str> = file.set.requests.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["/x", "/y", "/z", "/"]);
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
    assert!(read(text).target.unwrap().unwrap().is_tls());
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
        ("{\"url\": \"/\", \"method\": \"A B\"}", "line 1: `A B` is not an HTTP method"),
        ("GET /\nContent-Length: 1", "line 1: `Content-Length` is written by wirebench itself"),
        ("GET /\nHost: a\nhost: b", "line 1: 2 Host headers are given: give one"),
        ("{\"url\": \"/\", \"header\": {\"A\": \"1\\n\"}}", "line 1: `A: 1\n` is not a header"),
        ("{\"url\": \"/\", \"expect\": {\"status\": 99}}", "line 1: 99 ends no reply: give status"),
        (
            "{\"url\": \"/\", \"expect\": {\"any\": true, \"body\": \"\"}}",
            "line 1: body and any contradict each other",
        ),
        (
            "{\"url\": \"/\", \"expect\": {\"contains\": \"\"}}",
            "line 1: every body contains an empty text: give any",
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
        if let Ok(RequestFile { set, .. }) = RequestFile::parse(&lines.join("\n"), RequestOrder::Weighted) {
            let json = serde_json::to_string(&set).unwrap();
            prop_assert_eq!(serde_json::from_str::<RequestSet>(&json).unwrap(), set);
        }
    }
}

#[test]
fn an_abridged_set_has_one_request_of_each_name() {
    let text = r#"{"path": "/a", "name": "x", "body_text": "long"}
{"path": "/b", "name": "y"}
{"path": "/c", "name": "x"}"#;
    let set = RequestFile::parse(text, RequestOrder::Shuffled).unwrap().set;
    let short = set.abridged();
    assert_eq!((short.names(), short.requests.len()), (set.names(), 2));
    assert_eq!((short.requests[0].path.as_str(), &short.requests[0].body), ("/a", &None));
}
