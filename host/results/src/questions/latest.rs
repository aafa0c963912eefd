//! Which rows count, and what their machine, hardware and model are called.
//!
//! Every question takes machine, hardware, precision and trust as part of its key, so that no figure mixes machines, options,
//! precisions, or measured hardware with what is emulated, unverified or remote. The rule is that of
//! [`skillbench_record::latest`](mod@skillbench_record::latest).

use polars::prelude::*;
use skillbench_record::catalog::column;
use skillbench_record::{HardwareLabel, Latest, Seen, Trust, latest as rule};
use std::collections::{HashMap, HashSet};

pub const HARDWARE: &str = Trust::Hardware.name();
pub const EMULATED: &str = Trust::Emulated.name();
pub const UNVERIFIED: &str = Trust::Unverified.name();
pub const REMOTE: &str = Trust::Remote.name();
pub const IMPLAUSIBLE: &str = Trust::Implausible.name();

/// Whether a cell is measured hardware whose outputs were checked: what may be ranked.
pub fn comparable() -> Expr {
    col(column::TRUST).eq(lit(HARDWARE)).fill_null(lit(false))
}

/// The texts of a column.
struct Texts<'a>(&'a StringChunked);

impl<'a> Texts<'a> {
    fn of(cells: &'a DataFrame, name: &str) -> PolarsResult<Texts<'a>> {
        cells.column(name)?.as_materialized_series().str().map(Texts)
    }

    fn get(&self, row: usize) -> Option<&'a str> {
        self.0.get(row)
    }

    fn or_empty(&self, row: usize) -> &'a str {
        self.get(row).unwrap_or_default()
    }
}

fn times(cells: &DataFrame) -> PolarsResult<Vec<Option<i64>>> {
    let microseconds = DataType::Datetime(TimeUnit::Microseconds, None);
    let times = cells.column(column::TIMESTAMP)?.cast(&microseconds)?.cast(&DataType::Int64)?;
    Ok(times.i64()?.iter().collect())
}

/// The cells with the names that people know: `machine` in place of its id, `hardware`, and `model_id` with the content where a model
/// of the same name had another one later.
///
/// # Errors
/// Polars' own: a column that is not there.
pub fn placed(mut cells: DataFrame) -> PolarsResult<LazyFrame> {
    let (machines, hardware, models) = (machines(&cells)?, hardware(&cells)?, models(&cells)?);
    cells.with_column(Column::new(column::MACHINE.into(), machines))?;
    cells.with_column(Column::new("hardware".into(), hardware))?;
    cells.with_column(Column::new(column::MODEL_ID.into(), models))?;
    Ok(cells.lazy())
}

/// The name and the processor of each machine, as its newest run has them; with the id where two machines are called the same.
fn machines(cells: &DataFrame) -> PolarsResult<Vec<String>> {
    let (ids, hosts) = (Texts::of(cells, column::MACHINE)?, Texts::of(cells, column::HOSTNAME)?);
    let (processors, runs, times) =
        (Texts::of(cells, column::CPU_MODEL)?, Texts::of(cells, column::RUN)?, times(cells)?);
    let id = |row: usize| ids.get(row).unwrap_or_else(|| runs.or_empty(row));
    let label = |row: usize| match (hosts.get(row), processors.get(row)) {
        (Some(host), Some(processor)) => format!("{host}, {processor}"),
        (Some(host), None) => host.to_string(),
        (None, _) => runs.or_empty(row).to_string(),
    };
    let mut newest: HashMap<&str, usize> = HashMap::new();
    for row in 0..cells.height() {
        let known = newest.entry(id(row)).or_insert(row);
        if times[row] >= times[*known] {
            *known = row;
        }
    }
    let labels: HashMap<&str, String> = newest.into_iter().map(|(id, row)| (id, label(row))).collect();
    let mut count: HashMap<&str, usize> = HashMap::new();
    labels.values().for_each(|label| *count.entry(label).or_default() += 1);
    let named = |row: usize| {
        let label = &labels[id(row)];
        if count[label.as_str()] == 1 { label.clone() } else { format!("{label} [{}]", id(row)) }
    };
    Ok((0..cells.height()).map(named).collect())
}

