//! What is asked of a run: one set of flags for every command that measures, each of which is a key of a suite too.

use super::seconds;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use skillbench_engine::suite::SuiteFile;
use skillbench_record::{ModelSet, PRECISIONS, SHORT_PRECISIONS};
use std::path::PathBuf;

/// What is measured. A list takes commas, repeats and spaces: `--batch-sizes 1,4 --batch-sizes 8` or `--batch-sizes 1 4 8`.
#[derive(Args, Clone, Default)]
pub struct RequestArgs {
    /// Backends, optionally with a device, or several together: cpu, openvino:GPU, cuda:1, acme:0+1; or all
    /// [default: the first by preference that loads the model]
    #[arg(long, aliases = ["hardware", "device"], value_delimiter = ',', num_args = 1.., value_name = "PLUGIN[:DEVICE]")]
    pub plugin: Vec<String>,
    /// Also measure on webnn and webgpu, emulated or not
    #[arg(long)]
    pub include_web_platforms: bool,
    /// Models: names, .onnx files, folders with them, or ids of a hub
    #[arg(long, alias = "models", alias = "model-id", value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Files that list one model a line
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "FILE")]
    pub model_list: Vec<PathBuf>,
    /// A set of models: one of each key class, their small variants, or your own list
    #[arg(long, value_enum, value_name = "SET")]
    pub models_set: Option<SetArg>,
    /// Your own list as JSON: {name: {name, family, size, modality, path}}
    #[arg(long, value_name = "FILE")]
    pub custom_models: Option<PathBuf>,
    /// Use the small variants of the key classes
    #[arg(long, alias = "small-models-only")]
    pub small_models: bool,
    /// Only these key classes: bert, vit, whisper ...
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "KEY")]
    pub specific_models: Vec<String>,
    /// Only these families: embedding, text_generation, vision, audio, multimodal [of the key models, unless a set is named]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "FAMILY")]
    pub model_families: Vec<String>,
    /// Only these categories: text-encoders, vision, video ... [of all models, unless a set is named]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "CATEGORY")]
    pub benchmark_category: Vec<String>,
    /// All models
    #[arg(long, alias = "benchmark-all", conflicts_with = "models_set")]
    pub all_models: bool,
    /// Benchmarks: inference, throughput, both, or one of another plugin
    #[arg(long, alias = "type", value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK")]
    pub bench: Vec<String>,
    /// Batch sizes: items in one inference
    #[arg(long, alias = "batch-size", value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=65536))]
    pub batch_sizes: Vec<i64>,
    /// Sequence lengths: tokens in one item
    #[arg(long, alias = "sequence-length", value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub sequence_lengths: Vec<i64>,
    /// Height and width of images: 224, or 384x512
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "HxW", value_parser = image_size)]
    pub image_sizes: Vec<[i64; 2]>,
    /// Lengths of audio, in seconds
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "SECONDS", value_parser = seconds)]
    pub audio_seconds: Vec<f64>,
    /// Numbers of video frames, or of feature frames
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub frames: Vec<i64>,
    /// Prompt lengths of the benchmarks that make tokens (generation, generation-serving), in tokens
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub prompt_lengths: Vec<i64>,
    /// Numbers of tokens that the benchmarks that make tokens make, for each sequence
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub new_tokens: Vec<i64>,
    /// Requests a second, of the benchmarks serving and generation-serving: how many arrive, whether or not earlier ones are done
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "PER_SECOND", value_parser = rate)]
    pub rate: Vec<f64>,
    /// Have requests of one item each wait so long for others, to be served together up to the batch size: milliseconds. Without it generation-serving begins a sequence whenever another of the batch ends
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "MS", value_parser = batch_wait)]
    pub batch_wait: Vec<f64>,
    /// How requests come [default: server with --rate or --slo, else single-stream]
    #[arg(long, value_name = "SCENARIO", value_parser = ["single-stream", "multi-stream", "offline", "server", "interactive"])]
    pub scenario: Option<String>,
    /// How far apart they are: constant, poisson, or gamma:SHAPE, in bursts below 1 [default: poisson]
    #[arg(long, value_name = "HOW")]
    pub arrivals: Option<String>,
    /// How long requests may take: latency.p99<=20ms, or of tokens ttft.p99<=500ms,tpot.p99<=100ms; without --rate, search the largest rate that keeps it all
    #[arg(long, value_name = "LIMITS")]
    pub slo: Option<String>,
    /// Keep so many cores for the thread that issues requests, of the benchmarks serving and generation-serving; their worker has the others
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub generator_cores: Option<u64>,
    /// Measure for as long as the rules of MLPerf's LoadGen say for the scenario, and say whether each is kept: 10 minutes, or 33 for server and offline
    #[arg(long)]
    pub mlperf: bool,
    /// Set another dimension of the models, or a number that a benchmark takes, such as queue_depth=4
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "NAME=N", value_parser = dimension)]
    pub dim: Vec<(String, i64)>,
    /// Requests that are served at once, of throughput and serving benchmarks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=256))]
    pub concurrent_workers: Option<u64>,
    /// Threads of each backend [default: as many as usable processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// Set an option of every plugin that takes it, or of one plugin; with --resume: a path that the run was begun with, named again
    #[arg(long, value_name = "[PLUGIN:]KEY=VALUE")]
    pub option: Vec<String>,
    /// Precision: a backend computes in it, or says in which it computes in place of it; "-stored" is how weights are written, to be computed in float32
    #[arg(long, value_name = "PRECISION", value_parser = precision())]
    pub precision: Option<String>,
    /// Only check outputs
    #[arg(long, conflicts_with_all = ["benchmark_only", "no_verify", "bench"])]
    pub verify_only: bool,
    #[command(flatten)]
    pub how: HowArgs,
}

