//! At which sizes a model is counted: at its usual ones, and at three along each axis, which give the quadratic that a transformer's work
//! is in a length. A fourth that was held out shows whether it is one.

use super::{Uncounted, Work, weights, work};
use crate::{FlopCount, FlopCounts, Manifest, dims};
use skillbench_onnx::Outline;
use skillbench_record::Axes;
use std::collections::BTreeMap;

/// The work of a whole model: of all its parts, each run once.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    pub operations: FlopCounts,
    pub elements: FlopCounts,
    pub kernels: u64,
    pub parameters_read: u64,
}

/// Where an axis stands of which nothing usual is known.
const USUAL: i64 = 128;
/// How far a count that was held out may lie from the quadratic.
const NEAR: f64 = 1e-3;

/// Counts a model.
///
/// # Errors
/// Why it cannot be counted at its usual sizes.
pub fn counted(manifest: &Manifest, parts: &[(String, Outline)]) -> Result<Counted, Uncounted> {
    let counter = Counter { manifest, parts };
    let bases = counter.bases();
    let first = counter.at(bases.first().unwrap_or(&Axes::new()))?;
    let mut points: Vec<(Axes, Work)> = vec![];
    let (mut operations, mut elements) = (Marks::default(), Marks::default());
    for base in bases {
        let Ok(at_base) = counter.at(&base) else { continue };
        add(&mut points, base.clone(), at_base);
        let batched = base.get("batch").map(|batch| (with(&base, "batch", 3 * batch), 3.0));
        let in_step = batched.is_none_or(|(axes, times)| {
            counter.at(&axes).is_ok_and(|three| {
                near(three.operations, times * at_base.operations) && near(three.elements, times * at_base.elements)
            })
        });
        for axis in base.keys().filter(|axis| *axis != "batch" || !in_step) {
            let Some((line, held_out)) = counter.line(axis, &base) else { continue };
            let of =
                |value: &i64| counter.at(&with(&base, axis, *value)).ok().map(|work| (with(&base, axis, *value), work));
            let Some(line) = line.iter().map(of).collect::<Option<Vec<_>>>() else { continue };
            let Some((held_out, there)) = of(&held_out) else { continue };
            let last = line.iter().rfind(|(axes, _)| *axes != base).map(|(axes, _)| axes.clone());
            operations.check(&line, &held_out, there, |work| work.operations, last.as_ref());
            elements.check(&line, &held_out, there, |work| work.elements, last.as_ref());
            line.into_iter().for_each(|(axes, work)| add(&mut points, axes, work));
        }
    }
    Ok(Counted {
        operations: operations.counts(&points, |work| work.operations),
        elements: elements.counts(&points, |work| work.elements),
        kernels: first.kernels,
        parameters_read: parts.iter().map(|(_, outline)| weights::read_by_each(outline)).fold(0, u64::saturating_add),
    })
}

fn add(points: &mut Vec<(Axes, Work)>, axes: Axes, work: Work) {
    if points.iter().all(|(known, _)| *known != axes) {
        points.push((axes, work));
    }
}

fn with(axes: &Axes, axis: &str, value: i64) -> Axes {
    let mut axes = axes.clone();
    axes.insert(axis.into(), value);
    axes
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= NEAR * other.abs()
}

/// Counts that lie on no curve with the others of their line.
#[derive(Default)]
struct Marks(Vec<Axes>);

impl Marks {
    fn check(
        &mut self,
        line: &[(Axes, Work)],
        held_out: &Axes,
        there: Work,
        of: fn(&Work) -> f64,
        last: Option<&Axes>,
    ) {
        let counts = line.iter().map(|(axes, work)| FlopCount { value: of(work), axes: axes.clone(), alone: false });
        let on_the_curve = FlopCounts(counts.collect()).at(held_out).is_some_and(|value| near(value, of(&there)));
        if !on_the_curve {
            self.0.extend(last.cloned());
        }
    }

    fn counts(&self, points: &[(Axes, Work)], of: fn(&Work) -> f64) -> FlopCounts {
        let count = |(axes, work): &(Axes, Work)| FlopCount {
            value: of(work),
            axes: axes.clone(),
            alone: self.0.contains(axes),
        };
        FlopCounts(points.iter().map(count).collect())
    }
}

struct Counter<'a> {
    manifest: &'a Manifest,
    parts: &'a [(String, Outline)],
}

impl Counter<'_> {
    /// All parts together.
    fn at(&self, axes: &Axes) -> Result<Work, Uncounted> {
        let mut all = Work::default();
        for (part, outline) in self.parts {
            let manifest = self.manifest.of_part(part);
            let mut sizes = BTreeMap::new();
            for input in &manifest.description.inputs {
                let dims = input.dims.iter().map(|rule| {
                    dims::evaluate(rule, axes).and_then(|size| usize::try_from(size).map_err(|error| error.to_string()))
                });
                sizes.insert(input.name.clone(), dims.collect::<Result<Vec<_>, _>>().map_err(Uncounted::Sizes)?);
            }
            let one = work(outline, &sizes)?;
            all.operations += one.operations;
            all.elements += one.elements;
            all.kernels += one.kernels;
        }
        Ok(all)
    }

    /// Where all axes stand while one is counted along. A model with a cache is counted as it reads a prompt, as it makes a token, and
    /// in between.
    fn bases(&self) -> Vec<Axes> {
        let description = &self.manifest.description;
        let usual = |axis: &String| match axis.as_str() {
            "batch" => 1,
            _ => description.usual.get(axis).copied().unwrap_or(USUAL),
        };
        let base: Axes = description.axes.keys().map(|axis| (axis.clone(), self.within(axis, usual(axis)))).collect();
        match base.contains_key("past") {
            true => vec![with(&base, "past", self.within("past", 0)), with(&base, "sequence", 1), base],
            false => vec![base],
        }
    }

    /// Three sizes along an axis, that of the base among them, and one that is held out; none where the axis is too short.
    fn line(&self, axis: &str, base: &Axes) -> Option<(Vec<i64>, i64)> {
        let at = *base.get(axis)?;
        let [least, most] = *self.manifest.description.axes.get(axis)?;
        // A cache of nothing is where a prompt begins, and a single token is how one goes on: no points of a line.
        if at == 0 || (axis == "sequence" && at == 1) {
            return None;
        }
        let distinct = |points: [i64; 3]| {
            let mut points = points.map(|point| self.within(axis, point)).to_vec();
            points.sort_unstable();
            points.dedup();
            (points.len() == 3 && points.contains(&at)).then_some(points)
        };
        let far = if axis == "batch" { [1, 2, 4] } else { [at.saturating_mul(4), at, at / 4] };
        let points = distinct(far)
            .or_else(|| distinct([least, at, most]))
            .or_else(|| distinct([at, least + (most - least) / 2, most]))?;
        let between = |low: i64, high: i64| self.within(axis, low + (high - low) / 3 + 1);
        let held_out = [between(points[1], points[2]), between(points[0], points[1])];
        let held_out = held_out.into_iter().find(|point| !points.contains(point))?;
        Some((points, held_out))
    }

    /// The nearest size that the axis has.
    fn within(&self, axis: &str, value: i64) -> i64 {
        let description = &self.manifest.description;
        let [least, most] = description.axes.get(axis).copied().unwrap_or([1, i64::MAX]);
        let step = description.multiples.get(axis).copied().unwrap_or(1).max(1);
        let within = value.min(most).max(least);
        let whole = within / step * step;
        if whole < least { whole.saturating_add(step).min(most.max(least)) } else { whole }
    }
}
