//! In words: whether CPUs without work were kept awake, and the price of waking one.

use wirebench_schema::{
    journal::{Start, WakeUpPrice},
    load::IdleMode,
};

use crate::view::Difference;

/// Words for a mode on which the machine does not decide.
pub(crate) fn mode(mode: IdleMode) -> Option<&'static str> {
    (mode != IdleMode::Natural).then_some("CPUs kept awake")
}

/// Other words with those of the mode.
pub(crate) fn after(words: &str, of: IdleMode) -> String {
    mode(of).map_or_else(|| words.to_owned(), |mode| format!("{words}, {mode}"))
}

/// The mode for a page, with the price of waking a CPU.
pub(crate) fn idle_cpus(start: &Start) -> Option<String> {
    let price = start.wake_up.as_ref().map(wake_up);
    let words = mode(start.idle).map(str::to_owned).into_iter().chain(price);
    (start.idle != IdleMode::Natural).then(|| words.collect::<Vec<_>>().join("; "))
}

/// The price of a wake-up, as a sentence without its end.
#[must_use]
pub fn wake_up(price: &WakeUpPrice) -> String {
    let [cpu, latency] = [price.cpu_ns, price.latency_ns].map(|ns| ns / 1000.0);
    format!(
        "on this machine waking an idle CPU costs {cpu:.1} us of CPU and {latency:.0} us of latency"
    )
}

/// Cost of waking for a server, as a sentence without its end.
pub(crate) fn added(price: &WakeUpPrice) -> String {
    let [cpu, latency] = [price.cpu_ns, price.latency_ns].map(|ns| ns / 1000.0);
    format!("waking adds {cpu:.1} us of CPU to a request, and {latency:.0} us to p50")
}

/// The difference of two results in the modes of the figures that are compared.
pub(crate) fn difference(modes: [IdleMode; 2]) -> Option<Difference> {
    let [old, new] = modes.map(IdleMode::compared);
    Difference::between("the idle mode of the CPUs", old.to_string(), new.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_the_mode_and_the_price() {
        let wake_up = Some(WakeUpPrice { cpu_ns: 3_560.0, latency_ns: 35_200.0 });
        let start = Start { idle: IdleMode::Awake, wake_up, ..Start::default() };
        assert_eq!(
            idle_cpus(&start).unwrap(),
            "CPUs kept awake; on this machine waking an idle CPU costs 3.6 us of CPU and 35 us of latency"
        );
        assert_eq!(idle_cpus(&Start::default()), None);
        assert_eq!(after("2 CPUs", start.idle), "2 CPUs, CPUs kept awake");
        assert_eq!(after("2 CPUs", IdleMode::Natural), "2 CPUs");
    }
}
