//! The figures of the requests of each name, of one load or of the servers of a run.

use wirebench_schema::load::{LatencySummary, LoadReport, NamedRequests, RequestSet};

use crate::{
    analysis::{Row, WorkloadRows},
    document::Block,
    load_tables::{OF_PAGES, of_names},
};

/// All requests of a load, without a name, then those of each name.
pub(crate) fn requests(load: &LoadReport) -> impl Iterator<Item = NamedRequests> {
    let LoadReport { requests, requests_per_second, .. } = *load;
    let (name, errors, latency) = (String::new(), load.errors.total(), load.latency.clone());
    let whole = NamedRequests { name, requests, requests_per_second, errors, latency };
    [whole].into_iter().chain(load.by_name.iter().cloned())
}

/// The name of these requests, if all have the same one.
pub(crate) fn only_name(requests: Option<&RequestSet>) -> Option<String> {
    match requests?.names().as_slice() {
        [name] => Some((*name).to_owned()),
        _ => None,
    }
}

/// The requests of each name over all runs of a server that count, in every state of the machine; none where all
/// requests have one name.
pub(crate) fn of_row(row: &Row<'_>) -> Vec<NamedRequests> {
    let loads: Vec<_> = row.measurements().map(|it| &it.load).collect();
    let seconds = loads.iter().map(|it| it.window_ns).sum::<u64>() as f64 / 1e9;
    let Some(first) = loads.first() else { return Vec::new() };
    let of_name = |name: &String| {
        let named = || loads.iter().flat_map(|it| &it.by_name).filter(|it| it.name == *name);
        let requests = named().map(|it| it.requests).sum::<u64>();
        NamedRequests {
            name: name.clone(),
            requests,
            requests_per_second: if seconds > 0.0 { requests as f64 / seconds } else { 0.0 },
            errors: named().map(|it| it.errors).sum(),
            latency: LatencySummary::merge(named().filter_map(|it| it.latency.as_ref())),
        }
    };
    first.by_name.iter().map(|it| of_name(&it.name)).collect()
}

/// A table for each workload whose requests have names.
pub(crate) fn sections(workloads: &[WorkloadRows<'_>]) -> Vec<Block> {
    let section = |rows: &WorkloadRows<'_>| {
        let of_row = |row: &Row<'_>| {
            let name = row.name();
            of_row(row).into_iter().map(move |it| (Some(name.clone()), it))
        };
        let mut lines: Vec<_> = rows.rows.iter().flat_map(of_row).collect();
        // Servers are compared by request, not requests by server.
        let names: Vec<String> = lines.iter().map(|(_, it)| it.name.clone()).collect();
        lines.sort_by_key(|(_, it)| names.iter().position(|name| *name == it.name));
        let title = format!("{}: requests by name", rows.workload.name);
        (!lines.is_empty()).then(|| Block::Section(title, of_names(&lines, OF_PAGES)))
    };
    workloads.iter().filter_map(section).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        analysis::Analysis,
        document::{Document, Paint},
        fixtures,
    };
    use expect_test::expect;

    fn named(name: &str, requests: u64) -> NamedRequests {
        NamedRequests { name: name.to_owned(), requests, errors: 1, ..NamedRequests::default() }
    }

    #[test]
    fn the_requests_of_a_name_are_added_up_over_the_runs_of_a_server() {
        let mut journal = fixtures::pair(1.0);
        fixtures::alter_all(&mut journal, |it| {
            it.load.window_ns = 1_000_000_000;
            it.load.by_name = vec![named("list", 10), named("user", 20)];
        });
        let analysis = Analysis::of(&journal);
        let rows = &analysis.workloads[0].rows;
        let runs = rows[0].measurements().count() as u64;
        let summed = of_row(&rows[0]);
        assert!(runs > 1);
        assert_eq!((summed[1].requests, summed[1].errors), (20 * runs, runs));
        assert!((summed[1].requests_per_second - 20.0).abs() < 1e-9);
        let document =
            Document { blocks: sections(&analysis.workloads[..1]), ..Document::default() };
        expect![[r#"
            hello: requests by name
            request  server              requests  errors  requests/s  p50  p99  p99.9
            list     c/epoll (baseline)        60       6          10    -    -      -
            list     c/epoll (A/A)             60       6          10    -    -      -
            list     go/net                    60       6          10    -    -      -
            user     c/epoll (baseline)       120       6          20    -    -      -
            user     c/epoll (A/A)            120       6          20    -    -      -
            user     go/net                   120       6          20    -    -      -
        "#]]
        .assert_eq(&document.text(Paint::FILE));
    }
}
