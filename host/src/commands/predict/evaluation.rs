//! `host predict --evaluate`: held-out errors and coverage, by hardware.

use super::super::forecast::form;
use super::super::{Done, Exit, failed};
use crate::cli::Global;
use crate::output;
use skillbench_predict::{Method, Quantity, evaluate as held_out};
use skillbench_report::{Cell, Table};
use skillbench_session::forecast::Bench;
use std::path::Path;

pub fn evaluate(global: &Global, bench: &Bench, file: Option<&Path>) -> Done {
    let mut table = Table::new([
        "hardware",
        "precision",
        "threads",
        "quantity",
        "method",
        "models",
        "points",
        "out_of_range",
        "median_error_percent",
        "p90_error_percent",
        "coverage_percent",
        "interval_times",
    ])
    .least(["interval_times", "p90_error_percent", "out_of_range", "threads", "precision", "points"]);
    let mut answered = 0;
    for hardware in &bench.hardware {
        for quantity in Quantity::ALL {
            for method in Method::ALL {
                // Of memory nothing is learned beyond the law.
                if quantity == Quantity::Memory && method == Method::Residual {
                    continue;
                }
                let samples = hardware.samples(quantity);
                let told = held_out(samples, quantity, hardware.peaks, method);
                answered += usize::from(told.is_some());
                let told = told.as_ref();
                table.row([
                    Cell::text(&hardware.name),
                    Cell::maybe(hardware.place.precision.clone(), Cell::from),
                    Cell::maybe(hardware.place.threads, Cell::count),
                    quantity.name().into(),
                    name(quantity, method).into(),
                    Cell::count(told.map_or(hardware.models, |told| told.models) as u64),
                    Cell::maybe(told.map(|told| told.answered as u64), Cell::count),
                    Cell::maybe(told.map(|told| told.refused as u64), Cell::count),
                    Cell::maybe(told.map(|told| told.median_error_percent), Cell::number),
                    Cell::maybe(told.map(|told| told.p90_error_percent), Cell::number),
                    Cell::maybe(told.map(|told| 100.0 * told.coverage), Cell::number),
                    Cell::maybe(told.map(|told| told.factor), Cell::number),
                ]);
            }
        }
    }
    let text = output::drawn(&table, form(global, file), file);
    match file {
        None => output::print(&text),
        Some(file) => output::to_file(file, text.as_bytes()).map_err(failed)?,
    }
    if answered == 0 {
        let names: Vec<&str> = bench.hardware.iter().map(|hardware| hardware.name.as_str()).collect();
        let names = if names.is_empty() { bench.unmeasured.join(", ") } else { names.join(", ") };
        output::say(&format!("not enough data: too few models are measured on {names} to hold any out"));
        return Ok(Exit::NoVerdict);
    }
    Ok(Exit::Good)
}

fn name(quantity: Quantity, method: Method) -> &'static str {
    match (quantity, method) {
        (Quantity::Memory, Method::Law) => "linear only",
        _ => method.name(),
    }
}
