//! `host runtime pack`: what plugins need, in pieces for a machine without a network.

use super::meant;
use crate::commands::{CommandError, failed};
use crate::output;
use skillbench_engine::registry::{Package, Registry};
use skillbench_engine::runtime;
use skillbench_report::{Cell, Table};
use std::path::Path;

/// Packs what the names stand for. What machines with such a device often have is left out of a plugin's, unless all of it is
/// asked for.
pub fn pack(
    registry: &Registry,
    names: &[String],
    into: &Path,
    piece_size: u64,
    complete: bool,
) -> Result<Table, CommandError> {
    // All names are looked at before anything is fetched.
    let mut wanted: Vec<(Package, bool)> = vec![];
    for name in names {
        let (packages, of_plugin) = meant(registry, name)?;
        if packages.is_empty() {
            output::say(&format!("'{name}' needs nothing from outside"));
        }
        for package in packages {
            let often_there = package.file().is_some_and(|file| file.machine.is_some());
            let leave = of_plugin && often_there && !complete;
            match wanted.iter_mut().find(|(known, _)| *known == package) {
                Some((_, left)) => *left &= leave,
                None => wanted.push((package, leave)),
            }
        }
    }
    let mut table =
        Table::new(["package", "version", "packed", "files", "mb", "pieces", "note"]).least(["pieces", "files"]);
    for (package, leave) in &wanted {
        let row = if *leave { left_out(package) } else { one(package, into, piece_size)? };
        table.rows.push([vec![Cell::text(&package.name), Cell::text(&package.version)], row].concat());
    }
    Ok(table)
}

fn left_out(package: &Package) -> Vec<Cell> {
    let note = format!("machines with such a device often have it; `host runtime pack {}` packs it", package.name);
    vec![Cell::flag(false), Cell::none(), Cell::none(), Cell::none(), note.into()]
}

fn one(package: &Package, into: &Path, piece_size: u64) -> Result<Vec<Cell>, CommandError> {
    output::say(&format!("{} {}: with {} ...", package.name, package.version, package.source.client()));
    let manifest = runtime::pack(package, into, piece_size).map_err(failed)?;
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let all: u64 = manifest.pieces.iter().map(|piece| piece.size).sum();
    let (files, note) = match manifest.kept.len() {
        0 => (Cell::text("all"), Cell::text("as it was downloaded")),
        kept => (Cell::number(kept as f64), Cell::none()),
    };
    Ok(vec![
        Cell::flag(true),
        files,
        megabytes(all).into(),
        format!("{} of at most {} MB", manifest.pieces.len(), megabytes(piece_size)).into(),
        note,
    ])
}
