//! Frames of cells made by hand: what is not set is null, as in a cell that nobody measured.

use polars::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone)]
pub struct Row(BTreeMap<&'static str, AnyValue<'static>>);

/// A verified cell of a hardware that measured a model at batch 1 in so many milliseconds, on float32, with two threads.
pub fn measured(plugin: &'static str, model: &'static str, ms: f64) -> Row {
    Row(BTreeMap::new())
        .with("run", "r1")
        .with("hostname", "lab")
        .with("plugin", plugin)
        .with("device_id", plugin)
        .with("device_kind", "cpu")
        .with("threads", 2i64)
        .with("emulated", false)
        .with("model_id", model)
        .with("family", "vision")
        .with("architecture_type", "vision")
        .with("benchmark", "inference")
        .with("axes", "batch=1")
        .with("batch_size", 1i64)
        .with("precision", "float32")
        .with("outcome", "measured")
        .with("verified", "yes")
        .with("stable", true)
        .with("latency_median_ms", ms)
        .with("latency_ci95_low_ms", ms * 0.99)
        .with("latency_ci95_high_ms", ms * 1.01)
        .with("throughput_samples_per_sec", 1000.0 / ms)
}

/// A cell that ended otherwise.
pub fn ended(plugin: &'static str, model: &'static str, outcome: &'static str, reason: &'static str) -> Row {
    Row(BTreeMap::new())
        .with("run", "r1")
        .with("hostname", "lab")
        .with("plugin", plugin)
        .with("emulated", false)
        .with("model_id", model)
        .with("benchmark", "inference")
        .with("axes", "batch=1")
        .with("outcome", outcome)
        .with("reason_code", "code")
        .with("reason", reason)
        .with("stable", false)
}

impl Row {
    pub fn with(mut self, column: &'static str, value: impl Into<AnyValue<'static>>) -> Row {
        self.0.insert(column, value.into());
        self
    }

    pub fn without(mut self, column: &'static str) -> Row {
        self.0.remove(column);
        self
    }

    pub fn emulated(self) -> Row {
        self.with("emulated", true)
    }

    pub fn unverified(self) -> Row {
        self.with("verified", "finite only")
    }

    pub fn at_batch(self, batch: i64) -> Row {
        let axes: &'static str = Box::leak(format!("batch={batch}").into_boxed_str());
        self.with("axes", axes)
            .with("batch_size", batch)
            .with("throughput_samples_per_sec", AnyValue::Null)
            .throughput(batch)
    }

    fn text(&self, column: &str) -> String {
        self.0.get(column).map_or(String::new(), |value| value.to_string())
    }

    /// With what a record works out of the other columns.
    fn keyed(self) -> Row {
        let machine = match self.text("hostname").as_str() {
            "" => self.text("run"),
            host => format!("{host} {}", self.text("cpu_model")),
        };
        let of = |names: &[&str]| names.iter().map(|name| self.text(name)).collect::<Vec<_>>().join("|");
        let work = of(&[
            "plugin",
            "model_id",
            "model_content",
            "benchmark",
            "axes",
            "threads",
            "workers",
            "options",
            "beside",
        ]);
        let key = format!("{machine}|{work}|{}", of(&["device_id", "precision"]));
        let attempt = format!("{machine}|{work}|{}", of(&["precision_requested"]));
        let measured = self.text("outcome").contains("measured");
        let verified = self.text("verified");
        let trust = match () {
            () if !measured => None,
            () if self.text("emulated") == "true" => Some("emulated"),
            () if verified.contains("yes") || verified.contains("itself") => Some("hardware"),
            () => Some("unverified"),
        };
        let owned = |text: String| AnyValue::StringOwned(text.into());
        self.with("machine", owned(machine))
            .with("key", owned(key))
            .with("attempt", owned(attempt))
            .with("trust", trust.map_or(AnyValue::Null, AnyValue::from))
            .with("has_figures", measured)
    }

    fn throughput(self, batch: i64) -> Row {
        match self.0.get("latency_median_ms") {
            Some(AnyValue::Float64(ms)) => {
                let per_sec = 1000.0 * batch as f64 / ms;
                self.with("throughput_samples_per_sec", per_sec)
            }
            _ => self,
        }
    }

    /// Of a later run, on the day.
    pub fn on_day(self, run: &'static str, day: i64) -> Row {
        self.with("run", run).with("timestamp", AnyValue::Datetime(day * 86_400_000_000, TimeUnit::Microseconds, None))
    }
}

/// The frame of these rows, in all columns, each cell with its place, its keys and its trust.
pub fn frame(rows: impl IntoIterator<Item = Row>) -> DataFrame {
    let rows: Vec<Row> =
        rows.into_iter().enumerate().map(|(place, row)| row.with("cell", place as i64).keyed()).collect();
    let none = skillbench_results::frames::cells([]).unwrap();
    for row in &rows {
        row.0.keys().for_each(|name| assert!(none.column(name).is_ok(), "there is no column {name}"));
    }
    let columns = none.columns().iter().map(|column| {
        let values: Vec<AnyValue<'_>> =
            rows.iter().map(|row| row.0.get(column.name().as_str()).cloned().unwrap_or(AnyValue::Null)).collect();
        Series::from_any_values_and_dtype(column.name().clone(), &values, column.dtype(), true).unwrap().into_column()
    });
    DataFrame::new(rows.len(), columns.collect()).unwrap()
}

/// The rows for which a column has this text.
pub fn only(frame: &DataFrame, column: &str, text: &str) -> DataFrame {
    frame.clone().lazy().filter(col(column).eq(lit(text))).collect().unwrap()
}

pub fn numbers(frame: &DataFrame, column: &str) -> Vec<Option<f64>> {
    let cast = frame.column(column).unwrap().cast(&DataType::Float64).unwrap();
    cast.f64().unwrap().iter().collect()
}

pub fn number(frame: &DataFrame, column: &str) -> Option<f64> {
    assert_eq!(frame.height(), 1, "one row was expected: {frame}");
    numbers(frame, column)[0]
}

pub fn texts(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    frame.column(column).unwrap().str().unwrap().iter().map(|text| text.map(String::from)).collect()
}

pub fn text(frame: &DataFrame, column: &str) -> Option<String> {
    assert_eq!(frame.height(), 1, "one row was expected: {frame}");
    texts(frame, column)[0].clone()
}

pub fn flags(frame: &DataFrame, column: &str) -> Vec<Option<bool>> {
    frame.column(column).unwrap().bool().unwrap().iter().collect()
}

pub fn near(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() <= 1e-9 * expected.abs().max(1.0))
}
