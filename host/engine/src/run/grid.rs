//! The grid of a model: which points of the workload are measured, and which ones a stated rule skips.
//!
//! A grid is the product of lanes: batch sizes, sequence lengths, image sizes ... A model has the lanes that fit it.

use super::error::RequestError;
use crate::skill::Skill;
use skillbench_models::{DimRule, InputRule, evaluate, standard_axis};
use skillbench_record::RunRequest;
use skillbench_record::defaults::defaults;
use skillbench_record::suggest::did_you_mean;
use skillbench_record::{Axes, Reason};
use std::collections::BTreeMap;

/// What a benchmark does with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workload {
    /// Runs its graphs on given inputs.
    Inference,
    /// Has it make tokens after a prompt.
    Generation,
}

/// A point of the grid, and why it is not measured.
pub(super) type Point = (Axes, Option<Reason>);

/// The dimensions that have flags of their own.
const FLAGS: [(&str, &str); 8] = [
    ("batch", "--batch-sizes"),
    ("sequence", "--sequence-lengths"),
    ("prompt", "--prompt-lengths"),
    ("new_tokens", "--new-tokens"),
    ("workers", "--concurrent-workers"),
    ("rate", "--rate"),
    ("rate_per_hour", "--rate"),
    ("batch_wait_us", "--batch-wait"),
];

/// Refuses a dimension that is named with `--dim` and has a flag of its own.
pub(super) fn check_flags(request: &RunRequest) -> Result<(), RequestError> {
    match FLAGS.iter().find(|(axis, _)| request.dims.contains_key(*axis)) {
        Some((name, flag)) => Err(RequestError(format!("'{name}' has a flag of its own: {flag}"))),
        None => Ok(()),
    }
}

/// All points of a model's grid, in order.
///
/// # Errors
/// A dimension that the model does not have.
pub(super) fn points(skill: &Skill, request: &RunRequest, workload: Workload) -> Result<Vec<Point>, RequestError> {
    check_dims(skill, request, workload)?;
    let lanes = match workload {
        Workload::Inference => inference(skill, request),
        Workload::Generation => generation(skill, request),
    };
    let mut all: Vec<Point> = vec![(others(skill, request, workload), None)];
    for lane in lanes {
        let with = |(axes, skip): &Point, (more, why): &Point| {
            let axes = axes.iter().chain(more).map(|(name, value)| (name.clone(), *value)).collect();
            (axes, skip.clone().or_else(|| why.clone()))
        };
        all = all.iter().flat_map(|point| lane.iter().map(move |step| with(point, step))).collect();
    }
    let mut grid: Vec<Point> = vec![];
    for (mut axes, mut skip) in all {
        if workload == Workload::Generation {
            derive(&mut axes, skill)?;
        }
        skip = skip.or_else(|| refused(&axes, skill, workload));
        if !grid.iter().any(|(known, _)| *known == axes) {
            grid.push((axes, skip));
        }
    }
    Ok(grid)
}

/// The points at which inferences of a model are measured, each with the reason where a rule skips it.
///
/// # Errors
/// As for a plan.
pub fn inference_points(skill: &Skill, request: &RunRequest) -> Result<Vec<(Axes, Option<Reason>)>, RequestError> {
    points(skill, request, Workload::Inference)
}

/// The first point of a model's grid that is not skipped by a rule.
///
/// # Errors
/// As for a plan.
pub fn first_point(skill: &Skill, request: &RunRequest) -> Result<Axes, RequestError> {
    let first = points(skill, request, Workload::Inference)?.into_iter().find(|(_, skip)| skip.is_none());
    Ok(first.map(|(axes, _)| axes).unwrap_or_default())
}

/// The one point of a skill that a benchmark brings: the least of each axis.
pub(super) fn own_point(skill: &Skill) -> Axes {
    skill.description.axes.iter().map(|(name, [least, _])| (name.clone(), *least)).collect()
}

