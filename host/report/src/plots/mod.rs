//! The catalogue of plots: stored results, by the questions, as charts with the table behind each.
//!
//! [`PlotKind`] names them, [`draw`] makes them. A kind gives one chart or several: what must not be ranked against each other (machines,
//! benchmarks, precisions) is in charts of its own. Only what is stored is drawn. A kind that has nothing to show gives one chart that
//! says so, with the reason; a row or cell that was not measured is drawn with its own.
//!
//! Not here: figures, which are worked out by `skillbench_results::questions`; colours and shapes, which are `skillbench_charts`';
//! words, which are in `words.toml`.

mod advice;
mod bars;
mod changes;
mod common;
mod kind;
mod lines;
mod load;
mod maps;
mod measure;
mod memory;
mod rows;
mod spread;
mod timeline;
mod words;

pub use kind::{PlotKind, UnknownPlot};

use crate::Table;
use polars::prelude::{DataFrame, PolarsError};
use skillbench_charts::{Chart, ChartError};

/// What is drawn from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// One row for each cell of the runs that are meant.
    pub cells: DataFrame,
    /// What [`PlotKind::BeforeAfter`] holds `cells` against.
    pub before: Option<DataFrame>,
    /// What [`PlotKind::Distribution`] and [`PlotKind::Timeline`] are made from.
    pub samples: Option<DataFrame>,
    /// Where the figures are from, in words: a run, a database. It stands below each chart.
    pub source: String,
}

/// A chart, and what it was drawn from.
#[derive(Clone, Debug)]
pub struct Plot {
    pub kind: PlotKind,
    /// What tells it from the others of its kind, fit for the name of a file: "latency-bert-tiny-inference-float32".
    pub name: String,
    pub chart: Chart,
    pub table: Table,
}

#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    #[error("the results could not be worked through: {0}")]
    Frames(#[from] PolarsError),
    #[error("a mark of a plot: {0}")]
    Chart(#[from] ChartError),
}

/// The charts of a kind; at least one.
///
/// # Errors
/// Results whose columns are not those of cells.
pub fn draw(kind: PlotKind, sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let mut plots = match kind {
        PlotKind::Latency | PlotKind::Throughput | PlotKind::BatchScaling | PlotKind::SequenceScaling => {
            lines::against(kind, sources)
        }
        PlotKind::Memory => memory::against_batch(sources),
        PlotKind::MemoryByHardware => memory::by_hardware(sources),
        PlotKind::MemoryScaling => memory::against_parameters(sources),
        PlotKind::Load => load::against_rate(sources),
        PlotKind::Timeline => timeline::over_time(sources),
        PlotKind::Capacity => load::capacity(sources),
        PlotKind::HardwareComparison => bars::hardware(sources),
        PlotKind::Family => bars::family(sources),
        PlotKind::ArchitectureComparison | PlotKind::CategoryComparison => bars::groups(kind, sources),
        PlotKind::Speedup => bars::speedup(sources),
        PlotKind::Efficiency => advice::efficiency(sources),
        PlotKind::Opportunities => advice::opportunities(sources),
        PlotKind::HeatMap => maps::architectures(sources),
        PlotKind::ModelHeatMap => maps::models(sources),
        PlotKind::BeforeAfter => changes::before_after(sources),
        PlotKind::Trend => changes::trend(sources),
        PlotKind::InitPhases => spread::init_phases(sources),
        PlotKind::Distribution => spread::distribution(sources),
    }?;
    plots.retain(|plot| !plot.chart.is_empty());
    if plots.is_empty() {
        plots.push(common::nothing(kind, sources)?);
    }
    common::tell_apart(&mut plots);
    Ok(plots)
}