/// How it is measured.
#[derive(Args, Clone, Default)]
pub struct HowArgs {
    #[command(flatten)]
    pub series: SeriesArgs,
    /// Memory limit of a cell, in MiB [default: nine tenths of what is available]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(16..=1 << 24))]
    pub memory_limit: Option<u64>,
    /// Only measure: skip the checks of outputs and of what backends refuse
    #[arg(long)]
    pub benchmark_only: bool,
    /// Skip the check of outputs; results are marked unverified
    #[arg(long)]
    pub no_verify: bool,
    /// Apply no workaround where a backend refuses a model: no other precision, no smaller batch
    #[arg(long)]
    pub no_fix: bool,
    /// Load the model again for each cell
    #[arg(long)]
    pub no_resource_pool: bool,
    /// Rest so many seconds before each cell but the first
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub cool_down: Option<f64>,
    /// Wait before each cell until other programs leave the machine alone, at most so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub wait_quiet: Option<f64>,
    /// Measure each cell in so many fresh processes, which share its measuring time; intervals then hold for launches [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub launches: Option<u64>,
    /// Share a loaded model between cells of one point (always on)
    #[arg(long, hide = true, conflicts_with = "no_resource_pool")]
    pub use_resource_pool: bool,
    /// Run backends at the same time that share neither device nor cores; those on the processor need --threads
    #[arg(long)]
    pub parallel: bool,
    /// Also measure the phases of each cell
    #[arg(long)]
    pub profile: bool,
    /// Also profile operators: a table, and a trace file for each cell
    #[arg(long)]
    pub profile_detailed: bool,
    /// Seed of inputs [default: 42]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// How long a series is measured.
#[derive(Args, Clone, Default)]
pub struct SeriesArgs {
    /// Minimum number of measured iterations, and maximum of fresh processes for start-up times [default: until the interval is tight or the budget is used]
    #[arg(long, alias = "runs", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: Option<u64>,
    /// Minimum number of warm-up iterations
    #[arg(long, value_name = "N")]
    pub warmup: Option<u64>,
    /// Time for the measured rounds of one series, in seconds [default: 1; 30 with --rate or --scenario offline; 60 for a search by --slo]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<f64>,
    /// Time limit of a cell, in seconds [default: 600, or twice --budget where that is longer]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
}

impl RequestArgs {
    /// What is asked for, as a suite says it.
    pub fn suite(&self) -> SuiteFile {
        SuiteFile {
            hardware_types: self.plugin.clone(),
            include_web_platforms: self.include_web_platforms,
            models: self.model.clone(),
            model_list: self.model_list.clone(),
            models_set: self.models_set.map(ModelSet::from).or(self.all_models.then_some(ModelSet::All)),
            custom_models: self.custom_models.clone(),
            small_models: self.small_models,
            specific_models: self.specific_models.clone(),
            families: self.model_families.clone(),
            benchmark_category: self.benchmark_category.clone(),
            benchmarks: self.bench.clone(),
            batch_sizes: self.batch_sizes.clone(),
            sequence_lengths: self.sequence_lengths.clone(),
            image_sizes: self.image_sizes.clone(),
            audio_seconds: self.audio_seconds.clone(),
            frames: self.frames.clone(),
            prompt_lengths: self.prompt_lengths.clone(),
            new_tokens: self.new_tokens.clone(),
            rates: self.rate.clone(),
            batch_wait_ms: self.batch_wait.clone(),
            scenario: self.scenario.clone(),
            arrivals: self.arrivals.clone(),
            slo: self.slo.clone(),
            generator_cores: self.generator_cores,
            mlperf: self.mlperf,
            dims: self.dim.iter().cloned().collect(),
            workers: self.concurrent_workers,
            threads: self.threads,
            options: self.option.clone(),
            precision: self.precision.clone(),
            verify_only: self.verify_only,
            ..self.how.suite()
        }
    }

