//! Bars: hardware, models and groups side by side.

use super::common::{
    self, apart, attributes, baseline, batch, belongs, estimate, far_apart, head, joined, latency, machine, missing,
    named, other_axes, plot, precision, reason, together,
};
use super::measure::Measure;
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources};
use polars::prelude::DataFrame;
use skillbench_charts::{Bar, Bars, Chart, number};
use skillbench_record::catalog::column;
use skillbench_results::questions::{BASELINE, by_architecture, by_category, by_model, relative_to_cpu, speedups};

pub(super) fn bar(row: Row<'_>) -> Result<Bar, PlotError> {
    Ok(Bar {
        label: named(row),
        hardware: row.text("hardware").into(),
        emulated: row.is_emulated(),
        attributes: attributes(row)?,
        ..Bar::default()
    })
}

/// The rows of cells that were not measured, of those the ones at the point of a model.
pub(super) fn absent_at(unmeasured: &[Row<'_>], model: Row<'_>, group: &str) -> Result<Vec<Bar>, PlotError> {
    let same = |row: &&Row<'_>| [column::MODEL_ID, column::AXES].iter().all(|name| row.text(name) == model.text(name));
    unmeasured.iter().filter(same).map(|row| Ok(Bar { group: group.into(), ..absent(*row)? })).collect()
}

/// A row of a cell that was not measured.
fn absent(row: Row<'_>) -> Result<Bar, PlotError> {
    Ok(Bar { note: reason(row), ..bar(row)? })
}

/// The hardware on each model, a chart for each batch, by what its benchmark is compared by.
pub(super) fn hardware(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let kind = PlotKind::HardwareComparison;
    let frame = relative_to_cpu(sources.cells.clone())?;
    let missing = missing(sources)?;
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION, column::BATCH_SIZE]) {
        let first = rows[0];
        let Some(measure) = Measure::of_rows(&rows) else { continue };
        let behind = taken(&frame, &rows)?;
        let unmeasured: Vec<Row<'_>> = Rows::of(&missing)
            .all()
            .filter(|row| belongs(*row, first) && row.number(column::BATCH_SIZE) == first.number(column::BATCH_SIZE))
            .collect();
        let mut bars = vec![];
        for model in Rows::of(&behind).groups(&[column::MODEL_ID, column::AXES]) {
            let group = joined(&[model[0].text(column::MODEL_ID), &other_axes(model[0].text(column::AXES))]);
            for row in &model {
                let note = match row.number("speedup") {
                    Some(ratio) if row.text(column::PLUGIN) != BASELINE => format!("{}× {BASELINE}", number(ratio)),
                    _ => String::new(),
                };
                bars.push(Bar { group: group.clone(), estimate: (measure.of)(*row), note, ..bar(*row)? });
            }
            bars.extend(absent_at(&unmeasured, model[0], &group)?);
        }
        let batch = batch(first);
        let under = [first.text(column::BENCHMARK), precision(first), &batch, machine(&frame, first)];
        let mut head = head(kind, sources, "", &under);
        head.subtitle = head.subtitle.replace(&words().of(kind).shows, &measure.words().shows);
        let unit = measure.words().unit.clone();
        let chart = Bars { head, unit, log: measure.is_time && spread(&bars), bars, ..Bars::default() };
        plots.push(plot(kind, &under, Chart::Bars(chart), &together(behind.clone(), &missing, &unmeasured)?));
    }
    Ok(plots)
}

fn spread(bars: &[Bar]) -> bool {
    far_apart(bars.iter().map(|bar| bar.estimate.value))
}

/// The models of each family at the smallest batch, the fastest first.
pub(super) fn family(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let kind = PlotKind::Family;
    let frame = relative_to_cpu(sources.cells.clone())?;
    let mut plots = vec![];
    for mut rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION, column::FAMILY]) {
        let smallest = rows.iter().map(|row| row.count(column::BATCH_SIZE)).min();
        rows.retain(|row| {
            Some(row.count(column::BATCH_SIZE)) == smallest && row.number(column::LATENCY_MEDIAN_MS).is_some()
        });
        rows.sort_by(|one, other| {
            let ms = |row: &Row<'_>| row.number(column::LATENCY_MEDIAN_MS).unwrap_or(f64::INFINITY);
            apart(*one).0.cmp(&apart(*other).0).then(ms(one).total_cmp(&ms(other)))
        });
        let Some(first) = rows.first().copied() else { continue };
        let behind = taken(&frame, &rows)?;
        let mut bars = vec![];
        for row in Rows::of(&behind).all() {
            let sublabel = joined(&[&named(row), row.text(column::AXES)]);
            let (label, group) = (row.text(column::MODEL_ID).into(), apart(row).1.into());
            bars.push(Bar { label, sublabel, group, estimate: latency(row), ..bar(row)? });
        }
        let under = [first.text(column::BENCHMARK), precision(first), machine(&frame, first)];
        let head = head(kind, sources, first.text(column::FAMILY), &under);
        let unit = words().of(kind).unit.clone();
        let chart = Bars { head, unit, log: spread(&bars), bars, ..Bars::default() };
        let parts = [first.text(column::FAMILY), under[0], under[1], under[2]];
        plots.push(plot(kind, &parts, Chart::Bars(chart), &behind));
    }
    Ok(plots)
}

