//! Conditions as users write them, their mistakes, and verbs that lack a figure.

use super::*;

fn read(text: &str) -> Condition {
    text.parse().unwrap()
}

#[test]
fn conditions_read_with_and_without_spaces_and_show_themselves_again() {
    for (text, shown) in [
        ("throughput < -3%", "throughput < -3%"),
        ("throughput<-3%", "throughput < -3%"),
        (" p999 >  +12.5 % ", "p999 > +12.5%"),
        ("p99.9 > 5ms", "p999 > 5 ms"),
        ("memory > 5%", "memory > +5%"),
        ("cpu>0%", "cpu > +0%"),
        ("req/s < 10k", "throughput < 10000"),
        ("cpu > 8.25us", "cpu > 8250 ns"),
        ("memory>64MiB", "memory > 64 MiB"),
        ("errors > 0", "errors > 0"),
        ("errors > 0.1%", "errors > 0.1%"),
        ("achieved<99 %", "achieved < 99%"),
        ("unsent > 0", "unsent > 0"),
        ("p99 of GET /users > 5ms", "p99 of GET /users > 5 ms"),
        ("req/s of  a<b > c  < 1.5M", "throughput of a<b > c < 1500000"),
        ("cpu of go/net > +3%", "cpu of go/net > +3%"),
    ] {
        assert_eq!(read(text).to_string(), shown);
        assert_eq!(read(shown), read(text));
    }
    for figure in Metric::limitable() {
        let limit = match figure {
            Metric::Errors => "> 1%",
            Metric::Throughput => "< -1%",
            Metric::Achieved => "< 99%",
            _ => "> +1%",
        };
        assert_eq!(read(&format!("{} {limit}", figure.name())).figure, figure);
    }
    let three = read("throughput < -3%");
    let three = three.change().unwrap();
    let is_beyond = |share| three.beyond.is_beyond(share, three.share);
    assert_eq!([-0.031, -0.029, 0.2, f64::NAN].map(is_beyond), [true, false, false, false]);
}

#[test]
fn each_mistake_gets_its_reason_and_the_grammar() {
    let texts = [
        "throughput",
        "",
        "thruput < -3%",
        "switches > 3%",
        "throughput < -3",
        "throughput < three%",
        "throughput < nan%",
        "throughput < 3%",
        "cpu > -3%",
        "cpu > -0%",
        "throughput < +0%",
        "throughput < -100%",
        "cpu >= 3%",
        "p99 > 5",
        "p99 < 5ms",
        "req/s > 10k",
        "p99 > 5 parsecs",
        "memory > 64",
        "errors > +1%",
        "errors > 100%",
        "errors > 1.5",
        "achieved < 101%",
        "achieved < 99",
        "achieved > 99%",
        "unsent > 0.5",
        "p99 of > 5ms",
        "p99 GET / > 5ms",
        "p99 > 5ms of GET /",
    ];
    let text = crate::mistakes::of_texts::<Condition>(&texts);
    let text = text.replace(GRAMMAR, "...");
    expect_test::expect_file!["../golden/gate.txt"].assert_eq(&text);
}

#[test]
fn a_scope_refuses_what_it_does_not_have_and_names_what_it_has() {
    let values = vec![Metric::P99, Metric::Errors];
    let names = ["GET /", "GET /users"].map(str::to_owned).to_vec();
    let load = GateScope { verb: "load", values, names, ..GateScope::default() };
    let none = GateScope { names: Vec::new(), ..load.clone() };
    let ab = GateScope {
        names: vec!["GET /".to_owned()],
        verb: "ab",
        changes: vec![Metric::Cpu],
        hint: "add --rate",
        servers: vec!["own/head".parse().unwrap()],
        ..none.clone()
    };
    let message = |scope: &GateScope<'_>, text| scope.check(&read(text)).unwrap_err();
    for text in ["p99 > 5ms", "errors of GET /users > 0"] {
        assert_eq!(load.check(&read(text)), Ok(()));
    }
    assert_eq!(ab.check(&read("cpu of head > +3%")), Ok(()));
    let messages = [
        message(&load, "cpu > 8us"),
        message(&load, "p99 > +3%"),
        message(&load, "p99 of GET /user > 5ms"),
        message(&load, "p99 of POST /x > 5ms"),
        message(&none, "p99 of GET / > 5ms"),
        message(&ab, "p99 > +3%"),
        message(&ab, "cpu of base > +3%"),
        message(&ab, "cpu of GET / > +3%"),
    ];
    expect_test::expect_file!["../golden/gate-scope.txt"].assert_eq(&messages.join("\n"));
}
