//! The same cells at different times.

use super::common::{attributes, far_apart, head, joined, latency, machine, named, plot, precision};
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources};
use skillbench_charts::{Attributes, Change, Chart, Estimate, Pair, Pairs, Point, Series, Trend, number};
use skillbench_record::catalog::column;
use skillbench_results::questions;
use skillbench_results::trend::{self as results, Judged};

/// Each cell that both have; what only one has is counted, and stands in the table.
pub(super) fn before_after(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let (kind, words) = (PlotKind::BeforeAfter, words());
    let Some(before) = &sources.before else { return Ok(vec![]) };
    let frame = questions::before_after(before.clone(), sources.cells.clone())?;
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION]) {
        let behind = taken(&frame, &rows)?;
        let side = |row: Row<'_>, name: &str| {
            let figure = |figure: &str| row.number(&format!("{figure}_{name}"));
            let [value, low, high] =
                [column::LATENCY_MEDIAN_MS, column::LATENCY_CI95_LOW_MS, column::LATENCY_CI95_HIGH_MS].map(figure);
            Estimate { value, low, high }
        };
        let has = |row: &Row<'_>, name: &str| side(*row, name).value.is_some();
        let count = |which: &dyn Fn(&Row<'_>) -> bool| rows.iter().filter(|row| which(row)).count();
        let only_before = count(&|row| has(row, "before") && !has(row, "after"));
        let only_after = count(&|row| has(row, "after") && !has(row, "before"));
        let mut pairs = vec![];
        for row in Rows::of(&behind).all().filter(|row| has(row, "before") && has(row, "after")) {
            pairs.push(Pair {
                label: row.text(column::MODEL_ID).into(),
                sublabel: joined(&[&named(row), row.text(column::AXES)]),
                before: side(row, "before"),
                after: side(row, "after"),
                ratio: told(side(row, "before"), side(row, "after"), row.number("faster")),
                hardware: row.text("hardware").into(),
                emulated: row.is_emulated(),
                attributes: attributes(row)?,
                ..Pair::default()
            });
        }
        let first = rows[0];
        let one_sided = match only_before + only_after {
            0 => String::new(),
            _ => words
                .one_sided
                .replace("{before}", &only_before.to_string())
                .replace("{after}", &only_after.to_string()),
        };
        let under = [first.text(column::BENCHMARK), precision(first), machine(&frame, first)];
        let told = [under[0], under[1], under[2], &one_sided];
        let chart = Pairs {
            head: head(kind, sources, "", &told),
            unit: words.of(kind).unit.clone(),
            log: far_apart(pairs.iter().map(|pair| pair.after.value)),
            before: words.before.clone(),
            after: words.after.clone(),
            pairs,
        };
        plots.push(plot(kind, &under, Chart::Pairs(chart), &behind));
    }
    Ok(plots)
}

/// How the two differ; where their intervals overlap, they do not.
fn told(before: Estimate, after: Estimate, faster: Option<f64>) -> String {
    let ends = |estimate: Estimate| estimate.low.zip(estimate.high);
    match ends(before).zip(ends(after)) {
        Some((before, after)) if before.0 <= after.1 && after.0 <= before.1 => words().same.clone(),
        _ => faster.map(in_words).unwrap_or_default(),
    }
}

/// "1.3× faster".
fn in_words(faster: f64) -> String {
    let words = words();
    if (faster - 1.0).abs() < 0.005 {
        return "1×".into();
    }
    if faster >= 1.0 {
        format!("{}× {}", number(faster), words.faster)
    } else {
        format!("{}× {}", number(1.0 / faster), words.slower)
    }
}

