//! Runs into tables: all of a run in one commit, and a run that is there already only where its journal has grown.

use super::read::{PARQUET, columns_to};
use super::{Database, DatabaseError, Filter};
use crate::journal::Recorded;
use duckdb::Transaction;
use duckdb::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Float64Builder, Int64Array, ListBuilder, StringArray,
    TimestampMicrosecondArray,
};
use duckdb::arrow::datatypes::{Field, Schema};
use duckdb::arrow::record_batch::RecordBatch;
use skillbench_record::catalog::{self, Column, Kind, PluginMetric, Row, Value};
use skillbench_record::time::moment;
use skillbench_record::time::now_utc;
use skillbench_record::{Cell, HardwareRecord, Run, Samples};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// What became of runs that were to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    pub new: Vec<String>,
    /// There already, with less in it.
    pub renewed: Vec<String>,
    /// There already, just as they are.
    pub known: Vec<String>,
}

impl Database {
    /// Stores runs in one commit.
    ///
    /// # Errors
    /// As for any use of the file; then nothing was stored.
    pub fn store(&self, runs: &[Recorded]) -> Result<Stored, DatabaseError> {
        self.write(|transaction| {
            let mut stored = Stored::default();
            store_some(transaction, runs, &mut stored)?;
            Ok(stored)
        })
    }

    /// Stores runs in one commit, and writes these columns of every cell as a Parquet file before the database is closed: opening it
    /// takes longer than either.
    ///
    /// # Errors
    /// As [`Database::store`]; within, the file could not be written.
    pub fn store_then_write(
        &self,
        runs: &[Recorded],
        names: &[&str],
        file: &Path,
    ) -> Result<(Stored, Result<(), DatabaseError>), DatabaseError> {
        self.write_and_read_into(
            file,
            |transaction| {
                let mut stored = Stored::default();
                store_some(transaction, runs, &mut stored)?;
                Ok(stored)
            },
            |connection| columns_to(connection, &Filter::all(), names, file, PARQUET),
        )
    }
}

/// Adds runs that are not there, and those of which there is less.
pub(super) fn store_some(
    transaction: &Transaction<'_>,
    runs: &[Recorded],
    stored: &mut Stored,
) -> Result<(), duckdb::Error> {
    let is_known = |run: &Recorded| -> Result<bool, duckdb::Error> {
        let found = there(transaction, &run.run.run_id)?;
        Ok(found.is_some_and(|(fingerprint, cells)| is_there(run, &fingerprint, cells)))
    };
    let wanted = runs.iter().map(|run| Ok((run, is_known(run)?))).collect::<Result<Vec<_>, duckdb::Error>>()?;
    for (recorded, prepared) in runs.iter().zip(prepare_all(wanted)?) {
        let run = &recorded.run.run_id;
        // The same run may come twice.
        let there = there(transaction, run)?;
        let is_known = there.as_ref().is_some_and(|(fingerprint, cells)| is_there(recorded, fingerprint, *cells));
        match prepared.filter(|_| !is_known) {
            None => stored.known.push(run.clone()),
            Some(prepared) => {
                match there {
                    Some(_) => {
                        remove(transaction, run)?;
                        stored.renewed.push(run.clone());
                    }
                    None => stored.new.push(run.clone()),
                }
                add(transaction, recorded, &prepared)?;
            }
        }
    }
    Ok(())
}

/// What has fewer cells is an older copy; what has as many and no request is a `run.json`, which lacks the samples.
fn is_there(recorded: &Recorded, fingerprint: &str, cells: i64) -> bool {
    let own = recorded.run.cells.len() as i64;
    fingerprint == recorded.fingerprint || cells > own || (cells == own && recorded.request.is_none())
}

