//! Where the CPU time of each server goes: user and kernel mode, and how often its threads wait.

use crate::{
    analysis::{Metric, Row},
    document::{Block, Table},
    figure_text::or_absent,
    screen::model,
};

const LEGEND: &str = "User and kernel mode: shares of the CPU time of all instances over their lives, in ticks of \
                      10 ms, and context switches per request.";

/// The table of one scenario, of which the loads share instances; nothing if nothing is known.
pub(super) fn section(block: &model::Block<'_>) -> Vec<Block> {
    let cells = |(row, name): (usize, &String)| {
        let rows: Vec<_> = block.groups.iter().map(|group| group.with_figures(row)).collect();
        let lives = rows.iter().flatten().map(|row| lives(row));
        let [user, kernel] = lives.max_by(|a, b| (a[0] + a[1]).total_cmp(&(b[0] + b[1])))?;
        let shares = [user, kernel].map(|ns| format!("{:.0} %", ns / (user + kernel) * 100.0));
        let switches = rows.iter().map(|row| row.and_then(|row| row.median(Metric::Switches)));
        let switches = switches.map(|it| or_absent(it.map(|it| format!("{it:.2}"))));
        let cells = [name.clone()].into_iter().chain(shares).chain(switches);
        (user + kernel > 0.0).then(|| cells.collect())
    };
    let rows: Vec<Vec<String>> = block.rows.iter().enumerate().filter_map(cells).collect();
    let switches = block.groups.iter().map(|it| format!("switches, {}", it.title));
    let figures = ["user mode", "kernel mode"].map(str::to_owned).into_iter().chain(switches);
    let legend = rows.first().map(|_| LEGEND.to_owned()).into_iter().collect();
    vec![Block::Lines(legend), Block::Table(Table::of(["server"], figures, rows))]
}

/// CPU time in user and in kernel mode over the lives of the instances of a row; loads share them.
fn lives(row: &Row<'_>) -> [f64; 2] {
    let lives = row.measurements().filter_map(|it| it.instance);
    lives.fold([0.0; 2], |sum, it| [sum[0] + it.user_ns as f64, sum[1] + it.kernel_ns as f64])
}
