//! The decision table as the template reads it, and as the page's script does: the rule and the words are those of `decision`.

use super::model::Decisions;
use crate::decision::{
    COST, Course, Decision, Entry, Facet, Metric, Point, Standing, WORDS, facets, of_points, standings, times,
};
use serde::Serialize;
use serde_json::{Value, json};
use skillbench_record::shown;
use std::collections::BTreeSet;

/// A shape for each hardware, so that none is told by its colour alone.
const SHAPES: [&str; 8] = ["●", "■", "▲", "◆", "▼", "★", "✚", "⬢"];
/// Where the best stands in a strip, and how far the rest reaches, in percent of its width.
const FROM: f64 = 3.0;
const REACH: f64 = 94.0;
/// No scale is narrower than this, in times of the best.
const LEAST_SCALE: f64 = 1.1;

#[derive(Serialize)]
pub struct DecisionsView {
    pub title: String,
    pub unit: String,
    /// For the choice of a metric.
    pub metrics: Vec<(String, String)>,
    /// Whether rows are of several machines, precisions or numbers of threads.
    pub several: bool,
    /// Whether any figure has runs before it.
    pub courses: bool,
    pub rows: Vec<RowView>,
    pub standings: Vec<StandingView>,
    /// Shape, name and colour of each hardware.
    pub legend: Vec<(&'static str, String, String)>,
    /// The right end of the strips, in times of the best.
    pub scale: String,
    /// For the script.
    pub json: String,
}

#[derive(Serialize)]
pub struct RowView {
    pub model: String,
    pub at: String,
    pub facet: String,
    pub best: String,
    /// How the best was in the runs so far.
    pub course: Option<Course>,
    pub marks: Vec<Mark>,
    pub ahead: String,
    pub certainty: &'static str,
    pub cost: String,
}

/// One hardware in a strip. Places are in percent of its width.
#[derive(Serialize)]
pub struct Mark {
    pub shape: &'static str,
    pub colour: String,
    pub left: String,
    pub from: String,
    pub width: String,
    pub title: String,
}

#[derive(Serialize)]
pub struct StandingView {
    pub hardware: String,
    pub facet: String,
    pub wins: String,
    pub ties: usize,
    pub mean: String,
    pub worst: String,
}

impl Decisions {
    /// Which hardware is ahead by the first metric that can tell.
    pub fn headline(&self) -> Option<String> {
        self.metrics.iter().take(2).find_map(|(metric, points)| of_points(points.clone(), metric))
    }

    /// What each point decides by a metric: the dearest wrong choice first. And how each hardware stands.
    pub fn decided(&self, of: usize) -> (Vec<Decision>, Vec<(Facet, Standing)>) {
        let Some((metric, points)) = self.metrics.get(of) else { return (vec![], vec![]) };
        let facets = facets(points.clone(), metric);
        let stand = |(facet, decisions): (&Facet, &Vec<Decision>)| {
            standings(decisions, metric.better)
                .into_iter()
                .map(|standing| (facet.clone(), standing))
                .collect::<Vec<_>>()
        };
        let standings = facets.iter().flat_map(stand).collect();
        let mut decisions: Vec<Decision> = facets.into_values().flatten().collect();
        decisions.sort_by(|one, other| other.worst(metric.better).total_cmp(&one.worst(metric.better)));
        (decisions, standings)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.metrics.iter().flat_map(|(_, points)| points).flat_map(|point| &point.entries)
    }

    fn hardware(&self) -> BTreeSet<&str> {
        self.entries().map(|entry| entry.hardware.as_str()).collect()
    }