    /// A suite with what is asked for here in place of what it says.
    pub fn over(&self, suite: SuiteFile) -> SuiteFile {
        let mut with = suite.with(self.suite());
        with.use_resource_pool |= self.how.use_resource_pool;
        with
    }
}

impl HowArgs {
    /// The same, as a suite says it.
    pub fn suite(&self) -> SuiteFile {
        SuiteFile {
            benchmark_iterations: self.series.iterations,
            warmup_iterations: self.series.warmup,
            budget: self.series.budget,
            timeout: self.series.timeout,
            memory_limit: self.memory_limit,
            benchmark_only: self.benchmark_only,
            no_verify: self.no_verify,
            no_fix: self.no_fix,
            use_resource_pool: !self.no_resource_pool,
            cool_down: self.cool_down,
            wait_quiet: self.wait_quiet,
            launches: self.launches,
            parallel: self.parallel,
            profile: self.profile,
            profile_detailed: self.profile_detailed,
            seed: self.seed,
            ..SuiteFile::default()
        }
    }
}

fn dimension(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=N")?;
    let value = value.parse::<i64>().ok().filter(|value| *value > 0).ok_or("expected NAME=N with N of 1 or more")?;
    Ok((name.into(), value))
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate <= 1e6);
    rate.ok_or_else(|| "expected requests a second, above 0 and up to 1000000".into())
}

fn batch_wait(text: &str) -> Result<f64, String> {
    let wait = text.parse::<f64>().ok().filter(|wait| *wait >= 0.0 && *wait <= 1e4);
    wait.ok_or_else(|| "expected a number of milliseconds, from 0 to 10000".into())
}

/// The names that graphs have, and the short ones for them.
pub(super) fn precision() -> impl TypedValueParser<Value = String> {
    let short = |name: &str| {
        SHORT_PRECISIONS.into_iter().filter(|(_, of)| *of == name).map(|(short, _)| short).collect::<Vec<_>>()
    };
    let all = PRECISIONS.map(|name| PossibleValue::new(name).aliases(short(name)));
    PossibleValuesParser::new(all).map(|typed| skillbench_record::precision(&typed).map(String::from).unwrap_or(typed))
}

fn image_size(text: &str) -> Result<[i64; 2], String> {
    let (height, width) = text.split_once(['x', 'X']).unwrap_or((text, text));
    let pixels = |text: &str| text.parse::<i64>().ok().filter(|pixels| (1..=65_536).contains(pixels));
    match (pixels(height), pixels(width)) {
        (Some(height), Some(width)) => Ok([height, width]),
        _ => Err("expected a size such as 224, or 384x512 for height and width".into()),
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SetArg {
    Key,
    Small,
    Custom,
}

impl From<SetArg> for ModelSet {
    fn from(set: SetArg) -> ModelSet {
        match set {
            SetArg::Key => ModelSet::Key,
            SetArg::Small => ModelSet::Small,
            SetArg::Custom => ModelSet::Custom,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, Command, Parser};
    use skillbench_engine::suite::parse;
    use std::path::Path;

    #[derive(Parser)]
    struct Run {
        #[command(flatten)]
        request: RequestArgs,
    }

    /// Flags that are a value of a key.
    const VALUES: [(&str, &str); 2] = [("no_resource_pool", "use_resource_pool"), ("all_models", "models_set")];

    #[test]
    fn every_flag_of_a_run_is_a_key_of_a_suite() {
        let run = RequestArgs::augment_args(Command::new("run"));
        for flag in run.get_arguments().filter_map(|argument| argument.get_long()) {
            let name = flag.replace('-', "_");
            let of =
                |table: &[(&str, &'static str)]| table.iter().find(|(other, _)| *other == name).map(|(_, key)| *key);
            let key = of(&SuiteFile::OTHER_NAMES).or_else(|| of(&VALUES)).unwrap_or(&name);
            assert!(SuiteFile::KEYS.contains(&key), "--{flag} is no key of a suite");
        }
    }

    #[test]
    fn flags_say_what_a_file_says() {
        let text = r#"
            plugin = ["cpu", "openvino:GPU"]
            models = ["bert-tiny", "mine.onnx"]
            model_families = ["vision"]
            models_set = "all"
            bench = ["generation"]
            batch_sizes = [1, 8]
            image_sizes = ["384x512"]
            audio_seconds = [1.5]
            prompt_lengths = [128]
            new_tokens = [16]
            iterations = 3
            warmup = 0
            budget = 0.5
            concurrent_workers = 2
            threads = 4
            option = ["cpu:arena=1"]
            precision = "fp16"
            use_resource_pool = false
            no_fix = true
            [dims]
            decoder_sequence = 4
        "#;
        let flags = "run --plugin cpu openvino:GPU --model bert-tiny,mine.onnx --model-families vision --all-models --bench generation \
            --batch-sizes 1 8 --image-sizes 384x512 --audio-seconds 1.5 --prompt-lengths 128 --new-tokens 16 --iterations 3 --warmup 0 \
            --budget 0.5 --concurrent-workers 2 --threads 4 --option cpu:arena=1 --precision fp16 --no-resource-pool --no-fix \
            --dim decoder_sequence=4";
        let run = Run::try_parse_from(flags.split_whitespace()).map_err(|error| error.to_string()).unwrap();
        assert_eq!(run.request.suite(), parse(text, Path::new("s.toml")).unwrap());
    }
}
