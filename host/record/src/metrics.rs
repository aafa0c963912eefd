//! The figures of a measured cell. `None` is what was not measured; it is `null` in files, never 0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Figures of one set of samples. A percentile is `None` below the number of samples it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    pub n: u64,
    pub min: f64,
    pub mean: f64,
    pub median: f64,
    pub p90: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub max: f64,
    /// Standard deviation of the sample; `None` for a single one.
    pub std: Option<f64>,
    /// Median absolute deviation, not scaled.
    pub mad: f64,
    /// 95% confidence interval of the median; `None` below 6 samples.
    pub ci95: Option<[f64; 2]>,
    /// Samples beyond Tukey's fences; counted, never dropped.
    pub outliers: u64,
}

/// Milliseconds. Each is from fresh processes, except `compile_warm`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InitMetrics {
    /// Loading the plugin's library.
    pub import: Option<Stats>,
    /// Opening the backend's instance.
    pub instantiate: Option<Stats>,
    /// The whole load of the model, as the host times it.
    pub load: Option<Stats>,
    /// Its parts, where the engine tells them apart.
    pub read: Option<Stats>,
    pub compile_cold: Option<Stats>,
    pub compile_warm: Option<Stats>,
    pub first_inference: Option<Stats>,
}

/// Mebibytes of the worker's resident set, of the processes that it started, and of the device where the backend can say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryMetrics {
    /// The backend is open, no model is loaded.
    pub before: Option<f64>,
    /// After the first load.
    pub loaded: Option<f64>,
    /// The highest of load, first inference and rounds, with what the worker started.
    pub peak: Option<f64>,
    /// The highest until the first load was over.
    #[serde(default)]
    pub load_peak: Option<f64>,
    /// The highest of the measured rounds, with what the worker started.
    #[serde(default)]
    pub rounds_peak: Option<f64>,
    /// The highest of what the worker started, by its proportional set; `None`: it started nothing.
    #[serde(default)]
    pub children_peak: Option<f64>,
    /// Over the measured rounds, sampled from outside, with what the worker started.
    pub average: Option<f64>,
    pub device_peak: Option<f64>,
}

/// One series of a benchmark, in its own unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesMetrics {
    pub unit: String,
    pub kind: String,
    pub higher_is_better: Option<bool>,
    pub items_per_sample: f64,
    pub rounds: u64,
    pub stable: bool,
    /// Why the host asked for no more rounds: "interval" or "budget"; `None` for figures that need no rounds.
    pub stopped_by: Option<String>,
    pub stats: Stats,
}

/// What a sensor counted while the rounds were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnergyMetrics {
    /// The name of the sensor: "NVML", "RAPL".
    pub source: String,
    /// What it counts: "process", "device", "package" or "board".
    pub scope: String,
    /// All of it, idle power included.
    pub joules: f64,
    pub seconds: f64,
    /// Measured just before, with nothing being done.
    pub idle_watts: f64,
    /// Half of the 95% interval of it.
    #[serde(default)]
    pub idle_half_watts: Option<f64>,
    /// The 95% interval of the joules of each item, or token. `None`: too few rounds, or no figure.
    #[serde(default)]
    pub ci95: Option<[f64; 2]>,
    /// The time from one move of the counter to the next.
    #[serde(default)]
    pub period_ms: Option<f64>,
    /// What a second sensor says of the same rounds.
    #[serde(default)]
    pub other: Option<OtherEnergy>,
    /// Why there is no figure for an item, though there is a sensor.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A second sensor, held against the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherEnergy {
    pub source: String,
    pub scope: String,
    pub joules: f64,
    /// Of what the first counted.
    pub ratio: f64,
    /// Whether both count the same thing and say the same of it, to a tenth; `None`: they count different things.
    pub agrees: Option<bool>,
}

/// What was achieved, and which share that is of the peaks that were measured on the same device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EfficiencyMetrics {
    /// Operations of one inference over its median time; from the skill's count for these axes.
    pub flops_per_s: Option<f64>,
    pub share_of_peak_flops: Option<f64>,
    /// The weights of products, once per inference. From caches they come faster than from memory, so that small models show more
    /// than the peak.
    pub weight_bytes_per_s: Option<f64>,
    pub share_of_peak_bandwidth: Option<f64>,
    /// The run that measured the peaks.
    pub peaks_run: Option<String>,
}

