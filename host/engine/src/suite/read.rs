//! From a suite file's text to the suite: all that is wrong is told at once, each with file, line, key and what was expected.

use super::text::{self, Text, within};
use super::{Format, Schedule, SuiteFile};
use crate::registry::Problem;
use crate::schedule::Time;
use serde_json::{Map, Value};
use skillbench_record::catalog::Limit;
use skillbench_record::suggest::did_you_mean;
use std::collections::BTreeMap;
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
    let text = match text::parse(text, Format::of(path)) {
        Ok(text) => text,
        Err((line, message)) => {
            return Err(SuiteError(vec![Problem { file: path.into(), line, key: String::new(), message }]));
        }
    };
    let mut reader = Reader { path, text: &text, problems: vec![] };
    let suite = reader.suite();
    match reader.problems.is_empty() {
        true => Ok(suite),
        false => {
            reader.problems.sort_by_key(|problem| problem.line);
            Err(SuiteError(reader.problems))
        }
    }
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a Text,
    problems: Vec<Problem>,
}

/// A value as it stands in a message: its type, and itself where it is short.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.is_empty() => "an empty text".into(),
        Value::String(text) => format!("the text \"{}\"", text.chars().take(60).collect::<String>()),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a table".into(),
    }
}

impl<'a> Reader<'a> {
    fn problem(&mut self, key: &str, message: String) {
        let line = self.text.lines.get(key).copied().unwrap_or(0);
        self.problems.push(Problem { file: self.path.into(), line, key: key.into(), message });
    }

    fn wrong<T>(&mut self, key: &str, expected: &str, value: &Value) -> Option<T> {
        self.problem(key, format!("expected {expected}, found {}", shown(value)));
        None
    }