/// Speed against the CPU in groups of models.
pub(super) fn groups(kind: PlotKind, sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let (frame, column) = match kind {
        PlotKind::CategoryComparison => (by_category(sources.cells.clone())?, column::CATEGORY),
        _ => (by_architecture(sources.cells.clone())?, column::ARCHITECTURE_TYPE),
    };
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION]) {
        let others = |row: &Row<'_>| !is_baseline(*row);
        if !rows.iter().any(|row| others(row) && row.number("speedup").is_some()) {
            continue;
        }
        let behind = taken(&frame, &rows)?;
        let mut bars = vec![];
        for row in Rows::of(&behind).groups(&[column]).into_iter().flatten().filter(others) {
            let (estimate, note) = (common::speedup(row), of_models(row));
            bars.push(Bar { group: row.text(column).into(), estimate, note, ..bar(row)? });
        }
        let first = rows[0];
        let under = [first.text(column::BENCHMARK), precision(first), machine(&frame, first)];
        let chart = Bars { head: head(kind, sources, "", &under), reference: baseline(), bars, ..Bars::default() };
        plots.push(plot(kind, &under, Chart::Bars(chart), &behind));
    }
    Ok(plots)
}

fn is_baseline(row: Row<'_>) -> bool {
    row.text("hardware") == BASELINE && row.text(column::TRUST) == skillbench_results::questions::latest::HARDWARE
}

/// "5 models, 2 without a cell of the cpu".
fn of_models(row: Row<'_>) -> String {
    let words = words();
    let (used, without) = (row.count("models_used"), row.count("models_without_cpu"));
    match (used, without) {
        (0, _) => words.no_cpu.clone(),
        (used, 0) => words.models(used),
        (used, without) => format!("{}, {without} {}", words.models(used), words.without_cpu),
    }
}

/// Speed against the CPU: of each hardware over all models, and of each model.
pub(super) fn speedup(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let mut plots = overall(sources)?;
    plots.extend(by_models(sources, &by_model(sources.cells.clone())?)?);
    Ok(plots)
}

fn overall(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let (kind, words) = (PlotKind::Speedup, words());
    let frame = speedups(sources.cells.clone())?;
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION]) {
        let behind = taken(&frame, &rows)?;
        let mut bars = vec![];
        for row in Rows::of(&behind).all().filter(|row| !is_baseline(*row)) {
            let of_all = ["speedup_all", "speedup_all_low", "speedup_all_high"];
            let of_common = ["speedup_common", "speedup_common_low", "speedup_common_high"];
            let (used, missing) = (row.count("models_used"), row.count("models_missing"));
            let gone = if missing > 0 { format!("{missing} {}", words.missing) } else { String::new() };
            let note = joined(&[&words.models(used), &gone]);
            let sublabel = words.all_workloads.clone();
            bars.push(Bar { sublabel, estimate: estimate(row, of_all), note, ..bar(row)? });
            if !row.is_emulated() {
                let common = row.count("models_common");
                let note = if common > 0 { words.models(common) } else { words.no_common.clone() };
                let sublabel = words.common_workloads.clone();
                bars.push(Bar { sublabel, estimate: estimate(row, of_common), note, ..bar(row)? });
            }
        }
        let first = rows[0];
        let under = [first.text(column::BENCHMARK), precision(first), machine(&frame, first)];
        let chart = Bars { head: head(kind, sources, "", &under), reference: baseline(), bars, ..Bars::default() };
        plots.push(plot(kind, &under, Chart::Bars(chart), &behind));
    }
    Ok(plots)
}

fn by_models(sources: &Sources, frame: &DataFrame) -> Result<Vec<Plot>, PlotError> {
    let (kind, words) = (PlotKind::Speedup, words());
    let mut plots = vec![];
    for mut rows in Rows::of(frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION]) {
        rows.retain(|row| !is_baseline(*row));
        rows.sort_by(|one, other| {
            let ratio = |row: &Row<'_>| row.number("speedup").unwrap_or(f64::NEG_INFINITY);
            apart(*one).0.cmp(&apart(*other).0).then(ratio(other).total_cmp(&ratio(one)))
        });
        if rows.iter().all(|row| row.number("speedup").is_none()) {
            continue;
        }
        let Some(first) = rows.first().copied() else { continue };
        let behind = taken(frame, &rows)?;
        let mut bars = vec![];
        for row in Rows::of(&behind).all() {
            let estimate = common::speedup(row);
            let range = || {
                let [least, most] = ["speedup_least", "speedup_most"].map(|column| row.number(column));
                Some(format!("{}–{}", number(least?), number(most?)))
            };
            let note = match row.count("cells_used") {
                0 => words.no_cpu.clone(),
                1 => String::new(),
                used => joined(&[&format!("{used} {}", words.points), &range().unwrap_or_default()]),
            };
            let (label, group) = (row.text(column::MODEL_ID).into(), apart(row).1.into());
            bars.push(Bar { label, sublabel: named(row), group, estimate, note, ..bar(row)? });
        }
        let under = [first.text(column::BENCHMARK), precision(first), machine(frame, first)];
        let chart = Bars {
            head: head(kind, sources, words.models.as_str(), &under),
            reference: baseline(),
            bars,
            ..Bars::default()
        };
        plots.push(plot(kind, &["models", under[0], under[1], under[2]], Chart::Bars(chart), &behind));
    }
    Ok(plots)
}