/// How tokens came. The times are of whole sequences of the batch, from the rounds that were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GenerationMetrics {
    /// From the beginning to the first token: what runs once before it, and the prompt.
    pub time_to_first_token_ms: Option<Stats>,
    pub time_per_output_token_ms: Option<Stats>,
    /// How the time per output token is worked out.
    pub time_per_output_token_formula: String,
    /// Between each token and the next.
    pub inter_token_ms: Option<Stats>,
    pub end_to_end_ms: Option<Stats>,
    /// Tokens of the prompts, over the mean time to the first token.
    pub prefill_tokens_per_s: Option<f64>,
    /// Tokens after the first, over the mean time per output token.
    pub decode_tokens_per_s: Option<f64>,
    /// Joules above idle for each token of the whole sequences, prompts left out.
    #[serde(default)]
    pub energy_j_per_token: Option<f64>,
    /// Whether the backend kept the cache from step to step; where not, it went through the host.
    pub cache_kept_by_backend: Option<bool>,
    /// Tokens that were timed, and then held against a run over all before them. `None`: none could be.
    #[serde(default)]
    pub tokens_checked: Option<u64>,
}

/// Requests that arrived at a rate, or all at once: what each was due, got and took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServingMetrics {
    /// From when a request was due to when it was issued: the generator's own error, which latencies have in them.
    pub lateness_ms: Option<Stats>,
    /// From when it was issued to when a worker took it.
    pub queue_ms: Option<Stats>,
    /// From then to its end: the run, and what the host's checks around it took.
    pub service_ms: Option<Stats>,
    /// Of `service_ms`, what the host's checks took, on average.
    pub audit_ms: Option<f64>,
    pub requests: u64,
    /// Requests a second as they were issued; `None`: all at once.
    pub issued_per_s: Option<f64>,
    /// The share of their time in which the workers worked.
    pub utilization: Option<f64>,
    /// Cores that the thread took which issued the requests, by its CPU time: it sleeps, then spins. The CPU time of the worker has it in it.
    #[serde(default)]
    pub generator_cores: Option<f64>,
    /// How many requests a run served, on average: more than one where they wait for each other.
    #[serde(default)]
    pub requests_per_run: Option<f64>,
    /// The limit that was given, such as "latency.p99<=20ms".
    pub slo: Option<String>,
    /// The share of all requests that kept it; of several limits, each of them.
    pub within_slo: Option<f64>,
    /// Whether it is kept, by the rule of MLPerf's LoadGen for its scenario Server: with 99% confidence for each limit, by so many requests.
    #[serde(default)]
    pub slo_kept: Option<bool>,
    /// Requests that kept it, a second.
    pub goodput_per_s: Option<f64>,
    /// The share of all requests that the target refused, for want of room or of time; `None`: without a limit one ends the cell.
    #[serde(default)]
    pub error_rate: Option<f64>,
    /// Of requests for tokens.
    #[serde(default)]
    pub tokens: Option<TokenMetrics>,
}

/// A cell held against the rules of MLPerf's LoadGen for its scenario. It is no submission: which model it is, and how accurate, is not looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MlperfMetrics {
    /// As LoadGen calls it: "SingleStream", "MultiStream", "Server" or "Offline".
    pub scenario: String,
    /// The percentile of latency of a stream, or what was answered a second, of the session with the least. `None`: too few queries.
    pub result: Option<f64>,
    /// "ms", "samples/s" or "tokens/s".
    pub unit: String,
    /// Whether every rule was kept.
    pub valid: bool,
    /// Those that were not.
    pub why: Vec<String>,
}

/// Times of tokens under load, by the formulas of those who count so: the same word means different things to them. Every figure is of the
/// requests that were answered; "issued" is when the request left, which others call "sent".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TokenMetrics {
    /// First token - due: MLPerf's LoadGen. `None`: all requests were there at once.
    pub ttft_ms: Option<Stats>,
    /// First token - issued: vLLM, AIPerf, guidellm.
    pub ttft_from_issue_ms: Option<Stats>,
    /// (Last token - first) / (tokens - 1), of requests of several: LoadGen and vLLM; AIPerf calls it inter-token latency.
    pub tpot_ms: Option<Stats>,
    /// (Last token - issued) / tokens: guidellm.
    pub tpot_of_all_ms: Option<Stats>,
    /// From each token to the next, of all requests together: vLLM's inter-token latency.
    pub itl_ms: Option<Stats>,
    /// Tokens that were made.
    pub tokens: u64,
    pub tokens_per_s: Option<f64>,
    /// Whether the backend kept the cache from step to step; where not, it went through the host. `None`: there is no cache.
    pub cache_kept_by_backend: Option<bool>,
    /// Of the tokens, those that were held against a run over all before them afterwards. `None`: none could be.
    #[serde(default)]
    pub tokens_checked: Option<u64>,
    /// Joules above idle for each token that was made.
    pub energy_j_per_token: Option<f64>,
}

