//! `host --version --verbose`: what this program was built from, and what it works with.

use crate::{WORKER, called};
use skillbench_engine::built::build;
use skillbench_plugin_api::raw::{SB_ABI_MAJOR, SB_ABI_MINOR};
use skillbench_store::database::engine_version;
use skillbench_worker::translated_for;

/// The system, and whether it only plays the processor that this program was built for.
fn system() -> String {
    let translated = translated_for().map(|kernel| format!(", translated for {kernel}")).unwrap_or_default();
    format!("{}{translated}", skillbench_engine::environment::system())
}

/// One fact a line, ready to be copied into a report of a fault.
pub fn told() -> String {
    let program = std::env::current_exe().and_then(|path| path.canonicalize());
    let worker = program.as_ref().ok().map(|path| path.with_file_name(WORKER)).filter(|path| path.is_file());
    let facts = [
        ("built from", build().line()),
        ("contract", format!("{SB_ABI_MAJOR}.{SB_ABI_MINOR}")),
        ("program", program.map_or_else(|error| error.to_string(), |path| path.display().to_string())),
        ("worker", worker.map_or("none beside it: it serves as its own".into(), |path| path.display().to_string())),
        ("DuckDB", engine_version().unwrap_or("its library does not work".into())),
        ("system", system()),
    ];
    let lines = facts.map(|(name, value)| format!("{name:10}  {value}\n")).concat();
    format!("{} {}\n{lines}", called::name(), env!("CARGO_PKG_VERSION"))
}
