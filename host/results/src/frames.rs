//! Results as data frames. What was not measured is null.

use polars::prelude::*;
use skillbench_engine::document::{Cell, Fix, Metrics, Run, Samples, Stats, Verification};

/// One row for each cell, with its figures in columns.
///
/// # Errors
/// Polars' own.
pub fn cells(run: &Run) -> PolarsResult<DataFrame> {
    let cells = &run.cells;
    let text = |name: &str, pick: fn(&Cell) -> Option<String>| {
        Column::new(name.into(), cells.iter().map(pick).collect::<Vec<Option<String>>>())
    };
    let whole = |name: &str, pick: fn(&Cell) -> Option<i64>| {
        Column::new(name.into(), cells.iter().map(pick).collect::<Vec<Option<i64>>>())
    };
    let flag =
        |name: &str, pick: fn(&Cell) -> bool| Column::new(name.into(), cells.iter().map(pick).collect::<Vec<bool>>());
    let figure = |name: &str, pick: fn(&Metrics) -> Option<f64>| {
        let values: Vec<Option<f64>> = cells.iter().map(|cell| cell.outcome.metrics().and_then(pick)).collect();
        Column::new(name.into(), values)
    };
    let columns = vec![
        whole("cell", |c| Some(c.index as i64)),
        text("plugin", |c| Some(c.plugin.clone())),
        text("device", |c| Some(c.device.clone())),
        text("skill", |c| Some(c.skill.clone())),
        text("family", |c| Some(c.family.clone())),
        text("architecture", |c| Some(c.architecture.clone())),
        text("benchmark", |c| Some(c.benchmark.clone())),
        text("axes", |c| Some(axes(c))),
        whole("batch_size", |c| c.axes.get("batch").copied()),
        whole("sequence_length", |c| c.axes.get("sequence").copied()),
        text("precision", |c| c.placement.as_ref()?.precision.clone()),
        text("engine", |c| c.placement.as_ref().map(|p| p.engine.clone())),
        whole("threads", |c| c.threads.map(|n| n as i64)),
        text("outcome", |c| Some(c.outcome.name().into())),
        text("reason_code", |c| c.outcome.reason().map(|r| r.code.clone())),
        text("reason", |c| c.outcome.reason().map(|r| r.message.clone())),
        flag("stable", |c| c.stable),
        flag("emulated", |c| c.emulated),
        text("verified", |c| c.verification.as_ref().map(verified)),
        text("fixed", |c| {
            Some(c.fixes.iter().map(Fix::told).collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
        }),
        whole("samples", |c| Some(main_series(c.outcome.metrics()?)?.n as i64)),
        figure("latency_ms_median", |m| Some(m.latency_ms.as_ref()?.median)),
        figure("latency_ms_mean", |m| Some(m.latency_ms.as_ref()?.mean)),
        figure("latency_ms_std", |m| m.latency_ms.as_ref()?.std),
        figure("latency_ms_min", |m| Some(m.latency_ms.as_ref()?.min)),
        figure("latency_ms_max", |m| Some(m.latency_ms.as_ref()?.max)),
        figure("latency_ms_ci_low", |m| Some(m.latency_ms.as_ref()?.ci95?[0])),
        figure("latency_ms_ci_high", |m| Some(m.latency_ms.as_ref()?.ci95?[1])),
        figure("latency_ms_p90", |m| m.latency_ms.as_ref()?.p90),
        figure("latency_ms_p95", |m| m.latency_ms.as_ref()?.p95),
        figure("latency_ms_p99", |m| m.latency_ms.as_ref()?.p99),
        figure("cpu_ms_median", |m| Some(m.cpu_ms.as_ref()?.median)),
        figure("throughput_per_s", |m| m.throughput_per_s),
        figure("sequential_per_s", |m| m.sequential_per_s),
        figure("concurrent_per_s", |m| m.concurrent_per_s),
        figure("speedup", |m| m.speedup_over_sequential),
        figure("first_token_ms", |m| Some(m.generation.as_ref()?.time_to_first_token_ms.as_ref()?.median)),
        figure("per_token_ms", |m| Some(m.generation.as_ref()?.time_per_output_token_ms.as_ref()?.median)),
        figure("end_to_end_ms", |m| Some(m.generation.as_ref()?.end_to_end_ms.as_ref()?.median)),
        figure("prefill_tokens_per_s", |m| m.generation.as_ref()?.prefill_tokens_per_s),
        figure("decode_tokens_per_s", |m| m.generation.as_ref()?.decode_tokens_per_s),
        figure("import_ms", |m| Some(m.init_ms.import.as_ref()?.median)),
        figure("instantiate_ms", |m| Some(m.init_ms.instantiate.as_ref()?.median)),
        figure("load_ms", |m| Some(m.init_ms.load.as_ref()?.median)),
        figure("read_ms", |m| Some(m.init_ms.read.as_ref()?.median)),
        figure("compile_cold_ms", |m| Some(m.init_ms.compile_cold.as_ref()?.median)),
        figure("first_inference_ms", |m| Some(m.init_ms.first_inference.as_ref()?.median)),
        figure("memory_mb_loaded", |m| m.memory_mb.loaded),
        figure("memory_mb_peak", |m| m.memory_mb.peak),
        figure("energy_j_per_item", |m| m.energy_j_per_item),
        figure("flops_per_s", |m| m.efficiency.as_ref()?.flops_per_s),
        figure("share_of_peak_flops", |m| m.efficiency.as_ref()?.share_of_peak_flops),
        figure("share_of_peak_bandwidth", |m| m.efficiency.as_ref()?.share_of_peak_bandwidth),
        figure("peak_float32_per_s", |m| peak(m, "float32")),
        figure("peak_float16_per_s", |m| peak(m, "float16")),
        figure("peak_bfloat16_per_s", |m| peak(m, "bfloat16")),
        figure("peak_int8_per_s", |m| peak(m, "int8")),
        figure("peak_bytes_per_s", |m| peak(m, "bandwidth")),
    ];
    DataFrame::new(cells.len(), columns)
}

/// Every sample: cell, series, round, index within the round, value in the series' unit.
///
/// # Errors
/// Polars' own.
pub fn samples(all: &[Samples]) -> PolarsResult<DataFrame> {
    let rows = || all.iter().flat_map(|s| s.values.iter().enumerate().map(move |(index, value)| (s, index, *value)));
    let height = rows().count();
    let columns = vec![
        Column::new("cell".into(), rows().map(|(s, ..)| s.cell as u64).collect::<Vec<_>>()),
        Column::new("series".into(), rows().map(|(s, ..)| s.series.as_str()).collect::<Vec<_>>()),
        Column::new("unit".into(), rows().map(|(s, ..)| s.unit.as_str()).collect::<Vec<_>>()),
        Column::new("round".into(), rows().map(|(s, ..)| s.round).collect::<Vec<_>>()),
        Column::new("index".into(), rows().map(|(_, index, _)| index as u64).collect::<Vec<_>>()),
        Column::new("value".into(), rows().map(|(.., value)| value).collect::<Vec<_>>()),
        Column::new("round_cpu_ns".into(), rows().map(|(s, ..)| s.cpu_ns).collect::<Vec<_>>()),
        Column::new("round_wall_ns".into(), rows().map(|(s, ..)| s.wall_ns).collect::<Vec<_>>()),
    ];
    DataFrame::new(height, columns)
}

/// How outputs were checked: against another engine, against the same engine in another process, or not; and whom they outvoted.
fn verified(verification: &Verification) -> String {
    match verification {
        Verification::Passed { same_engine: true, .. } => "itself".into(),
        Verification::Passed { dissent, .. } if !dissent.is_empty() => {
            let outvoted: Vec<&str> = dissent.iter().map(|one| one.reference.as_str()).collect();
            format!("yes, against {}", outvoted.join(", "))
        }
        Verification::Passed { .. } => "yes".into(),
        Verification::NoReference { .. } => "finite only".into(),
        Verification::Off => "off".into(),
    }
}

/// The axes as one short text: "batch=4 sequence=32".
fn axes(cell: &Cell) -> String {
    cell.axes.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// A peak that the roofline benchmark measured, per second.
fn peak(metrics: &Metrics, of: &str) -> Option<f64> {
    metrics.series.get(&format!("peak.{of}")).map(|series| series.stats.max)
}

/// The series a cell is known by: its latency, what it did at once, or whole sequences of tokens.
fn main_series(metrics: &Metrics) -> Option<&Stats> {
    let of = |name: &str| metrics.series.get(name).map(|series| &series.stats);
    metrics.latency_ms.as_ref().or_else(|| of("concurrent")).or_else(|| of("end_to_end"))
}