fn there(transaction: &Transaction<'_>, run: &str) -> Result<Option<(String, i64)>, duckdb::Error> {
    let sql = "SELECT fingerprint, cells FROM runs WHERE run = ?";
    match transaction.query_row(sql, [run], |row| Ok((row.get(0)?, row.get(1)?))) {
        Ok(found) => Ok(Some(found)),
        Err(duckdb::Error::QueryReturnedNoRows) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A run on its way into the tables, but for the ids.
struct Prepared<'a> {
    targets: Vec<Vec<&'a Cell>>,
    /// The cells of each target, as their documents.
    raw: Vec<String>,
    /// The target of each cell.
    of_cell: Vec<usize>,
    results: Vec<(&'static str, ArrayRef)>,
    samples: RecordBatch,
}

/// Those that are not known already, on all processors.
fn prepare_all(runs: Vec<(&Recorded, bool)>) -> Result<Vec<Option<Prepared<'_>>>, duckdb::Error> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = runs.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = runs.chunks(share).map(|some| scope.spawn(move || prepare_some(some))).collect();
        let joined = parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok(joined.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })
}

fn prepare_some<'a>(runs: &[(&'a Recorded, bool)]) -> Result<Vec<Option<Prepared<'a>>>, duckdb::Error> {
    runs.iter().map(|(run, known)| if *known { Ok(None) } else { prepare(run).map(Some) }).collect()
}

fn prepare(recorded: &Recorded) -> Result<Prepared<'_>, duckdb::Error> {
    let run = &recorded.run;
    let started = moment(&run.started_at);
    let mut targets: Vec<Vec<&Cell>> = vec![];
    let mut places: HashMap<TargetKey<'_>, usize> = HashMap::new();
    let mut of_cell: Vec<usize> = vec![];
    for cell in &run.cells {
        let place = *places.entry(target(cell)).or_insert_with(|| {
            targets.push(vec![]);
            targets.len() - 1
        });
        targets[place].push(cell);
        of_cell.push(place);
    }
    let rows: Vec<Row<'_>> = run.cells.iter().map(|cell| Row { run, started, cell }).collect();
    Ok(Prepared {
        raw: targets.iter().map(json).collect(),
        results: results(&rows),
        samples: samples(run, &recorded.samples)?,
        targets,
        of_cell,
    })
}

/// The columns of cells, as arrays.
pub(super) fn results(rows: &[Row<'_>]) -> Vec<(&'static str, ArrayRef)> {
    catalog::all().map(|column| (column.name, array(&column, rows))).collect()
}

fn remove(transaction: &Transaction<'_>, run: &str) -> Result<(), duckdb::Error> {
    for table in ["hardware_info", "raw_benchmark_data"] {
        let sql = format!("DELETE FROM {table} WHERE run_id IN (SELECT id FROM benchmark_runs WHERE run = ?)");
        transaction.execute(&sql, [run])?;
    }
    for table in ["raw_samples", "plugin_metrics", "benchmark_results", "benchmark_runs", "runs"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE run = ?"), [run])?;
    }
    Ok(())
}

/// What `benchmark_runs` has a row for.
type TargetKey<'a> = (&'a str, &'a str, &'a str, &'a str, Option<&'a str>);

fn target(cell: &Cell) -> TargetKey<'_> {
    let precision = cell.placement.as_ref().and_then(|placement| placement.precision.as_deref());
    (&cell.skill, &cell.plugin, &cell.device, &cell.benchmark, precision)
}

fn add(transaction: &Transaction<'_>, recorded: &Recorded, prepared: &Prepared<'_>) -> Result<(), duckdb::Error> {
    let started = moment(&recorded.run.started_at);
    add_run(transaction, recorded, started)?;
    let first_target = next_id(transaction, "benchmark_runs")?;
    add_targets(transaction, &recorded.run, started, prepared, first_target)?;
    let first_result = next_id(transaction, "benchmark_results")?;
    let ids = (0..prepared.of_cell.len() as i64).map(|place| first_result + place).collect::<Int64Array>();
    let owners = prepared.of_cell.iter().map(|place| first_target + *place as i64).collect::<Int64Array>();
    let own: [(&str, ArrayRef); 2] = [("id", Arc::new(ids)), ("run_id", Arc::new(owners))];
    append(transaction, "benchmark_results", batch(own.into_iter().chain(prepared.results.iter().cloned()))?)?;
    add_plugin_metrics(transaction, &recorded.run)?;
    append(transaction, "raw_samples", prepared.samples.clone())
}

