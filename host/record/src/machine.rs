//! What tells this machine from others, so that one machine keeps one baseline, also from within its containers.

use crate::hash::sha256_text;

/// Names the machine in place of what is read of it.
pub const VARIABLE: &str = "SKILLBENCH_MACHINE";

/// So many hexadecimal digits of the hash.
const DIGITS: usize = 16;

/// What the board and the processor say of themselves. Serial numbers are left aside: only root reads them.
const BOARD: [&str; 3] =
    ["/sys/class/dmi/id/board_vendor", "/sys/class/dmi/id/board_name", "/sys/class/dmi/id/product_name"];

/// `SKILLBENCH_MACHINE`, else a hash of the machine-id, the board and the processor. `None`: there is no machine-id; then the name
/// of the machine tells it.
pub fn id() -> Option<String> {
    let named = std::env::var(VARIABLE).ok().map(|name| name.trim().to_string()).filter(|name| !name.is_empty());
    named.or_else(|| of_files(&text("/etc/machine-id")?))
}

fn of_files(machine_id: &str) -> Option<String> {
    let board = BOARD.map(|path| text(path).unwrap_or_default());
    let processor = cpu_model().unwrap_or_default();
    let all = format!("{machine_id}\n{}\n{processor}", board.join("\n"));
    Some(sha256_text(&all)[..DIGITS].into())
}

/// What this machine is in results: its id, or where it has none what people call it.
pub fn this() -> String {
    id().unwrap_or_else(label)
}

/// What people call this machine: its name and its processor.
pub fn label() -> String {
    [hostname(), cpu_model()].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The name of the machine, or of the container.
pub fn hostname() -> Option<String> {
    text("/proc/sys/kernel/hostname")
}

pub fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == "model name"))?;
    line.split_once(':').map(|(_, value)| value.trim().to_string())
}

fn text(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    // systemd writes this where no id was given yet: every such machine would be the same one.
    Some(text.trim().to_string()).filter(|text| !text.is_empty() && text != "uninitialized")
}
