//! `host fleet outliers`: which machines of a class are not like the others.

use crate::cli::{Global, RESULTS};
use crate::commands::{CommandError, Done, Exit, failed, usage};
use crate::output;
use skillbench_fleet::names;
use skillbench_fleet::peers::{Peer, Standing, peers};
use skillbench_record::Run;
use skillbench_report::page::Tone;
use skillbench_report::{Cell, Table};
use skillbench_store::journal;
use std::path::Path;

pub fn outliers(global: &Global, id: &str, results: Option<&Path>) -> Done {
    let runs = kept(id, results.unwrap_or(Path::new(RESULTS)))?;
    let mut table = Table::new([
        "plugin",
        "device",
        "machine",
        "id",
        "peers",
        "cells",
        "ratio",
        "ratio of means",
        "standing",
        "settled",
        "cores of others",
        "clock (MHz)",
        "temperature (°C)",
        "throttled",
    ]);
    for peer in peers(&runs) {
        let standing = Cell::from(peer.standing.name());
        table.row([
            Cell::text(&peer.plugin),
            Cell::text(&peer.device),
            Cell::text(&peer.machine),
            Cell::text(&peer.id),
            Cell::count(peer.peers as u64),
            Cell::count(peer.cells as u64),
            Cell::maybe(peer.ratio, Cell::number),
            Cell::maybe(peer.ratio_of_means, Cell::number),
            match peer.standing {
                Standing::Slow | Standing::Fast => standing.tone(Tone::Bad),
                Standing::Like | Standing::Unknown => standing,
            },
            Cell::count(peer.settled as u64),
            Cell::maybe(peer.other_cores, Cell::number),
            Cell::maybe(peer.frequency_mhz, Cell::number),
            Cell::maybe(peer.temperature_c, Cell::number),
            Cell::maybe(peer.throttled, Cell::count),
        ]);
    }
    output::table(&table, global.format.into());
    Ok(Exit::Good)
}

/// The runs of a submission that are kept in a folder.
fn kept(id: &str, results: &Path) -> Result<Vec<Run>, CommandError> {
    names::check(id).map_err(usage)?;
    let entries = std::fs::read_dir(results).map_err(|error| usage(format!("{}: {error}", results.display())))?;
    let of_submission = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_str().and_then(|name| name.strip_prefix(id)).is_some_and(|rest| rest.starts_with('-'))
    });
    let mut folders: Vec<_> = of_submission.map(|entry| entry.path()).collect();
    folders.sort();
    let mut runs = vec![];
    for folder in folders {
        let run = journal::read(&folder).map_err(failed)?.run;
        if run.environment.fleet.as_ref().is_some_and(|fleet| fleet.submission == id) {
            runs.push(run);
        }
    }
    match runs.is_empty() {
        true => Err(usage(format!("{} has no runs of {id}: host fleet follow {id}", results.display()))),
        false => Ok(runs),
    }
}

/// Says which machines of some runs are slow.
pub fn tell_slow<'r>(runs: impl IntoIterator<Item = &'r Run>) {
    for peer in peers(runs).into_iter().filter(|peer| peer.standing == Standing::Slow) {
        let Peer { machine, plugin, id, device, peers, cells, settled, .. } = &peer;
        let figures = [("median", peer.ratio), ("mean", peer.ratio_of_means)];
        let told = figures.into_iter().filter_map(|(what, ratio)| Some(format!("{what} {:.2}", ratio?)));
        let told: Vec<String> = told.collect();
        output::warning(&format!(
            "{machine} is slow: latency {} times that of the median of {peers} {device} ({plugin} {id}, {cells} cells, {settled} of them settled)",
            told.join(" and ")
        ));
    }
}
