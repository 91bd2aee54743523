//! Connections that cannot be made at once.

use super::*;

/// Drains the commands, and shows that the session does not wake again before something is due.
fn wanted(session: &mut Session<Http1>, now_ns: u64) -> Vec<Command> {
    let wanted = commands(session, now_ns);
    assert!(session.wakes_at() > now_ns, "it would not sleep at {now_ns}");
    wanted
}

/// The connections that are asked for from one moment on, where it wakes by itself.
fn woken_until(session: &mut Session<Http1>, mut now_ns: u64, end_ns: u64) -> Vec<(u64, Command)> {
    let mut all = Vec::new();
    loop {
        all.extend(wanted(session, now_ns).into_iter().map(|command| (now_ns, command)));
        now_ns = session.wakes_at();
        if now_ns > end_ns {
            return all;
        }
    }
}

#[test]
fn a_full_backlog_is_no_failure_and_is_asked_again_soon() {
    let mut session = session(1, None);
    assert_eq!(wanted(&mut session, 0), [Command::Connect(0)]);
    assert_eq!(session.failed(0, Errno::AGAIN, 1), Action::Close);
    assert!(!session.is_settled());
    let again = woken_until(&mut session, 2, 2 * MS);
    assert!(matches!(again[..], [(1_000_000..=2_000_000, Command::Connect(0))]), "{again:?}");
    assert_eq!(session.connected(0, 2 * MS), Action::Wait);
    assert_eq!((session.is_settled(), session.made()), (true, 1));
    assert_eq!(left(session).errors, ErrorCounts::default());
}

#[test]
fn a_backlog_that_stays_full_for_the_whole_timeout_is_one_timeout() {
    let mut session = session(1, None);
    assert_eq!(wanted(&mut session, 0), [Command::Connect(0)]);
    let mut now_ns = 0;
    while !session.is_settled() {
        assert!(now_ns < 2 * TIMEOUT_NS, "it never gives up");
        session.failed(0, Errno::AGAIN, now_ns);
        now_ns = session.wakes_at();
        while !wanted(&mut session, now_ns).contains(&Command::Connect(0)) && !session.is_settled()
        {
            now_ns = session.wakes_at();
        }
    }
    assert!(now_ns >= TIMEOUT_NS);
    assert_eq!(woken_until(&mut session, now_ns, now_ns + TIMEOUT_NS), []);
    let errors = left(session).errors;
    assert_eq!((errors.timeout, errors.total()), (1, 1));
}

#[test]
fn an_unanswered_attempt_before_the_load_is_closed_and_retried() {
    let mut session = session(2, None);
    assert_eq!(wanted(&mut session, 0), [Command::Connect(0), Command::Connect(1)]);
    assert_eq!(session.connected(0, 1), Action::Wait);
    let tried: Vec<_> =
        woken_until(&mut session, 2, 100 * MS).into_iter().map(|(_, command)| command).collect();
    assert_eq!(tried, [Command::Close(1), Command::Connect(1)]);
    assert_eq!(session.connected(1, 101 * MS), Action::Wait);
    assert_eq!((session.is_settled(), session.made()), (true, 2));
    assert_eq!(left(session).errors, ErrorCounts::default());
}

#[test]
fn an_unanswered_attempt_during_the_load_is_left_to_the_kernel_and_measured() {
    let mut session = started(1, None, COUNT_EDGES);
    let now_ns = 30 * MS;
    session.tick(now_ns);
    assert_eq!(session.failed(0, Errno::CONNRESET, now_ns), Action::Close);
    let tried = woken_until(&mut session, now_ns, now_ns + TIMEOUT_NS / 2);
    assert_eq!(tried, [(now_ns, Command::Connect(0))]);
    assert_eq!(session.connected(0, now_ns + TIMEOUT_NS / 2 + 1), Action::Send);
}
