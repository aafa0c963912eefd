//! Stored cells, typed, and which of them count now. Everybody who needs more than SQL of them reads them here.

use super::query::refused;
use super::{Database, DatabaseError, Filter};
use duckdb::Row;
use skillbench_record::catalog::{self, Metric};
use skillbench_record::{Axes, OutcomeKind, Seen, Trust, latest};

/// A stored cell.
#[derive(Clone, Debug)]
pub struct StoredCell {
    pub run: String,
    pub cell: i64,
    /// When its run began, in microseconds since 1970-01-01.
    pub began: Option<i64>,
    pub machine: String,
    pub hostname: Option<String>,
    pub cpu_model: Option<String>,
    pub plugin: String,
    /// Empty: no device was reached.
    pub device: String,
    pub device_kind: Option<String>,
    pub model: String,
    pub family: String,
    pub benchmark: String,
    pub axes: Axes,
    pub precision_asked: Option<String>,
    pub precision: Option<String>,
    pub threads: Option<u64>,
    pub workers: Option<u64>,
    /// As [`skillbench_record::options_text`] has them.
    pub options: Option<String>,
    pub beside: Option<String>,
    pub outcome: OutcomeKind,
    pub reason: Option<String>,
    /// `None`: it is not measured.
    pub trust: Option<Trust>,
    /// How outputs were checked.
    pub verified: Option<String>,
    pub has_figures: bool,
    pub plugin_version: Option<String>,
    pub benchmark_version: Option<String>,
    pub driver: Option<String>,
    pub key: String,
    pub attempt: String,
    /// In the order of [`catalog::metrics`].
    figures: Vec<Option<f64>>,
}

/// A cell that counts now, with what is newer of it and failed, or is believed less.
#[derive(Clone, Debug)]
pub struct StoredLatest {
    pub cell: StoredCell,
    pub newer: Option<StoredCell>,
}

/// The columns of [`StoredCell`], in its order.
const COLUMNS: &str = "run, cell, epoch_us(timestamp), machine, hostname, cpu_model, plugin, device_id, device_kind, model_id, family,
    benchmark, axes, precision_requested, precision, threads, workers, options, beside, outcome, reason, trust, verified, has_figures,
    plugin_version, benchmark_version, driver_version, key, attempt";

impl StoredCell {
    /// A metric of it; `None`: it was not measured.
    pub fn figure(&self, metric: &Metric) -> Option<f64> {
        let place = catalog::metrics().iter().position(|known| known == metric)?;
        self.figures.get(place).copied().flatten()
    }

    /// What people call its machine.
    pub fn machine_label(&self) -> String {
        match (&self.hostname, &self.cpu_model) {
            (Some(host), Some(cpu)) => format!("{host}, {cpu}"),
            (Some(host), None) => host.clone(),
            (None, _) => self.machine.clone(),
        }
    }

    pub fn seen(&self) -> Seen<'_> {
        Seen {
            key: &self.key,
            attempt: &self.attempt,
            device: &self.device,
            outcome: self.outcome,
            trust: self.trust,
            has_figures: self.has_figures,
            time: self.began,
            run: &self.run,
            cell: self.cell,
        }
    }
}

impl Database {
    /// The cells of the filter, the oldest first.
    ///
    /// # Errors
    /// As for any use of the file; a condition that DuckDB refuses; a word that only a newer host knows.
    pub fn cells(&self, filter: &Filter) -> Result<Vec<StoredCell>, DatabaseError> {
        self.read(|connection| {
            let figures: Vec<String> =
                catalog::metrics().iter().map(|metric| format!("{}::DOUBLE", metric.id)).collect();
            let sql = format!(
                "SELECT {COLUMNS}, {} FROM benchmark_results WHERE {} ORDER BY timestamp NULLS FIRST, run, cell",
                figures.join(", "),
                filter.held(connection)?
            );
            let mut statement = connection.prepare(&sql).map_err(refused)?;
            let mut rows = statement.query([]).map_err(refused)?;
            let mut cells = vec![];
            while let Some(row) = rows.next().map_err(refused)? {
                cells.push(self.typed(row)?);
            }
            Ok(cells)
        })
    }

    /// Of the cells of the filter those that count now: see [`skillbench_record::latest`](mod@skillbench_record::latest).
    ///
    /// # Errors
    /// As [`Database::cells`].
    pub fn latest(&self, filter: &Filter) -> Result<Vec<StoredLatest>, DatabaseError> {
        let cells = self.cells(filter)?;
        let seen: Vec<Seen<'_>> = cells.iter().map(StoredCell::seen).collect();
        let of = |found: skillbench_record::Latest| StoredLatest {
            cell: cells[found.place].clone(),
            newer: found.newer.map(|place| cells[place].clone()),
        };
        Ok(latest(&seen).into_iter().map(of).collect())
    }

    fn typed(&self, row: &Row<'_>) -> Result<StoredCell, DatabaseError> {
        let unknown = |text: String| DatabaseError::Failed { path: self.path().into(), text };
        let maybe = |at: usize| row.get::<_, Option<String>>(at).map_err(refused);
        let text = |at: usize| maybe(at).map(Option::unwrap_or_default);
        let int = |at: usize| row.get::<_, Option<i64>>(at).map_err(refused);
        let count = |at: usize| int(at).map(|n| n.and_then(|n| u64::try_from(n).ok()));
        let figure = |place: usize| row.get::<_, Option<f64>>(29 + place).map_err(refused);
        Ok(StoredCell {
            run: text(0)?,
            cell: int(1)?.unwrap_or_default(),
            began: int(2)?,
            machine: text(3)?,
            hostname: maybe(4)?,
            cpu_model: maybe(5)?,
            plugin: text(6)?,
            device: text(7)?,
            device_kind: maybe(8)?,
            model: text(9)?,
            family: text(10)?,
            benchmark: text(11)?,
            axes: text(12)?.parse().map_err(unknown)?,
            precision_asked: maybe(13)?,
            precision: maybe(14)?,
            threads: count(15)?,
            workers: count(16)?,
            options: maybe(17)?,
            beside: maybe(18)?,
            outcome: text(19)?.parse().map_err(unknown)?,
            reason: maybe(20)?,
            trust: maybe(21)?.map(|text| text.parse().map_err(unknown)).transpose()?,
            verified: maybe(22)?,
            has_figures: row.get::<_, Option<bool>>(23).map_err(refused)?.unwrap_or(false),
            plugin_version: maybe(24)?,
            benchmark_version: maybe(25)?,
            driver: maybe(26)?,
            key: text(27)?,
            attempt: text(28)?,
            figures: (0..catalog::metrics().len()).map(figure).collect::<Result<_, _>>()?,
        })
    }
}
