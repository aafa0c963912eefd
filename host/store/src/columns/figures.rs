//! The figures. Null wherever nothing was measured.

use super::{Column, Kind, Row, Value};
use skillbench_engine::document::{Metrics, Stats};

macro_rules! figure {
    ($name:literal, $unit:literal, $meaning:literal, $pick:expr) => {
        Column {
            name: $name,
            kind: Kind::Float,
            unit: $unit,
            meaning: $meaning,
            of: |row| {
                let pick: fn(&Metrics) -> Option<f64> = $pick;
                Value::some(row.cell.outcome.metrics().and_then(pick), Value::Float)
            },
        }
    };
}

macro_rules! count {
    ($name:literal, $meaning:literal, $pick:expr) => {
        Column {
            name: $name,
            kind: Kind::Int,
            unit: "",
            meaning: $meaning,
            of: |row: Row<'_>| {
                let pick: fn(&Metrics) -> Option<u64> = $pick;
                Value::some(row.cell.outcome.metrics().and_then(pick), |n| Value::Int(n as i64))
            },
        }
    };
}

/// The series a cell is known by: its latency, what it did at once, or whole sequences of tokens.
fn main_series(metrics: &Metrics) -> Option<&Stats> {
    let of = |name: &str| metrics.series.get(name).map(|series| &series.stats);
    metrics.latency_ms.as_ref().or_else(|| of("concurrent")).or_else(|| of("end_to_end"))
}

/// A peak that the roofline benchmark measured.
fn peak(metrics: &Metrics, of: &str) -> Option<f64> {
    metrics.series.get(&format!("peak.{of}")).map(|series| series.stats.max)
}