    fn facets(&self) -> Vec<&Facet> {
        let points = self.metrics.iter().flat_map(|(_, points)| points);
        points.map(|point| &point.facet).collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub fn view(&self) -> DecisionsView {
        let legend: Vec<(&'static str, String, String)> = self
            .hardware()
            .into_iter()
            .enumerate()
            .map(|(place, name)| {
                let colour = self.colours.get(name).cloned().unwrap_or_default();
                (SHAPES[place % SHAPES.len()], name.to_string(), colour)
            })
            .collect();
        let (decisions, standings) = self.decided(0);
        let several = self.facets().len() > 1;
        let metric = self.metrics.first().map(|(metric, _)| metric);
        let better = metric.map(|metric| metric.better).unwrap_or_default();
        let widest = decisions.iter().map(|decision| decision.worst(better)).fold(LEAST_SCALE, f64::max);
        let named = |facet: &Facet| if several { facet.name() } else { String::new() };
        let rows = decisions.iter().filter_map(|decision| {
            let (metric, best) = (metric?, decision.best()?);
            Some(RowView {
                model: decision.point.model.clone(),
                at: decision.point.axes.clone(),
                facet: named(&decision.point.facet),
                best: format!("{} {} {}", best.hardware, shown::number(best.value), metric.unit),
                course: best.course.clone(),
                marks: marks(decision, metric, widest, &legend),
                ahead: decision
                    .next
                    .as_ref()
                    .map_or_else(String::new, |next| format!("{} {}", times(next.ratio, next.interval), next.hardware)),
                certainty: decision.certainty.name(),
                cost: cost(decision, metric),
            })
        });
        let stand = |(facet, standing): (Facet, Standing)| StandingView {
            hardware: standing.hardware,
            facet: named(&facet),
            wins: format!("{} of {}", standing.wins, standing.points),
            ties: standing.ties,
            mean: times(standing.mean, standing.interval),
            worst: standing.worst.map_or_else(String::new, |(cost, model)| format!("{cost:.2} times ({model})")),
        };
        DecisionsView {
            title: metric.map_or_else(String::new, |metric| metric.title.clone()),
            unit: metric.map_or_else(String::new, |metric| metric.unit.clone()),
            metrics: self.metrics.iter().map(|(metric, _)| (metric.name.clone(), metric.title.clone())).collect(),
            several,
            courses: self.entries().any(|entry| entry.course.is_some()),
            rows: rows.collect(),
            standings: standings.into_iter().map(stand).collect(),
            scale: format!("{widest:.2}"),
            json: super::embed::json(&self.json(&legend).to_string()),
            legend,
        }
    }

    /// What the script decides from.
    fn json(&self, legend: &[(&'static str, String, String)]) -> Value {
        let facets = self.facets();
        let point = |point: &Point| {
            let entries = point.entries.iter().map(|entry| {
                json!({"hardware": entry.hardware, "value": entry.value, "interval": entry.interval, "stable": entry.stable,
                    "course": entry.course})
            });
            json!({
                "facet": facets.iter().position(|facet| **facet == point.facet),
                "model": point.model,
                "axes": point.axes,
                "attributes": point.attributes,
                "entries": entries.collect::<Vec<_>>(),
            })
        };
        let metrics = self
            .metrics
            .iter()
            .map(|(metric, points)| json!({"metric": metric, "points": points.iter().map(point).collect::<Vec<_>>()}));
        json!({
            "words": &*WORDS,
            "cost": COST,
            "least": LEAST_SCALE,
            "from": FROM,
            "reach": REACH,
            "legend": legend,
            "facets": facets.iter().map(|facet| facet.name()).collect::<Vec<_>>(),
            "metrics": metrics.collect::<Vec<_>>(),
        })
    }
}

/// The worst of those that were measured, where it costs something.
fn cost(decision: &Decision, metric: &Metric) -> String {
    let worst = decision.costs(metric.better).filter(|(_, cost)| *cost > COST).last();
    worst.map_or_else(String::new, |(name, cost)| format!("{cost:.2} times ({name})"))
}

fn marks(decision: &Decision, metric: &Metric, widest: f64, legend: &[(&'static str, String, String)]) -> Vec<Mark> {
    let better = metric.better;
    let Some(best) = decision.best().map(|entry| better.cost(entry.value)) else { return vec![] };
    let at = |cost: f64| (FROM + REACH * (cost / best).ln() / widest.ln()).clamp(0.0, 100.0);
    let percent = |place: f64| format!("{place:.1}");
    let mark = |entry: &Entry| {
        let (shape, _, colour) = legend.iter().find(|(_, name, _)| *name == entry.hardware)?;
        let place = at(better.cost(entry.value));
        let (from, to) = entry.interval.map_or((place, place), |interval| {
            let (low, high) = better.costs(interval);
            (at(low), at(high))
        });
        let interval = entry
            .interval
            .map_or_else(String::new, |(low, high)| format!(" ({} to {})", shown::number(low), shown::number(high)));
        Some(Mark {
            shape,
            colour: colour.clone(),
            left: percent(place),
            from: percent(from),
            width: percent(to - from),
            title: format!("{} {}{interval} {}", entry.hardware, shown::number(entry.value), metric.unit),
        })
    };
    decision.point.entries.iter().filter_map(mark).collect()
}
