//! The metrics. An entry here is all that a new one needs: the column, the database, the documents, limits and histories are made
//! from it. A value is `None` wherever nothing was measured.

use super::metric::{Better, Metric};
use crate::{Metrics, Stats};

macro_rules! figure {
    ($id:ident, $name:literal, $path:literal, $unit:literal, $better:ident, $label:literal, $meaning:literal, $value:expr) => {
        Metric {
            id: stringify!($id),
            name: $name,
            path: $path,
            unit: $unit,
            better: Better::$better,
            label: $label,
            meaning: $meaning,
            is_count: false,
            value: {
                let value: fn(&Metrics) -> Option<f64> = $value;
                value
            },
        }
    };
}

macro_rules! count {
    ($id:ident, $name:literal, $path:literal, $unit:literal, $better:ident, $label:literal, $meaning:literal, $value:expr) => {
        Metric {
            id: stringify!($id),
            name: $name,
            path: $path,
            unit: $unit,
            better: Better::$better,
            label: $label,
            meaning: $meaning,
            is_count: true,
            value: |metrics| {
                let value: fn(&Metrics) -> Option<u64> = $value;
                value(metrics).map(|n| n as f64)
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

pub(super) static METRICS: &[Metric] = &[
    count!(
        iterations,
        "samples",
        "samples",
        "",
        Neither,
        "samples",
        "Samples of the main series: latency, the concurrent one, or whole sequences of tokens",
        |m| Some(main_series(m)?.n)
    ),
    figure!(
        latency_mean_ms,
        "latency_ms.mean",
        "latency_ms.mean",
        "ms",
        Lower,
        "mean latency",
        "Wall time of one run",
        |m| Some(m.latency_ms.as_ref()?.mean)
    ),
    figure!(latency_median_ms, "latency_ms", "latency_ms.median", "ms", Lower, "median latency", "Median of it", |m| {
        Some(m.latency_ms.as_ref()?.median)
    }),
    figure!(latency_min_ms, "latency_ms.min", "latency_ms.min", "ms", Lower, "least latency", "Least", |m| Some(
        m.latency_ms.as_ref()?.min
    )),
    figure!(latency_max_ms, "latency_ms.max", "latency_ms.max", "ms", Lower, "most latency", "Most", |m| Some(
        m.latency_ms.as_ref()?.max
    )),
    figure!(
        latency_std_ms,
        "latency_ms.std",
        "latency_ms.std",
        "ms",
        Neither,
        "standard deviation of latency",
        "Standard deviation",
        |m| m.latency_ms.as_ref()?.std
    ),
    figure!(
        latency_mad_ms,
        "latency_ms.mad",
        "latency_ms.mad",
        "ms",
        Neither,
        "median absolute deviation of latency",
        "Median absolute deviation, not scaled",
        |m| Some(m.latency_ms.as_ref()?.mad)
    ),
    figure!(
        latency_90p_ms,
        "latency_ms.p90",
        "latency_ms.p90",
        "ms",
        Lower,
        "p90 latency",
        "90th percentile; null below 64 samples",
        |m| m.latency_ms.as_ref()?.p90
    ),
    figure!(
        latency_95p_ms,
        "latency_ms.p95",
        "latency_ms.p95",
        "ms",
        Lower,
        "p95 latency",
        "95th percentile; null below 130 samples",
        |m| m.latency_ms.as_ref()?.p95
    ),
    figure!(
        latency_99p_ms,
        "latency_ms.p99",
        "latency_ms.p99",
        "ms",
        Lower,
        "p99 latency",
        "99th percentile; null below 662 samples",
        |m| m.latency_ms.as_ref()?.p99
    ),
    figure!(
        latency_ci95_low_ms,
        "latency_ms.ci95.0",
        "latency_ms.ci95.0",
        "ms",
        Neither,
        "low end of the median",
        "95% interval of the median, lower end",
        |m| Some(m.latency_ms.as_ref()?.ci95?[0])
    ),
    figure!(
        latency_ci95_high_ms,
        "latency_ms.ci95.1",
        "latency_ms.ci95.1",
        "ms",
        Neither,
        "high end of the median",
        "The same, upper end",
        |m| Some(m.latency_ms.as_ref()?.ci95?[1])
    ),
    count!(
        latency_outliers,
        "latency_ms.outliers",
        "latency_ms.outliers",
        "",
        Neither,
        "outliers",
        "Samples beyond Tukey's fences; none is dropped",
        |m| Some(m.latency_ms.as_ref()?.outliers)
    ),
    figure!(
        cpu_median_ms,
        "cpu_ms",
        "cpu_ms.median",
        "ms",
        Lower,
        "CPU time",
        "CPU time for one run, all threads and processes",
        |m| Some(m.cpu_ms.as_ref()?.median)
    ),
    figure!(
        device_median_ms,
        "device_ms",
        "device_ms.median",
        "ms",
        Lower,
        "device time",
        "Time within one run in which the device worked, as the backend tells it; null where it cannot tell",
        |m| Some(m.device_ms.as_ref()?.median)
    ),
    figure!(
        host_to_device_median_ms,
        "host_to_device_ms",
        "host_to_device_ms.median",
        "ms",
        Lower,
        "copies to the device",
        "Copying the inputs of one run to the device, as the backend tells it",
        |m| Some(m.host_to_device_ms.as_ref()?.median)
    ),
    figure!(
        device_to_host_median_ms,
        "device_to_host_ms",
        "device_to_host_ms.median",
        "ms",
        Lower,
        "copies from the device",
        "Copying the outputs of one run from the device, as the backend tells it",
        |m| Some(m.device_to_host_ms.as_ref()?.median)
    ),
    figure!(
        throughput_samples_per_sec,
        "throughput_per_s",
        "throughput_per_s",
        "1/s",
        Higher,
        "throughput",
        "Items (samples, models, tokens) over the measured time they took",
        |m| m.throughput_per_s
    ),
    figure!(
        throughput_ci95_low_per_sec,
        "throughput_ci95.0",
        "throughput_ci95.0",
        "1/s",
        Higher,
        "throughput, 95% from",
        "Lower end of its 95% interval",
        |m| Some(m.throughput_ci95?[0])
    ),
    figure!(
        throughput_ci95_high_per_sec,
        "throughput_ci95.1",
        "throughput_ci95.1",
        "1/s",
        Higher,
        "throughput, 95% to",
        "Upper end of its 95% interval",
        |m| Some(m.throughput_ci95?[1])
    ),
    figure!(
        sequential_per_sec,
        "sequential_per_s",
        "sequential_per_s",
        "1/s",
        Higher,
        "sequential throughput",
        "Of a throughput benchmark: one after the other",
        |m| m.sequential_per_s
    ),
    figure!(
        concurrent_per_sec,
        "concurrent_per_s",
        "concurrent_per_s",
        "1/s",
        Higher,
        "concurrent throughput",
        "The same work at once",
        |m| m.concurrent_per_s
    ),
    count!(
        concurrent_workers,
        "concurrent_workers",
        "concurrent_workers",
        "",
        Neither,
        "requests at once",
        "How many at once",
        |m| m.concurrent_workers
    ),
    figure!(
        speedup_over_sequential,
        "speedup_over_sequential",
        "speedup_over_sequential",
        "",
        Higher,
        "speed-up over sequential",
        "Both measured: at once over one after the other",
        |m| m.speedup_over_sequential
    ),
    figure!(
        first_token_latency_ms,
        "first_token_latency_ms",
        "",
        "ms",
        Lower,
        "time to first token",
        "Generation: median time to the first token",
        |m| Some(m.generation.as_ref()?.time_to_first_token_ms.as_ref()?.median)
    ),
    figure!(
        time_to_first_token_ms,
        "time_to_first_token_ms",
        "generation.time_to_first_token_ms.median",
        "ms",
        Lower,
        "time to first token",
        "The same figure, under its other name",
        |m| Some(m.generation.as_ref()?.time_to_first_token_ms.as_ref()?.median)
    ),
    figure!(
        time_to_first_token_ci95_low_ms,
        "generation.time_to_first_token_ms.ci95.0",
        "generation.time_to_first_token_ms.ci95.0",
        "ms",
        Lower,
        "time to first token, 95% from",
        "95% interval of the median, lower end",
        |m| Some(m.generation.as_ref()?.time_to_first_token_ms.as_ref()?.ci95?[0])
    ),
    figure!(
        time_to_first_token_ci95_high_ms,
        "generation.time_to_first_token_ms.ci95.1",
        "generation.time_to_first_token_ms.ci95.1",
        "ms",
        Lower,
        "time to first token, 95% to",
        "95% interval of the median, upper end",
        |m| Some(m.generation.as_ref()?.time_to_first_token_ms.as_ref()?.ci95?[1])
    ),
    figure!(
        time_per_output_token_ms,
        "time_per_output_token_ms",
        "generation.time_per_output_token_ms.median",
        "ms",
        Lower,
        "time per output token",
        "(end to end - first token) / (tokens - 1), median",
        |m| Some(m.generation.as_ref()?.time_per_output_token_ms.as_ref()?.median)
    ),
    figure!(
        time_per_output_token_ci95_low_ms,
        "generation.time_per_output_token_ms.ci95.0",
        "generation.time_per_output_token_ms.ci95.0",
        "ms",
        Lower,
        "time per output token, 95% from",
        "95% interval of the median, lower end",
        |m| Some(m.generation.as_ref()?.time_per_output_token_ms.as_ref()?.ci95?[0])
    ),
    figure!(
        time_per_output_token_ci95_high_ms,
        "generation.time_per_output_token_ms.ci95.1",
        "generation.time_per_output_token_ms.ci95.1",
        "ms",
        Lower,
        "time per output token, 95% to",
        "95% interval of the median, upper end",
        |m| Some(m.generation.as_ref()?.time_per_output_token_ms.as_ref()?.ci95?[1])
    ),
    figure!(
        end_to_end_ms,
        "end_to_end_ms",
        "generation.end_to_end_ms.median",
        "ms",
        Lower,
        "time of a sequence",
        "A whole sequence of tokens, median",
        |m| Some(m.generation.as_ref()?.end_to_end_ms.as_ref()?.median)
    ),
    figure!(
        prefill_tokens_per_sec,
        "prefill_tokens_per_s",
        "generation.prefill_tokens_per_s",
        "1/s",
        Higher,
        "prefill throughput",
        "Tokens of the prompts over the mean time to the first token",
        |m| m.generation.as_ref()?.prefill_tokens_per_s
    ),
    figure!(
        decode_tokens_per_sec,
        "decode_tokens_per_s",
        "generation.decode_tokens_per_s",
        "1/s",
        Higher,
        "decode throughput",
        "Tokens after the first over the mean time of each",
        |m| m.generation.as_ref()?.decode_tokens_per_s
    ),
    figure!(
        import_ms,
        "init_ms.import",
        "init_ms.import.median",
        "ms",
        Lower,
        "import",
        "Loading the plugin's library, fresh processes",
        |m| Some(m.init_ms.import.as_ref()?.median)
    ),
    figure!(
        instantiate_ms,
        "init_ms.instantiate",
        "init_ms.instantiate.median",
        "ms",
        Lower,
        "instantiation",
        "Opening the backend",
        |m| Some(m.init_ms.instantiate.as_ref()?.median)
    ),
    figure!(
        load_ms,
        "init_ms.load",
        "init_ms.load.median",
        "ms",
        Lower,
        "model load",
        "Loading the model, as the host times it",
        |m| Some(m.init_ms.load.as_ref()?.median)
    ),
    figure!(
        read_ms,
        "init_ms.read",
        "init_ms.read.median",
        "ms",
        Lower,
        "model read",
        "Of it: reading, where the engine tells",
        |m| Some(m.init_ms.read.as_ref()?.median)
    ),
    figure!(
        compile_cold_ms,
        "init_ms.compile_cold",
        "init_ms.compile_cold.median",
        "ms",
        Lower,
        "cold compile",
        "Of it: compiling, with a cold cache",
        |m| Some(m.init_ms.compile_cold.as_ref()?.median)
    ),
    figure!(
        compile_warm_ms,
        "init_ms.compile_warm",
        "init_ms.compile_warm.median",
        "ms",
        Lower,
        "warm compile",
        "Compiling with a warm cache",
        |m| Some(m.init_ms.compile_warm.as_ref()?.median)
    ),
    figure!(
        first_inference_ms,
        "init_ms.first_inference",
        "init_ms.first_inference.median",
        "ms",
        Lower,
        "first inference",
        "The first run after loading",
        |m| Some(m.init_ms.first_inference.as_ref()?.median)
    ),
    figure!(
        first_inference_factor,
        "first_inference_factor",
        "",
        "",
        Lower,
        "first inference over the median",
        "How many times the median latency the first run after loading took",
        |m| Some(m.init_ms.first_inference.as_ref()?.median / m.latency_ms.as_ref()?.median)
    ),
    figure!(
        memory_before_mb,
        "memory_mb.before",
        "memory_mb.before",
        "MiB",
        Lower,
        "memory before loading",
        "Resident set of the worker before the model is loaded",
        |m| m.memory_mb.before
    ),
    figure!(
        memory_usage_mb,
        "memory_mb.loaded",
        "memory_mb.loaded",
        "MiB",
        Lower,
        "memory after loading",
        "After the first load",
        |m| m.memory_mb.loaded
    ),
    figure!(
        peak_memory_mb,
        "memory_mb",
        "memory_mb.peak",
        "MiB",
        Lower,
        "peak memory",
        "The highest of the cell",
        |m| m.memory_mb.peak
    ),
    figure!(
        load_peak_memory_mb,
        "memory_mb.load_peak",
        "memory_mb.load_peak",
        "MiB",
        Lower,
        "peak memory of loading",
        "Highest resident set until the first load was over",
        |m| m.memory_mb.load_peak
    ),
    figure!(
        rounds_peak_memory_mb,
        "memory_mb.rounds_peak",
        "memory_mb.rounds_peak",
        "MiB",
        Lower,
        "peak memory of the rounds",
        "Highest of the measured rounds, with what the worker started",
        |m| m.memory_mb.rounds_peak
    ),
    figure!(
        children_peak_memory_mb,
        "memory_mb.children_peak",
        "memory_mb.children_peak",
        "MiB",
        Lower,
        "peak memory of what the worker started",
        "Highest proportional set of the processes that the worker started",
        |m| m.memory_mb.children_peak
    ),
    figure!(
        average_memory_mb,
        "memory_mb.average",
        "memory_mb.average",
        "MiB",
        Lower,
        "average memory",
        "Over the measured rounds",
        |m| m.memory_mb.average
    ),
    figure!(
        device_peak_memory_mb,
        "memory_mb.device_peak",
        "memory_mb.device_peak",
        "MiB",
        Lower,
        "peak memory of the device",
        "On the device, where the backend can say",
        |m| m.memory_mb.device_peak
    ),
    figure!(
        capacity_per_sec,
        "capacity_per_s",
        "capacity.per_s",
        "1/s",
        Higher,
        "capacity",
        "Largest rate of requests that keeps the limit (--slo)",
        |m| Some(m.capacity.as_ref()?.per_s)
    ),
    figure!(
        capacity_ci95_low_per_sec,
        "capacity.ci95.0",
        "capacity.ci95.0",
        "1/s",
        Neither,
        "low end of the capacity",
        "95% interval of it, lower end",
        |m| Some(m.capacity.as_ref()?.ci95[0])
    ),
    figure!(
        capacity_ci95_high_per_sec,
        "capacity.ci95.1",
        "capacity.ci95.1",
        "1/s",
        Neither,
        "high end of the capacity",
        "The same, upper end",
        |m| Some(m.capacity.as_ref()?.ci95[1])
    ),
    figure!(
        goodput_per_sec,
        "goodput_per_s",
        "serving.goodput_per_s",
        "1/s",
        Higher,
        "goodput",
        "Requests within the limit, a second",
        |m| m.serving.as_ref()?.goodput_per_s
    ),
    figure!(
        within_slo,
        "within_slo",
        "serving.within_slo",
        "",
        Higher,
        "share within the limit",
        "Of all requests that were issued, those within the limit",
        |m| m.serving.as_ref()?.within_slo
    ),
    count!(
        slo_kept,
        "slo_kept",
        "serving.slo_kept",
        "",
        Higher,
        "limits kept",
        "1: all limits on requests are kept, with 99% confidence by MLPerf's rule; 0: not",
        |m| m.serving.as_ref()?.slo_kept.map(u64::from)
    ),
    count!(
        mlperf_valid,
        "mlperf_valid",
        "mlperf.valid",
        "",
        Higher,
        "valid by MLPerf's rules",
        "1: the cell keeps the rules of MLPerf's LoadGen for its scenario; 0: not, and run.json says why. Of cells with --mlperf",
        |m| m.mlperf.as_ref().map(|found| u64::from(found.valid))
    ),
    figure!(
        error_rate,
        "error_rate",
        "serving.error_rate",
        "",
        Lower,
        "share refused",
        "Of all requests that were issued, those that the target refused, for want of room or of time",
        |m| m.serving.as_ref()?.error_rate
    ),
    figure!(
        issued_per_sec,
        "issued_per_s",
        "serving.issued_per_s",
        "1/s",
        Neither,
        "requests issued",
        "Requests a second as they were issued",
        |m| m.serving.as_ref()?.issued_per_s
    ),
    figure!(
        utilization,
        "utilization",
        "serving.utilization",
        "",
        Neither,
        "utilization",
        "Share of their time in which the workers served requests",
        |m| m.serving.as_ref()?.utilization
    ),
    figure!(
        requests_per_run,
        "requests_per_run",
        "serving.requests_per_run",
        "",
        Neither,
        "requests served together",
        "Requests that one run served, on average: more than one with --batch-wait",
        |m| m.serving.as_ref()?.requests_per_run
    ),
    figure!(
        queue_median_ms,
        "queue_ms",
        "serving.queue_ms.median",
        "ms",
        Lower,
        "time in the queue",
        "From the issue of a request to when a worker took it, median",
        |m| Some(m.serving.as_ref()?.queue_ms.as_ref()?.median)
    ),
    figure!(
        service_median_ms,
        "service_ms",
        "serving.service_ms.median",
        "ms",
        Lower,
        "time of service",
        "From then to its end, median; the checks of the host are in it",
        |m| Some(m.serving.as_ref()?.service_ms.as_ref()?.median)
    ),
    figure!(
        lateness_median_ms,
        "lateness_ms",
        "serving.lateness_ms.median",
        "ms",
        Lower,
        "lateness",
        "From when a request was due to its issue, median: the error of the generator",
        |m| Some(m.serving.as_ref()?.lateness_ms.as_ref()?.median)
    ),
    figure!(
        lateness_99p_ms,
        "lateness_ms.p99",
        "serving.lateness_ms.p99",
        "ms",
        Lower,
        "p99 lateness",
        "99th percentile of it; null below 662 requests",
        |m| m.serving.as_ref()?.lateness_ms.as_ref()?.p99
    ),
    figure!(
        generator_cores,
        "serving.generator_cores",
        "serving.generator_cores",
        "",
        Neither,
        "cores of the generator",
        "CPU time of the thread that issued requests, by the time of the sessions",
        |m| m.serving.as_ref()?.generator_cores
    ),
    figure!(
        ttft_median_ms,
        "serving.tokens.ttft_ms.median",
        "serving.tokens.ttft_ms.median",
        "ms",
        Lower,
        "time to first token under load",
        "From when a request was due to its first token, median",
        |m| Some(m.serving.as_ref()?.tokens.as_ref()?.ttft_ms.as_ref()?.median)
    ),
    figure!(
        ttft_99p_ms,
        "serving.tokens.ttft_ms.p99",
        "serving.tokens.ttft_ms.p99",
        "ms",
        Lower,
        "p99 time to first token under load",
        "99th percentile of it; null below 662 requests",
        |m| m.serving.as_ref()?.tokens.as_ref()?.ttft_ms.as_ref()?.p99
    ),
    figure!(
        tpot_median_ms,
        "serving.tokens.tpot_ms.median",
        "serving.tokens.tpot_ms.median",
        "ms",
        Lower,
        "time per output token under load",
        "(Last token - first) / (tokens - 1) of a request, median",
        |m| Some(m.serving.as_ref()?.tokens.as_ref()?.tpot_ms.as_ref()?.median)
    ),
    figure!(
        tpot_99p_ms,
        "serving.tokens.tpot_ms.p99",
        "serving.tokens.tpot_ms.p99",
        "ms",
        Lower,
        "p99 time per output token under load",
        "99th percentile of it; null below 662 requests",
        |m| m.serving.as_ref()?.tokens.as_ref()?.tpot_ms.as_ref()?.p99
    ),
    figure!(
        itl_median_ms,
        "serving.tokens.itl_ms.median",
        "serving.tokens.itl_ms.median",
        "ms",
        Lower,
        "gap between tokens",
        "From each token to the next, of all requests, median",
        |m| Some(m.serving.as_ref()?.tokens.as_ref()?.itl_ms.as_ref()?.median)
    ),
    figure!(
        itl_99p_ms,
        "serving.tokens.itl_ms.p99",
        "serving.tokens.itl_ms.p99",
        "ms",
        Lower,
        "p99 gap between tokens",
        "99th percentile of it; null below 662 gaps",
        |m| m.serving.as_ref()?.tokens.as_ref()?.itl_ms.as_ref()?.p99
    ),
    figure!(
        output_tokens_per_sec,
        "serving.tokens.tokens_per_s",
        "serving.tokens.tokens_per_s",
        "1/s",
        Higher,
        "tokens per second",
        "Tokens that requests made, over the time of the sessions",
        |m| m.serving.as_ref()?.tokens.as_ref()?.tokens_per_s
    ),
    figure!(
        energy_j_per_item,
        "energy_j_per_item",
        "energy_j_per_item",
        "J",
        Lower,
        "energy per item",
        "Above idle, for each item; null without a sensor",
        |m| m.energy_j_per_item
    ),
    figure!(
        energy_ci95_low_j,
        "energy.ci95.0",
        "energy.ci95.0",
        "J",
        Lower,
        "energy, 95% from",
        "Lower end of the 95% interval of the energy of each item, or token",
        |m| Some(m.energy.as_ref()?.ci95?[0])
    ),
    figure!(
        energy_ci95_high_j,
        "energy.ci95.1",
        "energy.ci95.1",
        "J",
        Lower,
        "energy, 95% to",
        "Upper end of the 95% interval of the energy of each item, or token",
        |m| Some(m.energy.as_ref()?.ci95?[1])
    ),
    figure!(
        energy_j_per_token,
        "generation.energy_j_per_token",
        "generation.energy_j_per_token",
        "J",
        Lower,
        "energy per token",
        "Above idle, for each token that was made; null without a sensor that can tell",
        |m| m.generation.as_ref().and_then(|tokens| tokens.energy_j_per_token).or_else(|| m
            .serving
            .as_ref()?
            .tokens
            .as_ref()?
            .energy_j_per_token)
    ),
    figure!(
        flops_per_sec,
        "efficiency.flops_per_s",
        "efficiency.flops_per_s",
        "1/s",
        Higher,
        "operations per second",
        "Operations of one run over its median time",
        |m| m.efficiency.as_ref()?.flops_per_s
    ),
    figure!(
        share_of_peak_flops,
        "efficiency.share_of_peak_flops",
        "efficiency.share_of_peak_flops",
        "",
        Higher,
        "share of peak operations",
        "Of the peak that was measured on the same device",
        |m| m.efficiency.as_ref()?.share_of_peak_flops
    ),
    figure!(
        weight_bytes_per_sec,
        "efficiency.weight_bytes_per_s",
        "efficiency.weight_bytes_per_s",
        "B/s",
        Higher,
        "weight bytes per second",
        "Weights of products, once per run, over its median time",
        |m| m.efficiency.as_ref()?.weight_bytes_per_s
    ),
    figure!(
        share_of_peak_bandwidth,
        "efficiency.share_of_peak_bandwidth",
        "efficiency.share_of_peak_bandwidth",
        "",
        Higher,
        "share of peak bandwidth",
        "Of the measured peak; above 1 where caches serve",
        |m| m.efficiency.as_ref()?.share_of_peak_bandwidth
    ),
    figure!(
        peak_float32_per_sec,
        "peak_float32_per_sec",
        "",
        "1/s",
        Higher,
        "peak of float32",
        "Roofline: highest rate of operations",
        |m| peak(m, "float32")
    ),
    figure!(peak_float16_per_sec, "peak_float16_per_sec", "", "1/s", Higher, "peak of float16", "Roofline", |m| peak(
        m, "float16"
    )),
    figure!(peak_bfloat16_per_sec, "peak_bfloat16_per_sec", "", "1/s", Higher, "peak of bfloat16", "Roofline", |m| {
        peak(m, "bfloat16")
    }),
    figure!(peak_int8_per_sec, "peak_int8_per_sec", "", "1/s", Higher, "peak of int8", "Roofline", |m| peak(m, "int8")),
    figure!(
        peak_bytes_per_sec,
        "peak_bytes_per_sec",
        "",
        "B/s",
        Higher,
        "peak bandwidth",
        "Roofline: highest rate from memory",
        |m| peak(m, "bandwidth")
    ),
    figure!(
        peak_to_device_bytes_per_sec,
        "peak_to_device_bytes_per_sec",
        "",
        "B/s",
        Higher,
        "copies to the device",
        "Roofline: rate of copies to the device's own memory",
        |m| peak(m, "host_to_device")
    ),
    figure!(
        peak_from_device_bytes_per_sec,
        "peak_from_device_bytes_per_sec",
        "",
        "B/s",
        Higher,
        "copies from the device",
        "Roofline: rate of copies from the device's own memory",
        |m| peak(m, "device_to_host")
    ),
];
