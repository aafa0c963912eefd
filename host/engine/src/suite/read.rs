//! From a suite file's text to the suite: all that is wrong is told at once, each with file, line, key and what was expected.

use super::{Format, Schedule, SuiteFile};
use crate::schedule::Time;
use skillbench_record::catalog::Limit;
use skillbench_record::located::{Field, Located, Problem, Reader, Table, Value, json, toml, within};
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
    reader.known_keys(root, "", &SuiteFile::KEYS);
    let usual = SuiteFile::default();
    let mut keys = Keys { reader, root };
    SuiteFile {
        batch_sizes: keys.sizes("batch_sizes", 65_536),
        sequence_lengths: keys.sizes("sequence_lengths", 1 << 20),
        warmup_iterations: keys.count("warmup_iterations", 0),
        benchmark_iterations: keys.count("benchmark_iterations", 1),
        timeout: keys.seconds("timeout"),
        hardware_types: keys.names("hardware_types").into_iter().map(|(name, _)| name).collect(),
        include_web_platforms: keys.flag("include_web_platforms", usual.include_web_platforms),
        parallel: keys.flag("parallel", usual.parallel),
        use_resource_pool: keys.flag("use_resource_pool", usual.use_resource_pool),
        generate_plots: keys.flag("generate_plots", usual.generate_plots),
        update_compatibility_matrix: keys.flag("update_compatibility_matrix", usual.update_compatibility_matrix),
        limits: keys.limits(),
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

/// Texts that are not empty, each with its line.
fn texts(reader: &mut Reader<'_>, items: &[Located], path: &str) -> Vec<(String, usize)> {
    let mut texts = vec![];
    for (index, item) in items.iter().enumerate() {
        match item.value.text().map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => texts.push((text.to_string(), item.line)),
            None => drop(reader.wrong::<()>(item, &within(path, &format!("[{index}]")), "a name")),
        }
    }
    texts
}

/// The keys of a suite.
struct Keys<'r, 'p> {
    reader: &'r mut Reader<'p>,
    root: &'r Table,
}

impl<'r> Keys<'r, '_> {
    fn get(&self, key: &str) -> Option<&'r Located> {
        self.root.get(key)
    }

    fn sizes(&mut self, key: &str, most: i64) -> Vec<i64> {
        let mut sizes = vec![];
        for (index, item) in self.reader.list(self.root.get(key), key).iter().enumerate() {
            match item.value.integer().filter(|size| (1..=most).contains(size)) {
                Some(size) => sizes.push(size),
                None => {
                    let expected = format!("a whole number from 1 to {most}");
                    let _: Option<()> = self.reader.wrong(item, &within(key, &format!("[{index}]")), &expected);
                }
            }
        }
        sizes
    }

    fn count(&mut self, key: &str, least: u64) -> Option<u64> {
        let value = self.get(key)?;
        let count = value.value.integer().and_then(|count| u64::try_from(count).ok()).filter(|count| *count >= least);
        count.or_else(|| self.reader.wrong(value, key, &format!("a whole number, {least} or more")))
    }

    fn seconds(&mut self, key: &str) -> Option<f64> {
        let value = self.get(key)?;
        // No limit is longer than a year, and one that is shorter than a millisecond stops everything.
        let seconds = value.value.float().filter(|seconds| (1e-3..=31_536_000.0).contains(seconds));
        seconds.or_else(|| self.reader.wrong(value, key, "a number of seconds"))
    }

    fn flag(&mut self, key: &str, usual: bool) -> bool {
        let Some(value) = self.get(key) else { return usual };
        value.value.flag().or_else(|| self.reader.wrong(value, key, "true or false")).unwrap_or(usual)
    }

    fn names(&mut self, key: &str) -> Vec<(String, usize)> {
        let items = self.reader.list(self.root.get(key), key);
        texts(self.reader, items, key)
    }

    fn limits(&mut self) -> Vec<String> {
        const KEY: &str = "limits";
        let texts = self.names(KEY);
        for (index, (text, line)) in texts.iter().enumerate() {
            if let Err(error) = text.parse::<Limit>() {
                self.reader.problem(*line, &within(KEY, &format!("[{index}]")), error.to_string());
            }
        }
        texts.into_iter().map(|(text, _)| text).collect()
    }

    fn families(&mut self) -> BTreeMap<String, Vec<String>> {
        const KEY: &str = "model_families";
        let mut families = BTreeMap::new();
        match self.get(KEY).map(|value| (value, &value.value)) {
            None => {}
            Some((_, Value::Table(table))) => {
                for Field { key: family, value: models, .. } in table.fields() {
                    let path = within(KEY, family);
                    match &models.value {
                        Value::List(items) => {
                            let models = texts(self.reader, items, &path).into_iter().map(|(name, _)| name);
                            families.insert(family.clone(), models.collect());
                        }
                        _ => drop(self.reader.wrong::<()>(models, &path, "a list of model ids or paths")),
                    }
                }
            }
            Some((value, _)) => drop(self.reader.wrong::<()>(value, KEY, "a table of families with lists of models")),
        }
        families
    }

    fn schedule(&mut self) -> Option<Schedule> {
        const KEY: &str = "schedule";
        let field = self.root.field(KEY)?;
        let Value::Table(table) = &field.value.value else {
            return self.reader.wrong(&field.value, KEY, "a table with enabled, frequency and time");
        };
        let reader = &mut *self.reader;
        reader.known_keys(table, "schedule.", &Schedule::KEYS);
        let enabled = match table.get("enabled") {
            None => {
                reader.problem(field.line, KEY, "expected `enabled`, true or false");
                false
            }
            Some(value) => {
                let flag = value.value.flag();
                flag.or_else(|| reader.wrong(value, &within(KEY, "enabled"), "true or false")).unwrap_or(false)
            }
        };
        let mut text = |name: &str, expected: &str, fits: &dyn Fn(&str) -> bool| {
            let value = table.get(name)?;
            let text = value.value.text().filter(|text| fits(text)).map(String::from);
            text.or_else(|| reader.wrong(value, &within(KEY, name), expected))
        };
        let known = Schedule::FREQUENCIES;
        let frequency = text("frequency", &format!("one of {}", known.join(", ")), &|text| known.contains(&text));
        let time = text("time", "a time as \"HH:MM\"", &|text| Time::parse(text).is_some());
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
