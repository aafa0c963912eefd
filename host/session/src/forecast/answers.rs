//! What is known of each point on each hardware: what was measured, beside it what is predicted, or why it is not.

use super::asked::{Asked, Models};
use super::bench::{Bench, Hardware};
use super::{Cells, MeasuredCell, Tried};
use skillbench_predict::{NotEnough, Prediction, Quantity};
use skillbench_record::{Axes, OutcomeKind, Trust};
use skillbench_results::freshness::Newer;

/// A measured figure, and where it is from.
#[derive(Clone, Debug)]
pub struct Figure {
    pub value: f64,
    /// 95% interval of the median, where there is one.
    pub interval: Option<(f64, f64)>,
    pub run: String,
    pub date: String,
    pub trust: Trust,
    /// What became of a newer try.
    pub newer: Option<String>,
}

impl Figure {
    /// One figure of a cell.
    pub fn of(cell: &MeasuredCell, value: f64, interval: Option<(f64, f64)>) -> Figure {
        let newer = cell.newer.as_ref().map(Newer::short);
        Figure { value, interval, run: cell.run.clone(), date: cell.date.clone(), trust: cell.trust, newer }
    }
}

/// Why there is no prediction: in a few words, and in full.
#[derive(Clone, Debug)]
pub struct Why {
    pub short: String,
    pub long: String,
}

impl Why {
    fn new(short: &str, long: impl Into<String>) -> Why {
        Why { short: short.into(), long: long.into() }
    }
}

/// One quantity of one point on one hardware. Measured and predicted stand side by side, and never one for the other.
pub struct Answer<'a> {
    pub asked: &'a Asked,
    pub axes: &'a Axes,
    /// `None`: hardware that was named, and of which nothing is measured.
    pub hardware: Option<&'a Hardware>,
    pub name: String,
    pub quantity: Quantity,
    pub measured: Option<Figure>,
    pub predicted: Result<Prediction, Why>,
}

impl Answer<'_> {
    pub fn is_told(&self) -> bool {
        self.measured.is_some() || self.predicted.is_ok()
    }
}

pub fn answers<'a>(bench: &'a Bench, cells: &Cells, asked: &'a [Asked]) -> Vec<Answer<'a>> {
    let mut all = vec![];
    for one in asked {
        for (axes, skip) in &one.points {
            for hardware in &bench.hardware {
                for quantity in Quantity::ALL {
                    all.push(Answer {
                        asked: one,
                        axes,
                        hardware: Some(hardware),
                        name: hardware.name.clone(),
                        quantity,
                        measured: measured(hardware, one, axes, quantity),
                        predicted: predicted(hardware, cells, one, axes, skip.as_ref(), quantity),
                    });
                }
            }
            for name in &bench.unmeasured {
                all.push(Answer {
                    asked: one,
                    axes,
                    hardware: None,
                    name: name.clone(),
                    quantity: Quantity::Latency,
                    measured: None,
                    predicted: Err(Why::new("nothing measured", "nothing is measured on it on this machine")),
                });
            }
        }
    }
    all
}

/// The answers about one point on one hardware, together.
pub fn by_hardware<'a, 'b>(answers: &'b [Answer<'a>]) -> Vec<&'b [Answer<'a>]> {
    let same = |one: &Answer<'_>, two: &Answer<'_>| {
        let place = |answer: &Answer<'_>| answer.hardware.map(|hardware| hardware.place.clone());
        one.asked.model == two.asked.model && one.axes == two.axes && one.name == two.name && place(one) == place(two)
    };
    answers.chunk_by(same).collect()
}

fn cell<'a>(hardware: &'a Hardware, asked: &Asked, axes: &Axes) -> Option<&'a MeasuredCell> {
    hardware.cells.iter().find(|cell| cell.model == asked.model && cell.axes == *axes)
}

fn measured(hardware: &Hardware, asked: &Asked, axes: &Axes, quantity: Quantity) -> Option<Figure> {
    let cell = cell(hardware, asked, axes)?;
    let (value, interval) = match quantity {
        Quantity::Latency => (cell.latency_ms, cell.latency_low_ms.zip(cell.latency_high_ms)),
        Quantity::Throughput => (cell.throughput_per_s, None),
        Quantity::Memory => (cell.memory_mb, None),
    };
    Some(Figure::of(cell, value?, interval))
}

fn predicted(
    hardware: &Hardware,
    cells: &Cells,
    asked: &Asked,
    axes: &Axes,
    skip: Option<&String>,
    quantity: Quantity,
) -> Result<Prediction, Why> {
    if let Some(skip) = skip {
        return Err(Why::new("no such point", skip));
    }
    if let Some(trust) = hardware.only() {
        let text = format!("all that is measured on it is {}, and that teaches nothing", trust.name());
        return Err(Why::new(trust.name(), text));
    }
    let is_measured = cell(hardware, asked, axes).is_some();
    if let Some(tried) = cells.tried.iter().find(|tried| !is_measured && stands_against(tried, hardware, asked, axes)) {
        return Err(Why::new(tried.outcome.name(), format!("it was tried on it: {}: {}", tried.outcome, tried.reason)));
    }
    let skill = asked.skill.as_ref().ok_or_else(|| Why::new("work not known", "nothing here describes the model"))?;
    let precision = hardware.place.precision.as_deref().unwrap_or_default();
    let work = Models::work(skill, axes, precision).map_err(|text| Why::new("work not counted", text))?;
    hardware.predict(quantity, &work).map_err(|error| Why::new(short(&error), error.to_string()))
}

/// What cannot run has no predicted time. A model that hardware refuses or computes wrongly it refuses at every point.
fn stands_against(tried: &Tried, hardware: &Hardware, asked: &Asked, axes: &Axes) -> bool {
    let place = &hardware.place;
    let everywhere = matches!(tried.outcome, OutcomeKind::Unsupported | OutcomeKind::Wrong)
        && !hardware.cells.iter().any(|cell| cell.model == asked.model);
    let was_tried = !matches!(tried.outcome, OutcomeKind::Skipped | OutcomeKind::Unavailable);
    was_tried
        && tried.machine == place.machine
        && tried.plugin == place.plugin
        && tried.options == place.options
        && (tried.device.is_empty() || tried.device == place.device)
        && tried.model == asked.model
        && (everywhere || tried.axes == *axes)
}

fn short(error: &NotEnough) -> &'static str {
    match error {
        NotEnough::Models { .. } => "too few models",
        NotEnough::Family { .. } => "family not measured",
        NotEnough::Outside { .. } => "out of range",
        NotEnough::Wide { .. } => "interval too wide",
        NotEnough::Unfit => "no law fits",
        NotEnough::Machines { .. } => "too few machines",
        NotEnough::Peaks => "peaks not measured",
        NotEnough::Both(here, _) => short(here),
    }
}
