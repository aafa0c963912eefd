//! What the models of a family have in common on each hardware.

use super::rule::rule;
use super::speedup::{geometric_mean, in_order, rated};
use super::{Entry, Measurement, Model, Rating, Speedup, Status};
use std::collections::BTreeMap;

/// The family's entry for each hardware.
pub(super) fn entries(hardware: &[String], models: &[Model]) -> Vec<Entry> {
    let of = |name: &String| -> Vec<&Entry> {
        models.iter().flat_map(|model| &model.entries).filter(|entry| entry.hardware == *name).collect()
    };
    hardware.iter().map(|name| entry(name, &of(name))).collect()
}

/// As far as any model came. The rating is by the geometric mean over the models that have a speed-up on one machine in one precision.
fn entry(hardware: &str, models: &[&Entry]) -> Entry {
    let status = models.iter().map(|entry| entry.status).max().unwrap_or(Status::NotTried);
    let mut speedups = speedups(models);
    let rating = rated(&speedups).unwrap_or(match status {
        Status::Failed | Status::Unsupported => Rating::None,
        _ => Rating::Unknown,
    });
    let any = |known: Option<bool>| models.iter().any(|entry| entry.compatible == known);
    let alike = || models.iter().filter(|entry| entry.status == status);
    let mut counts: BTreeMap<Status, u64> = BTreeMap::new();
    models.iter().for_each(|entry| *counts.entry(entry.status).or_default() += 1);
    let real = any(Some(true));
    Entry {
        hardware: hardware.into(),
        status,
        rating,
        compatible: match real {
            true => Some(true),
            false => (any(Some(false)) && status != Status::Measured).then_some(false),
        },
        reason: (rating == Rating::Unknown || rating == Rating::None)
            .then(|| alike().find_map(|entry| entry.reason.clone()))
            .flatten(),
        next: None,
        emulated: !real && alike().any(|entry| entry.emulated),
        verified: (status == Status::Measured).then(|| alike().any(|entry| entry.verified == Some(true))),
        others: if speedups.is_empty() { vec![] } else { speedups.split_off(1) },
        speedup: speedups.pop(),
        models: counts,
        failures: vec![],
        history: history(models),
    }
}

fn speedups(models: &[&Entry]) -> Vec<Speedup> {
    let mut kinds: BTreeMap<(&str, &str), Vec<&Speedup>> = BTreeMap::new();
    for speedup in models.iter().flat_map(|entry| entry.speedup.iter().chain(&entry.others)) {
        kinds.entry((&speedup.precision, &speedup.machine)).or_default().push(speedup);
    }
    let one = |((precision, machine), of): ((&str, &str), Vec<&Speedup>)| {
        let value = geometric_mean(&of.iter().map(|speedup| speedup.value).collect::<Vec<_>>())?;
        Some(Speedup {
            value,
            rating: rule().rating(value),
            precision: precision.into(),
            machine: machine.into(),
            points: of.iter().map(|speedup| speedup.points).sum(),
            models: of.len() as u64,
            timestamp: of.iter().filter_map(|speedup| speedup.timestamp.clone()).max(),
        })
    };
    in_order(kinds.into_iter().filter_map(one).collect(), rule())
}

fn history(models: &[&Entry]) -> Vec<Measurement> {
    let mut all: Vec<Measurement> = models.iter().flat_map(|entry| entry.history.iter().cloned()).collect();
    all.sort_by(|one, other| (&one.timestamp, &one.run).cmp(&(&other.timestamp, &other.run)));
    all
}
