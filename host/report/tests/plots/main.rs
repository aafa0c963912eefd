//! Plots of frames that were made by hand.

#[allow(dead_code)]
#[path = "../../../results/tests/questions/cells.rs"]
mod cells;
mod nothing;
mod shown;

use polars::prelude::DataFrame;
use skillbench_charts::{Chart, Look, Theme, png};
use skillbench_record::Samples;
use skillbench_report::plots::{Plot, PlotKind, Sources, draw};
use skillbench_results::frames;

fn plots(kind: PlotKind, cells: DataFrame) -> Vec<Plot> {
    draw(kind, &Sources { cells, source: "by hand".into(), ..Sources::default() }).unwrap()
}

/// The one plot of a kind.
fn only(kind: PlotKind, cells: DataFrame) -> Plot {
    let mut all = plots(kind, cells);
    assert_eq!(all.len(), 1, "{:?}", all.iter().map(|plot| &plot.name).collect::<Vec<_>>());
    all.remove(0)
}

fn svg(chart: &Chart) -> String {
    chart.svg(&Look::default(), chart.natural_size(760), Theme::Light)
}

fn samples(values: impl IntoIterator<Item = (usize, f64)>) -> DataFrame {
    let one = |(cell, value): (usize, f64)| Samples {
        cell,
        series: "latency".into(),
        unit: "ns".into(),
        round: 0,
        values: vec![value],
        cpu_ns: None,
        wall_ns: None,
    };
    frames::samples("r1", &values.into_iter().map(one).collect::<Vec<_>>()).unwrap()
}

/// Whether it can be drawn, as a picture too.
fn drawn(plot: &Plot) -> String {
    let svg = svg(&plot.chart);
    assert!(!png(&svg, 1.0).unwrap().is_empty());
    svg
}
