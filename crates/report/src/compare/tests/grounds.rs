//! What refuses a comparison, what only warns, and what force does.

use super::*;
use crate::{
    compare::tests::made::{machine, rate},
    fixtures::verified,
};
use expect_test::expect;
use wirebench_schema::{
    environment::Environment,
    journal::{Generator, GeneratorVersion, Verified},
    load::{EngineChoice, IdleMode, RequestFile, RequestOrder, RequestSet, SampleReply, SeqStart},
};

#[test]
fn servers_that_exchanged_their_names_are_compared_by_their_programs() {
    let programs = |journal: &Journal| journal.start.variants.clone();
    let (old, new) = (with_go(10, 1, (1.0, 1.0)), with_go(10, 1, (0.95, 1.0)));
    let mut same = new.clone();
    same.start.variants[1].fingerprint = programs(&old)[1].fingerprint.clone();
    let expected = compared(&old, &same, &CompareOptions::default());
    // The same result in which the commands stood in another order.
    let [one, other] = [0, 1].map(|index| same.start.variants[index].variant.clone());
    let names = [(one.clone(), other.clone()), (other, one)].into();
    let exchanged = super::super::names::renamed(&same, &names);
    assert_ne!(exchanged.runs[0].variant, same.runs[0].variant);
    let found = compared(&old, &exchanged, &CompareOptions::default());
    let (facts, usual) = (&found.facts, &expected.facts);
    assert_eq!((&found.changes, &facts.baseline_drift), (&expected.changes, &usual.baseline_drift));
    let warnings = facts.warnings.iter().filter(|it| it.contains("their programs decide"));
    assert_eq!((warnings.count(), usual.warnings.len() + 2), (2, facts.warnings.len()));
}

fn pair() -> (Journal, Journal) {
    (with_go(10, 1, (1.0, 1.0)), with_go(10, 2, (0.9, 1.0)))
}

fn forced() -> CompareOptions {
    CompareOptions { force: true, ..CompareOptions::default() }
}

/// What refuses the comparison after `change` was made to the older and the newer result; empty if nothing does.
fn refused(change: impl FnOnce(&mut Journal, &mut Journal)) -> String {
    let (mut old, mut new) = pair();
    change(&mut old, &mut new);
    match try_compare(&old, &new, &CompareOptions::default()) {
        Ok(_) => String::new(),
        Err(NotComparable::Differ(differences)) => {
            assert_eq!(compared(&old, &new, &forced()).facts.forced, differences);
            differences.iter().map(|it| format!("{it}\n")).collect()
        }
        other => panic!("{other:#?}"),
    }
}

#[test]
fn results_of_two_states_of_the_machine_are_not_compared() {
    let at = |new_ns: u32| {
        refused(|old, new| {
            for (journal, distance_ns) in [(old, 80), (new, new_ns)] {
                for it in measurements(journal, "go/net", "hello") {
                    it.distances.distance_ns_before = vec![distance_ns];
                    it.distances.distance_ns_after = vec![distance_ns + 4];
                }
            }
        })
    };
    let name = "the distance between the CPUs of server and generator";
    assert_eq!(at(400), format!("{name} was `82 ns` and is `402 ns`\n"));
    assert_eq!(at(100), "");
}

