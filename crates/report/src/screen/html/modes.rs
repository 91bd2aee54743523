//! Where the CPU time of each server goes: user and kernel mode, and how often its threads wait.

use maud::{Markup, html};

use super::super::{
    model::Block,
    row::{name, with_figures},
};
use crate::{
    analysis::{Metric, Row, WorkloadRows},
    html::{
        self, Cells,
        chart::{number, svg},
        text,
    },
    order::grouped,
};

/// The longest bar, in CSS pixels, and the height of all.
const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 14.0;

/// A server's CPU time over the lives of its instances, and its context switches in each load.
#[derive(Debug, Default)]
struct Modes {
    user_ns: f64,
    kernel_ns: f64,
    switches: Vec<Option<f64>>,
}

/// The table of one scenario, of which the loads share instances; none if nothing is known.
pub(super) fn section(block: &Block, members: &[(String, &WorkloadRows<'_>)]) -> Option<Markup> {
    let mut rows = rows(members);
    rows.sort_by_key(|(name, _)| block.place(name));
    if rows.is_empty() {
        return None;
    }
    let fixed = [
        (Cells::Names, "server".to_owned()),
        (Cells::Pictures, "user | kernel".to_owned()),
        (Cells::Figures, "kernel".to_owned()),
    ];
    let switches = members.iter().map(|(title, _)| (Cells::Figures, format!("switches, {title}")));
    let heads: Vec<_> = fixed.into_iter().chain(switches).collect();
    let of_row = |(name, modes): &(String, Modes)| {
        let share = format!("{:.0} %", modes.kernel_share() * 100.0);
        let switches = modes.switches.iter();
        let switches = switches.map(|it| it.map_or("-".to_owned(), |it| format!("{it:.2}")));
        let cells = [text(name), bar(modes), text(share)];
        cells.into_iter().chain(switches.map(text)).collect()
    };
    let cells: Vec<Vec<Markup>> = rows.iter().map(of_row).collect();
    Some(html! {
        h3 { "User and kernel mode" }
        p.legend {
            "Shares of the CPU time of all instances over their lives, in ticks of 10 ms, and context switches "
            "per request."
        }
        (html::table(&format!("{}: user and kernel mode", block.title), &heads, &cells))
    })
}

impl Modes {
    fn kernel_share(&self) -> f64 {
        self.kernel_ns / (self.user_ns + self.kernel_ns)
    }
}

fn bar(modes: &Modes) -> Markup {
    let user = (1.0 - modes.kernel_share()) * WIDTH;
    let words = format!("{:.0} % in kernel mode", modes.kernel_share() * 100.0);
    let bars = html! {
        rect.estimate.user x="0" y="0" width=(number(user)) height=(HEIGHT) {}
        rect.kernel x=(number(user)) y="0" width=(number(WIDTH - user)) height=(HEIGHT) {}
    };
    svg("bar", (WIDTH, HEIGHT), &words, &bars)
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
