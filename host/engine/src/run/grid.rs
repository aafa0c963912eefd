//! The grid of a model: which points of the workload are measured, and which ones a stated rule skips.

use super::request::{RequestError, RunRequest};
use crate::defaults::defaults;
use crate::document::{Axes, Reason};
use crate::skill::{Skill, standard_axis};
use crate::suggest::did_you_mean;
use std::collections::BTreeMap;

/// The grid of a model: batch × sequence where it has these axes, and one value for each other axis.
pub(super) fn points(skill: &Skill, request: &RunRequest) -> Result<Vec<(Axes, Option<Reason>)>, RequestError> {
    let default_set = request.models.is_empty();
    let or = |asked: &[i64], otherwise: &[i64]| if asked.is_empty() { otherwise.to_vec() } else { asked.to_vec() };
    let (run, grid) = (&defaults().run, &defaults().grid);
    let batches = or(&request.batch_sizes, if default_set { &run.batch_sizes } else { &grid.batch_sizes });
    let lengths =
        or(&request.sequence_lengths, if default_set { &run.sequence_lengths } else { &grid.sequence_lengths });
    let axes = &skill.description.axes;
    let has = |name: &str| skill.is_file() || axes.contains_key(name);
    // A user's file says which axes it has only when it is loaded: those that were asked for are given to it.
    let with_sequence = axes.contains_key("sequence") || (skill.is_file() && !request.sequence_lengths.is_empty());

    let mut others = Axes::new();
    for (name, [least, most]) in axes.iter().filter(|(name, _)| !["batch", "sequence"].contains(&name.as_str())) {
        let default = grid.axes.get(name).copied().unwrap_or(*least);
        others.insert(name.clone(), request.dims.get(name).copied().unwrap_or(default.clamp(*least, *most)));
    }
    if skill.is_file() {
        others.extend(request.dims.iter().map(|(name, value)| (standard_axis(name).to_string(), *value)));
    } else if let Some(other) = request.dims.keys().find(|name| ["batch", "sequence"].contains(&name.as_str())) {
        let flag = if other == "batch" { "--batch-sizes" } else { "--sequence-lengths" };
        return Err(RequestError(format!("'{other}' has a flag of its own: {flag}")));
    } else if let Some(unknown) = request.dims.keys().find(|name| !axes.contains_key(*name)) {
        let known = did_you_mean(unknown, axes.keys().map(String::as_str));
        return Err(RequestError(format!("model '{}' has no dimension '{unknown}'{known}", skill.id())));
    }
    let mut all = vec![];
    for batch in batches {
        for length in if with_sequence { lengths.clone() } else { vec![0] } {
            let mut point = others.clone();
            let mut skip = None;
            match has("batch") {
                true => drop(point.entry("batch".into()).or_insert(batch)),
                false if batch != 1 => {
                    skip = Some(Reason::new(
                        "fixed-batch",
                        format!("the graph of '{}' has a fixed batch of 1", skill.id()),
                    ));
                    point.insert("batch".into(), batch);
                }
                false => {}
            }
            if with_sequence {
                point.entry("sequence".into()).or_insert(length);
            }
            let skip = skip.or_else(|| out_of_range(&point, axes)).or_else(|| too_many_tokens(&point, skill));
            if !all.iter().any(|(known, _)| *known == point) {
                all.push((point, skip));
            }
        }
    }
    Ok(all)
}

/// The first point of a model's grid that is not skipped by a rule.
///
/// # Errors
/// As for a plan.
pub fn first_point(skill: &Skill, request: &RunRequest) -> Result<Axes, RequestError> {
    let first = points(skill, request)?.into_iter().find(|(_, skip)| skip.is_none());
    Ok(first.map(|(axes, _)| axes).unwrap_or_default())
}

/// The one point of a skill that a benchmark brings: the least of each axis.
pub(super) fn own_point(skill: &Skill) -> Axes {
    skill.description.axes.iter().map(|(name, [least, _])| (name.clone(), *least)).collect()
}

fn out_of_range(point: &Axes, axes: &BTreeMap<String, [i64; 2]>) -> Option<Reason> {
    let beyond = |(name, value): (&String, &i64)| {
        let [least, most] = axes.get(name)?;
        let text = || format!("{name} {value} is outside what the model takes, {least} to {most}");
        (!(least..=most).contains(&value)).then(|| Reason::new("out-of-range", text()))
    };
    point.iter().find_map(beyond)
}

fn too_many_tokens(point: &Axes, skill: &Skill) -> Option<Reason> {
    let limit = &defaults().token_limit;
    let tokens = point.get("batch")?.checked_mul(*point.get("sequence")?)?;
    let applies = limit.architectures.contains(&skill.description.architecture);
    let text =
        || format!("batch x sequence is {tokens}, more than {} for {}", limit.limit, skill.description.architecture);
    (applies && tokens > limit.limit).then(|| Reason::new("token-limit", text()))
}
