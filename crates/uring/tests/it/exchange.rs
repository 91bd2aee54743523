//! Rounds over pairs of sockets.

use std::{
    io::{ErrorKind, Read, Write},
    os::{fd::AsFd, unix::net::UnixStream},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};
use wirebench_uring::{Exchange, Request, Shape, Wait};

/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

const FOUR: Shape = Shape { buffers: 4, buffer_bytes: 64 };

/// One arrival, with its bytes copied: number, result, whether more comes, bytes.
type Arrived = (u64, i32, bool, Vec<u8>);

fn pair() -> (UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_read_timeout(Some(PATIENCE)).unwrap();
    (ours, theirs)
}

/// One round that waits, and its completions.
fn round(exchange: &mut Exchange, requests: &[Request<'_>]) -> Vec<Arrived> {
    let wait = || Wait::AtMost(u64::try_from(PATIENCE.as_nanos()).unwrap());
    exchange.round(requests.iter().copied(), wait).unwrap();
    arrived(exchange)
}

fn arrived(exchange: &mut Exchange) -> Vec<Arrived> {
    let mut arrived = Vec::new();
    exchange.arrivals(|arrival| {
        arrived.push((arrival.number, arrival.result, arrival.more, arrival.bytes.to_vec()));
    });
    arrived
}

#[test]
fn what_is_sent_goes_out_without_a_word_and_the_answer_comes_in() {
    let mut exchange = Exchange::new(8, 16, FOUR).unwrap();
    let (ours, mut theirs) = pair();
    let socket = ours.as_fd();
    theirs.write_all(b"answer").unwrap();
    let requests = [
        Request::Receive { socket, number: 7 },
        Request::Send { socket, bytes: b"question", number: 8 },
    ];
    assert_eq!(round(&mut exchange, &requests), [(7, 6, true, b"answer".to_vec())]);
    assert_eq!(exchange.unsent().count(), 0);
    let mut question = [0; 8];
    theirs.read_exact(&mut question).unwrap();
    assert_eq!(&question, b"question");
    drop(theirs);
    assert_eq!(round(&mut exchange, &[]), [(7, 0, false, Vec::new())]);
}

#[test]
fn a_send_for_which_there_is_no_room_tells_how_much_went_and_then_when_there_is_room() {
    let mut exchange = Exchange::new(8, 16, FOUR).unwrap();
    let (ours, mut theirs) = pair();
    let socket = ours.as_fd();
    let bytes: Vec<u8> = (0..4_000_000_u32).map(|index| index.to_le_bytes()[1]).collect();
    let mut sent = 0;
    let mut received = Vec::new();
    while sent < bytes.len() {
        let send = Request::Send { socket, bytes: &bytes[sent..], number: 3 };
        exchange.round([send].into_iter(), || Wait::Not).unwrap();
        let unsent: Vec<(u64, i32)> = exchange.unsent().collect();
        let [(number, result)] = unsent[..] else {
            assert_eq!(unsent, []);
            sent = bytes.len();
            break;
        };
        assert_eq!(number, 3);
        sent += usize::try_from(result).unwrap();
        let await_output = [Request::AwaitOutput { socket, number: 4 }];
        exchange.round(await_output.into_iter(), || Wait::Not).unwrap();
        assert_eq!(arrived(&mut exchange), [], "there is no room yet");
        let mut buffer = vec![0; 1 << 20];
        let length = theirs.read(&mut buffer).unwrap();
        received.extend_from_slice(&buffer[..length]);
        while received.len() < sent {
            let length = theirs.read(&mut buffer).unwrap();
            received.extend_from_slice(&buffer[..length]);
        }
        let arrived = round(&mut exchange, &[]);
        assert_eq!((arrived[0].0, arrived[0].2), (4, false));
    }
    let rest = received.len();
    received.resize(sent, 0);
    theirs.read_exact(&mut received[rest..]).unwrap();
    assert!(received == bytes, "what arrived is not what was sent");
}

#[test]
fn where_no_buffer_is_left_a_receive_ends_and_the_next_one_finds_everything() {
    let mut exchange = Exchange::new(8, 16, FOUR).unwrap();
    let (ours, mut theirs) = pair();
    let socket = ours.as_fd();
    let bytes: Vec<u8> = (0..64 * 10).map(|index: u32| index.to_le_bytes()[0]).collect();
    theirs.write_all(&bytes).unwrap();
    let (mut received, mut ends) = (Vec::new(), 0);
    let mut requests = vec![Request::Receive { socket, number: 1 }];
    while received.len() < bytes.len() {
        for (number, result, more, bytes) in round(&mut exchange, &std::mem::take(&mut requests)) {
            assert_eq!(number, 1);
            received.extend(bytes);
            if !more {
                assert_eq!(result, -libc::ENOBUFS);
                ends += 1;
                requests.push(Request::Receive { socket, number: 1 });
            }
        }
    }
    assert!(received == bytes && ends >= 2, "{ends} ends");
}

#[test]
fn a_request_that_is_cancelled_lets_go_of_its_socket() {
    let mut exchange = Exchange::new(8, 16, FOUR).unwrap();
    let (ours, mut theirs) = pair();
    let receive = Request::Receive { socket: ours.as_fd(), number: 1 };
    exchange.round([receive].into_iter(), || Wait::Not).unwrap();
    drop(ours);
    theirs.set_nonblocking(true).unwrap();
    let mut buffer = [0; 1];
    let error = theirs.read(&mut buffer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "the receive holds the socket");
    let arrived =
        round(&mut exchange, &[Request::Cancel { number: 1 }, Request::Cancel { number: 9 }]);
    assert_eq!(arrived, [(1, -libc::ECANCELED, false, Vec::new())]);
    theirs.set_nonblocking(false).unwrap();
    assert_eq!(theirs.read(&mut buffer).unwrap(), 0);
}

#[test]
fn an_exchange_that_ends_lets_go_of_its_sockets() {
    let mut exchange = Exchange::new(8, 16, FOUR).unwrap();
    let (ours, mut theirs) = pair();
    let receive = Request::Receive { socket: ours.as_fd(), number: 1 };
    exchange.round([receive].into_iter(), || Wait::Not).unwrap();
    drop(ours);
    drop(exchange);
    theirs.set_nonblocking(true).unwrap();
    // Not only sooner or later: the peer has been arrived when the exchange is gone.
    assert_eq!(theirs.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn after_a_round_that_was_left_in_the_middle_nothing_is_submitted_any_more() {
    let mut exchange = Exchange::new(8, 16, FOUR).unwrap();
    let (ours, mut theirs) = pair();
    let socket = ours.as_fd();
    let left = catch_unwind(AssertUnwindSafe(|| {
        let bytes = b"from memory that is gone by now".to_vec();
        let send = Request::Send { socket, bytes: &bytes, number: 1 };
        let requests = [Some(send), None].into_iter().map(Option::unwrap);
        exchange.round(requests, || Wait::Not)
    }));
    assert!(left.is_err(), "the second request panics");
    assert!(exchange.round([].into_iter(), || Wait::Not).is_err());
    drop(exchange);
    theirs.set_nonblocking(true).unwrap();
    assert_eq!(theirs.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
}
