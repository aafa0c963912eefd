//! `host devices`: every device of every backend, or the evidence that there is none.

use super::{Done, Exit};
use crate::cli::Global;
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::output;
use skillbench_engine::registry::PluginOptions;
use skillbench_engine::run::{Inventory, Plugin};
use skillbench_engine::worker::{Command, DeviceRecord, Failure, Limits, Reply, Worker};
use skillbench_report::{Cell, Table};

/// Opens a backend in a worker and asks for its devices.
pub fn ask(plugin: &Plugin) -> Result<Vec<DeviceRecord>, Failure> {
    let backend = plugin.opened_with(&PluginOptions::new(), None).map_err(|text| Failure::failed("options", text))?;
    match Worker::call_once(&Command::Devices { backend }, &Limits::looking())? {
        Reply::Devices { devices, .. } => Ok(devices),
        other => Err(Failure::unexpected(&other)),
    }
}

pub fn devices(global: &Global, verbose: bool) -> Done {
    let inventory = Inventory::take(&global.sources());
    let mut table = match verbose {
        false => Table::new(["plugin", "device", "status", "name"]),
        true => Table::new(["plugin", "device", "status", "name", "kind", "vendor", "arch", "driver", "memory_mb"]),
    };
    for (plugin, _) in inventory.backends() {
        let mut rows: Vec<Vec<Cell>> = match ask(plugin) {
            Ok(devices) => devices.iter().map(|device| row(plugin, device)).collect(),
            Err(failure) => {
                let mut row = vec![Cell::text(&plugin.id), Cell::none(), format!("unavailable: {failure}").into()];
                row.resize(9, Cell::none());
                vec![row]
            }
        };
        rows.iter_mut().for_each(|row| row.truncate(table.columns.len()));
        table.rows.extend(rows);
    }
    output::table(&table, global.format.into());
    tell_problems(&inventory.registry);
    tell_rejected(&inventory);
    Ok(Exit::Good)
}

fn row(plugin: &Plugin, device: &DeviceRecord) -> Vec<Cell> {
    let status = match (device.usable, device.emulated) {
        (false, _) => format!("unavailable: {}", device.reason),
        (true, true) => "emulated".into(),
        (true, false) => "usable".into(),
    };
    let known = |text: &str| if text.is_empty() { Cell::none() } else { Cell::text(text) };
    vec![
        Cell::text(&plugin.id),
        Cell::text(&device.id),
        status.into(),
        Cell::text(&device.name),
        Cell::text(&device.kind),
        known(&device.vendor),
        known(&device.arch),
        known(&device.driver),
        Cell::maybe(device.memory_bytes, |bytes| Cell::number((bytes >> 20) as f64)),
    ]
}
