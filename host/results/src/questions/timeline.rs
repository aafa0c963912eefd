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

/// Of each cell whose requests arrived, its sessions one after the other, in parts of equal length: `point` is the middle of a part in seconds, `load_per_s`
/// how many requests were due in it, by its length, and `latency_ms` their median, from `latency_low_ms` (10th percentile) to `latency_high_ms` (90th).
/// Requests that were refused have no latency, and count nowhere.
///
/// # Errors
/// Polars' own.
pub fn timeline(samples: DataFrame) -> PolarsResult<DataFrame> {
    let told = samples.lazy().filter(col("series").eq(lit("due")).or(col("series").eq(lit("latency")))).collect()?;
    let (runs, cells) = (told.column(column::RUN)?.str()?, told.column(column::CELL)?.i64()?);
    let (series, values) = (told.column("series")?.str()?, told.column("value")?.f64()?);
    let mut of_cells: Vec<((&str, i64), [Vec<f64>; 2])> = vec![];
    for (((run, cell), series), value) in runs.iter().zip(cells.iter()).zip(series.iter()).zip(values.iter()) {
        let (Some(run), Some(cell), Some(value)) = (run, cell, value) else { continue };
        // Samples of a cell stand together.
        if of_cells.last().is_none_or(|(key, _)| *key != (run, cell)) {
            of_cells.push(((run, cell), Default::default()));
        }
        if let Some((_, found)) = of_cells.last_mut() {
            found[usize::from(series == Some("latency"))].push(value);
        }
    }
    let mut parts = Parts::default();
    for ((run, cell), [due, latency]) in of_cells {
        // Other benchmarks have latencies without a time at which they were due.
        if due.len() == latency.len() {
            parts.add(run, cell, &due, &latency);
        }
    }
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
    fn add(&mut self, run: &str, cell: i64, due: &[f64], latency: &[f64]) {
        let (mut at, mut begun, mut last) = (Vec::with_capacity(due.len()), 0.0, 0.0);
        for due in due {
            // The next session begins where the last request of the one before was due.
            if *due < last {
                begun += last;
            }
            last = *due;
            at.push((begun + due) * NS);
        }
        let Some(end) = at.last().copied().filter(|end| *end > 0.0) else { return };
        let length = end / PARTS as f64;
        let mut of_parts: Vec<Vec<f64>> = vec![vec![]; PARTS];
        for (at, latency) in at.iter().zip(latency) {
            of_parts[((at / length) as usize).min(PARTS - 1)].push(latency * MS);
        }
        for (part, mut latencies) in of_parts.into_iter().enumerate() {
            let count = latencies.len() as f64;
            latencies.sort_by(f64::total_cmp);
            let share = |share| between(&latencies, share);
            let figures =
                [Some((part as f64 + 0.5) * length), Some(count / length), share(0.5), share(0.1), share(0.9)];
            self.run.push(run.into());
            self.cell.push(cell);
            self.columns.iter_mut().zip(figures).for_each(|(column, figure)| column.push(figure));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(rows: &[(&str, i64, &str, f64)]) -> DataFrame {
        df!(
            column::RUN => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            column::CELL => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
            "series" => rows.iter().map(|row| row.2).collect::<Vec<_>>(),
            "value" => rows.iter().map(|row| row.3).collect::<Vec<_>>(),
        )
        .unwrap()
    }

    #[test]
    fn sessions_stand_one_after_the_other_and_each_part_has_the_requests_that_were_due_in_it() {
        // Two sessions of 30 s: one request at 1 s and one at 30 s, then three at 0 s, 15 s and 30 s.
        let due = [1.0, 30.0, 0.0, 15.0, 30.0].map(|s| ("r", 7, "due", s * 1e9));
        let latency = [2.0, 4.0, 6.0, 8.0, 9.0].map(|ms| ("r", 7, "latency", ms * 1e6));
        let told = timeline(samples(&[due, latency].concat())).unwrap();
        assert_eq!(told.height(), PARTS);
        let column = |name: &str| told.column(name).unwrap().f64().unwrap().to_vec();
        let (point, load, median) = (column("point"), column("load_per_s"), column("latency_ms"));
        assert_eq!((point[0], point[59]), (Some(0.5), Some(59.5)));
        assert_eq!((load[1], load[2], median[1], median[2]), (Some(1.0), Some(0.0), Some(2.0), None));
        assert_eq!((load[30], median[30], median[45], median[59]), (Some(2.0), Some(5.0), Some(8.0), Some(9.0)));
        assert_eq!((column("latency_low_ms")[30], column("latency_high_ms")[30]), (Some(4.2), Some(5.8)));
    }

    #[test]
    fn cells_whose_requests_were_not_due_have_no_timeline() {
        let rows = [
            ("r", 1, "latency", 5e6),
            ("r", 2, "due", 1e9),
            ("r", 2, "latency", 5e6),
            ("s", 2, "due", 0.0),
            ("s", 2, "latency", 1e6),
        ];
        let told = timeline(samples(&rows)).unwrap();
        assert_eq!(told.height(), PARTS, "one request at one moment, and latencies alone, are no line");
    }
}
