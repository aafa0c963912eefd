//! `host devices`: every device of every backend, or the evidence that there is none.

use super::{Done, Exit};
use crate::cli::Global;
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::output;
use skillbench_engine::run::{Evidence, Plugin, Probe};
use skillbench_report::page::Tone;
use skillbench_report::{Cell, Table};
use skillbench_worker::{DeviceRecord, DeviceState};

/// What people see of a reason without `--verbose`.
pub const SHORT: usize = 90;

pub fn devices(global: &Global) -> Done {
    let verbose = global.verbose;
    let inventory = global.inventory();
    let mut table = match verbose {
        false => Table::new(["plugin", "device", "status", "name"]),
        true => Table::new([
            "plugin",
            "device",
            "status",
            "name",
            "kind",
            "vendor",
            "arch",
            "driver",
            "memory_mb",
            "looked at",
        ])
        .least(["arch", "vendor", "kind", "driver", "memory_mb"]),
    };
    for (plugin, _) in inventory.backends() {
        let probe = Probe::at(plugin, &global.stop);
        let short = |mut row: Vec<Cell>| {
            if let (false, Some(status)) = (verbose, row.get_mut(2)) {
                status.shorten(SHORT);
            }
            row
        };
        let mut rows: Vec<Vec<Cell>> = match &probe.devices {
            Ok(devices) => devices.iter().map(|device| short(row(plugin, device))).collect(),
            Err(failure) => {
                let status = Cell::from(format!("unavailable: {failure}")).tone(Tone::Info);
                let mut row = vec![Cell::text(&plugin.id), Cell::none(), status];
                row.resize(9, Cell::none());
                vec![short(row)]
            }
        };
        for (index, row) in rows.iter_mut().enumerate() {
            // What was looked at stands once for each backend.
            row.push(if index == 0 { evidence(&probe.evidence) } else { Cell::none() });
        }
        rows.iter_mut().for_each(|row| row.truncate(table.columns.len()));
        table.rows.extend(rows);
    }
    output::table(&table, global.format.into());
    if !verbose && !global.quiet {
        output::say("`host devices --verbose` shows what was looked at; `host doctor` says what to do next");
    }
    tell_problems(&inventory.registry);
    tell_rejected(&inventory);
    Ok(Exit::Good)
}

/// Whether a device can be used, and if not, why.
pub fn status(device: &DeviceRecord) -> Cell {
    let state = device.state();
    match state {
        DeviceState::Unavailable => Cell::from(format!("{}: {}", state.name(), device.reason)).tone(Tone::Info),
        DeviceState::Emulated => Cell::from(state.name()).tone(Tone::Emulated),
        DeviceState::Remote => Cell::from(state.name()).tone(Tone::Info),
        DeviceState::Usable => Cell::from(state.name()).tone(Tone::Good),
    }
}

fn row(plugin: &Plugin, device: &DeviceRecord) -> Vec<Cell> {
    let status = status(device);
    let known = |text: &str| if text.is_empty() { Cell::none() } else { Cell::text(text) };
    vec![
        Cell::text(&plugin.id),
        Cell::text(&device.id),
        status,
        Cell::text(&device.name),
        Cell::text(&device.kind),
        known(&device.vendor),
        known(&device.arch),
        known(&device.driver),
        Cell::maybe(device.memory_bytes, |bytes| Cell::number((bytes >> 20) as f64)),
    ]
}

/// A line for each thing that was looked at.
fn evidence(all: &[Evidence]) -> Cell {
    match all {
        [] => Cell::none(),
        all => {
            let lines: Vec<String> = all.iter().map(|Evidence { what, found }| format!("{what}: {found}")).collect();
            Cell::lines(&lines)
        }
    }
}
