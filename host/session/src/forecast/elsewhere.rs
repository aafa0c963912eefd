//! What was measured on other machines: those of the database, of files and folders that were brought, and a small set of our own that is
//! shipped (`host/predict/data/measured.csv`, whose head says where and how it was measured). A row of it never stands for a measurement here; it
//! serves predictions that say so.

use super::bench::samples_of;
use super::{Cells, Models, Place};
use serde::{Deserialize, Serialize};
use skillbench_predict::{Peaks, Quantity, Sample, Source, Transfer, Work};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SHIPPED: &str = include_str!("../../../predict/data/measured.csv");
/// Rows of a file; more is no file that `--training` wrote.
const MOST_ROWS: usize = 1 << 20;
const MOST_BYTES: u64 = 1 << 28;

/// One measured quantity of one cell: a row of the file that `host predict --training` writes.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TrainingRow {
    pub machine: String,
    pub plugin: String,
    pub device: String,
    pub precision: Option<String>,
    pub threads: Option<u64>,
    pub model: String,
    pub family: String,
    pub batch: f64,
    pub flops: f64,
    pub weight_bytes: f64,
    pub activation_bytes: f64,
    pub kernels: f64,
    pub parameter_bytes: f64,
    pub peak_flops_per_s: Option<f64>,
    pub peak_bytes_per_s: Option<f64>,
    pub quantity: Quantity,
    /// Milliseconds, items in a second, or mebibytes.
    pub value: f64,
}

#[derive(Debug, thiserror::Error)]
pub enum ElsewhereError {
    #[error("{} cannot be read: {source}", file.display())]
    Read { file: PathBuf, source: std::io::Error },
    #[error("{} is no file of `host predict --training`: {why}", file.display())]
    Form { file: PathBuf, why: String },
}

/// A backend at a precision on one machine, device and number of threads.
type Key = (String, Option<String>, String, String, Option<u64>);

#[derive(Default)]
pub struct Elsewhere(BTreeMap<Key, (Peaks, BTreeMap<Quantity, Vec<Sample>>)>);

impl Elsewhere {
    /// What is shipped.
    pub fn shipped() -> Elsewhere {
        let mut all = Elsewhere::default();
        // A test reads it; a slip would leave no more than fewer rows.
        csv_rows(SHIPPED).flatten().for_each(|row| all.add(row));
        all
    }

    /// Adds a file that `host predict --training` wrote, in CSV or JSON.
    ///
    /// # Errors
    /// It cannot be read, or has another form.
    pub fn add_file(&mut self, file: &Path) -> Result<(), ElsewhereError> {
        let unread = |source| ElsewhereError::Read { file: file.into(), source };
        let form = |why: String| ElsewhereError::Form { file: file.into(), why };
        if std::fs::metadata(file).map_err(unread)?.len() > MOST_BYTES {
            return Err(form(format!("it has more than {MOST_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(file).map_err(unread)?;
        let rows: Vec<TrainingRow> = match file.extension().is_some_and(|ending| ending == "json") {
            true => serde_json::from_str(&text).map_err(|error| form(error.to_string()))?,
            false => csv_rows(&text).collect::<Result<_, _>>().map_err(|error| form(error.to_string()))?,
        };
        if rows.is_empty() || rows.len() > MOST_ROWS {
            return Err(form(format!("it has {} rows", rows.len())));
        }
        rows.into_iter().for_each(|row| self.add(row));
        Ok(())
    }

    /// Adds the cells of a database that teach.
    pub fn add_cells(&mut self, cells: &Cells, models: &Models) {
        let mut places: BTreeMap<&Place, Vec<_>> = BTreeMap::new();
        cells.measured.iter().for_each(|cell| places.entry(&cell.place).or_default().push(cell));
        // Options make other hardware of it, and few others have the same.
        for (place, of) in places.into_iter().filter(|(place, _)| place.options.is_none()) {
            let (samples, _) = samples_of(place, &of, models);
            self.0.insert(key(place), (cells.peaks(place), samples));
        }
    }

    fn add(&mut self, row: TrainingRow) {
        let key = (row.plugin, row.precision, row.machine, row.device, row.threads);
        let peaks = Peaks { flops_per_s: row.peak_flops_per_s, bytes_per_s: row.peak_bytes_per_s };
        let work = Work {
            model: row.model,
            family: row.family,
            batch: row.batch,
            flops: row.flops,
            weight_bytes: row.weight_bytes,
            activation_bytes: row.activation_bytes,
            kernels: row.kernels,
            parameter_bytes: row.parameter_bytes,
        };
        let (known, samples) = self.0.entry(key).or_default();
        *known = peaks;
        samples.entry(row.quantity).or_default().push(Sample { work, value: row.value });
    }

    /// The machines other than one on which a backend was measured at a precision.
    pub(super) fn transfer(&self, place: &Place, quantity: Quantity) -> Transfer {
        let same = |key: &Key| key.0 == place.plugin && key.1 == place.precision && key.2 != place.machine;
        let of = self.0.iter().filter(|(key, _)| same(key)).map(|(key, (peaks, samples))| Source {
            machine: key.2.clone(),
            peaks: *peaks,
            samples: samples.get(&quantity).cloned().unwrap_or_default(),
        });
        Transfer::train(of.collect(), quantity)
    }
}

fn key(place: &Place) -> Key {
    (place.plugin.clone(), place.precision.clone(), place.machine.clone(), place.device.clone(), place.threads)
}

fn csv_rows(text: &str) -> impl Iterator<Item = Result<TrainingRow, csv::Error>> {
    csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text.as_bytes())
        .into_deserialize()
        .collect::<Vec<_>>()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_what_is_shipped_is_read() {
        let rows = SHIPPED.lines().filter(|line| !line.starts_with('#')).count() - 1;
        assert_eq!(csv_rows(SHIPPED).filter(Result::is_ok).count(), rows);
        assert!(rows > 500);
    }

    #[test]
    fn a_file_of_another_form_is_refused_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("a.csv", "x,y\n1,2\n"), ("b.json", "{}"), ("c.csv", "")] {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            let error = Elsewhere::default().add_file(&file).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("host predict --training"), "{error}");
        }
    }
}
