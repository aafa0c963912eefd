//! Figures over the time of the measured rounds, such as a clock or memory. The frame of samples is that of [`crate::frames::samples`].

use polars::prelude::*;
use skillbench_record::Samples;
use skillbench_record::catalog::column;
use std::collections::BTreeMap;

const NS: f64 = 1e-9;

/// One figure of a cell.
#[derive(Default)]
struct Read {
    unit: String,
    at: Vec<f64>,
    values: Vec<f64>,
}

#[derive(Default)]
struct Columns {
    run: Vec<String>,
    cell: Vec<i64>,
    figure: Vec<String>,
    unit: Vec<String>,
    point: Vec<f64>,
    value: Vec<f64>,
}

/// Of each cell and each `figure` that was read while its requests came: its `unit`, when it was read (`point`, in seconds of measured rounds), and what it
/// was (`value`).
///
/// # Errors
/// Polars' own.
pub fn over_time(samples: DataFrame) -> PolarsResult<DataFrame> {
    let begins = |with: &str| col("series").str().starts_with(lit(with.to_string()));
    let read = samples
        .lazy()
        .filter(begins(Samples::OVER_TIME).or(begins(Samples::READ_AT)))
        .sort([column::RUN, column::CELL, "series", "index"], SortMultipleOptions::default())
        .collect()?;
    let (runs, cells) = (read.column(column::RUN)?.str()?, read.column(column::CELL)?.i64()?);
    let (series, units) = (read.column("series")?.str()?, read.column("unit")?.str()?);
    let values = read.column("value")?.f64()?;
    let mut figures: BTreeMap<(&str, i64, &str), Read> = BTreeMap::new();
    let rows = runs.iter().zip(cells.iter()).zip(series.iter()).zip(units.iter()).zip(values.iter());
    for ((((run, cell), series), unit), value) in rows {
        let (Some(run), Some(cell), Some(series), Some(value)) = (run, cell, series, value) else { continue };
        if let Some(name) = series.strip_prefix(Samples::OVER_TIME) {
            let figure = figures.entry((run, cell, name)).or_default();
            figure.unit = unit.unwrap_or_default().into();
            figure.values.push(value);
        } else if let Some(name) = series.strip_prefix(Samples::READ_AT) {
            figures.entry((run, cell, name)).or_default().at.push(value * NS);
        }
    }
    let mut columns = Columns::default();
    // Without its time a value says nothing here.
    let told = figures.into_iter().filter(|(_, read)| read.at.len() == read.values.len());
    for ((run, cell, figure), read) in told {
        for (at, value) in read.at.into_iter().zip(read.values) {
            columns.run.push(run.into());
            columns.cell.push(cell);
            columns.figure.push(figure.into());
            columns.unit.push(read.unit.clone());
            columns.point.push(at);
            columns.value.push(value);
        }
    }
    df!(
        column::RUN => columns.run,
        column::CELL => columns.cell,
        "figure" => columns.figure,
        "unit" => columns.unit,
        "point" => columns.point,
        "value" => columns.value,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_told_with_when_it_was_read_whatever_order_samples_are_in() {
        let rows = [
            ("read_at.memory", 0, "ns", 1e9),
            ("over_time.memory", 0, "MiB", 5.0),
            ("over_time.memory", 1, "MiB", 7.0),
            ("read_at.memory", 1, "ns", 2e9),
            ("over_time.clock", 0, "MHz", 9.0),
            ("latency", 0, "ns", 3.0),
        ];
        let samples = |rows: &[(&str, i64, &str, f64)]| {
            df!(
                column::RUN => vec!["r"; rows.len()],
                column::CELL => vec![7i64; rows.len()],
                "series" => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
                "index" => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
                "unit" => rows.iter().map(|row| row.2).collect::<Vec<_>>(),
                "value" => rows.iter().map(|row| row.3).collect::<Vec<_>>(),
            )
            .unwrap()
        };
        let reversed: Vec<_> = rows.iter().rev().copied().collect();
        for rows in [&rows[..], &reversed] {
            let told = over_time(samples(rows)).unwrap();
            let numbers = |name: &str| told.column(name).unwrap().f64().unwrap().to_vec();
            assert_eq!(numbers("point"), [Some(1.0), Some(2.0)], "the clock has no time");
            assert_eq!(numbers("value"), [Some(5.0), Some(7.0)]);
            assert_eq!(told.column("figure").unwrap().str().unwrap().get(0), Some("memory"));
            assert_eq!(told.column("unit").unwrap().str().unwrap().get(1), Some("MiB"));
        }
        assert_eq!(over_time(samples(&rows[5..])).unwrap().height(), 0);
    }
}
