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

const H2LOAD: &str = "starting benchmark...
progress: 100% of clients started
Application protocol: http/1.1

finished in 1.00s, 1378080.00 req/s, 101.20MB/s
requests: 1378080 total, 1378208 started, 1378080 done, 1378080 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 1378080 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 101.20MB (106112160) total, 49.94MB (52368864) headers (space savings 0.00%), 15.77MB (16537536) data
req/s           :  171950.57   172755.15   172240.56      242.09    75.00%
";

const HEY: &str = "
Summary:
  Total:\t0.3003 secs
  Slowest:\t0.0051 secs
  Requests/sec:\t55607.4821
  
  Total data:\t200400 bytes
  Size/request:\t12 bytes

Response time histogram:
  0.000 [1]\t|

Details (average, fastest, slowest):
  DNS+dialup:\t0.0000 secs, 0.0000 secs, 0.0051 secs

Status code distribution:
  [200]\t16700 responses



";

const OHA: &str = r#"{
  "summary": { "successRate": 1.0, "total": 0.5, "requestsPerSec": 1010.0, "totalData": 6000 },
  "responseTimeHistogram": {},
  "statusCodeDistribution": { "200": 500 },
  "errorDistribution": { "aborted due to deadline": 5 }
}"#;

fn counted(requests: u64, requests_per_second: f64, errors: u64) -> Counted {
    Counted { requests, requests_per_second, errors }
}

#[test]
fn the_figures_are_found_in_what_each_program_prints() {
    assert_eq!(parse(Contestant::Wrk, WRK).unwrap(), counted(171_204, 155_612.84, 0));
    assert_eq!(parse(Contestant::H2load, H2LOAD).unwrap(), counted(1_378_080, 1_378_080.0, 0));
    assert_eq!(parse(Contestant::Hey, HEY).unwrap(), counted(16_700, 55_607.482_1, 0));
    assert_eq!(parse(Contestant::Oha, OHA).unwrap(), counted(500, 1000.0, 0));
    let bare = r#"{"cpu_ns":1,"requests":7,"requests_per_second":3.5,"seconds":2.0}"#;
    assert_eq!(parse(Contestant::BareEpoll, bare).unwrap(), counted(7, 3.5, 0));
}

#[test]
fn failures_are_counted() {
    let wrk = WRK.replace(
        "Requests/sec",
        "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\nRequests/sec",
    );
    assert_eq!(parse(Contestant::Wrk, &wrk).unwrap().errors, 15);
    let h2load = H2LOAD.replace("0 failed, 0 errored, 0 timeout", "1 failed, 2 errored, 4 timeout");
    assert_eq!(parse(Contestant::H2load, &h2load).unwrap().errors, 7);
    let hey = format!(
        "{}  [500]\t3 responses\n\nError distribution:\n  [4]\tGet: refused\n",
        HEY.trim_end()
    );
    let hey = hey.replace("responses  [500]", "responses\n  [500]");
    assert_eq!(parse(Contestant::Hey, &hey).unwrap().errors, 7);
    let oha =
        OHA.replace(r#""200": 500"#, r#""200": 500, "503": 2"#).replace("aborted due", "broken");
    assert_eq!(parse(Contestant::Oha, &oha).unwrap().errors, 7);
}

#[test]
fn whatever_is_not_understood_is_an_error_that_shows_it() {
    let broken = [
        (Contestant::Wrk, WRK.replace("Requests/sec", "Requests/min")),
        (Contestant::Wrk, WRK.replace("171204", "many")),
        (Contestant::H2load, H2LOAD.replace("succeeded", "fine")),
        (Contestant::H2load, H2LOAD.replace("1378080 2xx", "9 2xx")),
        (Contestant::H2load, H2LOAD.replace("finished in", "ended in")),
        (Contestant::Hey, HEY.replace("responses", "")),
        (Contestant::Hey, HEY.replace("[200]\t16700 responses", "")),
        (Contestant::Oha, OHA.replace("total\"", "sum\"")),
        (Contestant::BareIoUring, String::new()),
    ];
    for (contestant, output) in broken {
        let message = format!("{:#}", parse(contestant, &output).unwrap_err());
        assert!(message.contains(contestant.name()) && message.contains(&output), "{message}");
    }
}
