//! Requests over the time in which they came. The frame of samples is that of [`crate::frames::samples`].

use super::distribution::between;
use polars::prelude::*;
use skillbench_record::catalog::column;

/// The time of all sessions of a cell is cut into so many parts.
const PARTS: usize = 60;
const NS: f64 = 1e-9;
const MS: f64 = 1e-6;

/// A part of the time.
#[derive(Default)]
struct Parts {
    run: Vec<String>,
    cell: Vec<i64>,
    columns: [Vec<Option<f64>>; 5],
}

/// The samples of one cell.
#[derive(Default)]
struct OfCell {
    due: Vec<f64>,
    latency: Vec<f64>,
    /// How many requests there were: of long sessions some are kept, spread evenly.
    requests: f64,
}

/// Of each cell whose requests arrived, its sessions one after the other, in parts of equal length: `point` is the middle of a part in seconds, `load_per_s`
/// how many requests were due in it, by its length, and `latency_ms` their median, from `latency_low_ms` (10th percentile) to `latency_high_ms` (90th).
/// Where requests were refused there is no latency: those of the others would look the better the more are refused.
///
/// # Errors
/// Polars' own.
pub fn timeline(samples: DataFrame) -> PolarsResult<DataFrame> {
    let is_told = |name: &str| col("series").eq(lit(name));
    let order = [column::RUN, column::CELL, "series", "round", "index"];
    let told = samples
        .lazy()
        .filter(is_told("due").or(is_told("latency")).or(is_told("requests")))
        .sort(order, SortMultipleOptions::default())
        .collect()?;
    let (runs, cells) = (told.column(column::RUN)?.str()?, told.column(column::CELL)?.i64()?);
    let (series, values) = (told.column("series")?.str()?, told.column("value")?.f64()?);
    let mut of_cells: Vec<((&str, i64), OfCell)> = vec![];
    for (((run, cell), series), value) in runs.iter().zip(cells.iter()).zip(series.iter()).zip(values.iter()) {
        let (Some(run), Some(cell), Some(value)) = (run, cell, value) else { continue };
        if of_cells.last().is_none_or(|(key, _)| *key != (run, cell)) {
            of_cells.push(((run, cell), OfCell::default()));
        }
        let Some((_, found)) = of_cells.last_mut() else { continue };
        match series {
            Some("due") => found.due.push(value),
            Some("latency") => found.latency.push(value),
            _ => found.requests += value,
        }
    }
    let mut parts = Parts::default();
    of_cells.iter().for_each(|((run, cell), found)| parts.add(run, *cell, found));
    let Parts { run, cell, columns: [point, load, median, low, high] } = parts;
    df!(
        column::RUN => run,
        column::CELL => cell,
        "point" => point,
        "load_per_s" => load,
        "latency_ms" => median,
        "latency_low_ms" => low,
        "latency_high_ms" => high,
    )
}

impl Parts {
    /// Other benchmarks have latencies without a time at which they were due.
    fn add(&mut self, run: &str, cell: i64, found: &OfCell) {
        let Some(end) = found.due.last().copied().filter(|end| *end > 0.0) else { return };
        let length = end / PARTS as f64;
        let each_stands_for = found.requests / found.due.len() as f64;
        let (mut counts, mut latencies) = ([0.0; PARTS], vec![vec![]; PARTS]);
        for (number, due) in found.due.iter().enumerate() {
            let part = ((due / length) as usize).min(PARTS - 1);
            counts[part] += each_stands_for;
            if found.latency.len() == found.due.len() {
                latencies[part].push(found.latency[number] * MS);
            }
        }
        for (part, (count, mut latencies)) in counts.into_iter().zip(latencies).enumerate() {
            latencies.sort_by(f64::total_cmp);
            let share = |share| between(&latencies, share);
            let (middle, seconds) = ((part as f64 + 0.5) * length * NS, length * NS);
            let figures = [Some(middle), Some(count / seconds), share(0.5), share(0.1), share(0.9)];
            self.run.push(run.into());
            self.cell.push(cell);
            self.columns.iter_mut().zip(figures).for_each(|(column, figure)| column.push(figure));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each series has its values in order, the requests of all of them last.
    fn samples(cell: i64, due: &[f64], latency: &[f64], requests: f64) -> DataFrame {
        let of = |name: &'static str, values: &[f64]| -> Vec<(&'static str, i64, f64)> {
            values.iter().enumerate().map(|(index, value)| (name, index as i64, *value)).collect()
        };
        let rows = [of("latency", latency), of("due", due), of("requests", &[requests])].concat();
        df!(
            column::RUN => vec!["r"; rows.len()],
            column::CELL => vec![cell; rows.len()],
            "series" => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            "round" => vec![0i64; rows.len()],
            "index" => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
            "value" => rows.iter().map(|row| row.2).collect::<Vec<_>>(),
        )
        .unwrap()
    }

    const DUE: [f64; 5] = [1e9, 30e9, 30e9, 45e9, 60e9];
    const LATENCY: [f64; 5] = [2e6, 4e6, 6e6, 8e6, 9e6];

    fn column(told: &DataFrame, name: &str) -> Vec<Option<f64>> {
        told.column(name).unwrap().f64().unwrap().to_vec()
    }

    #[test]
    fn each_part_of_the_time_has_the_requests_that_were_due_in_it() {
        let told = timeline(samples(7, &DUE, &LATENCY, 5.0)).unwrap();
        assert_eq!(told.height(), PARTS);
        let (point, load, median) = (column(&told, "point"), column(&told, "load_per_s"), column(&told, "latency_ms"));
        assert!((point[0].unwrap() - 0.5).abs() < 1e-9 && (point[59].unwrap() - 59.5).abs() < 1e-9, "{point:?}");
        assert_eq!((load[1], load[2], median[1], median[2]), (Some(1.0), Some(0.0), Some(2.0), None));
        assert_eq!((load[30], median[30], median[45], median[59]), (Some(2.0), Some(5.0), Some(8.0), Some(9.0)));
        let ends = [column(&told, "latency_low_ms")[30], column(&told, "latency_high_ms")[30]];
        assert!((ends[0].unwrap() - 4.2).abs() < 1e-9 && (ends[1].unwrap() - 5.8).abs() < 1e-9, "{ends:?}");
    }

    #[test]
    fn a_load_counts_the_requests_that_were_not_kept_too_and_is_the_same_in_whatever_order_samples_are() {
        let told = timeline(samples(7, &DUE, &LATENCY, 50.0)).unwrap();
        assert_eq!(column(&told, "load_per_s")[30], Some(20.0));
        assert!(told.equals_missing(&timeline(samples(7, &DUE, &LATENCY, 50.0).reverse()).unwrap()));
    }

    #[test]
    fn where_requests_were_refused_there_is_a_load_and_no_latency() {
        let told = timeline(samples(7, &DUE, &LATENCY[..4], 5.0)).unwrap();
        assert_eq!(column(&told, "load_per_s")[30], Some(2.0));
        assert!(column(&told, "latency_ms").iter().all(Option::is_none));
    }

    #[test]
    fn cells_whose_requests_were_not_due_have_no_timeline() {
        assert_eq!(timeline(samples(1, &[], &LATENCY, 5.0)).unwrap().height(), 0);
        assert_eq!(timeline(samples(1, &[0.0], &[5e6], 1.0)).unwrap().height(), 0, "one moment is no line");
    }
}
