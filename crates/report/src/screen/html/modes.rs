//! Where the CPU time of each server goes: user and kernel mode, and how often its threads wait.

use super::super::{
    model,
    row::{name, with_figures},
};
use crate::{
    analysis::{Metric, Row, WorkloadRows},
    document::{Block, Column, Table},
    order::grouped,
};

const LEGEND: &str = "User and kernel mode: shares of the CPU time of all instances over their lives, in ticks of \
                      10 ms, and context switches per request.";

/// A server's CPU time over the lives of its instances, and its context switches in each load.
#[derive(Debug, Default)]
struct Modes {
    user_ns: f64,
    kernel_ns: f64,
    switches: Vec<Option<f64>>,
}

/// The table of one scenario, of which the loads share instances; nothing if nothing is known.
pub(super) fn section(block: &model::Block, members: &[(String, &WorkloadRows<'_>)]) -> Vec<Block> {
    let mut rows = rows(members);
    rows.sort_by_key(|(name, _)| block.place(name));
    if rows.is_empty() {
        return Vec::new();
    }
    let heads = ["user mode", "kernel mode"].map(Column::right);
    let switches = members.iter().map(|(title, _)| Column::right(format!("switches, {title}")));
    let columns = [Column::left("server")].into_iter().chain(heads).chain(switches).collect();
    let of_row = |(name, modes): &(String, Modes)| {
        let share = modes.kernel_ns / (modes.user_ns + modes.kernel_ns) * 100.0;
        let shares = [100.0 - share, share].map(|percent| format!("{percent:.0} %"));
        let switches = modes.switches.iter();
        let switches = switches.map(|it| it.map_or("-".to_owned(), |it| format!("{it:.2}")));
        [name.clone()].into_iter().chain(shares).chain(switches).map(Into::into).collect()
    };
    vec![Block::line(LEGEND), Block::Table(Table::new(columns, rows.iter().map(of_row)))]
}

fn rows(members: &[(String, &WorkloadRows<'_>)]) -> Vec<(String, Modes)> {
    let listed = members.iter().enumerate().flat_map(|(index, (_, member))| {
        with_figures(member).map(move |row| (name(row), (index, row)))
    });
    let modes = |(name, rows): (String, Vec<(usize, &Row<'_>)>)| {
        let mut modes = Modes { switches: vec![None; members.len()], ..Modes::default() };
        for (index, row) in rows {
            modes.switches[index] = row.median(Metric::Switches);
            // The loads share their instances.
            let lives = row.measurements().filter_map(|it| it.instance);
            let sum = lives.fold((0.0, 0.0), |sum, life| {
                (sum.0 + life.user_ns as f64, sum.1 + life.kernel_ns as f64)
            });
            if sum.0 + sum.1 > modes.user_ns + modes.kernel_ns {
                (modes.user_ns, modes.kernel_ns) = sum;
            }
        }
        (name, modes)
    };
    let all = grouped(listed).into_iter().map(modes);
    all.filter(|(_, modes)| modes.user_ns + modes.kernel_ns > 0.0).collect()
}
