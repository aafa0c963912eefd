//! Latency against the batch: what was measured filled, what is predicted hollow, each a line of its own.

use super::super::report::look;
use super::super::{CommandError, failed, usage};
use crate::cli::Global;
use crate::output;
use skillbench_charts::{Chart, Estimate, Head, Lines, Point, Series, Theme, png};
use skillbench_predict::{Quantity, rule};
use skillbench_session::forecast::{Answer, Bench};
use std::path::Path;

const WIDTH: u32 = 900;
/// How many pixels of a PNG one of the drawing becomes.
const SCALE: f64 = 2.0;

pub fn draw(global: &Global, answers: &[Answer<'_>], bench: &Bench, file: &Path) -> Result<(), CommandError> {
    let as_png = match file.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => false,
        Some("png") => true,
        _ => return Err(usage(format!("{}: a drawing is an .svg or a .png file", file.display()))),
    };
    let mut series: Vec<Series> = vec![];
    let mut add = |answer: &Answer<'_>, estimate: Estimate, predicted: bool| {
        let batch = answer.axes.get("batch").copied().unwrap_or(1) as f64;
        let rest: Vec<String> =
            answer.axes.iter().filter(|(name, _)| *name != "batch").map(|(name, at)| format!("{name}={at}")).collect();
        let on = answer.hardware.map_or_else(|| answer.name.clone(), |hardware| hardware.describe());
        let name = [answer.asked.model.as_str(), &on, &rest.join(" ")];
        let name = name.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let point = Point { x: batch, estimate };
        match series.iter_mut().find(|known| known.name == name && known.predicted == predicted) {
            Some(known) => known.points.push(point),
            None => series.push(Series {
                name,
                hardware: answer.name.clone(),
                emulated: answer
                    .measured
                    .as_ref()
                    .is_some_and(|figure| figure.trust == skillbench_record::Trust::Emulated),
                predicted,
                points: vec![point],
                ..Series::default()
            }),
        }
    };
    for answer in answers.iter().filter(|answer| answer.quantity == Quantity::Latency) {
        if let Some(figure) = &answer.measured {
            let (low, high) = (figure.interval.map(|ends| ends.0), figure.interval.map(|ends| ends.1));
            add(answer, Estimate { value: Some(figure.value), low, high }, false);
        }
        if let Ok(told) = &answer.predicted {
            add(answer, Estimate::within(told.value, told.low, told.high), true);
        }
    }
    let chart = Chart::Lines(Lines {
        head: Head {
            title: "Latency, measured and predicted".into(),
            subtitle: format!(
                "median ms over the batch; filled: measured, with 95% intervals; hollow: predicted, with {:.0}% intervals",
                100.0 * rule().level
            ),
            source: bench.machine_label.clone(),
            id: None,
            titled: false,
        },
        x_label: "batch size".into(),
        y_label: "latency, ms".into(),
        unit: "ms".into(),
        y_log: true,
        series,
        ..Lines::default()
    });
    let svg = chart.svg(&look(global)?, chart.natural_size(WIDTH), Theme::Light);
    let bytes = if as_png { png(&svg, SCALE).map_err(failed)? } else { svg.into_bytes() };
    output::to_file(file, &bytes).map_err(failed)
}
