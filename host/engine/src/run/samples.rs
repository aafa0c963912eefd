//! Every sample that a cell's workers brought back, as it is kept.

use super::measure::Measured;
use super::prepare::Startup;
use super::serving::is_load;
use skillbench_record::Samples;
use skillbench_worker::{LoadRecord, OverTime, SeriesRecord, WORKER_MEMORY};

/// All of a cell's.
pub(super) fn of_cell(cell: usize, measured: &Measured, startup: Option<&Startup>) -> Vec<Samples> {
    let mut all = of_series(cell, &measured.main.series);
    all.extend(of_starts(cell, measured, startup));
    if is_load(&measured.main.series) {
        all.extend(over_time(cell, &measured.watched.over_time, measured.main.device.remote));
        all.extend(over_time(cell, &measured.main.over_time, false));
    }
    all
}

/// What was read while requests came. Of a device behind a network the memory of this machine is none of the model's.
pub(crate) fn over_time(cell: usize, all: &[OverTime], remote: bool) -> Vec<Samples> {
    let kept = all.iter().filter(|one| !(remote && one.name == WORKER_MEMORY));
    let both = kept.flat_map(|one| {
        let [values, at] = [Samples::OVER_TIME, Samples::READ_AT].map(|before| format!("{before}{}", one.name));
        [(values, one.unit.clone(), one.values.clone()), (at, "ns".into(), one.at_ns.clone())]
    });
    both.map(|(series, unit, values)| Samples { cell, series, unit, round: 0, values, cpu_ns: None, wall_ns: None })
        .collect()
}

/// The samples behind the initialization figures, each from a process of its own: the starts, the first loads, and the first
/// inferences of the further processes (that of the main one is among its own series).
fn of_starts(cell: usize, measured: &Measured, startup: Option<&Startup>) -> Vec<Samples> {
    let loads: Vec<&LoadRecord> =
        std::iter::once(&measured.main).chain(&measured.cold).filter_map(|report| report.loads.first()).collect();
    let of =
        |pick: fn(&LoadRecord) -> Option<u64>| loads.iter().filter_map(|load| pick(load)).map(|ns| ns as f64).collect();
    let first =
        measured.cold.iter().flat_map(|report| &report.series).filter(|series| series.name == "first_inference");
    let all: [(&str, Vec<f64>); 6] = [
        ("init.import", startup.map(|startup| startup.import_ns.clone()).unwrap_or_default()),
        ("init.instantiate", startup.map(|startup| startup.instantiate_ns.clone()).unwrap_or_default()),
        ("init.load", of(|load| Some(load.total_ns))),
        ("init.read", of(|load| load.read_ns)),
        ("init.compile", of(|load| load.compile_ns)),
        ("first_inference", first.flat_map(|series| series.singles.iter().copied()).collect()),
    ];
    let kept = all.into_iter().filter(|(_, values)| !values.is_empty());
    let record = |(series, values): (&str, Vec<f64>)| Samples {
        cell,
        series: series.into(),
        unit: "ns".into(),
        round: 0,
        values,
        cpu_ns: None,
        wall_ns: None,
    };
    kept.map(record).collect()
}

/// Those of series, as a worker reported them.
pub(crate) fn of_series(cell: usize, series: &[SeriesRecord]) -> Vec<Samples> {
    let of_one = |series: &SeriesRecord| {
        let rounds = series.rounds.iter().filter(|round| round.measured).map(|round| Samples {
            cell,
            series: series.name.clone(),
            unit: series.unit.clone(),
            round: round.id,
            values: round.values.clone(),
            cpu_ns: round.cpu_ns,
            wall_ns: Some(round.wall_ns),
        });
        let single = (!series.singles.is_empty()).then(|| Samples {
            cell,
            series: series.name.clone(),
            unit: series.unit.clone(),
            round: 0,
            values: series.singles.clone(),
            cpu_ns: None,
            wall_ns: None,
        });
        rounds.chain(single).collect::<Vec<_>>()
    };
    series.iter().flat_map(of_one).collect()
}