/// The largest rate at which requests keep a limit, or several, as the trials of a search show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityMetrics {
    /// Requests a second.
    pub per_s: f64,
    /// 95% interval.
    pub ci95: [f64; 2],
    /// The share of late requests leaps from less than allowed to far more, between the ends of the interval.
    pub cliff: bool,
    /// The limit, such as "latency.p99<=20ms".
    pub slo: String,
    /// Trials whose requests were issued too late to say something, and were played again.
    #[serde(default)]
    pub void: u64,
    /// What the host's checks took of each request, on average: without them it would bear a little more.
    #[serde(default)]
    pub audit_ms: Option<f64>,
    /// Tokens that were timed, and then held against a run over all before them. `None`: requests make none, or none could be.
    #[serde(default)]
    pub tokens_checked: Option<u64>,
    pub trials: Vec<CapacityTrial>,
}

/// A session at one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityTrial {
    /// Requests a second that were asked for.
    pub per_s: f64,
    pub requests: u64,
    /// Of them, those that broke a limit, or were refused.
    pub over: u64,
    /// Those that broke each of several limits, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_each: Vec<u64>,
    /// Those that were refused, for want of room or of time.
    #[serde(default)]
    pub refused: u64,
    /// It was ended early, since it had shown that it does not keep the limit.
    pub given_up: bool,
    pub utilization: f64,
    /// How many requests a run served, on average.
    #[serde(default)]
    pub requests_per_run: Option<f64>,
}

/// A figure that only the backend's vendor knows, as it was read between measured rounds. Of one that counts up, `last` less `first` is
/// what the rounds between took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterMetrics {
    pub unit: String,
    pub n: u64,
    pub first: f64,
    pub last: f64,
    pub min: f64,
    pub mean: f64,
    pub max: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metrics {
    pub latency_ms: Option<Stats>,
    /// CPU time per iteration, of the worker and all that it started, a sample for each round.
    pub cpu_ms: Option<Stats>,
    /// Time within one run in which the device worked, as the backend tells it, a sample for each round. `None` where it cannot tell.
    #[serde(default)]
    pub device_ms: Option<Stats>,
    /// Copying the inputs to the device in one run, as `device_ms`.
    #[serde(default)]
    pub host_to_device_ms: Option<Stats>,
    /// Copying the outputs from the device in one run, as `device_ms`.
    #[serde(default)]
    pub device_to_host_ms: Option<Stats>,
    /// Items over the measured time they took: the latency rounds, or the concurrent ones.
    pub throughput_per_s: Option<f64>,
    #[serde(default)]
    pub throughput_ci95: Option<[f64; 2]>,
    /// Of a throughput benchmark: the same work, one after the other and at once.
    pub sequential_per_s: Option<f64>,
    pub concurrent_per_s: Option<f64>,
    #[serde(default)]
    pub sequential_ci95: Option<[f64; 2]>,
    #[serde(default)]
    pub concurrent_ci95: Option<[f64; 2]>,
    pub concurrent_workers: Option<u64>,
    /// The concurrent rate over the sequential one.
    pub speedup_over_sequential: Option<f64>,
    #[serde(default)]
    pub speedup_ci95: Option<[f64; 2]>,
    /// What the intervals of times and rates hold for: "launches" of this machine, as `host doctor --noise` saw them differ, or
    /// "within one launch".
    #[serde(default)]
    pub ci95_covers: Option<String>,
    pub init_ms: InitMetrics,
    pub memory_mb: MemoryMetrics,
    /// Joules above idle for each item of the latency rounds, or of the concurrent ones.
    pub energy_j_per_item: Option<f64>,
    /// Where that figure comes from.
    pub energy: Option<EnergyMetrics>,
    /// Of a benchmark that makes tokens.
    #[serde(default)]
    pub generation: Option<GenerationMetrics>,
    /// Of requests that arrive.
    #[serde(default)]
    pub serving: Option<ServingMetrics>,
    /// Of a search of the largest rate that keeps a limit.
    #[serde(default)]
    pub capacity: Option<CapacityMetrics>,
    /// Of a cell that was asked to keep MLPerf's rules.
    #[serde(default)]
    pub mlperf: Option<MlperfMetrics>,
    /// Against the peaks of the device; `None` where nobody counted the model's operations, or no latency was measured.
    pub efficiency: Option<EfficiencyMetrics>,
    /// The backend's own figures, by name.
    pub counters: BTreeMap<String, CounterMetrics>,
    pub series: BTreeMap<String, SeriesMetrics>,
}

impl Metrics {
    /// Whether anything was timed or counted: a cell whose outputs were only checked has no figure.
    pub fn has_figures(&self) -> bool {
        self.latency_ms.is_some()
            || self.throughput_per_s.is_some()
            || self.generation.is_some()
            || self.speedup_over_sequential.is_some()
            // The first inference is of loading, and is there also where outputs were only checked.
            || self.series.keys().any(|name| name != "first_inference")
    }
}
