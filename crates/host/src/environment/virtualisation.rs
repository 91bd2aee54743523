//! Whether the machine is virtual, and what it is called. Containers are no machines: what bounds
//! them is in `cgroup.rs`.

use wirebench_sys::files::Files;

/// Makers and products that only hypervisors show, and whose they are.
const SHOWN_BY: [(&str, &str); 10] = [
    ("QEMU", "QEMU"),
    ("KVM", "KVM"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("Xen", "Xen"),
    ("Microsoft Corporation Virtual Machine", "Hyper-V"),
    ("Parallels", "Parallels"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("OpenStack", "OpenStack"),
    ("Alibaba Cloud", "Alibaba Cloud"),
];

/// Clocks that only the guests of a hypervisor have, and whose they are.
const CLOCKS: [(&str, &str); 3] =
    [("kvm-clock", "KVM"), ("hyperv_clocksource", "Hyper-V"), ("xen", "Xen")];

/// The maker's name for the machine and its product, as the firmware tells them.
pub(super) fn product(files: &Files<'_>) -> Option<String> {
    let names = ["sys_vendor", "product_name"];
    let words: Vec<String> =
        names.iter().filter_map(|name| files.line(format!("sys/class/dmi/id/{name}"))).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Which hypervisor it is, by the first that names it.
pub(super) fn hypervisor(files: &Files<'_>) -> Option<String> {
    let kernel = files.line("sys/hypervisor/type");
    let cpuinfo = || files.field("proc/cpuinfo", "hypervisor vendor");
    let firmware = || named(&SHOWN_BY, &product(files)?);
    let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    // Such a clock may also be that of the first domain of a hypervisor; the CPU decides.
    let clock =
        || (cpu_says(files)? == Virtual::Yes).then(|| named(&CLOCKS, &files.line(clocks)?))?;
    kernel.or_else(cpuinfo).or_else(firmware).or_else(clock)
}

fn named(table: &[(&str, &str)], text: &str) -> Option<String> {
    let (_, name) = table.iter().find(|(part, _)| text.contains(part))?;
    Some((*name).to_owned())
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Virtual {
    Yes,
    No,
}

/// What the CPU says of itself. Only x86 has a flag for it.
fn cpu_says(files: &Files<'_>) -> Option<Virtual> {
    let flags = files.field("proc/cpuinfo", "flags")?;
    let set = flags.split(' ').any(|flag| flag == "hypervisor");
    Some(if set { Virtual::Yes } else { Virtual::No })
}

/// Whether there is a hypervisor: one that has a name, or one of which the CPU tells.
pub(super) fn virtualised(files: &Files<'_>, hypervisor: Option<&str>) -> Option<bool> {
    let says = cpu_says(files).map(|it| it == Virtual::Yes);
    if hypervisor.is_some() { Some(true) } else { says }
}
