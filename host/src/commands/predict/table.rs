//! Answers as tables: a list of them, and a matrix of models by hardware.

use crate::output;
use skillbench_predict::{Basis, Prediction, Quantity, rule};
use skillbench_report::{Cell, Format, Table};
use skillbench_session::forecast::{Answer, Bench, Hardware, by_hardware};
use std::path::Path;

/// A row for each quantity of each point on each hardware.
pub fn list(answers: &[Answer<'_>], form: Format) -> Table {
    let mut table = Table::new([
        "model",
        "hardware",
        "precision",
        "threads",
        "axes",
        "quantity",
        "unit",
        "measured",
        "trust",
        "run",
        "newer_try",
        "predicted",
        "low",
        "high",
        "level",
        "models",
        "stands_on",
        "why_not",
    ])
    .least([
        "models",
        "run",
        "newer_try",
        "stands_on",
        "trust",
        "threads",
        "precision",
        "unit",
        "axes",
        "low",
        "high",
    ]);
    answers.iter().for_each(|answer| table.rows.push(row(answer)));
    if matches!(form, Format::Table | Format::Markdown) {
        // What nobody has anything in need not be shown, and the level is told below.
        let kept = ["measured", "predicted"];
        let some = |cells: &[&Cell]| cells.iter().any(|cell| !cell.value.is_null());
        table.keep_columns(|name, cells| name != "level" && (kept.contains(&name) || some(cells)));
    }
    table
}

fn row(answer: &Answer<'_>) -> Vec<Cell> {
    let place = answer.hardware.map(|hardware| &hardware.place);
    let measured = answer.measured.as_ref();
    let predicted = answer.predicted.as_ref().ok();
    vec![
        Cell::text(&answer.asked.model),
        Cell::text(&answer.name),
        Cell::maybe(place.and_then(|place| place.precision.clone()), Cell::from),
        Cell::maybe(place.and_then(|place| place.threads), Cell::count),
        answer.axes.to_string().into(),
        answer.quantity.name().into(),
        answer.quantity.unit().into(),
        Cell::maybe(measured.map(|figure| figure.value), Cell::number),
        Cell::maybe(measured.map(|figure| figure.trust.name()), Cell::from),
        Cell::maybe(measured.map(|figure| figure.run.as_str()), Cell::from),
        Cell::maybe(measured.and_then(|figure| figure.newer.as_deref()), Cell::from),
        Cell::maybe(predicted.map(|told| told.value), Cell::number),
        Cell::maybe(predicted.map(|told| told.low), Cell::number),
        Cell::maybe(predicted.map(|told| told.high), Cell::number),
        Cell::maybe(predicted.map(|told| told.level), Cell::number),
        Cell::maybe(predicted.map(|told| told.models as u64), Cell::count),
        Cell::maybe(predicted.map(stands_on), Cell::from),
        Cell::maybe(answer.predicted.as_ref().err().map(|why| why.long.as_str()), Cell::from),
    ]
}

pub fn stands_on(told: &Prediction) -> &'static str {
    match (told.basis, told.learned) {
        (Basis::OtherPoints, _) => "other sizes of it",
        (Basis::OtherModels, true) => "other models",
        (Basis::OtherMachines, _) => "other machines",
        (Basis::OtherModels, false) => "other models, roofline only",
    }
}

/// Models by hardware. Programs get the list; people get latencies, of which predicted ones have their interval and say so.
pub fn matrix(answers: &[Answer<'_>], form: Format, file: Option<&Path>) -> String {
    if matches!(form, Format::Json | Format::Csv) {
        return output::drawn(&list(answers, form), form, file);
    }
    let groups = by_hardware(answers);
    let mut hardware: Vec<String> = vec![];
    groups.iter().for_each(|group| {
        let name = heading(&group[0]);
        if !hardware.contains(&name) {
            hardware.push(name);
        }
    });
    let columns = ["model", "family", "axes"].map(String::from).into_iter().chain(hardware.clone()).collect();
    let mut table = Table { columns, ..Table::default() };
    for line in groups.chunk_by(|one, two| one[0].asked.model == two[0].asked.model && one[0].axes == two[0].axes) {
        let of = &line[0][0];
        let mut row = vec![Cell::text(&of.asked.model), Cell::text(&of.asked.family), of.axes.to_string().into()];
        for name in &hardware {
            let group = line.iter().find(|group| heading(&group[0]) == *name);
            let latency = group.and_then(|group| group.iter().find(|answer| answer.quantity == Quantity::Latency));
            row.push(Cell::maybe(latency.map(describe), Cell::from));
        }
        table.rows.push(row);
    }
    let level = 100.0 * rule().level;
    let legend = format!(
        "Median latency in ms. Measured figures stand alone; predicted ones say so and have their interval of {level:.0}%."
    );
    match form {
        Format::Html => page(&table.render(form), &legend),
        _ => format!("{}\n{legend}\n", output::drawn(&table, form, file)),
    }
}

fn heading(answer: &Answer<'_>) -> String {
    answer.hardware.map_or_else(|| answer.name.clone(), |hardware| hardware.describe())
}

fn describe(answer: &Answer<'_>) -> String {
    let number = |value: f64| Cell::number(value).shown;
    match (&answer.measured, &answer.predicted) {
        (Some(figure), _) => {
            let trust = Some(figure.trust).filter(|trust| !trust.is_comparable()).map(|trust| trust.name().to_string());
            let newer = figure.newer.as_ref().map(|newer| format!("since then {newer}"));
            let unusual: Vec<String> = trust.into_iter().chain(newer).collect();
            match unusual.is_empty() {
                true => number(figure.value),
                false => format!("{} ({})", number(figure.value), unusual.join("; ")),
            }
        }
        (None, Ok(told)) => {
            format!("predicted {} ({} to {})", number(told.value), number(told.low), number(told.high))
        }
        (None, Err(why)) => format!("- {}", why.short),
    }
}

fn page(table: &str, legend: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Measured and predicted</title>\n<style>{STYLE}</style></head>\n<body>\n<h1>Measured and predicted</h1>\n<p>{legend}</p>\n{table}</body>\n</html>\n"
    )
}

const STYLE: &str = "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:2px 8px;text-align:left}";

/// What is learned from: a row for each cell, with its work and the peaks of its hardware.
pub fn training(bench: &Bench) -> Table {
    let mut table = Table::new([
        "machine",
        "plugin",
        "device",
        "precision",
        "threads",
        "model",
        "family",
        "batch",
        "flops",
        "weight_bytes",
        "activation_bytes",
        "kernels",
        "parameter_bytes",
        "peak_flops_per_s",
        "peak_bytes_per_s",
        "quantity",
        "value",
    ]);
    for row in bench.hardware.iter().flat_map(Hardware::training) {
        table.row([
            Cell::text(&row.machine),
            Cell::text(&row.plugin),
            Cell::text(&row.device),
            Cell::maybe(row.precision, Cell::from),
            Cell::maybe(row.threads, Cell::count),
            Cell::text(&row.model),
            Cell::text(&row.family),
            Cell::count(row.batch as u64),
            Cell::count(row.flops as u64),
            Cell::count(row.weight_bytes as u64),
            Cell::count(row.activation_bytes as u64),
            Cell::count(row.kernels as u64),
            Cell::count(row.parameter_bytes as u64),
            Cell::maybe(row.peak_flops_per_s, Cell::number),
            Cell::maybe(row.peak_bytes_per_s, Cell::number),
            row.quantity.name().into(),
            Cell::number(row.value),
        ]);
    }
    table
}
