//! Results as data frames, in the columns of [`skillbench_record::catalog`]. What was not measured is null.

use polars::prelude::*;
use skillbench_record::catalog::column;
use skillbench_record::catalog::{self, Column as Known, Kind, Row, Value};
use skillbench_record::time::moment;
use skillbench_record::{Run, Samples};

/// One row for each cell of each run.
///
/// # Errors
/// Polars' own.
pub fn cells<'a>(runs: impl IntoIterator<Item = &'a Run>) -> PolarsResult<DataFrame> {
    let rows: Vec<Row<'_>> = runs
        .into_iter()
        .flat_map(|run| {
            let started = moment(&run.started_at);
            run.cells.iter().map(move |cell| Row { run, started, cell })
        })
        .collect();
    DataFrame::new(rows.len(), catalog::all().map(|known| column(&known, &rows)).collect::<PolarsResult<_>>()?)
}

fn column(known: &Known, rows: &[Row<'_>]) -> PolarsResult<Column> {
    let (name, values) = (PlSmallStr::from(known.name), || rows.iter().map(|row| known.of(*row)));
    Ok(match known.kind {
        Kind::Text => {
            let texts = values().map(|value| if let Value::Text(text) = value { Some(text) } else { None });
            Column::new(name, texts.collect::<Vec<_>>())
        }
        Kind::Int => Column::new(name, values().map(|value| value.int()).collect::<Vec<_>>()),
        Kind::Float => Column::new(name, values().map(|value| value.float()).collect::<Vec<_>>()),
        Kind::Flag => Column::new(name, values().map(|value| value.flag()).collect::<Vec<_>>()),
        Kind::Time => Column::new(name, values().map(|value| value.time()).collect::<Vec<_>>())
            .cast(&DataType::Datetime(TimeUnit::Microseconds, None))?,
    })
}

/// Every sample: run, cell, series, round, index within the round, value in the series' unit.
///
/// # Errors
/// Polars' own.
pub fn samples(run: &str, all: &[Samples]) -> PolarsResult<DataFrame> {
    let rows = || all.iter().flat_map(|s| s.values.iter().enumerate().map(move |(index, value)| (s, index, *value)));
    let height = rows().count();
    let columns = vec![
        Column::new(column::RUN.into(), vec![run; height]),
        Column::new(column::CELL.into(), rows().map(|(s, ..)| s.cell as i64).collect::<Vec<_>>()),
        Column::new("series".into(), rows().map(|(s, ..)| s.series.as_str()).collect::<Vec<_>>()),
        Column::new("unit".into(), rows().map(|(s, ..)| s.unit.as_str()).collect::<Vec<_>>()),
        Column::new("round".into(), rows().map(|(s, ..)| s.round as i64).collect::<Vec<_>>()),
        Column::new("index".into(), rows().map(|(_, index, _)| index as i64).collect::<Vec<_>>()),
        Column::new("value".into(), rows().map(|(.., value)| value).collect::<Vec<_>>()),
        Column::new("round_cpu_ns".into(), rows().map(|(s, ..)| s.cpu_ns.map(|ns| ns as i64)).collect::<Vec<_>>()),
        Column::new("round_wall_ns".into(), rows().map(|(s, ..)| s.wall_ns.map(|ns| ns as i64)).collect::<Vec<_>>()),
    ];
    DataFrame::new(height, columns)
}