/// The flags of a request that change nothing about any of these models.
pub(super) fn without_effect(request: &RunRequest, models: &[(&Skill, Workload)]) -> Vec<&'static str> {
    let any = |test: &dyn Fn(&Skill, Workload) -> bool| models.iter().any(|(skill, workload)| test(skill, *workload));
    let given = |workload: Workload| workload == Workload::Inference;
    let generates = |_: &Skill, workload: Workload| workload == Workload::Generation;
    let flags = [
        (!request.dims.is_empty(), "--dim", any(&|_, workload| given(workload))),
        (
            !request.sequence_lengths.is_empty(),
            "--sequence-lengths",
            any(&|skill, workload| given(workload) && skill.has_axis("sequence")),
        ),
        (
            !request.image_sizes.is_empty(),
            "--image-sizes",
            any(&|skill, workload| given(workload) && image(skill) != Size::None),
        ),
        (
            !request.audio_seconds.is_empty(),
            "--audio-seconds",
            any(&|skill, workload| given(workload) && audio(skill) != Audio::None),
        ),
        (
            !request.frames.is_empty(),
            "--frames",
            any(&|skill, workload| given(workload) && frames(skill) != Size::None),
        ),
        (!request.prompt_lengths.is_empty(), "--prompt-lengths", any(&generates)),
        (!request.new_tokens.is_empty(), "--new-tokens", any(&generates)),
    ];
    flags.into_iter().filter(|(asked, _, reaches)| *asked && !reaches).map(|(_, flag, _)| flag).collect()
}

fn inference(skill: &Skill, request: &RunRequest) -> Vec<Vec<Point>> {
    let (run, grid) = (&defaults().run, &defaults().grid);
    let default_set = request.asks_for_no_model();
    let or = |asked: &[i64], otherwise: &[i64]| if asked.is_empty() { otherwise.to_vec() } else { asked.to_vec() };
    let batches = or(&request.batch_sizes, if default_set { &run.batch_sizes } else { &grid.batch_sizes });
    let lengths =
        or(&request.sequence_lengths, if default_set { &run.sequence_lengths } else { &grid.sequence_lengths });
    let mut lanes = vec![batch(skill, &batches)];
    if skill.has_axis("sequence") {
        lanes.push(lengths.iter().map(|length| step("sequence", *length)).collect());
    }
    lanes.push(image_lane(skill, &request.image_sizes));
    lanes.push(audio_lane(skill, &request.audio_seconds));
    lanes.push(frames_lane(skill, &request.frames));
    lanes.retain(|lane| !lane.is_empty());
    lanes
}

fn generation(skill: &Skill, request: &RunRequest) -> Vec<Vec<Point>> {
    let grid = &defaults().grid;
    let or = |asked: &[i64], otherwise: &[i64]| if asked.is_empty() { otherwise.to_vec() } else { asked.to_vec() };
    // Text is generated for one reader at a time, unless asked otherwise.
    let mut lanes = vec![batch(skill, &or(&request.batch_sizes, &[1]))];
    if skill.description.generation.as_ref().is_some_and(|generation| generation.prompt.is_some()) {
        let lengths = or(&request.prompt_lengths, &grid.prompt_lengths);
        lanes.push(lengths.iter().map(|length| step("prompt", *length)).collect());
    }
    lanes.push(or(&request.new_tokens, &grid.new_tokens).iter().map(|count| step("new_tokens", *count)).collect());
    lanes
}

fn step(axis: &str, value: i64) -> Point {
    (Axes::from([(axis.into(), value)]), None)
}

fn batch(skill: &Skill, sizes: &[i64]) -> Vec<Point> {
    let text = || format!("the graph of '{}' has no dimension for a batch: it takes one item at a time", skill.id());
    let one = |size: &i64| match skill.has_axis("batch") {
        true => step("batch", *size),
        false if *size == 1 => Point::default(),
        false => (Axes::from([("batch".into(), *size)]), Some(Reason::new("fixed-batch", text()))),
    };
    sizes.iter().map(one).collect()
}

/// What a graph lets one choose about a size.
#[derive(Clone, Debug, PartialEq)]
enum Size<T> {
    None,
    Fixed(T),
    Free,
}

fn image(skill: &Skill) -> Size<[i64; 2]> {
    if skill.has_axis("height") && skill.has_axis("width") {
        return Size::Free;
    }
    let fixed = |input: &InputRule| match input.dims.as_slice() {
        [.., DimRule::Fixed(height), DimRule::Fixed(width)] if of_pixels(input) => Some([*height, *width]),
        _ => None,
    };
    skill.description.inputs.iter().find_map(fixed).map_or(Size::None, Size::Fixed)
}

fn of_pixels(input: &InputRule) -> bool {
    input.name.contains("pixel") && input.dims.len() >= 4
}

