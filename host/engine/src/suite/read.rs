//! From a suite file's text to the suite: all that is wrong is told at once, each with file, line, key and what was expected.

use super::keys::Keys;
use super::{Format, SuiteFile};
use skillbench_record::located::{Located, Problem, Reader, Table, Value, json, toml, within};
use std::fmt;
use std::path::Path;

/// Everything that is wrong with a suite file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteError(pub Vec<Problem>);

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for SuiteError {}

/// No sequence, and no row of frames, is longer.
const LENGTH: i64 = 1 << 20;

/// No suite that anybody wrote is larger.
const LARGEST: u64 = 16 << 20;

/// Reads a suite file: TOML where its name ends so, else JSON.
///
/// # Errors
/// All that is wrong with it.
pub fn read(path: &Path) -> Result<SuiteFile, SuiteError> {
    let bad = |message: String| SuiteError(vec![Problem { file: path.into(), line: 0, key: String::new(), message }]);
    let length = std::fs::metadata(path).map_err(|error| bad(format!("cannot be read: {error}")))?.len();
    if length > LARGEST {
        return Err(bad(format!("has {length} bytes, which is no suite file")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| bad(format!("cannot be read: {error}")))?;
    parse(&text, path)
}

/// Reads the text of a suite file; `path` names it in messages and tells its format.
///
/// # Errors
/// All that is wrong with it.
pub fn parse(text: &str, path: &Path) -> Result<SuiteFile, SuiteError> {
    let mut reader = Reader::new(path);
    let root = match Format::of(path) {
        Format::Toml => toml(text).map_err(|malformed| reader.malformed(malformed)).ok(),
        Format::Json => match json(text) {
            Ok(Located { value: Value::Table(root), .. }) => Some(root),
            Ok(_) => {
                reader.problem(1, "", "expected an object with the keys of a suite");
                None
            }
            Err(malformed) => {
                reader.malformed(malformed);
                None
            }
        },
    };
    let suite = root.map(|root| suite(&mut reader, &root)).unwrap_or_default();
    match reader.problems.is_empty() {
        true => Ok(suite),
        false => {
            reader.problems.sort_by_key(|problem| problem.line);
            Err(SuiteError(reader.problems))
        }
    }
}

fn suite(reader: &mut Reader<'_>, root: &Table) -> SuiteFile {
    report_repeated(reader, root, "");
    let others = SuiteFile::OTHER_NAMES.iter().map(|(other, _)| *other);
    reader.known_keys(root, "", &SuiteFile::KEYS.into_iter().chain(others).collect::<Vec<_>>());
    let usual = SuiteFile::default();
    let mut keys = Keys::new(reader, root);
    SuiteFile {
        batch_sizes: keys.sizes("batch_sizes", 65_536),
        sequence_lengths: keys.sizes("sequence_lengths", LENGTH),
        image_sizes: keys.image_sizes(),
        audio_seconds: keys.audio_seconds(),
        frames: keys.sizes("frames", LENGTH),
        prompt_lengths: keys.sizes("prompt_lengths", LENGTH),
        new_tokens: keys.sizes("new_tokens", LENGTH),
        rates: keys.rates(),
        batch_wait_ms: keys.batch_waits(),
        scenario: keys.text("scenario"),
        arrivals: keys.text("arrivals"),
        slo: keys.text("slo"),
        generator_cores: keys.count("generator_cores", 1, 64),
        mlperf: keys.flag("mlperf", usual.mlperf),
        warmup_iterations: keys.count("warmup_iterations", 0, u64::MAX),
        benchmark_iterations: keys.count("benchmark_iterations", 1, u64::MAX),
        budget: keys.seconds("budget"),
        timeout: keys.seconds("timeout"),
        memory_limit: keys.count("memory_limit", 16, 1 << 24),
        cool_down: keys.seconds("cool_down"),
        wait_quiet: keys.seconds("wait_quiet"),
        launches: keys.count("launches", 1, 100),
        seed: keys.count("seed", 0, u64::MAX),
        benchmarks: keys.names("benchmarks"),
        hardware_types: keys.names("hardware_types"),
        include_web_platforms: keys.flag("include_web_platforms", usual.include_web_platforms),
        threads: keys.count("threads", 1, 1024),
        workers: keys.count("workers", 1, 256),
        precision: keys.precision(),
        options: keys.options(),
        parallel: keys.flag("parallel", usual.parallel),
        use_resource_pool: keys.flag("use_resource_pool", usual.use_resource_pool),
        verify_only: keys.flag("verify_only", usual.verify_only),
        benchmark_only: keys.flag("benchmark_only", usual.benchmark_only),
        no_verify: keys.flag("no_verify", usual.no_verify),
        no_fix: keys.flag("no_fix", usual.no_fix),
        profile: keys.flag("profile", usual.profile),
        profile_detailed: keys.flag("profile_detailed", usual.profile_detailed),
        generate_plots: keys.flag("generate_plots", usual.generate_plots),
        update_compatibility_matrix: keys.flag("update_compatibility_matrix", usual.update_compatibility_matrix),
        limits: keys.limits(),
        models: keys.names("models"),
        model_list: keys.paths("model_list"),
        models_set: keys.models_set(),
        custom_models: keys.path("custom_models"),
        small_models: keys.flag("small_models", usual.small_models),
        specific_models: keys.names("specific_models"),
        families: keys.only_families(),
        benchmark_category: keys.names("benchmark_category"),
        dims: keys.dims(),
        model_families: keys.families(),
        schedule: keys.schedule(),
    }
}

/// Keys with two values, wherever they stand.
fn report_repeated(reader: &mut Reader<'_>, table: &Table, path: &str) {
    for field in table.twice() {
        reader.problem(field.line, &within(path, &field.key), "stands there already: a key has one value");
    }
    for field in table.fields() {
        if let Value::Table(inner) = &field.value.value {
            report_repeated(reader, inner, &within(path, &field.key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{
      "batch_sizes": [1, 8], "sequence_lengths": [32],
      "warmup_iterations": 0, "benchmark_iterations": 20, "timeout": 600,
      "model_families": {"vision": ["resnet-50"], "embedding": ["bert-tiny", "models/mine.onnx"]},
      "hardware_types": ["cpu", "openvino:GPU"], "include_web_platforms": true, "parallel": true,
      "use_resource_pool": false, "generate_plots": true, "update_compatibility_matrix": true,
      "limits": ["latency_ms.p90<=20"],
      "image_sizes": [224, "384x512", [64, 32]], "audio_seconds": [1.5], "frames": [8],
      "prompt_lengths": [128], "new_tokens": [16], "rates": [0.5, 200.0], "batch_wait_ms": [0.0, 2.5], "scenario": "server", "arrivals": "poisson",
      "slo": "latency.p99<=20ms", "mlperf": true, "generator_cores": 1, "budget": 0.5, "memory_limit": 2048, "cool_down": 1, "wait_quiet": 5,
      "launches": 3, "seed": 7, "benchmarks": ["generation", "both"], "threads": 2, "workers": 4, "precision": "fp16",
      "options": ["cpu:graph_optimization=disable", "arena=1"], "verify_only": true, "benchmark_only": true, "no_verify": true,
      "no_fix": true, "profile": true, "profile_detailed": true, "models": ["probe-mlp"], "model_list": ["names.txt"],
      "models_set": "key", "custom_models": "mine.json", "small_models": true, "specific_models": ["bert"],
      "families": ["audio"], "benchmark_category": ["video"], "dims": {"decoder_sequence": 4},
      "schedule": {"enabled": true, "frequency": "daily", "time": "02:30"}
    }"#;

    fn problems(text: &str, name: &str) -> Vec<String> {
        parse(text, Path::new(name)).unwrap_err().0.iter().map(Problem::to_string).collect()
    }

    #[test]
    fn every_key_of_a_suite_is_read() {
        let suite = parse(JSON, Path::new("s.json")).unwrap();
        assert_eq!((suite.batch_sizes, suite.sequence_lengths), (vec![1, 8], vec![32]));
        assert_eq!(
            (suite.warmup_iterations, suite.benchmark_iterations, suite.timeout),
            (Some(0), Some(20), Some(600.0))
        );
        assert_eq!(suite.model_families["embedding"], ["bert-tiny", "models/mine.onnx"]);
        assert_eq!(suite.hardware_types, ["cpu", "openvino:GPU"]);
        let flags =
            [suite.include_web_platforms, suite.parallel, suite.generate_plots, suite.update_compatibility_matrix];
        assert!(flags.iter().all(|flag| *flag) && !suite.use_resource_pool);
        let schedule = suite.schedule.unwrap();
        assert_eq!(suite.image_sizes, [[224, 224], [384, 512], [64, 32]]);
        assert_eq!((suite.precision.as_deref(), suite.threads, suite.workers), (Some("float16"), Some(2), Some(4)));
        assert_eq!((schedule.frequency.as_deref(), schedule.time.as_deref()), (Some("daily"), Some("02:30")));
    }

    #[test]
    fn what_is_written_reads_as_the_same_in_both_formats() {
        for suite in [parse(JSON, Path::new("s.json")).unwrap(), SuiteFile::default()] {
            for (format, name) in [(Format::Json, "s.json"), (Format::Toml, "s.toml")] {
                let text = suite.to_text(format).unwrap();
                assert_eq!(parse(&text, Path::new(name)).unwrap(), suite, "{text}");
            }
        }
    }

    #[test]
    fn the_known_keys_are_those_that_are_written() {
        let suite = parse(JSON, Path::new("s.json")).unwrap();
        assert_eq!(suite.limits, ["latency_ms.p90<=20"]);
        let value = serde_json::to_value(suite).unwrap();
        let written: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(written, SuiteFile::KEYS);
    }

    #[test]
    fn an_unknown_key_is_told_with_file_line_and_the_nearest_one() {
        let told = problems("{\n \"timeout\": 5,\n \"batch_size\": [1]\n}", "s.json");
        assert_eq!(told.len(), 1);
        assert!(
            told[0].starts_with("s.json:3: key 'batch_size': unknown key; expected one of batch_sizes, "),
            "{told:?}"
        );
        assert!(told[0].contains("did you mean batch_sizes"), "{told:?}");
        let told = problems("[schedule]\nenabled = true\nfrequenzy = \"daily\"\n", "s.toml");
        assert!(told[0].starts_with("s.toml:3: key 'schedule.frequenzy': unknown key"), "{told:?}");
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once_and_in_order() {
        let text = "timeout = \"long\"\nbatch_sizes = [1,\n  0]\nparallel = 1\nmodel_families = 1\n[schedule]\ntime = \"25:00\"\n";
        let wanted = [
            "s.toml:1: key 'timeout': expected a number of seconds, found the text \"long\"",
            "s.toml:3: key 'batch_sizes[1]': expected a whole number from 1 to 65536, found the number 0",
            "s.toml:4: key 'parallel': expected true or false, found the number 1",
            "s.toml:5: key 'model_families': expected a list of families, or a table of them with lists of models, found the number 1",
            "s.toml:6: key 'schedule': expected `enabled`, true or false",
            "s.toml:7: key 'schedule.time': expected a time as \"HH:MM\", found the text \"25:00\"",
        ];
        assert_eq!(problems(text, "s.toml"), wanted);
    }

    #[test]
    fn a_key_may_have_the_name_of_its_flag_and_has_one_value_all_the_same() {
        let suite =
            parse("bench = [\"generation\"]\nplugin = [\"cpu\"]\niterations = 3\n", Path::new("s.toml")).unwrap();
        assert_eq!((suite.benchmarks, suite.hardware_types), (vec!["generation".into()], vec!["cpu".into()]));
        assert_eq!(suite.benchmark_iterations, Some(3));
        let told = problems("iterations = 3\nbenchmark_iterations = 4\n", "s.toml");
        assert_eq!(
            told,
            ["s.toml:1: key 'iterations': it is another name for benchmark_iterations, which stands there too"]
        );
    }

    #[test]
    fn a_key_of_tomorrow_is_refused_with_the_nearest_of_today() {
        for (key, near) in [("prompt_length", "prompt_lengths"), ("thread", "threads"), ("precisions", "precision")] {
            let told = problems(&format!("{key} = 1\n"), "s.toml");
            assert!(told[0].contains("unknown key") && told[0].contains(&format!("did you mean {near}")), "{told:?}");
        }
    }

    #[test]
    fn a_list_of_families_means_only_these() {
        let suite = parse("model_families = [\"vision\"]", Path::new("s.toml")).unwrap();
        assert_eq!(suite.families, ["vision"]);
        assert!(suite.model_families.is_empty());
    }

    #[test]
    fn a_key_with_two_values_has_none() {
        let told = problems("{\"timeout\": 5,\n\"timeout\": 6}", "s.json");
        assert_eq!(told, ["s.json:2: key 'timeout': stands there already: a key has one value"]);
    }

    #[test]
    fn a_file_that_is_not_there_or_no_suite_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let told = read(&folder.path().join("none.json")).unwrap_err().to_string();
        assert!(told.contains("none.json: cannot be read"), "{told}");
        let path = folder.path().join("cut.json");
        std::fs::write(&path, "{\"timeout\": 5,\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("cut.json:2: not valid JSON"));
    }
}
