//! Whether two loads are of the same experiment.

use wirebench_judge::load::verdict;
use wirebench_schema::load::LoadConfig;

use super::{
    differing_fields, differing_replies, differing_requests, doubts_of_pair, other_machine,
};
use crate::{compare::LoadSide, idle_words, load::doubts, load_words, view::Difference};

/// Fields of the configuration that may differ: where the server is, how replies are checked, and what
/// is compared by itself.
const FREE: [&str; 21] = [
    "target",
    "unix_socket",
    "connect_to",
    "engine",
    "idle",
    "stalls",
    "model",
    "sources",
    "interval",
    "seed",
    "share",
    "requests",
    "headers",
    "body_check",
    "expect_body",
    "expect_body_file",
    "expect_contains",
    "expect_status",
    "head_limit_bytes",
    "trust",
    "client_certificate",
];

/// What must be equal and is not.
pub(in crate::compare) fn differences(old: &LoadSide<'_>, new: &LoadSide<'_>) -> Vec<Difference> {
    let mut found = other_machine([old.environment, new.environment]);
    let [before, after] = [old, new].map(|side| &side.result.report);
    let engines = [before, after].map(|it| it.engine.name().to_owned());
    found.extend(differ("the load generator's engine", engines));
    let hosts = [before, after].map(|it| it.generators.len().max(1).to_string());
    found.extend(differ("the number of load generators", hosts));
    let configs = [&before.config, &after.config];
    found.extend(idle_words::difference(configs.map(|it| it.idle)));
    let target = |it: &LoadConfig| match (it.target.is_tls(), &it.requests) {
        (_, Some(_)) => String::new(),
        _ => it.target.path().to_owned(),
    };
    found.extend(differ("the path", configs.map(target)));
    found.extend(differ("TLS", configs.map(|it| it.target.is_tls().to_string())));
    let protocols = configs.map(|it| format!("{:?}", it.target.protocol()).to_lowercase());
    found.extend(differ("the protocol", protocols));
    found.extend(differing_requests(configs.map(|it| it.requests.as_ref())));
    if let [Some(old), Some(new)] = [&before.files_digest, &after.files_digest] {
        found.extend(differ("the content of the files sent", [old.clone(), new.clone()]));
    }
    let replies = [before, after].map(|it| &it.sample_replies[..]);
    found.extend(differing_replies("the server", replies, false));
    if before.config.model != after.config.model {
        let models = configs.map(|it| load_words::describe_model(&it.model));
        found.extend(Difference::alike("the load model", models));
    }
    // Headers may hold secrets.
    let headers = configs.map(|it| it.headers.clone());
    if headers[0] != headers[1] {
        let names = headers.map(|it| match it.is_empty() {
            true => "none".to_owned(),
            false => it.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "),
        });
        found.extend(Difference::alike("the set of headers", names));
    }
    let others = differing_fields(configs, &FREE).into_iter();
    found.extend(others.map(|(it, [old, new])| Difference { what: format!("`{it}`"), old, new }));
    found
}

fn differ(what: &str, [old, new]: [String; 2]) -> Option<Difference> {
    Difference::between(what, old, new)
}

/// What may be the cause of changes, or speaks against a figure.
pub(in crate::compare) fn warnings<'a>(old: &LoadSide<'a>, new: &LoadSide<'a>) -> Vec<String> {
    let of = |it: &LoadSide<'a>| (it.name, it.result.started.as_str(), it.environment);
    let mut found = doubts_of_pair([of(old), of(new)], old.result == new.result);
    for side in [old, new] {
        let report = &side.result.report;
        let all = doubts(report).into_iter().chain(verdict(report).cautions);
        found.extend(all.map(|it| format!("{}: {it}", side.name)));
    }
    let [before, after] = [old, new].map(|side| &side.result.report);
    let targets = [before, after].map(|it| it.config.target.authority().to_owned());
    let versions = [before, after].map(|it| it.wirebench.clone());
    let others = [differ("the server", targets), differ("wirebench", versions)];
    // Where bodies are not compared, they may be of different work. Their lengths may vary a little.
    let sizes = [before, after].map(|it| it.bytes_received / it.requests.max(1));
    let is_alike = sizes[0].abs_diff(sizes[1]) <= sizes[0] / 20;
    let sizes = differ("a reply with its head, on average", sizes.map(|it| format!("{it} bytes")));
    let others = others.into_iter().flatten().chain(sizes.filter(|_| !is_alike));
    found.extend(others.map(|it| it.to_string()));
    found
}