fn image_lane(skill: &Skill, sizes: &[[i64; 2]]) -> Vec<Point> {
    let axes = |[height, width]: [i64; 2]| Axes::from([("height".into(), height), ("width".into(), width)]);
    let one = |size: &[i64; 2]| match image(skill) {
        Size::None => None,
        Size::Free => Some((axes(*size), None)),
        Size::Fixed(own) if own == *size => Some(Point::default()),
        Size::Fixed([height, width]) => {
            let text = format!("the graph of '{}' takes images of {height}x{width} only", skill.id());
            Some((axes(*size), Some(Reason::new("fixed-image-size", text))))
        }
    };
    sizes.iter().filter_map(one).collect()
}

#[derive(Clone, Debug, PartialEq)]
enum Audio {
    None,
    /// Of one length, in seconds, where the skill tells it.
    Fixed(Option<f64>),
    /// The axis, and how much of it is a second.
    Axis(&'static str, f64),
}

fn audio(skill: &Skill) -> Audio {
    let description = &skill.description;
    for axis in ["samples", "frames"] {
        let rate = description.rates.get(axis).or_else(|| defaults().grid.rates.get(axis));
        if let (true, Some(rate)) = (skill.has_axis(axis), rate) {
            return Audio::Axis(axis, *rate);
        }
    }
    let hears = |input: &InputRule| ["input_features", "input_values"].contains(&input.name.as_str());
    match description.audio_seconds {
        Some(seconds) => Audio::Fixed(Some(seconds)),
        None if description.inputs.iter().any(hears) => Audio::Fixed(None),
        None => Audio::None,
    }
}

fn audio_lane(skill: &Skill, lengths: &[f64]) -> Vec<Point> {
    let one = |seconds: &f64| match audio(skill) {
        Audio::None => None,
        Audio::Axis(axis, rate) => Some(step(axis, (seconds * rate).round() as i64)),
        Audio::Fixed(Some(own)) if own == *seconds => Some(Point::default()),
        Audio::Fixed(own) => {
            let own = own.map_or("audio of one length".into(), |own| format!("{own} s of audio"));
            let text = format!("the graph of '{}' takes {own} only", skill.id());
            let axes = Axes::from([("audio_ms".into(), (seconds * 1e3).round() as i64)]);
            Some((axes, Some(Reason::new("fixed-audio-length", text))))
        }
    };
    lengths.iter().filter_map(one).collect()
}

/// Frames of a clip or of features.
fn frames(skill: &Skill) -> Size<i64> {
    if skill.has_axis("frames") {
        return Size::Free;
    }
    let fixed = |input: &InputRule| match input.dims.as_slice() {
        [_, DimRule::Fixed(frames), _, _, _] if of_pixels(input) => Some(*frames),
        _ => None,
    };
    skill.description.inputs.iter().find_map(fixed).map_or(Size::None, Size::Fixed)
}

fn frames_lane(skill: &Skill, counts: &[i64]) -> Vec<Point> {
    let one = |count: &i64| match frames(skill) {
        Size::None => None,
        Size::Free => Some(step("frames", *count)),
        Size::Fixed(own) if own == *count => Some(Point::default()),
        Size::Fixed(own) => {
            let text = format!("the graph of '{}' takes clips of {own} frames only", skill.id());
            Some((Axes::from([("frames".into(), *count)]), Some(Reason::new("fixed-frames", text))))
        }
    };
    counts.iter().filter_map(one).collect()
}

/// One value for each other axis: what was asked for, else a default that is within the model's range.
fn others(skill: &Skill, request: &RunRequest, workload: Workload) -> Axes {
    let grid = &defaults().grid;
    let mut all = Axes::new();
    if workload == Workload::Inference {
        for (name, [least, most]) in
            skill.description.axes.iter().filter(|(name, _)| !["batch", "sequence"].contains(&name.as_str()))
        {
            let usual = skill.description.usual.get(name).or_else(|| grid.axes.get(name)).copied().unwrap_or(*least);
            let asked = request.dims.iter().find(|(asked, _)| *asked == name || standard_axis(asked) == name);
            all.insert(name.clone(), asked.map_or(usual.clamp(*least, *most), |(_, value)| *value));
        }
    }
    all
}

fn check_dims(skill: &Skill, request: &RunRequest, workload: Workload) -> Result<(), RequestError> {
    let axes = &skill.description.axes;
    for name in request.dims.keys().filter(|_| workload == Workload::Inference) {
        if !axes.contains_key(name) && !axes.contains_key(standard_axis(name)) {
            let known = did_you_mean(name, axes.keys().map(String::as_str));
            return Err(RequestError(format!("model '{}' has no dimension '{name}'{known}", skill.id())));
        }
    }
    Ok(())
}

/// The axes of the graphs for the first run of a generation.
fn derive(axes: &mut Axes, skill: &Skill) -> Result<(), RequestError> {
    let Some(generation) = &skill.description.generation else { return Ok(()) };
    let of = axes.clone();
    for (name, rule) in &generation.axes {
        let value = evaluate(rule, &of);
        let value = value.map_err(|text| RequestError(format!("model '{}', axis '{name}': {text}", skill.id())))?;
        axes.insert(name.clone(), value);
    }
    // An axis that the first run does not need has its least value.
    for (name, [least, _]) in &skill.description.axes {
        axes.entry(name.clone()).or_insert(*least);
    }
    Ok(())
}

/// The rule by which a point of a model's grid is not measured.
pub(super) fn refused(axes: &Axes, skill: &Skill, workload: Workload) -> Option<Reason> {
    out_of_range(axes, skill, workload).or_else(|| no_multiple(axes, skill)).or_else(|| too_many_tokens(axes, skill))
}

fn out_of_range(point: &Axes, skill: &Skill, workload: Workload) -> Option<Reason> {
    let axes: &BTreeMap<String, [i64; 2]> = &skill.description.axes;
    let beyond = |name: &str, value: i64, [least, most]: [i64; 2]| {
        let text = || format!("{name} {value} is outside what the model takes, {least} to {most}");
        (!(least..=most).contains(&value)).then(|| Reason::new("out-of-range", text()))
    };
    if workload == Workload::Inference {
        return point.iter().find_map(|(name, value)| beyond(name, *value, *axes.get(name)?));
    }
    let prompt = skill.description.generation.as_ref().and_then(|generation| generation.prompt);
    let of_prompt = prompt.zip(point.get("prompt")).and_then(|(range, length)| beyond("prompt", *length, range));
    let of_batch = axes.get("batch").zip(point.get("batch")).and_then(|(range, size)| beyond("batch", *size, *range));
    // The last token sees all before it.
    let cached = point.get("sequence").copied().unwrap_or(1) + point.get("new_tokens").copied().unwrap_or(1) - 1;
    let of_cache = axes.get("past").and_then(|[_, most]| beyond("prompt and new tokens", cached, [0, *most]));
    of_prompt.or(of_batch).or(of_cache)
}

fn no_multiple(point: &Axes, skill: &Skill) -> Option<Reason> {
    let off = |(axis, of): (&String, &i64)| {
        let value = point.get(axis).filter(|value| *value % (*of).max(1) != 0)?;
        let text = format!("{axis} {value} is no multiple of {of}, and the graph of '{}' takes no other", skill.id());
        Some(Reason::new("no-multiple", text))
    };
    skill.description.multiples.iter().find_map(off)
}

fn too_many_tokens(point: &Axes, skill: &Skill) -> Option<Reason> {
    let limit = &defaults().token_limit;
    let of = |name: &str| point.get(name).copied();
    let sequence = of("sequence")?.saturating_add(of("new_tokens").unwrap_or(0));
    let tokens = of("batch")?.checked_mul(sequence)?;
    let applies = limit.architectures.contains(&skill.description.architecture);
    let text =
        || format!("batch x sequence is {tokens}, more than {} for {}", limit.limit, skill.description.architecture);
    (applies && tokens > limit.limit).then(|| Reason::new("token-limit", text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_models::SkillDescription;

    fn skill(text: &str) -> Skill {
        let description: SkillDescription = serde_json::from_str(text).unwrap();
        Skill::described(description)
    }

    fn grid(skill: &Skill, request: &RunRequest) -> Vec<Point> {
        points(skill, request, Workload::Inference).unwrap()
    }

    fn named() -> RunRequest {
        RunRequest { models: vec!["it".into()], ..RunRequest::default() }
    }

    const VISION: &str = r#"{"id": "it", "axes": {"batch": [1, 64]},
        "inputs": [{"name": "pixel_values", "dtype": "f32", "dims": ["batch", 3, 224, 224], "fill": "normal"}]}"#;

    #[test]
    fn an_image_of_another_size_than_the_graph_takes_is_skipped_with_that_reason() {
        let request = RunRequest { image_sizes: vec![[224, 224], [384, 384]], batch_sizes: vec![1, 4], ..named() };
        let found = grid(&skill(VISION), &request);
        let skipped: Vec<&str> =
            found.iter().map(|(_, skip)| skip.as_ref().map_or("", |reason| reason.code.as_str())).collect();
        assert_eq!(skipped, ["", "fixed-image-size", "", "fixed-image-size"]);
        assert_eq!(found[0].0, Axes::from([("batch".into(), 1)]));
    }

    #[test]
    fn free_image_sizes_are_a_grid_with_the_batch() {
        let free = r#"{"id": "it", "axes": {"batch": [1, 64], "height": [32, 512], "width": [32, 512]}}"#;
        let request = RunRequest { image_sizes: vec![[64, 96], [128, 128]], batch_sizes: vec![1, 2], ..named() };
        let found = grid(&skill(free), &request);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|(_, skip)| skip.is_none()));
        assert_eq!((found[0].0["height"], found[0].0["width"]), (64, 96));
    }

