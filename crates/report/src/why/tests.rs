//! What differs between synthetic profiles, in every form, and what does not.

mod cause;

use super::{page::SECTION, *};
use crate::{Details, Report as _, analysis::Analysis, fixtures, screen::Facts};
use wirebench_schema::journal::Record;

/// A profile with these calls and stacks of 1000 requests each.
fn made(variant: &str, calls: &[(&str, u64)], stacks: &[(&str, u64)]) -> journal::Why {
    let counts = |of: &[(&str, u64)]| of.iter().map(|(it, n)| ((*it).to_owned(), *n)).collect();
    let profile = Profile {
        counted_requests: 1000,
        calls: counts(calls),
        context_switches: 20,
        sampled_requests: 1000,
        cpu_ns: Some(stacks.iter().map(|(_, ns)| ns / 1000).sum()),
        samples: stacks.iter().map(|(_, ns)| ns * 997 / 1_000_000_000).sum(),
        stacks: counts(stacks),
    };
    journal::Why {
        variant: variant.parse().unwrap(),
        workload: "hello".to_owned(),
        started: "2026-01-02T03:04:05Z".to_owned(),
        outcome: WhyOutcome::Profiled(Box::new(profile)),
    }
}

/// Two servers, of which the second one reads twice, and one without a profile.
fn journal_with_whys() -> Journal {
    let mut journal = fixtures::pair(1.0);
    let read = "loop;entry_[k];read_[k]";
    let write = "loop;entry_[k];write_[k]";
    let one = [("epoll_wait", 100), ("read", 1000), ("write", 1000)];
    let two = [("epoll_wait", 104), ("read", 2000), ("write", 1000)];
    let stacks = |name: &str, read_ns| {
        vec![(format!("{name};{read}"), read_ns), (format!("{name};{write}"), 3_000_000_000)]
    };
    let whys = [
        ("c/epoll", &one, stacks("epoll", 1_000_000_000)),
        ("go/net", &two, stacks("net", 2_000_000_000)),
    ];
    for (variant, calls, stacks) in whys {
        let stacks: Vec<(&str, u64)> = stacks.iter().map(|(it, ns)| (it.as_str(), *ns)).collect();
        journal.add(Record::Why(Box::new(made(variant, calls, &stacks))));
    }
    let failed = WhyOutcome::Failed("perf has no sample of the server".to_owned());
    let why = journal::Why { outcome: failed, ..made("own/server", &[], &[]) };
    journal.add(Record::Why(Box::new(why)));
    journal
}

fn details(journal: &Journal, form: fn(&Details<'_>) -> String) -> String {
    let analysis = Analysis::of(journal);
    form(&Details { analysis: &analysis, metric: None, facts: Facts::default() })
}

#[test]
fn the_largest_difference_comes_first() {
    let journal = journal_with_whys();
    let analysis = Analysis::of(&journal);
    let sentences = sentences(&journal, &analysis.workloads);
    assert_eq!(
        sentences,
        [
            "go/net makes 2.00 read per request, c/epoll 1.00, which explains all of +25 % CPU time per request \
             (system calls in all: 3.10, 2.10; CPU time: 5.00 us, 4.00 us)",
            "own/server under hello has no profile: perf has no sample of the server"
        ]
    );
    let text = details(&journal, |it| it.details());
    let start = text.find(SECTION).unwrap();
    let end = text[start..].find("\n\nlegend").unwrap_or(text.len() - start);
    fixtures::assert_golden("why.txt", &(text[start..start + end].to_owned() + "\n"));
}

#[test]
fn the_page_has_the_pictures() {
    let page = details(&journal_with_whys(), |it| it.html());
    fixtures::assert_golden_page("why.html", &page);
    assert_eq!(page.matches("data-frames").count(), 2, "one did not fail");
}

#[test]
fn each_profile_has_its_files() {
    let files = files(&journal_with_whys());
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["c-epoll.hello.folded", "c-epoll.hello.svg", "go-net.hello.folded", "go-net.hello.svg"]
    );
    let folded =
        "epoll;loop;entry_[k];read_[k] 1000000000\nepoll;loop;entry_[k];write_[k] 3000000000\n";
    assert_eq!(files[0].1, folded);
    assert!(files[1].1.contains("read (1 000 ns per request, 25 %)"), "{}", files[1].1);
}

#[test]
fn of_two_servers_the_difference_is_a_picture() {
    let mut journal = crate::ab::tests::costs(1.1, 1.0);
    let stacks = |read_ns| [("t;read_[k]", read_ns), ("t;write_[k]", 2_000_000_000)];
    journal.whys.push(made("ab/A", &[("read", 1000)], &stacks(1_000_000_000)));
    journal.whys.push(made("ab/B", &[("read", 2000)], &stacks(2_000_000_000)));
    for why in &mut journal.whys {
        why.workload.clone_from(&journal.start.workloads[0].name);
    }
    let ab = crate::ab::Ab::of(&journal, &crate::ab::AbOptions::default()).unwrap();
    let sentence = "B makes 2.00 read per request, A 1.00";
    assert!(ab.page(None).contains(&format!("why: {sentence}")), "{}", ab.page(None));
    let details = ab.details();
    let mut lines = details.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert!(lines.any(|it| it == ["read", "2.00", "1.00", "+1.00"]), "{details}");
    let page = ab.html();
    assert!(page.contains(sentence) && page.contains("Flame graph of the difference"), "{page}");
    assert_eq!(page.matches("data-frames").count(), 3);
    let without = Journal { whys: Vec::new(), ..journal.clone() };
    let without = crate::ab::Ab::of(&without, &crate::ab::AbOptions::default()).unwrap().sentence();
    assert_eq!(without, ab.sentence());
}