#[test]
fn each_difference_of_the_experiment_refuses_by_its_name_and_force_overrules_it() {
    let all = refused(|old, new| {
        new.start.workloads[0].connections = 32;
        new.start.workloads[0].own_process = true;
        new.start.workloads[2].timeout = std::time::Duration::from_secs(7);
        let version = "4.1.0".to_owned();
        new.start.generator = GeneratorVersion { name: Generator::Wrk, version };
        new.start.placement.server_cpus = vec![2, 3];
        new.start.idle = IdleMode::Awake;
        new.runs.iter_mut().for_each(|run| run.workers = 2);
        measurements(new, "go/net", "hello").for_each(|it| it.load.engine = EngineChoice::IoUring);
        for (journal, digest) in [(old, "1"), (new, "2")] {
            measurements(journal, "go/net", "hello")
                .for_each(|it| it.load.files_digest = Some(digest.to_owned()));
        }
    });
    expect![[r#"
        the load generator was `wirebench` and is `wrk 4.1.0`
        the server's CPUs was `0` and is `2 3`
        the idle mode of the CPUs was `natural` and is `awake`
        `connections` of the workload hello was `64` and is `32`
        `own_process` of the workload hello was `not set` and is `true`
        `timeout` of the workload hello-idle was `2s` and is `7s`
        the content of the files sent in hello was `1` and is `2`
        the load generator's engine in hello was `epoll` and is `io_uring`
        workers in hello was `1` and is `2`
        workers in hello-cost was `1` and is `2`
        workers in hello-idle was `1` and is `2`
    "#]]
    .assert_eq(&all);
    let both = refused(|_, new| new.start.idle = IdleMode::Both);
    assert_eq!(both, "the idle mode of the CPUs was `natural` and is `awake`\n");
}

#[test]
fn other_requests_are_refused_and_other_numbers_in_them_are_not() {
    let set = |path: &str, from| {
        let file = RequestFile::parse(path, RequestOrder::InTurn).unwrap();
        RequestSet { seq: Some(SeqStart { from, at_us: from }), ..file.set }
    };
    let compare = |requests: RequestSet| {
        refused(|old, new| {
            old.start.workloads[0].requests = Some(set("/a?token=1", 1));
            new.start.workloads[0].requests = Some(requests);
        })
    };
    assert_eq!(compare(set("/a?token=1", 2)), "");
    let why = compare(set("/b?token=2", 1));
    assert!(why.contains("the requests of hello") && !why.contains("token"), "{why}");
}

#[test]
fn a_server_that_answers_otherwise_is_not_compared() {
    let sample = |status, body_bytes, content_type: &str| SampleReply {
        request: "GET /".to_owned(),
        status,
        body_bytes,
        content_type: content_type.to_owned(),
        ..SampleReply::default()
    };
    let between = |of_old: SampleReply, of_new: SampleReply| {
        let (mut old, mut new) = pair();
        for (journal, reply) in [(&mut old, of_old), (&mut new, of_new)] {
            let record = verified("go/net", &[], &[]);
            journal.verified = vec![Verified { replies: vec![reply], ..record }];
        }
        match try_compare(&old, &new, &CompareOptions::default()) {
            Err(NotComparable::Differ(differences)) => differences[0].to_string(),
            Ok(found) => found.facts.warnings.last().cloned().unwrap_or_default(),
            other @ Err(_) => panic!("{other:#?}"),
        }
    };
    let page = || sample(200, Some(48_000), "text/html");
    let is_page = "the reply of go/net to `GET /` was `status 200, 48000 bytes, text/html` and is ";
    assert_eq!(
        between(page(), sample(200, Some(47), "text/html")),
        format!("{is_page}`status 200, 47 bytes, text/html`")
    );
    let any = |bytes| SampleReply { any_body: true, ..sample(200, Some(bytes), "text/html") };
    assert_eq!(
        between(any(48_000), any(47)),
        format!("{is_page}`status 200, 47 bytes, text/html`")
    );
    let hinted = SampleReply { interim_replies: 1, ..page() };
    assert_eq!(
        between(page(), hinted),
        format!("{is_page}`status 200, 48000 bytes, text/html, after 1 interim`")
    );
    assert!(
        between(sample(301, None, ""), sample(302, None, ""))
            .ends_with("was `status 301, no content type` and is `status 302, no content type`")
    );
}

#[test]
fn another_machine_refuses_another_kernel_warns_and_one_that_is_not_told_warns_too() {
    let (old, new) = pair();
    let with = |environment: Option<&Environment>, options: &CompareOptions| {
        compare_on([Some(&machine()), environment], &old, &new, options)
    };
    let moved = Environment { cpu_model: Some("Model 2".into()), ..machine() };
    let Err(NotComparable::Differ(differences)) = with(Some(&moved), &CompareOptions::default())
    else {
        panic!("another machine was compared");
    };
    let sentence = "the machine: cpu_model was `Model 1` and is `Model 2`";
    assert_eq!(differences.iter().map(ToString::to_string).collect::<Vec<_>>(), [sentence]);
    let forced = with(Some(&moved), &forced()).unwrap();
    assert_eq!(forced.facts.forced, differences);
    assert!(forced.changes[0].movement().is_some());
    let shown = forced.markdown().split("<details>").next().unwrap().to_owned();
    assert!(shown.contains("with --force despite"), "{shown}");
    let updated = Environment { kernel: "6.2.0".into(), ..machine() };
    let warned = with(Some(&updated), &CompareOptions::default()).unwrap();
    assert_eq!(warned.facts.warnings, ["kernel was `6.1.0` and is `6.2.0`"]);
    let silent = with(None, &CompareOptions::default()).unwrap();
    assert!(silent.facts.warnings[0].starts_with("new has no environment.json"), "{silent:#?}");
}

#[test]
fn costs_at_two_rates_are_kept_apart_and_say_how_to_get_one() {
    let (old, mut new) = pair();
    new.rates = vec![rate(25_000)];
    let comparison = compared(&old, &new, &CompareOptions::default());
    assert!(comparison.changes.iter().all(|it| it.cell.load != "hello-cost"));
    let apart = comparison.facts.left_out.iter().filter(|it| it.presence == Presence::Both);
    let apart: Vec<String> = apart.map(ToString::to_string).collect();
    assert_eq!(apart.len(), 3, "{apart:#?}");
    let expected = "hello-cost go/net: cost was measured at 20000 requests/s and then at 25000 \
                    requests/s: use the same rate in both runs with `wirebench run --rate N`";
    assert!(apart.contains(&expected.to_owned()), "{apart:#?}");
    let forced = compared(&old, &new, &forced());
    assert!(forced.changes.iter().any(|it| it.cell.load == "hello-cost"));
    assert!(forced.facts.forced[0].to_string().starts_with("the rate of hello-cost was `"));
}

#[test]
fn a_rate_that_was_found_equals_one_that_was_given() {
    let (old, mut new) = pair();
    new.start.workloads[1] = new.start.workloads[1].at_rate(20_000_u64);
    let comparison = compared(&old, &new, &CompareOptions::default());
    assert!(comparison.changes.iter().any(|it| it.cell.load == "hello-cost"));
}

#[test]
fn results_without_a_common_cell_are_not_compared() {
    let (mut old, mut new) = pair();
    old.runs.retain(|run| run.workload == "hello-cost");
    new.rates = vec![rate(25_000)];
    match try_compare(&old, &new, &CompareOptions::default()) {
        Err(NotComparable::NothingInCommon(why)) => {
            assert!(why.iter().any(|it| it.contains("--rate N")), "{why:#?}");
        }
        other => panic!("{other:#?}"),
    }
}

#[test]
fn different_versions_and_swapped_results_are_reported() {
    let (mut old, mut new) = pair();
    new.start.variants[1].versions.insert("library".into(), "1.1".into());
    old.start.started = "2027-01-01T00:00:00Z".into();
    let comparison = compared(&old, &new, &CompareOptions::default());
    assert_eq!(comparison.facts.versions, ["go/net: library was 1.0 and is 1.1"]);
    assert_eq!(comparison.facts.warnings, ["old is newer by its time: swapped arguments?"]);
    let same = compared(&new, &new, &CompareOptions::default());
    assert_eq!(same.facts.warnings, ["both are the same result"]);
}
