//! The body of the fuzz target for files of requests.

use wirebench_schema::load::{
    Body, EngineChoice, LoadConfig, NAMES_LIMIT, RequestFile, RequestOrder, RequestSpec,
};

use crate::{
    codec::{Codec, RequestId, Ticket, http1::Http1},
    plan::{CodecKind, Plan},
};

/// A file of requests, of which the first byte selects the order: an error names one of its lines, and what is read is
/// sent as one well-formed request each. Files that it names are not read.
///
/// # Panics
///
/// If any of this does not hold.
pub fn requests(data: &[u8]) {
    let Some((order, text)) = data.split_first() else { return };
    let orders = [RequestOrder::InTurn, RequestOrder::Shuffled, RequestOrder::Weighted];
    let text = String::from_utf8_lossy(text);
    let file = match RequestFile::parse(&text, orders[usize::from(*order) % orders.len()]) {
        Ok(file) => file,
        Err(error) => {
            assert!((1..=text.lines().count().max(1)).contains(&error.line), "{error}");
            return;
        }
    };
    assert!((1..=NAMES_LIMIT).contains(&file.set.names().len()));
    let names_file = |request: &RequestSpec| {
        let bodies = [request.body.clone(), request.expect.whole_body()];
        bodies.iter().any(|body| matches!(body, Some(Body::File(_))))
            || format!("{request:?}").contains("{choose:")
    };
    if !file.set.requests.iter().any(names_file) {
        sends_one_request_each(&file);
    }
}

fn sends_one_request_each(file: &RequestFile) {
    let target = "http://localhost/".parse().expect("a target");
    let engine = EngineChoice::Epoll;
    let requests = Some(file.set.clone());
    let config = LoadConfig { engine, requests, ..LoadConfig::new(target) };
    // A wrong placeholder is an error.
    let (Ok(()), Ok(plan)) = (config.check(), Plan::new(&config)) else { return };
    let CodecKind::Http1(mut http) = plan.codec else { panic!("an http target speaks HTTP") };
    for request in http.all_requests() {
        is_well_formed(&sent(&mut http, request));
    }
}

fn sent(http: &mut Http1, request: RequestId) -> Vec<u8> {
    let mut connection = http.connection(0);
    http.begin(&mut connection, request, Ticket(0));
    let mut sent = Vec::new();
    while http.unsent_bytes(&connection) > 0 {
        let piece = http.outgoing(&connection).to_vec();
        http.sent(&mut connection, piece.len());
        sent.extend(piece);
    }
    sent
}

fn is_well_formed(bytes: &[u8]) {
    let shown = bytes.escape_ascii();
    let mut headers = vec![httparse::EMPTY_HEADER; bytes.len()];
    let mut request = httparse::Request::new(&mut headers);
    let Ok(httparse::Status::Complete(head_bytes)) = request.parse(bytes) else {
        panic!("no head: {shown}")
    };
    let values = |name: &str| -> Vec<&[u8]> {
        let of_name = request.headers.iter().filter(|it| it.name.eq_ignore_ascii_case(name));
        of_name.map(|it| it.value).collect()
    };
    assert_eq!(values("host").len(), 1, "{shown}");
    assert!(values("transfer-encoding").is_empty(), "{shown}");
    let body_bytes = (bytes.len() - head_bytes).to_string();
    match values("content-length")[..] {
        [] => assert_eq!(body_bytes, "0", "{shown}"),
        ref lengths => assert_eq!(lengths, [body_bytes.as_bytes()], "{shown}"),
    }
}