#[test]
fn a_call_in_place_of_another_of_its_purpose_is_no_difference() {
    let sentence = |own: &[(&str, u64)]| {
        let others = [("recvfrom", 1000), ("sendto", 1000), ("epoll_wait", 100)];
        sentence(("go/net", own, &[("t;f", SECOND)]), ("c/epoll", &others, &[("t;f", SECOND)]))
    };
    let twice = sentence(&[("read", 2000), ("write", 1000), ("epoll_pwait", 100)]);
    assert_eq!(twice, "go/net makes 2.00 reads per request (read), c/epoll 1.00 (recvfrom)");
    let polls =
        sentence(&[("recvfrom", 1000), ("sendto", 1000), ("epoll_wait", 900), ("futex", 100)]);
    assert_eq!(polls, "go/net makes 0.90 epoll_wait per request, c/epoll 0.10");
    let none = sentence(&[("sendto", 1000), ("epoll_wait", 100)]);
    assert_eq!(none, "go/net makes 0.00 recvfrom per request, c/epoll 1.00");
    let file = sentence(&[("recvfrom", 1000), ("sendfile64", 2000), ("epoll_wait", 100)]);
    assert_eq!(file, "go/net makes 2.00 writes per request (sendfile), c/epoll 1.00 (sendto)");
    let like = sentence(&[("read", 1000), ("writev", 1000), ("poll", 100)]);
    assert!(like.contains("make as many system calls"), "{like}");
}

/// A second of CPU time: a microsecond per request.
const SECOND: u64 = 1_000_000_000;

type Side<'a> = (&'a str, &'a [(&'a str, u64)], &'a [(&'a str, u64)]);

/// Of the first server, compared with the second one, without the figures at its end.
fn sentence(own: Side<'_>, other: Side<'_>) -> String {
    let [own, other] = [own, other].map(|(variant, calls, stacks)| made(variant, calls, stacks));
    let text = compared(&own, Some(&other)).sentence;
    text.split(" (system calls in all").next().unwrap().to_owned()
}

/// Of two servers that make as many system calls.
fn by_functions(own: &[(&str, u64)], others: &[(&str, u64)]) -> String {
    sentence(("ab/B", &[("read", 1000)], own), ("ab/A", &[("read", 1000)], others))
}

#[test]
fn without_calls_that_differ_the_functions_decide() {
    let alike = [("t;f", 2 * SECOND), ("t;g", 3 * SECOND)];
    let slower = [("t;f", 4 * SECOND), ("t;g", 3 * SECOND)];
    let ring = [("io_uring_enter", 30)];
    let whys =
        |own| compared(&made("ab/b", &ring, own), Some(&made("ab/a", &ring, &alike))).sentence;
    assert_eq!(
        whys(&slower),
        "f explains all of +40 % CPU time per request: b spends 4.00 us per request in it, a 2.00 us (system calls \
         in all: 0.03, 0.03; CPU time: 7.00 us, 5.00 us)"
    );
    assert_eq!(
        whys(&alike),
        "b and a make as many system calls, and no function explains a difference (system calls in all: 0.03, 0.03; \
         CPU time: 5.00 us, 5.00 us)"
    );
    assert_eq!(
        sentence(("c/ring", &ring, &alike), ("c/epoll", &[("read", 1000)], &alike)),
        "c/ring makes 0.00 read per request, c/epoll 1.00"
    );
}

#[test]
fn a_report_differs_by_the_section_of_the_profiles_alone() {
    let with = journal_with_whys();
    let mut without = with.clone();
    without.whys.clear();
    let cut = |text: &str, begin: &str, end: &str| match text.find(begin) {
        None => text.to_owned(),
        Some(start) => {
            let length = text[start..].find(end).unwrap_or(text.len() - start);
            format!("{}{}", &text[..start], &text[start + length..])
        }
    };
    let text = |journal: &Journal| details(journal, |it| it.details());
    assert_ne!(text(&with), text(&without));
    assert_eq!(cut(&text(&with), SECTION, "legend"), text(&without));
    let json = |journal: &Journal| {
        let text = details(journal, |it| it.json());
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).unwrap()
    };
    let mut of_both = json(&with);
    let whys = of_both.remove("why").unwrap();
    assert_eq!(of_both, json(&without));
    assert_eq!(whys[1]["calls_differ"][0], serde_json::json!(["read", 1.0]));
    assert_eq!(whys[1]["frames_differ"][0]["symbol"], "read_[k]");
    assert!(whys[2]["failure"].is_string());
}