/// See [`HardwareLabel`].
fn hardware(cells: &DataFrame) -> PolarsResult<Vec<Option<String>>> {
    let (plugins, devices) = (Texts::of(cells, column::PLUGIN)?, Texts::of(cells, column::DEVICE_ID)?);
    let (options, besides, benchmarks) =
        (Texts::of(cells, column::OPTIONS)?, Texts::of(cells, column::BESIDE)?, Texts::of(cells, column::BENCHMARK)?);
    let workers = cells.column(column::WORKERS)?.cast(&DataType::Int64)?;
    let workers = workers.i64()?;
    let threads = cells.column(column::THREADS)?.cast(&DataType::Int64)?;
    let threads = threads.i64()?;
    let mut threads_of: HashMap<&str, HashSet<i64>> = HashMap::new();
    let mut of_plugin: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut of_benchmark: HashMap<&str, HashSet<i64>> = HashMap::new();
    for row in 0..cells.height() {
        of_plugin.entry(plugins.or_empty(row)).or_default().extend(devices.get(row));
        threads_of.entry(plugins.or_empty(row)).or_default().extend(threads.get(row));
        of_benchmark.entry(benchmarks.or_empty(row)).or_default().extend(workers.get(row));
    }
    let named = |row: usize| {
        let plugin = plugins.get(row)?;
        let label = HardwareLabel {
            plugin,
            device: devices.get(row).filter(|_| of_plugin[plugin].len() > 1),
            options: options.get(row),
            // Another number of threads is other hardware: nothing is compared across them without a word.
            threads: threads.get(row).filter(|_| threads_of[plugin].len() > 1).and_then(|n| u64::try_from(n).ok()),
            workers: workers
                .get(row)
                .filter(|_| of_benchmark[benchmarks.or_empty(row)].len() > 1)
                .and_then(|n| u64::try_from(n).ok()),
            beside: besides.get(row),
        };
        Some(label.to_string())
    };
    Ok((0..cells.height()).map(named).collect())
}

/// So much of a content tells it from others.
const CONTENT_DIGITS: usize = 8;

fn models(cells: &DataFrame) -> PolarsResult<Vec<Option<String>>> {
    let (ids, contents, times) =
        (Texts::of(cells, column::MODEL_ID)?, Texts::of(cells, column::MODEL_CONTENT)?, times(cells)?);
    let mut newest: HashMap<&str, usize> = HashMap::new();
    for row in (0..cells.height()).filter(|row| contents.get(*row).is_some()) {
        let known = newest.entry(ids.or_empty(row)).or_insert(row);
        if times[row] >= times[*known] {
            *known = row;
        }
    }
    let named = |row: usize| {
        let (id, content) = (ids.get(row)?, contents.get(row));
        let now = newest.get(id).and_then(|row| contents.get(*row));
        Some(match content.filter(|_| content != now) {
            None => id.to_string(),
            Some(older) => format!("{id} [{}]", &skillbench_record::hash::sha256_text(older)[..CONTENT_DIGITS]),
        })
    };
    Ok((0..cells.height()).map(named).collect())
}

/// Of all rows those that count now, in the order in which they are, each with `newer_run`, `newer_outcome` and `newer_reason` of a
/// newer try that failed or is believed less.
///
/// # Errors
/// Polars' own; a word that only a newer host knows.
pub fn latest(cells: DataFrame) -> PolarsResult<DataFrame> {
    let found = counting(&cells)?;
    let places: Vec<IdxSize> = found.iter().map(|latest| latest.place as IdxSize).collect();
    let newer = |name: &str| -> PolarsResult<Vec<Option<String>>> {
        let texts = Texts::of(&cells, name)?;
        Ok(found.iter().map(|latest| texts.get(latest.newer?).map(String::from)).collect())
    };
    let columns = [
        Column::new("newer_run".into(), newer(column::RUN)?),
        Column::new("newer_outcome".into(), newer(column::OUTCOME)?),
        Column::new("newer_reason".into(), newer(column::REASON)?),
    ];
    let mut rows = cells.take(&IdxCa::from_vec("places".into(), places))?;
    for column in columns {
        rows.with_column(column)?;
    }
    Ok(rows)
}

/// The rows that count now.
pub(crate) fn counting(cells: &DataFrame) -> PolarsResult<Vec<Latest>> {
    let (keys, attempts, devices) =
        (Texts::of(cells, column::KEY)?, Texts::of(cells, column::ATTEMPT)?, Texts::of(cells, column::DEVICE_ID)?);
    let (outcomes, trusts, runs) =
        (Texts::of(cells, column::OUTCOME)?, Texts::of(cells, column::TRUST)?, Texts::of(cells, column::RUN)?);
    let (times, places) = (times(cells)?, cells.column(column::CELL)?.cast(&DataType::Int64)?);
    let (figures, places) = (cells.column(column::HAS_FIGURES)?.bool()?, places.i64()?);
    let unknown = |text: String| PolarsError::ComputeError(text.into());
    let seen = |row: usize| -> PolarsResult<Seen<'_>> {
        Ok(Seen {
            key: keys.or_empty(row),
            attempt: attempts.or_empty(row),
            device: devices.or_empty(row),
            outcome: outcomes.or_empty(row).parse().map_err(unknown)?,
            trust: trusts.get(row).map(|text| text.parse().map_err(unknown)).transpose()?,
            has_figures: figures.get(row).unwrap_or(false),
            time: times[row],
            run: runs.or_empty(row),
            cell: places.get(row).unwrap_or_default(),
        })
    };
    let all: Vec<Seen<'_>> = (0..cells.height()).map(seen).collect::<PolarsResult<_>>()?;
    Ok(rule(&all))
}

/// The rows that count now, with the names that people know, in the order of time and plan.
pub(super) fn now(cells: DataFrame) -> PolarsResult<LazyFrame> {
    let order = SortMultipleOptions::default().with_maintain_order(true);
    Ok(latest(placed(cells)?.sort([column::TIMESTAMP, column::RUN, column::CELL], order).collect()?)?.lazy())
}
