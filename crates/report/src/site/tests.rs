//! A site of fixture runs: what changed, which runs are compared, and that names are only text.

use super::*;
use crate::{
    analysis::Analysis,
    compare::Side,
    fixtures::{assert_golden_page, environment, pair},
};
use wirebench_schema::journal::Journal;

/// A run on this day, in which go/net has this share of the baseline's throughput.
fn run(day: u32, throughput: f64) -> Journal {
    let mut journal = pair(throughput);
    journal.start.started = format!("2026-01-{day:02}T03:04:05Z");
    let version = format!("1.{day}");
    journal.start.labels.revision = (day > 1).then(|| format!("{day}a2b3c"));
    journal.start.labels.label = (day == 3).then(|| "v<3>".to_owned());
    journal.start.variants[1].versions.insert("go".to_owned(), version);
    journal
}

fn summaries() -> (Vec<Journal>, Vec<Summary>) {
    let journals = vec![run(1, 0.95), run(2, 0.95), run(3, 0.8), run(4, 0.8)];
    let machines = ["Model 1", "Model 1", "Model 1", "<b>Model 2"];
    let summary = |(place, journal): (usize, &Journal)| {
        summary(
            (&format!("id{place}"), "origin"),
            &Analysis::of(journal),
            Some(&environment(machines[place])),
        )
    };
    let summaries = journals.iter().enumerate().map(summary).collect();
    (journals, summaries)
}

/// Three loads of one target, of which two were asked for alike, and one of another.
fn loads() -> Vec<Summary> {
    let load = |day: u32, target: &str, connections, rate| {
        let mut result = crate::load::tests::result();
        result.started = format!("2026-01-{day:02}T03:04:05Z");
        result.report.config.target = target.parse().unwrap();
        result.report.config.connections = connections;
        result.labels.label = (day == 2).then(|| "v<2>".to_owned());
        result.report.requests_per_second = rate;
        load_summary(&format!("load{day}"), &result, Some(&environment("<b>Model 2")))
    };
    let (one, other) = ("http://h:1/", "http://[::1]:2/a".to_owned() + &"b".repeat(200));
    let mut loads = vec![load(1, one, 10, 100.0), load(2, one, 20, 150.0), load(3, one, 10, 80.0)];
    loads.push(load(4, &other, 10, 0.0));
    loads[3].load.as_mut().unwrap().doubts = vec!["no valid reply".to_owned()];
    loads
}

fn all_changes(journals: &[Journal], summaries: &[Summary]) -> Vec<Changes> {
    let side = |run: &'_ Summary| summaries.iter().position(|it| it.id == run.id).unwrap();
    let compared = pairs(summaries).into_iter().map(|(old, new)| {
        let [one, other] = [old, new].map(|run| Side {
            name: &run.id,
            journal: &journals[side(run)],
            environment: None,
        });
        changes(&one, &other)
    });
    compared.collect()
}

#[test]
fn a_site_has_the_changes_and_a_page_for_each_server_and_machine() {
    let (journals, summaries) = summaries();
    let changes = all_changes(&journals, &summaries);
    let pages = pages(&[summaries, loads()].concat(), &changes);
    let golden = [
        ("site-index.html", "index.html"),
        ("site-server.html", "servers/go--net.html"),
        ("site-machine.html", "machines/model-1--2-cpus-.html"),
    ];
    for (name, path) in golden {
        assert_golden_page(name, &pages.iter().find(|page| page.path == path).unwrap().text);
    }
    assert_eq!(pages.len(), golden.len() + 4);
    let load = &pages[4].text;
    assert!(load.contains("150 requests/s, p50 2.54 ms") && load.contains(">limit<"), "{load}");
    assert!(pages.iter().all(|it| it.path.len() < 200 && !it.text.contains("<b>Model")));
}

#[test]
fn copies_of_a_server_are_not_listed_as_servers() {
    let (_, mut summaries) = summaries();
    let copies = ["c/epoll (A/A)", "go/net #2"].map(|server| {
        let point = summaries[0].points[0].clone();
        crate::screen::Point { server: server.to_owned(), ..point }
    });
    summaries[0].points.extend(copies);
    let pages = pages(&summaries, &[]);
    assert!(pages.iter().all(|it| !it.path.contains('~')), "{pages:#?}");
    assert!(pages[0].text.contains("Nothing was compared"), "{}", pages[0].text);
    assert!(!pages[0].text.contains("A/A") && !pages[0].text.contains("#2"));
}

#[test]
fn a_run_is_compared_with_the_one_before_it_on_its_machine() {
    let (journals, summaries) = summaries();
    let changes = all_changes(&journals, &summaries);
    let compared: Vec<_> = changes
        .iter()
        .map(|it| (it.old.as_str(), it.new.as_str(), it.changes.len(), it.refused.as_deref()))
        .collect();
    assert_eq!(compared, [("id0", "id1", 0, None), ("id1", "id2", 1, None)]);
    let change = &changes[1].changes[0];
    assert!(!change.is_better && change.server == "go/net", "{change:?}");
}

#[test]
fn other_commands_behind_one_name_and_the_sides_of_ab_have_no_common_history() {
    let titled = |day: u32, title: &str| {
        let mut journal = run(day, 0.9);
        let own = &mut journal.start.variants[1];
        (own.class, own.title) = (None, title.to_owned());
        summary((title, "origin"), &Analysis::of(&journal), Some(&environment("Model 1")))
    };
    let runs = [titled(1, "./one"), titled(2, "./other"), titled(3, "./one")];
    let pairs: Vec<_> = pairs(&runs).iter().map(|(old, new)| (&*old.id, &*new.id)).collect();
    assert_eq!(pairs, [("./one", "./one")]);
    let page = pages(&runs, &[]).into_iter().find(|it| it.path.contains("go--net")).unwrap();
    let places = ["hello, saturated: ./one", "hello, saturated: ./other"];
    assert_eq!(places.map(|it| page.text.matches(it).count()), [1, 1], "{}", page.text);

    let ab = crate::ab::tests::costs(1.05, 0.001);
    let of_ab = summary(("ab", "origin"), &Analysis::of(&ab), None);
    let sentence = crate::ab::Ab::of(&ab, &crate::ab::AbOptions::default()).unwrap().sentence();
    assert_eq!((of_ab.points.len(), of_ab.sentence), (0, sentence));
}

#[test]
fn a_run_that_cannot_be_compared_says_why() {
    let (old, mut new) = (run(1, 0.9), run(2, 0.9));
    new.start.workloads[0].connections = 7;
    let side = |name, journal| Side { name, journal, environment: None };
    let changes = changes(&side("a", &old), &side("b", &new));
    let why = "`connections` of the workload hello was `64` and is `7`";
    assert_eq!((changes.refused.as_deref(), changes.changes.len()), (Some(why), 0));
}