/// Latency over time, a chart for each model, with a mark where a version changed, and where the figures did.
pub(super) fn trend(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let (kind, words) = (PlotKind::Trend, words());
    let frame = questions::trend(sources.cells.clone())?;
    let latency_of_cells: Vec<results::Measure> = results::metric("latency_ms").into_iter().collect();
    let judged = results::judge(results::histories(sources.cells.clone(), &[], Some(&latency_of_cells))?);
    let mut plots = vec![];
    for mut rows in Rows::of(&frame).groups(&[column::MACHINE, column::MODEL_ID, column::BENCHMARK, column::PRECISION])
    {
        rows.retain(|row| row.number(column::TIMESTAMP).is_some() && row.number(column::LATENCY_MEDIAN_MS).is_some());
        let Some(first) = rows.first().copied() else { continue };
        let behind = taken(&frame, &rows)?;
        let (mut series, mut changes) = (vec![], vec![]);
        for line in Rows::of(&behind).groups(&["hardware", column::TRUST, column::AXES, column::THREADS]) {
            let of = line[0];
            let points = line
                .iter()
                .filter_map(|row| Some(Point { x: row.number(column::TIMESTAMP)?, estimate: latency(*row) }));
            series.push(Series {
                name: joined(&[&named(of), of.text(column::AXES)]),
                hardware: of.text("hardware").into(),
                architecture: of.text(column::ARCHITECTURE_TYPE).into(),
                emulated: of.is_emulated(),
                points: points.collect(),
                attributes: attributes(of)?,
                ..Series::default()
            });
            changes.extend(line.windows(2).filter_map(|two| change(two[0], two[1])));
            changes.extend(judged.iter().filter(|one| is_of(one, of)).flat_map(found));
        }
        changes.sort_by(|one, other| one.at.total_cmp(&other.at).then_with(|| one.label.cmp(&other.label)));
        changes.dedup();
        let under = [first.text(column::BENCHMARK), precision(first), machine(&frame, first)];
        let chart = Trend {
            head: head(kind, sources, first.text(column::MODEL_ID), &under),
            y_label: words.of(kind).axis.clone(),
            unit: words.of(kind).unit.clone(),
            y_log: far_apart(rows.iter().map(|row| row.number(column::LATENCY_MEDIAN_MS))),
            series,
            changes,
        };
        let parts = [first.text(column::MODEL_ID), under[0], under[1], under[2]];
        plots.push(plot(kind, &parts, Chart::Trend(chart), &behind));
    }
    Ok(plots)
}

/// Whether a history is the one that this row is of.
fn is_of(judged: &Judged, row: Row<'_>) -> bool {
    let of = &judged.history.of;
    let texts = [
        (of.machine.as_str(), column::MACHINE),
        (&of.model_id, column::MODEL_ID),
        (&of.hardware, "hardware"),
        (&of.benchmark, column::BENCHMARK),
        (&of.axes, column::AXES),
        (of.precision.as_deref().unwrap_or(""), column::PRECISION),
        (&of.trust, column::TRUST),
    ];
    let threads = row.number(column::THREADS).map(|threads| threads as i64);
    texts.into_iter().all(|(text, column)| row.text(column) == text) && threads == of.threads
}

/// Where the figures of a history changed.
fn found(judged: &Judged) -> impl Iterator<Item = Change> {
    judged.changes.iter().flatten().filter_map(|change| {
        let at = change.point(&judged.history)?.time as f64 / 1e6;
        let label = format!("{} {}", judged.history.of.hardware, judged.history.metric.describe(change.ratio));
        Some(Change { at, label, attributes: Attributes::default() })
    })
}

/// What is another version than in the run before.
fn change(before: Row<'_>, after: Row<'_>) -> Option<Change> {
    let column = [column::DRIVER_VERSION, column::ENGINE, column::PLUGIN_VERSION]
        .into_iter()
        .find(|column| before.text(column) != after.text(column) && !after.text(column).is_empty())?;
    let label = format!("{} {}", after.text("hardware"), after.text(column));
    Some(Change { at: after.number(column::TIMESTAMP)?, label, attributes: Attributes::default() })
}
