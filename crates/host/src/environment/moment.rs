//! What varies from minute to minute: load, stolen time, uptime, heat.

use wirebench_sys::files::Files;

/// Sensors of CPUs; the others are of disks and mainboards.
const CPU_SENSORS: [&str; 4] = ["coretemp", "cpu_thermal", "k10temp", "zenpower"];
/// What a sensor that works can show.
const PLAUSIBLE_CELSIUS: std::ops::Range<f64> = 1.0..150.0;

/// Runnable tasks over the last minute, of the whole machine.
pub(super) fn load_average_1m(files: &Files<'_>) -> Option<f64> {
    files.line("proc/loadavg")?.split(' ').next()?.parse().ok()
}

/// How long the machine has been running.
pub(super) fn uptime_s(files: &Files<'_>) -> Option<f64> {
    files.line("proc/uptime")?.split(' ').next()?.parse().ok()
}

/// The part of all CPUs' time since the start of the machine that the hypervisor gave to others.
///
/// The last two columns, time of guests, are part of the first two and not counted again.
pub(super) fn steal_share(files: &Files<'_>) -> Option<f64> {
    const COLUMNS: usize = 8;
    const STEAL: usize = 7;
    let line = files.value("proc/stat", "cpu ")?;
    let ticks: Option<Vec<f64>> =
        line.split_whitespace().take(COLUMNS).map(|column| column.parse().ok()).collect();
    let ticks = ticks?;
    let total: f64 = ticks.iter().sum();
    (total > 0.0).then(|| ticks.get(STEAL).map(|steal| steal / total))?
}

/// The warmest of the CPU's sensors and of the thermal zones.
pub(super) fn temperature_celsius(files: &Files<'_>) -> Option<f64> {
    let zones = files.names("sys/class/thermal").into_iter();
    let zones = zones
        .filter(|name| name.starts_with("thermal_zone"))
        .map(|name| format!("sys/class/thermal/{name}/temp"));
    let sensors = files.names("sys/class/hwmon").into_iter().flat_map(|name| {
        let folder = format!("sys/class/hwmon/{name}");
        let sensor = files.line(format!("{folder}/name")).unwrap_or_default();
        let inputs =
            if CPU_SENSORS.contains(&sensor.as_str()) { files.names(&folder) } else { Vec::new() };
        inputs
            .into_iter()
            .filter(|file| file.starts_with("temp") && file.ends_with("_input"))
            .map(move |file| format!("{folder}/{file}"))
    });
    zones
        .chain(sensors)
        .filter_map(|path| files.number::<f64>(path))
        .map(|millidegrees| millidegrees / 1000.0)
        .filter(|celsius| PLAUSIBLE_CELSIUS.contains(celsius))
        .max_by(f64::total_cmp)
}
