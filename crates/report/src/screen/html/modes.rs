//! Where the CPU time of each server goes: user and kernel mode, and how often its threads wait.

use crate::{
    analysis::{Metric, Row, WorkloadRows},
    document::{Block, Cell, Column, Table},
    order::grouped,
    screen::{
        model,
        row::{name, with_figures},
    },
};

const LEGEND: &str = "User and kernel mode: shares of the CPU time of all instances over their lives, in ticks of \
                      10 ms, and context switches per request.";

/// The table of one scenario, of which the loads share instances; nothing if nothing is known.
pub(super) fn section(block: &model::Block, members: &[(String, &WorkloadRows<'_>)]) -> Vec<Block> {
    let listed = members.iter().enumerate().flat_map(|(place, (_, member))| {
        with_figures(member).map(move |row| (name(row), (place, row)))
    });
    let mut servers = grouped(listed);
    servers.sort_by_key(|(name, _)| block.place(name));
    let cells = |(name, rows): (String, Vec<(usize, &Row<'_>)>)| {
        let lives = rows.iter().map(|(_, row)| lives(row));
        let [user, kernel] = lives.max_by(|a, b| (a[0] + a[1]).total_cmp(&(b[0] + b[1])))?;
        let mut cells = vec![name];
        cells.extend([user, kernel].map(|ns| format!("{:.0} %", ns / (user + kernel) * 100.0)));
        cells.extend((0..members.len()).map(|place| {
            let row = rows.iter().find(|(of, _)| *of == place);
            let switches = row.and_then(|(_, row)| row.median(Metric::Switches));
            switches.map_or_else(|| "-".to_owned(), |it| format!("{it:.2}"))
        }));
        (user + kernel > 0.0).then(|| cells.into_iter().map(Into::into).collect())
    };
    let rows: Vec<Vec<Cell>> = servers.into_iter().filter_map(cells).collect();
    let switches = members.iter().map(|(title, _)| Column::right(format!("switches, {title}")));
    let columns = [Column::left("server")].into_iter();
    let columns = columns.chain(["user mode", "kernel mode"].map(Column::right)).chain(switches);
    let legend = rows.first().map(|_| LEGEND.to_owned()).into_iter().collect();
    vec![Block::Lines(legend), Block::Table(Table::new(columns.collect(), rows))]
}

/// CPU time in user and in kernel mode over the lives of the instances of a row; loads share them.
fn lives(row: &Row<'_>) -> [f64; 2] {
    let lives = row.measurements().filter_map(|it| it.instance);
    lives.fold([0.0; 2], |sum, it| [sum[0] + it.user_ns as f64, sum[1] + it.kernel_ns as f64])
}