    fn known_keys(&mut self, table: &Map<String, Value>, path: &str, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&key.as_str())) {
            let hint = did_you_mean(key, known.iter().copied());
            self.problem(&within(path, key), format!("unknown key; expected one of {}{hint}", known.join(", ")));
        }
    }

    fn suite(&mut self) -> SuiteFile {
        for (key, line) in &self.text.twice {
            let message = "stands there already: a key has one value".to_string();
            self.problems.push(Problem { file: self.path.into(), line: *line, key: key.clone(), message });
        }
        self.known_keys(&self.text.root, "", &SuiteFile::KEYS);
        let usual = SuiteFile::default();
        SuiteFile {
            batch_sizes: self.sizes("batch_sizes", 65_536),
            sequence_lengths: self.sizes("sequence_lengths", 1 << 20),
            warmup_iterations: self.count("warmup_iterations", 0),
            benchmark_iterations: self.count("benchmark_iterations", 1),
            timeout: self.seconds("timeout"),
            hardware_types: self
                .list("hardware_types")
                .map(|list| self.names("hardware_types", list))
                .unwrap_or_default(),
            include_web_platforms: self.flag("include_web_platforms", usual.include_web_platforms),
            parallel: self.flag("parallel", usual.parallel),
            use_resource_pool: self.flag("use_resource_pool", usual.use_resource_pool),
            generate_plots: self.flag("generate_plots", usual.generate_plots),
            update_compatibility_matrix: self.flag("update_compatibility_matrix", usual.update_compatibility_matrix),
            limits: self.limits(),
            model_families: self.families(),
            schedule: self.schedule(),
        }
    }

    fn list(&mut self, key: &str) -> Option<&'a Vec<Value>> {
        match self.text.root.get(key)? {
            Value::Array(items) => Some(items),
            other => self.wrong(key, "a list", other),
        }
    }

    fn sizes(&mut self, key: &str, most: i64) -> Vec<i64> {
        let items = self.list(key).map(Vec::as_slice).unwrap_or_default();
        let mut sizes = vec![];
        for (index, item) in items.iter().enumerate() {
            match item.as_i64().filter(|size| (1..=most).contains(size)) {
                Some(size) => sizes.push(size),
                None => {
                    let expected = format!("a whole number from 1 to {most}");
                    let _: Option<()> = self.wrong(&within(key, &format!("[{index}]")), &expected, item);
                }
            }
        }
        sizes
    }

    fn count(&mut self, key: &str, least: u64) -> Option<u64> {
        let value = self.text.root.get(key)?;
        let count = value.as_u64().filter(|count| *count >= least);
        count.or_else(|| self.wrong(key, &format!("a whole number, {least} or more"), value))
    }

    fn seconds(&mut self, key: &str) -> Option<f64> {
        let value = self.text.root.get(key)?;
        // No limit is longer than a year, and one that is shorter than a millisecond stops everything.
        let seconds = value.as_f64().filter(|seconds| (1e-3..=31_536_000.0).contains(seconds));
        seconds.or_else(|| self.wrong(key, "a number of seconds", value))
    }

    fn flag(&mut self, key: &str, usual: bool) -> bool {
        match self.text.root.get(key) {
            None => usual,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => self.wrong(key, "true or false", other).unwrap_or(usual),
        }
    }

    fn name(&mut self, key: &str, value: &Value) -> Option<String> {
        match value {
            Value::String(text) if !text.trim().is_empty() => Some(text.trim().into()),
            other => self.wrong(key, "a name", other),
        }
    }

    fn names(&mut self, path: &str, items: &[Value]) -> Vec<String> {
        let one = |(index, item): (usize, &Value)| self.name(&within(path, &format!("[{index}]")), item);
        items.iter().enumerate().filter_map(one).collect()
    }

    fn limits(&mut self) -> Vec<String> {
        const KEY: &str = "limits";
        let texts = self.list(KEY).map(|list| self.names(KEY, list)).unwrap_or_default();
        for (index, text) in texts.iter().enumerate() {
            if let Err(error) = text.parse::<Limit>() {
                self.problem(&within(KEY, &format!("[{index}]")), error.to_string());
            }
        }
        texts
    }

    fn families(&mut self) -> BTreeMap<String, Vec<String>> {
        const KEY: &str = "model_families";
        let mut families = BTreeMap::new();
        match self.text.root.get(KEY) {
            None => {}
            Some(Value::Object(table)) => {
                for (family, models) in table {
                    let path = within(KEY, family);
                    match models {
                        Value::Array(items) => drop(families.insert(family.clone(), self.names(&path, items))),
                        other => drop(self.wrong::<()>(&path, "a list of model ids or paths", other)),
                    }
                }
            }
            Some(other) => drop(self.wrong::<()>(KEY, "a table of families with lists of models", other)),
        }
        families
    }

    fn schedule(&mut self) -> Option<Schedule> {
        const KEY: &str = "schedule";
        let table = match self.text.root.get(KEY)? {
            Value::Object(table) => table,
            other => return self.wrong(KEY, "a table with enabled, frequency and time", other),
        };
        self.known_keys(table, KEY, &Schedule::KEYS);
        let enabled = match table.get("enabled") {
            None => {
                self.problem(KEY, "expected `enabled`, true or false".into());
                false
            }
            Some(Value::Bool(flag)) => *flag,
            Some(other) => self.wrong(&within(KEY, "enabled"), "true or false", other).unwrap_or(false),
        };
        let mut field = |name: &str, expected: &str, fits: &dyn Fn(&str) -> bool| {
            let value = table.get(name)?;
            let text = value.as_str().filter(|text| fits(text)).map(String::from);
            text.or_else(|| self.wrong(&within(KEY, name), expected, value))
        };
        let known = Schedule::FREQUENCIES;
        let frequency = field("frequency", &format!("one of {}", known.join(", ")), &|text| known.contains(&text));
        let time = field("time", "a time as \"HH:MM\"", &|text| Time::parse(text).is_some());
        Some(Schedule { enabled, frequency, time })
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
        let text = "timeout = \"long\"\nbatch_sizes = [1,\n  0]\nparallel = 1\nmodel_families = [\"bert\"]\n[schedule]\ntime = \"25:00\"\n";
        let wanted = [
            "s.toml:1: key 'timeout': expected a number of seconds, found the text \"long\"",
            "s.toml:3: key 'batch_sizes[1]': expected a whole number from 1 to 65536, found the number 0",
            "s.toml:4: key 'parallel': expected true or false, found the number 1",
            "s.toml:5: key 'model_families': expected a table of families with lists of models, found a list",
            "s.toml:6: key 'schedule': expected `enabled`, true or false",
            "s.toml:7: key 'schedule.time': expected a time as \"HH:MM\", found the text \"25:00\"",
        ];
        assert_eq!(problems(text, "s.toml"), wanted);
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