    #[test]
    fn seconds_of_audio_become_samples_or_frames_by_the_skills_rate() {
        let request = RunRequest { audio_seconds: vec![0.5, 5.0], batch_sizes: vec![1], ..named() };
        let samples = skill(r#"{"id": "it", "axes": {"batch": [1, 64], "samples": [4000, 480000]}}"#);
        let lengths: Vec<i64> = grid(&samples, &request).iter().map(|(axes, _)| axes["samples"]).collect();
        assert_eq!(lengths, [8_000, 80_000]);
        let frames = skill(r#"{"id": "it", "axes": {"frames": [16, 3000]}, "rates": {"frames": 50}}"#);
        let lengths: Vec<i64> = grid(&frames, &request).iter().map(|(axes, _)| axes["frames"]).collect();
        assert_eq!(lengths, [25, 250]);
    }

    #[test]
    fn what_a_grid_does_not_fit_is_told() {
        let vision = skill(VISION);
        let request = RunRequest { sequence_lengths: vec![32], image_sizes: vec![[224, 224]], ..named() };
        assert_eq!(without_effect(&request, &[(&vision, Workload::Inference)]), ["--sequence-lengths"]);
    }

    const DECODER: &str = r#"{"id": "it", "architecture": "decoder-only",
        "axes": {"batch": [1, 64], "sequence": [1, 512], "past": [1, 1024]},
        "generation": {"axes": {"sequence": "prompt", "past": 0}, "prompt": [1, 512]}}"#;

    #[test]
    fn a_generation_has_prompts_and_new_tokens_and_begins_without_a_past() {
        let request = RunRequest { prompt_lengths: vec![32, 128], new_tokens: vec![8], ..named() };
        let found = points(&skill(DECODER), &request, Workload::Generation).unwrap();
        let of = |name: &str| found.iter().map(|(axes, _)| axes[name]).collect::<Vec<_>>();
        assert_eq!(
            (of("prompt"), of("sequence"), of("past"), of("new_tokens")),
            (vec![32, 128], vec![32, 128], vec![0, 0], vec![8, 8])
        );
        assert!(found.iter().all(|(axes, skip)| skip.is_none() && axes["batch"] == 1));
    }

    #[test]
    fn a_prompt_that_leaves_no_room_for_the_new_tokens_is_skipped() {
        let request = RunRequest { prompt_lengths: vec![512, 600], new_tokens: vec![600], ..named() };
        let found = points(&skill(DECODER), &request, Workload::Generation).unwrap();
        assert!(found.iter().all(|(_, skip)| skip.as_ref().is_some_and(|reason| reason.code == "out-of-range")));
    }

    #[test]
    fn more_tokens_than_the_limit_are_skipped_for_decoders_only() {
        let request = RunRequest { batch_sizes: vec![64], sequence_lengths: vec![512], ..named() };
        let reason = grid(&skill(DECODER), &request)[0].1.clone().unwrap();
        assert!(reason.code == "token-limit" && reason.message.contains("32768"), "{reason:?}");
        let encoder =
            skill(r#"{"id": "it", "architecture": "encoder-only", "axes": {"batch": [1, 64], "sequence": [1, 512]}}"#);
        assert_eq!(grid(&encoder, &request)[0].1, None);
    }
}
