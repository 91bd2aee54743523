//! Real outputs of the programs, and outputs that must be refused.

use super::*;

const WRK: &str = "Running 1s test @ http://127.0.0.1:35895/
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    75.45us  460.19us   8.87ms   99.01%
    Req/Sec   156.63k     6.05k  161.66k    81.82%
  171204 requests in 1.10s, 12.57MB read
Requests/sec: 155612.84
Transfer/sec:     11.43MB
";

const OHA: &str = r#"{
  "summary": { "successRate": 1.0, "total": 0.5, "requestsPerSec": 1010.0, "totalData": 6000 },
  "responseTimeHistogram": {},
  "statusCodeDistribution": { "200": 500 },
  "errorDistribution": { "aborted due to deadline": 5 }
}"#;

#[test]
fn the_figures_are_found_in_what_each_program_prints() {
    let bare = r#"{"cpu_ns":1,"requests":7,"requests_per_second":3.5,"seconds":2.0}"#;
    for (contestant, output, requests, rate) in [
        (Contestant::Wrk, WRK, 171_204, 155_612.84),
        (Contestant::Oha, OHA, 500, 1000.0),
        (Contestant::BareEpoll, bare, 7, 3.5),
    ] {
        let counted = parse(contestant, output).unwrap();
        assert_eq!((counted.requests, counted.errors), (requests, 0), "{counted:?}");
        assert!((counted.requests_per_second / rate - 1.0).abs() < 1e-6, "{counted:?}");
    }
}

#[test]
fn failures_are_counted() {
    let errors = "  Socket errors: connect 1, read 2, write 3, timeout 4\nRequests/sec";
    let wrk = WRK.replace("Requests/sec", errors);
    assert_eq!(parse(Contestant::Wrk, &wrk).unwrap().errors, 10);
    let oha =
        OHA.replace(r#""200": 500"#, r#""200": 500, "503": 2"#).replace("aborted due", "broken");
    assert_eq!(parse(Contestant::Oha, &oha).unwrap().errors, 7);
}

#[test]
fn whatever_is_not_understood_is_an_error_that_shows_it() {
    let broken = [
        (Contestant::Wrk, WRK.replace("Requests/sec", "Requests/min")),
        (Contestant::Wrk, WRK.replace("171204", "many")),
        (Contestant::Oha, OHA.replace("total\"", "sum\"")),
        (Contestant::BareIoUring, String::new()),
    ];
    for (contestant, output) in broken {
        let message = format!("{:#}", parse(contestant, &output).unwrap_err());
        assert!(message.contains(&contestant.name()) && message.contains(&output), "{message}");
    }
}