pub(super) static COLUMNS: &[Column] = &[
    count!(
        "iterations",
        "Samples of the main series: latency, the concurrent one, or whole sequences of tokens",
        |m| { Some(main_series(m)?.n) }
    ),
    figure!("latency_mean_ms", "ms", "Wall time of one run", |m| Some(m.latency_ms.as_ref()?.mean)),
    figure!("latency_median_ms", "ms", "Median of it", |m| Some(m.latency_ms.as_ref()?.median)),
    figure!("latency_min_ms", "ms", "Least", |m| Some(m.latency_ms.as_ref()?.min)),
    figure!("latency_max_ms", "ms", "Most", |m| Some(m.latency_ms.as_ref()?.max)),
    figure!("latency_std_ms", "ms", "Standard deviation", |m| m.latency_ms.as_ref()?.std),
    figure!("latency_mad_ms", "ms", "Median absolute deviation, not scaled", |m| Some(m.latency_ms.as_ref()?.mad)),
    figure!("latency_90p_ms", "ms", "90th percentile; null below 64 samples", |m| m.latency_ms.as_ref()?.p90),
    figure!("latency_95p_ms", "ms", "95th percentile; null below 130 samples", |m| m.latency_ms.as_ref()?.p95),
    figure!("latency_99p_ms", "ms", "99th percentile; null below 662 samples", |m| m.latency_ms.as_ref()?.p99),
    figure!("latency_ci95_low_ms", "ms", "95% interval of the median, lower end", |m| {
        Some(m.latency_ms.as_ref()?.ci95?[0])
    }),
    figure!("latency_ci95_high_ms", "ms", "The same, upper end", |m| Some(m.latency_ms.as_ref()?.ci95?[1])),
    count!("latency_outliers", "Samples beyond Tukey's fences; none is dropped", |m| {
        Some(m.latency_ms.as_ref()?.outliers)
    }),
    figure!("cpu_median_ms", "ms", "CPU time of the worker for one run, all threads", |m| {
        Some(m.cpu_ms.as_ref()?.median)
    }),
    figure!(
        "throughput_samples_per_sec",
        "1/s",
        "Items (samples, models, tokens) over the measured time they took",
        |m| { m.throughput_per_s }
    ),
    figure!("sequential_per_sec", "1/s", "Of a throughput benchmark: one after the other", |m| m.sequential_per_s),
    figure!("concurrent_per_sec", "1/s", "The same work at once", |m| m.concurrent_per_s),
    count!("concurrent_workers", "How many at once", |m| m.concurrent_workers),
    figure!("speedup_over_sequential", "", "Both measured: at once over one after the other", |m| {
        m.speedup_over_sequential
    }),
    figure!("first_token_latency_ms", "ms", "Generation: median time to the first token", |m| {
        Some(m.generation.as_ref()?.time_to_first_token_ms.as_ref()?.median)
    }),
    figure!("time_to_first_token_ms", "ms", "The same figure, under its other name", |m| {
        Some(m.generation.as_ref()?.time_to_first_token_ms.as_ref()?.median)
    }),
    figure!("time_per_output_token_ms", "ms", "(end to end - first token) / (tokens - 1), median", |m| {
        Some(m.generation.as_ref()?.time_per_output_token_ms.as_ref()?.median)
    }),
    figure!("end_to_end_ms", "ms", "A whole sequence of tokens, median", |m| {
        Some(m.generation.as_ref()?.end_to_end_ms.as_ref()?.median)
    }),
    figure!("prefill_tokens_per_sec", "1/s", "Tokens of the prompts over the mean time to the first token", |m| {
        m.generation.as_ref()?.prefill_tokens_per_s
    }),
    figure!("decode_tokens_per_sec", "1/s", "Tokens after the first over the mean time of each", |m| {
        m.generation.as_ref()?.decode_tokens_per_s
    }),
    figure!("import_ms", "ms", "Loading the plugin's library, fresh processes", |m| {
        Some(m.init_ms.import.as_ref()?.median)
    }),
    figure!("instantiate_ms", "ms", "Opening the backend", |m| Some(m.init_ms.instantiate.as_ref()?.median)),
    figure!("load_ms", "ms", "Loading the model, as the host times it", |m| Some(m.init_ms.load.as_ref()?.median)),
    figure!("read_ms", "ms", "Of it: reading, where the engine tells", |m| Some(m.init_ms.read.as_ref()?.median)),
    figure!("compile_cold_ms", "ms", "Of it: compiling, with a cold cache", |m| {
        Some(m.init_ms.compile_cold.as_ref()?.median)
    }),
    figure!("compile_warm_ms", "ms", "Compiling with a warm cache", |m| Some(m.init_ms.compile_warm.as_ref()?.median)),
    figure!("first_inference_ms", "ms", "The first run after loading", |m| {
        Some(m.init_ms.first_inference.as_ref()?.median)
    }),
    figure!("memory_before_mb", "MiB", "Resident set of the worker before the model is loaded", |m| m.memory_mb.before),
    figure!("memory_usage_mb", "MiB", "After the first load", |m| m.memory_mb.loaded),
    figure!("peak_memory_mb", "MiB", "The highest of the cell", |m| m.memory_mb.peak),
    figure!("average_memory_mb", "MiB", "Over the measured rounds", |m| m.memory_mb.average),
    figure!("device_peak_memory_mb", "MiB", "On the device, where the backend can say", |m| m.memory_mb.device_peak),
    figure!("energy_j_per_item", "J", "Above idle, for each item; null without a sensor", |m| m.energy_j_per_item),
    figure!("flops_per_sec", "1/s", "Operations of one run over its median time", |m| {
        m.efficiency.as_ref()?.flops_per_s
    }),
    figure!("share_of_peak_flops", "", "Of the peak that was measured on the same device", |m| {
        m.efficiency.as_ref()?.share_of_peak_flops
    }),
    figure!("weight_bytes_per_sec", "B/s", "Weights of products, once per run, over its median time", |m| {
        m.efficiency.as_ref()?.weight_bytes_per_s
    }),
    figure!("share_of_peak_bandwidth", "", "Of the measured peak; above 1 where caches serve", |m| {
        m.efficiency.as_ref()?.share_of_peak_bandwidth
    }),
    figure!("peak_float32_per_sec", "1/s", "Roofline: highest rate of operations", |m| peak(m, "float32")),
    figure!("peak_float16_per_sec", "1/s", "Roofline", |m| peak(m, "float16")),
    figure!("peak_bfloat16_per_sec", "1/s", "Roofline", |m| peak(m, "bfloat16")),
    figure!("peak_int8_per_sec", "1/s", "Roofline", |m| peak(m, "int8")),
    figure!("peak_bytes_per_sec", "B/s", "Roofline: highest rate from memory", |m| peak(m, "bandwidth")),
];