/// What benchmarks and backends measured besides the metrics of the catalogue.
pub(super) fn add_plugin_metrics(transaction: &Transaction<'_>, run: &Run) -> Result<(), duckdb::Error> {
    let found: Vec<(i64, PluginMetric<'_>)> = run
        .cells
        .iter()
        .filter_map(|cell| Some((cell.index as i64, cell.outcome.metrics()?)))
        .flat_map(|(cell, metrics)| catalog::plugin_metrics(metrics).map(move |metric| (cell, metric)))
        .collect();
    let text = |pick: fn(&PluginMetric<'_>) -> String| -> ArrayRef {
        Arc::new(found.iter().map(|(_, metric)| Some(pick(metric))).collect::<StringArray>())
    };
    let float = |pick: fn(&PluginMetric<'_>) -> Option<f64>| -> ArrayRef {
        Arc::new(found.iter().map(|(_, metric)| pick(metric)).collect::<Float64Array>())
    };
    let runs: ArrayRef = Arc::new(found.iter().map(|_| Some(run.run_id.as_str())).collect::<StringArray>());
    let better = found.iter().map(|(_, metric)| metric.higher_is_better).collect::<BooleanArray>();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("run", runs),
        ("cell", Arc::new(found.iter().map(|(cell, _)| Some(*cell)).collect::<Int64Array>())),
        ("metric", text(|metric| metric.name.into())),
        ("source", text(|metric| metric.source.into())),
        ("unit", text(|metric| metric.unit.into())),
        ("higher_is_better", Arc::new(better)),
        ("n", Arc::new(found.iter().map(|(_, metric)| Some(metric.n as i64)).collect::<Int64Array>())),
        ("median", float(|metric| metric.median)),
        ("mean", float(|metric| Some(metric.mean))),
        ("min", float(|metric| Some(metric.min))),
        ("max", float(|metric| Some(metric.max))),
        ("ci95_low", float(|metric| metric.ci95.map(|ends| ends[0]))),
        ("ci95_high", float(|metric| metric.ci95.map(|ends| ends[1]))),
    ];
    append(transaction, "plugin_metrics", batch(columns)?)
}

fn next_id(transaction: &Transaction<'_>, table: &str) -> Result<i64, duckdb::Error> {
    transaction.query_row(&format!("SELECT coalesce(max(id), 0) + 1 FROM {table}"), [], |row| row.get(0))
}

pub(super) fn append(transaction: &Transaction<'_>, table: &str, batch: RecordBatch) -> Result<(), duckdb::Error> {
    if batch.num_rows() == 0 {
        return Ok(());
    }
    let mut appender = transaction.appender_to_catalog_and_db(table, super::open::NAME, "main")?;
    appender.append_record_batch(batch)?;
    appender.flush()
}

fn add_run(transaction: &Transaction<'_>, recorded: &Recorded, started: Option<i64>) -> Result<(), duckdb::Error> {
    let (run, environment) = (&recorded.run, &recorded.run.environment);
    let measured = run.cells.iter().filter(|cell| cell.outcome.metrics().is_some()).count();
    transaction.execute(
        "INSERT INTO runs VALUES (?, make_timestamp(?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, make_timestamp(?), ?)",
        duckdb::params![
            run.run_id,
            started,
            run.schema,
            environment.host_version,
            environment.hostname,
            environment.os,
            environment.arch,
            environment.kernel,
            environment.cpu_model,
            environment.cpus_usable.map(|n| n as i64),
            environment.governor,
            environment.memory_total_mb,
            environment.load_1min,
            run.seed.to_string(),
            json(&run.command),
            recorded.request.as_ref().map(json),
            json(environment),
            json(&run.left_out),
            run.cells.len() as i64,
            measured as i64,
            recorded.fingerprint,
            moment(&now_utc()),
            environment.machine_id(),
        ],
    )?;
    Ok(())
}

pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

/// The rows of a run's targets, with what each is about.
fn add_targets(
    transaction: &Transaction<'_>,
    run: &Run,
    started: Option<i64>,
    prepared: &Prepared<'_>,
    first: i64,
) -> Result<(), duckdb::Error> {
    let (mut platforms, mut models) = (HashMap::new(), HashMap::new());
    let mut runs = transaction
        .prepare("INSERT INTO benchmark_runs VALUES (?, make_timestamp(?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut hardware = transaction.prepare("INSERT INTO hardware_info VALUES (?, ?, ?, ?, ?, NULL, ?)")?;
    let mut raw = transaction.prepare("INSERT INTO raw_benchmark_data VALUES (?, ?, ?)")?;
    let (first_hardware, first_raw) =
        (next_id(transaction, "hardware_info")?, next_id(transaction, "raw_benchmark_data")?);
    for (place, cells) in prepared.targets.iter().enumerate() {
        let (offset, cell) = (place as i64, cells[0]);
        let id = first + offset;
        let known = cells.iter().find_map(|cell| cell.hardware.as_ref());
        let (skill, plugin, device, benchmark, precision) = target(cell);
        // A function has neither a device nor a model.
        let platform = match platforms.get(&(plugin, device)) {
            _ if cell.is_function() => None,
            Some(id) => Some(*id),
            None => {
                let id = platform_id(transaction, run, started, cell, known)?;
                Some(*platforms.entry((plugin, device)).or_insert(id))
            }
        };
        let model = match models.get(skill) {
            _ if cell.is_function() => None,
            Some(id) => Some(*id),
            None => Some(*models.entry(skill).or_insert(model_id(transaction, cell)?)),
        };
        runs.execute(duckdb::params![
            id,
            started,
            skill,
            plugin,
            precision,
            cell.architecture,
            cell.task,
            cell.parameters.map(|n| n as i64),
            match cell.is_function() {
                true => format!("{benchmark} of {plugin}"),
                false => format!("{benchmark} of {skill} on {plugin}"),
            },
            run.run_id,
            device,
            benchmark,
            cell.emulated,
            model,
            platform,
        ])?;
        let described =
            known.map(|hardware| [&hardware.vendor, &hardware.arch, &hardware.driver].map(String::as_str).join(" "));
        hardware.execute(duckdb::params![
            first_hardware + offset,
            id,
            plugin,
            known.map(|hardware| hardware.name.clone()),
            described.map(|text| text.trim().to_string()),
            known.map(json),
        ])?;
        raw.execute(duckdb::params![first_raw + offset, id, prepared.raw[place]])?;
    }
    Ok(())
}

/// The row of a machine's device, made where there is none yet.
fn platform_id(
    transaction: &Transaction<'_>,
    run: &Run,
    started: Option<i64>,
    cell: &Cell,
    known: Option<&HardwareRecord>,
) -> Result<i64, duckdb::Error> {
    let environment = &run.environment;
    let host = environment.machine_id().unwrap_or_default();
    let driver = known.map(|hardware| hardware.driver.as_str()).filter(|driver| !driver.is_empty());
    let identity =
        json(&(host, &cell.plugin, &cell.device, driver, &environment.kernel, known.map(|hardware| &hardware.name)));
    let there = "SELECT id FROM hardware_platforms WHERE identity = ?";
    if let Some(id) = optional(transaction, there, &identity)? {
        return Ok(id);
    }
    let id = next_id(transaction, "hardware_platforms")?;
    // Cores are known of the processor alone.
    let units = known.filter(|hardware| hardware.kind == "cpu").and(environment.cpus_online).map(|n| n as i64);
    transaction.execute(
        "INSERT INTO hardware_platforms VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, make_timestamp(?), ?)",
        duckdb::params![
            id,
            cell.plugin,
            known.map(|hardware| hardware.name.clone()),
            format!("{}-{}", environment.os, environment.arch),
            environment.kernel,
            driver,
            known.and_then(|hardware| hardware.memory_mb).map(|mib| mib / 1024.0),
            units,
            json(&serde_json::json!({"hostname": environment.hostname, "device_id": cell.device, "cpu_model": environment.cpu_model, "hardware": known})),
            started,
            identity,
        ],
    )?;
    Ok(id)
}

fn model_id(transaction: &Transaction<'_>, cell: &Cell) -> Result<i64, duckdb::Error> {
    let there = "SELECT architecture_id FROM model_architecture_coverage WHERE name = ?";
    if let Some(id) = optional(transaction, there, &cell.skill)? {
        return Ok(id);
    }
    let next = "SELECT coalesce(max(architecture_id), 0) + 1 FROM model_architecture_coverage";
    let id: i64 = transaction.query_row(next, [], |row| row.get(0))?;
    transaction.execute(
        "INSERT INTO model_architecture_coverage VALUES (?, ?, ?, ?, ?)",
        duckdb::params![id, cell.skill, cell.category, cell.family, cell.architecture],
    )?;
    Ok(id)
}

fn optional(transaction: &Transaction<'_>, sql: &str, key: &str) -> Result<Option<i64>, duckdb::Error> {
    match transaction.query_row(sql, [key], |row| row.get(0)) {
        Ok(id) => Ok(Some(id)),
        Err(duckdb::Error::QueryReturnedNoRows) => Ok(None),
        Err(error) => Err(error),
    }
}

fn array(column: &Column, rows: &[Row<'_>]) -> ArrayRef {
    let values = || rows.iter().map(|row| column.of(*row));
    match column.kind {
        Kind::Text => Arc::new(
            values()
                .map(|value| if let Value::Text(text) = value { Some(text) } else { None })
                .collect::<StringArray>(),
        ),
        Kind::Int => Arc::new(values().map(|value| value.int()).collect::<Int64Array>()),
        Kind::Float => Arc::new(values().map(|value| value.float()).collect::<Float64Array>()),
        Kind::Flag => Arc::new(values().map(|value| value.flag()).collect::<BooleanArray>()),
        Kind::Time => Arc::new(values().map(|value| value.time()).collect::<TimestampMicrosecondArray>()),
    }
}

fn samples(run: &Run, all: &[Samples]) -> Result<RecordBatch, duckdb::Error> {
    let mut lists = ListBuilder::new(Float64Builder::new());
    for round in all {
        lists.values().append_slice(&round.values);
        lists.append(true);
    }
    let lists: ArrayRef = Arc::new(lists.finish());
    let int =
        |pick: fn(&Samples) -> Option<i64>| -> ArrayRef { Arc::new(all.iter().map(pick).collect::<Int64Array>()) };
    let text = |pick: fn(&Samples) -> &str| -> ArrayRef {
        Arc::new(all.iter().map(|round| Some(pick(round))).collect::<StringArray>())
    };
    let runs: ArrayRef = Arc::new(all.iter().map(|_| Some(run.run_id.as_str())).collect::<StringArray>());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("run", runs),
        ("cell", int(|round| Some(round.cell as i64))),
        ("series", text(|round| &round.series)),
        ("unit", text(|round| &round.unit)),
        ("round", int(|round| Some(round.round as i64))),
        ("round_cpu_ns", int(|round| round.cpu_ns.map(|ns| ns as i64))),
        ("round_wall_ns", int(|round| round.wall_ns.map(|ns| ns as i64))),
        ("samples", lists),
    ];
    batch(columns)
}

pub(super) fn batch<'n>(columns: impl IntoIterator<Item = (&'n str, ArrayRef)>) -> Result<RecordBatch, duckdb::Error> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
        columns.into_iter().map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array)).unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| duckdb::Error::ToSqlConversionFailure(Box::new(error)))
}
