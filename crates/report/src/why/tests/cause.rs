//! The function or system call that explains the difference of two profiles, and when none is named.

use super::*;

#[test]
fn the_cause_is_the_deepest_function_that_explains_nearly_all() {
    let shared = [("t;main;wait", 5 * SECOND), ("t;main;handle;format", 5 * SECOND)];
    let burns = [
        ("t;main;handle;helper;burn;multiply", SECOND),
        ("t;main;handle;helper;burn;add", SECOND),
        ("t;main;handle;helper", SECOND / 10),
    ];
    let with = |more: &[(&'static str, u64)]| [&shared[..], more].concat();
    let own = with(&burns);
    let expected = "burn explains 95 % of +21 % CPU time per request: B spends 2.00 us per request in it, A 0.00 ns";
    assert_eq!(by_functions(&own, &shared), expected);
    let faster = by_functions(&shared, &own);
    let expected = "burn explains 95 % of -17 % CPU time per request: B spends 0";
    assert!(faster.starts_with(expected), "{faster}");
    let noisy = [
        ("t;main;wait", 45 * SECOND / 10),
        ("t;main;handle;format", 5 * SECOND),
        ("t;main;handle;burn", 2 * SECOND),
    ];
    let balanced = [
        ("t;main;wait", 5 * SECOND),
        ("t;main;handle;format", 3 * SECOND),
        ("t;main;handle;burn", 3 * SECOND),
    ];
    let halves = with(&[("t;main;handle;parse", SECOND), ("t;main;handle;log", SECOND)]);
    let callers = with(&[("t;main;get;burn", SECOND), ("t;main;put;burn", SECOND)]);
    let rows = [
        ("two functions with a half each", &halves[..], "handle explains all of +20 %"),
        ("one function that two others call", &callers, "burn explains all of +20 %"),
        ("the rest is faster by chance", &noisy, "burn explains all of +15 %"),
        ("balanced by another function", &balanced, "handle explains all of +10 %"),
    ];
    for (name, own, expected) in rows {
        let found = by_functions(own, &shared);
        assert!(found.starts_with(expected), "{name}: {found}");
    }
}

#[test]
fn a_function_with_another_name_counts_once() {
    let own = [("t;serve_b;parse_fast;scan_b", 4 * SECOND), ("t;serve_b;write", 6 * SECOND)];
    let others = [("t;serve_a;parse;scan_a", 2 * SECOND), ("t;serve_a;write", 6 * SECOND)];
    assert_eq!(
        by_functions(&own, &others),
        "scan_b (in A: scan_a) explains all of +25 % CPU time per request: B spends 4.00 us per request in it, A \
         2.00 us"
    );
    let places = [
        (
            "node;LazyCompile:~main /tmp/b/app.js:9:1;LazyCompile:*handler /tmp/b/app.js:5:1",
            4 * SECOND,
        ),
        ("node;LazyCompile:~main /tmp/b/app.js:9:1;[srv-b]", 6 * SECOND),
    ];
    let others = [
        (
            "node;LazyCompile:~main /tmp/a/app.js:7:1;LazyCompile:~handler /tmp/a/app.js:3:1",
            2 * SECOND,
        ),
        ("node;LazyCompile:~main /tmp/a/app.js:7:1;[srv-a]", 6 * SECOND),
    ];
    let [own, other] = [made("ab/B", &[], &places), made("ab/A", &[], &others)];
    let why = compared(&own, Some(&other));
    assert!(why.sentence.starts_with("handler explains all of +25 %"), "{}", why.sentence);
    let symbols: Vec<&str> = why.frames_differ.iter().map(|it| it.symbol.as_str()).collect();
    assert_eq!(symbols, ["handler"]);
}

#[test]
fn a_call_is_the_first_cause_only_if_it_explains_most() {
    let shared = [("t;main;handle", 5 * SECOND)];
    let read =
        ("t;main;handle;recv;do_syscall_64_[k];__x64_sys_recvfrom_[k];ksys_recvfrom_[k]", SECOND);
    let burn = ("t;main;handle;burn", 4 * SECOND);
    let (once, twice) = ([("recvfrom", 1000)], [("recvfrom", 2000)]);
    let of = |stacks: &[(&str, u64)]| {
        sentence(("ab/B", &twice, &[&shared[..], stacks].concat()), ("ab/A", &once, &shared))
    };
    assert_eq!(
        of(&[read]),
        "B makes 2.00 recvfrom per request, A 1.00, which explains all of +20 % CPU time per request"
    );
    assert_eq!(
        of(&[read, burn]),
        "burn explains 80 % of +100 % CPU time per request: B spends 4.00 us per request in it, A 0.00 ns; B makes \
         2.00 recvfrom per request, A 1.00"
    );
}

#[test]
fn few_samples_name_no_function() {
    let ms = SECOND / 1000;
    let few = by_functions(&[("t;f", 90 * ms)], &[("t;f", 40 * ms), ("t;g", 20 * ms)]);
    assert_eq!(
        few,
        "too few samples to name a function (B 89, A 58, at least 100 are needed): increase the load, such as with \
         --rate or --connections"
    );
    let [own, other] = [90, 40].map(|it| made("ab/B", &[], &[("t;f", it * ms)]));
    let other = journal::Why { variant: "ab/A".parse().unwrap(), ..other };
    assert_eq!(compared(&own, Some(&other)).frames_differ, []);
    let calls =
        sentence(("ab/B", &[("read", 2000)], &[("t;f", ms)]), ("ab/A", &[], &[("t;f", ms)]));
    assert!(calls.starts_with("B makes 2.00 read per request, A 0.00; too few samples"), "{calls}");
}

#[test]
fn a_reduced_rate_of_samples_is_said() {
    let with = |samples, cpu_ns| {
        let mut why = made("c/epoll", &[], &[("t;f", SECOND)]);
        let WhyOutcome::Profiled(profile) = &mut why.outcome else { unreachable!() };
        (profile.samples, profile.cpu_ns) = (samples, Some(cpu_ns));
        compared(&why, None).sentence
    };
    let hint = ": raise kernel.perf_event_max_sample_rate";
    let limit = with(250, SECOND);
    assert!(
        limit.ends_with(&format!(
            "; perf took 250 samples per second of CPU time instead of 997{hint}"
        )),
        "{limit}"
    );
    // The kernel has dropped samples: they are as long as usual, and fewer than the CPU time needs.
    let dropped = with(997, 2 * SECOND);
    assert!(
        dropped.ends_with(&format!(
            "; perf took 498 samples per second of CPU time instead of 997{hint}"
        )),
        "{dropped}"
    );
    assert!(!with(997, SECOND * 11 / 10).contains("perf took"));
}
