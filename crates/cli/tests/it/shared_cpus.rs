//! Both sides on the same CPUs, as in most documents: every form says so, and costs remain the server's.

use crate::world::{World, assert_has};
use wirebench_schema::journal::ReasonKind;

const SHORT: [&str; 10] = [
    "run",
    "builtin/epoll",
    "--scenario",
    "hello",
    "-d",
    "300ms",
    "--warmup=20ms",
    "--blocks",
    "1",
    "-c8",
];

#[test]
fn on_the_same_cpus_costs_are_the_servers_and_the_page_says_what_the_sharing_means() {
    let world = World::that_sends();
    let cpu = wirebench_sys::affinity::current().unwrap()[0].to_string();
    for procedure in ["cohorts", "process"] {
        let shared = ["--server-cpus", &cpu, "--generator-cpus", &cpu, "--procedure", procedure];
        let outcome = world.wirebench(&[&SHORT[..], &shared].concat()).ended(0);
        let text = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_has(
            &text,
            &[
                "1 CPU (1 server, 1 load generator, 1 shared)",
                "all rows: server and load generator shared a CPU: figures include waiting.",
                "all rows: a server waited ",
                "requests/s and latencies include the wait, CPU time does not",
            ],
        );
        for run in &world.journal().runs {
            let cost = &run.outcome.measured().unwrap().cost;
            assert!(cost.cpu_ns_per_request.is_some() && cost.run_queue_ns > Some(0), "{cost:?}");
            let reasons = run.outcome.reasons();
            assert!(reasons.iter().any(|it| it.kind == ReasonKind::SharedCpu), "{reasons:?}");
        }
        let explained = world.stdout(&["report", "latest", "--explain"]);
        assert!(explained.contains("server and load generator shared a CPU"), "{explained}");
        let csv = world.stdout(&["report", "latest", "--format=csv"]);
        assert!(csv.lines().skip(1).all(|line| line.contains(",false,")), "{csv}");
        std::fs::remove_dir_all(world.results()).unwrap();
    }
}
