//! Which measurements may be compared: those of one machine, precision, number of threads, model and point, whose outputs were checked on
//! real hardware. What differs in one of these is never one comparison.

use super::{Decision, Entry, Metric};
use crate::sections::Rows;
use serde::Serialize;
use skillbench_record::catalog::column;
use skillbench_record::shown;
use skillbench_results::questions::latest;
use std::collections::BTreeMap;

/// What all points of a comparison share.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Facet {
    pub machine: String,
    pub precision: String,
    /// 0: as the backend chose.
    pub threads: usize,
}

impl Facet {
    /// "float32, 2 threads".
    pub fn name(&self) -> String {
        match self.threads {
            0 => self.precision.clone(),
            1 => format!("{}, 1 thread", self.precision),
            threads => format!("{}, {threads} threads", self.precision),
        }
    }
}

/// A model at a point, and the hardware that was measured there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    pub facet: Facet,
    pub model: String,
    /// "batch=1 sequence=128", as people chose them.
    pub axes: String,
    pub entries: Vec<Entry>,
    /// What filters act on, but for the hardware.
    pub attributes: BTreeMap<String, String>,
}

/// The points of a metric, in the order of the rows. `rows` are cells that count now, with `machine`, `hardware` and `trust`.
pub fn points(rows: &Rows<'_>, metric: &Metric) -> Vec<Point> {
    let mut places: BTreeMap<(Facet, &str, &str), usize> = BTreeMap::new();
    let mut points: Vec<Point> = vec![];
    for row in 0..rows.len() {
        let text = |name: &str| rows.text(row, name);
        let counts =
            text(column::BENCHMARK) == Some(&metric.benchmark) && text(column::TRUST) == Some(latest::HARDWARE);
        let (true, Some(value), Some(hardware)) = (counts, rows.number(row, &metric.value), text("hardware")) else {
            continue;
        };
        let end = |column: &Option<String>| rows.number(row, column.as_deref()?);
        let entry = Entry {
            hardware: hardware.into(),
            value,
            interval: end(&metric.low).zip(end(&metric.high)),
            stable: rows.flag(row, column::STABLE) == Some(true),
            course: None,
        };
        let facet = Facet {
            machine: text(column::MACHINE).unwrap_or_default().into(),
            precision: text(column::PRECISION).unwrap_or("unknown").into(),
            threads: rows.count(row, column::THREADS),
        };
        let (model, axes) = (text(column::MODEL_ID).unwrap_or_default(), text(column::AXES).unwrap_or_default());
        let place = *places.entry((facet.clone(), model, axes)).or_insert(points.len());
        if place == points.len() {
            let mut attributes = rows.attributes(row);
            ["hardware", column::OUTCOME].iter().for_each(|own| drop(attributes.remove(*own)));
            points.push(Point { facet, model: model.into(), axes: shown::axes(axes), entries: vec![], attributes });
        }
        let entries = &mut points[place].entries;
        entries.retain(|known| known.hardware != entry.hardware);
        entries.push(entry);
    }
    points
}

/// What was decided in each facet.
pub fn facets(points: Vec<Point>, metric: &Metric) -> BTreeMap<Facet, Vec<Decision>> {
    let mut facets: BTreeMap<Facet, Vec<Decision>> = BTreeMap::new();
    for point in points {
        let facet = point.facet.clone();
        facets.entry(facet).or_default().extend(Decision::of(point, metric.better));
    }
    facets
}
