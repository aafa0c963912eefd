//! Columns that code names. Every other reader goes through the catalogue, so that a new column is an entry there and no more.

macro_rules! names {
    ($($constant:ident = $name:literal),* $(,)?) => {
        $(pub const $constant: &str = $name;)*

        #[cfg(test)]
        const NAMED: &[&str] = &[$($name),*];
    };
}

names! {
    RUN = "run",
    TIMESTAMP = "timestamp",
    MACHINE = "machine",
    HOSTNAME = "hostname",
    CPU_MODEL = "cpu_model",
    CELL = "cell",
    PLUGIN = "plugin",
    PLUGIN_VERSION = "plugin_version",
    DEVICE_ID = "device_id",
    DEVICE_NAME = "device_name",
    DEVICE_KIND = "device_kind",
    DRIVER_VERSION = "driver_version",
    EMULATED = "emulated",
    MODEL_ID = "model_id",
    FAMILY = "family",
    CATEGORY = "category",
    ARCHITECTURE_TYPE = "architecture_type",
    TASK = "task",
    PARAMETER_COUNT = "parameter_count",
    RELATION = "relation",
    BENCHMARK = "benchmark",
    BENCHMARK_VERSION = "benchmark_version",
    AXES = "axes",
    BATCH_SIZE = "batch_size",
    SEQUENCE_LENGTH = "sequence_length",
    PRECISION_REQUESTED = "precision_requested",
    PRECISION = "precision",
    ENGINE = "engine",
    THREADS = "threads",
    WORKERS = "workers",
    OPTIONS = "options",
    BESIDE = "beside",
    OUTCOME = "outcome",
    REASON_CODE = "reason_code",
    REASON = "reason",
    STABLE = "stable",
    VERIFIED = "verified",
    AUDITED = "audited",
    WEAK = "weak",
    IMPLAUSIBLE = "implausible",
    TRUST = "trust",
    HAS_FIGURES = "has_figures",
    OTHER_CORES = "other_cores",
    THROTTLED = "throttled",
    FIXES = "fixes",
    SEED = "seed",
    KEY = "key",
    ATTEMPT = "attempt",
    MODEL_CONTENT = "model_content",
    ITERATIONS = "iterations",
    LATENCY_MEAN_MS = "latency_mean_ms",
    LATENCY_MEDIAN_MS = "latency_median_ms",
    LATENCY_90P_MS = "latency_90p_ms",
    LATENCY_99P_MS = "latency_99p_ms",
    LATENCY_CI95_LOW_MS = "latency_ci95_low_ms",
    LATENCY_CI95_HIGH_MS = "latency_ci95_high_ms",
    LATENCY_OUTLIERS = "latency_outliers",
    CPU_MEDIAN_MS = "cpu_median_ms",
    THROUGHPUT_SAMPLES_PER_SEC = "throughput_samples_per_sec",
    THROUGHPUT_CI95_LOW_PER_SEC = "throughput_ci95_low_per_sec",
    THROUGHPUT_CI95_HIGH_PER_SEC = "throughput_ci95_high_per_sec",
    SEQUENTIAL_PER_SEC = "sequential_per_sec",
    CONCURRENT_PER_SEC = "concurrent_per_sec",
    CONCURRENT_WORKERS = "concurrent_workers",
    SPEEDUP_OVER_SEQUENTIAL = "speedup_over_sequential",
    TIME_TO_FIRST_TOKEN_MS = "time_to_first_token_ms",
    TIME_TO_FIRST_TOKEN_CI95_LOW_MS = "time_to_first_token_ci95_low_ms",
    TIME_TO_FIRST_TOKEN_CI95_HIGH_MS = "time_to_first_token_ci95_high_ms",
    TIME_PER_OUTPUT_TOKEN_MS = "time_per_output_token_ms",
    TIME_PER_OUTPUT_TOKEN_CI95_LOW_MS = "time_per_output_token_ci95_low_ms",
    TIME_PER_OUTPUT_TOKEN_CI95_HIGH_MS = "time_per_output_token_ci95_high_ms",
    PREFILL_TOKENS_PER_SEC = "prefill_tokens_per_sec",
    DECODE_TOKENS_PER_SEC = "decode_tokens_per_sec",
    IMPORT_MS = "import_ms",
    INSTANTIATE_MS = "instantiate_ms",
    LOAD_MS = "load_ms",
    READ_MS = "read_ms",
    COMPILE_COLD_MS = "compile_cold_ms",
    COMPILE_WARM_MS = "compile_warm_ms",
    FIRST_INFERENCE_MS = "first_inference_ms",
    MEMORY_BEFORE_MB = "memory_before_mb",
    MEMORY_USAGE_MB = "memory_usage_mb",
    PEAK_MEMORY_MB = "peak_memory_mb",
    DEVICE_PEAK_MEMORY_MB = "device_peak_memory_mb",
    ENERGY_J_PER_ITEM = "energy_j_per_item",
    FLOPS_PER_SEC = "flops_per_sec",
    SHARE_OF_PEAK_FLOPS = "share_of_peak_flops",
    WEIGHT_BYTES_PER_SEC = "weight_bytes_per_sec",
    SHARE_OF_PEAK_BANDWIDTH = "share_of_peak_bandwidth",
    PEAK_FLOAT32_PER_SEC = "peak_float32_per_sec",
    PEAK_FLOAT16_PER_SEC = "peak_float16_per_sec",
    PEAK_BFLOAT16_PER_SEC = "peak_bfloat16_per_sec",
    PEAK_INT8_PER_SEC = "peak_int8_per_sec",
    PEAK_BYTES_PER_SEC = "peak_bytes_per_sec",
    PEAK_TO_DEVICE_BYTES_PER_SEC = "peak_to_device_bytes_per_sec",
    PEAK_FROM_DEVICE_BYTES_PER_SEC = "peak_from_device_bytes_per_sec",
    DEVICE_MEDIAN_MS = "device_median_ms",
    HOST_TO_DEVICE_MEDIAN_MS = "host_to_device_median_ms",
    DEVICE_TO_HOST_MEDIAN_MS = "device_to_host_median_ms",
}

#[cfg(test)]
mod tests {
    use super::NAMED;

    #[test]
    fn every_column_that_code_names_is_in_the_catalogue() {
        let known: Vec<&str> = crate::catalog::all().map(|column| column.name).collect();
        assert!(NAMED.iter().all(|name| known.contains(name)));
    }
}
