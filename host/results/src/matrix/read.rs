//! Matrix files, ours and those of other tools: keys that are not known are passed over, wrong types are refused with their place.

use super::rule::rule;
use super::{Entry, Failure, Family, Matrix, Measurement, Model, Rating, Speedup, Status};
use serde_json::{Map, Value};
use skillbench_record::catalog::column;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: expected {expected}, found {found}; correct the file, or make one with `host matrix --output FILE`")]
pub struct MatrixError {
    /// "model_families.vision.hardware_compatibility.cuda.compatible".
    pub place: String,
    pub expected: String,
    pub found: String,
}

type Read<T> = Result<T, MatrixError>;

/// A value, and where it stands.
struct At<'a> {
    value: &'a Value,
    place: String,
}

impl<'a> At<'a> {
    fn wrong<T>(&self, expected: impl Into<String>) -> Read<T> {
        let mut found = self.value.to_string();
        if let Some((end, _)) = found.char_indices().nth(40) {
            found.truncate(end);
            found.push_str(" ...");
        }
        let place = if self.place.is_empty() { "the file".into() } else { self.place.clone() };
        Err(MatrixError { place, expected: expected.into(), found })
    }

    fn below(&self, name: &str, value: &'a Value) -> At<'a> {
        let place = if self.place.is_empty() { name.to_string() } else { format!("{}.{name}", self.place) };
        At { value, place }
    }

    fn object(&self) -> Read<&'a Map<String, Value>> {
        self.value.as_object().map_or_else(|| self.wrong("an object"), Ok)
    }

    /// A key's value; null is as good as none.
    fn get(&self, name: &str) -> Read<Option<At<'a>>> {
        let value = self.object()?.get(name).filter(|value| !value.is_null());
        Ok(value.map(|value| self.below(name, value)))
    }

    fn each<T>(&self, name: &str, read: impl Fn(&At<'a>) -> Read<T>) -> Read<Vec<T>> {
        let Some(at) = self.get(name)? else { return Ok(vec![]) };
        let Some(items) = at.value.as_array() else { return at.wrong("a list") };
        items
            .iter()
            .enumerate()
            .map(|(place, item)| read(&At { value: item, place: format!("{}[{place}]", at.place) }))
            .collect()
    }

    /// What stands in an object, by name.
    fn named<T>(&self, name: &str, read: impl Fn(&str, &At<'a>) -> Read<T>) -> Read<Vec<T>> {
        let Some(at) = self.get(name)? else { return Ok(vec![]) };
        at.object()?.iter().map(|(name, value)| read(name, &at.below(name, value))).collect()
    }

    fn text(&self, name: &str) -> Read<Option<String>> {
        self.scalar(name, "a text", |value| value.as_str().map(String::from))
    }

    fn number(&self, name: &str) -> Read<Option<f64>> {
        self.scalar(name, "a number", Value::as_f64)
    }

    fn count(&self, name: &str) -> Read<Option<u64>> {
        self.scalar(name, "a number of 0 or more", Value::as_u64)
    }

    fn flag(&self, name: &str) -> Read<Option<bool>> {
        self.scalar(name, "true or false", Value::as_bool)
    }

    fn scalar<T>(&self, name: &str, expected: &str, read: impl Fn(&'a Value) -> Option<T>) -> Read<Option<T>> {
        match self.get(name)? {
            None => Ok(None),
            Some(at) => read(at.value).map_or_else(|| at.wrong(expected), |value| Ok(Some(value))),
        }
    }
}

/// A matrix out of its file.
///
/// # Errors
/// It is no matrix, or something in it is of another type than known.
pub fn read(file: &Value) -> Read<Matrix> {
    let file = At { value: file, place: String::new() };
    if file.get("model_families")?.is_none() {
        return file.wrong("a compatibility matrix, which has model_families");
    }
    let mut families = file.named("model_families", |name, at| {
        let models = at.named("models", |id, at| {
            let (parameters, relation) = (at.count("parameters")?, at.text(column::RELATION)?);
            Ok(Model { id: id.into(), parameters, relation, entries: entries(at)? })
        })?;
        Ok(Family { name: name.into(), entries: entries(at)?, models })
    })?;
    let named = file.each("hardware_types", |at| match at.value.as_str() {
        Some(id) => Ok(rule().hardware_name(id).to_string()),
        None => at.wrong("a text"),
    })?;
    let used = families.iter().flat_map(all).map(|entry| entry.hardware.clone());
    let hardware = rule().in_order(named.into_iter().chain(used).collect());
    for family in &mut families {
        complete(&mut family.entries, &hardware);
        let of_family = &family.entries;
        for model in &mut family.models {
            complete(&mut model.entries, &hardware);
            let pairs = model.entries.iter_mut().zip(of_family).filter(|(entry, _)| entry.history.is_empty());
            for (entry, all) in pairs {
                let own = all.history.iter().filter(|one| one.model_name.as_ref() == Some(&model.id));
                entry.history = own.cloned().collect();
            }
        }
    }
    Ok(Matrix { timestamp: file.text(column::TIMESTAMP)?, hardware, families })
}

fn all(family: &Family) -> impl Iterator<Item = &Entry> {
    family.entries.iter().chain(family.models.iter().flat_map(|model| &model.entries))
}

/// One entry for each hardware, in its order; what a file has no word of was not tried.
fn complete(entries: &mut Vec<Entry>, hardware: &[String]) {
    let mut known = std::mem::take(entries);
    for id in hardware {
        let own: Vec<Entry> = known.extract_if(.., |entry| entry.hardware == *id).collect();
        // Under two names there are two of them: the one with a rating counts, and both have runs.
        let joined = own.into_iter().reduce(|mut one, other| {
            let (first, second) = (std::mem::take(&mut one.history), other.history.clone());
            let mut kept = if one.rating == Rating::Unknown { other } else { one };
            kept.history = first.into_iter().chain(second).collect();
            kept
        });
        entries.push(joined.unwrap_or_else(|| untried(id)));
    }
}

fn untried(hardware: &str) -> Entry {
    Entry {
        hardware: hardware.into(),
        status: Status::NotTried,
        rating: Rating::Unknown,
        compatible: None,
        reason: None,
        next: None,
        emulated: false,
        verified: None,
        speedup: None,
        others: vec![],
        models: Default::default(),
        failures: vec![],
        history: vec![],
    }
}

fn entries(at: &At<'_>) -> Read<Vec<Entry>> {
    at.named("hardware_compatibility", entry)
}

fn entry(hardware: &str, at: &At<'_>) -> Read<Entry> {
    let compatible = at.flag("compatible")?;
    let rating = word(at, "performance_rating", Rating::from_name, &Rating::ALL.map(Rating::name))?;
    let status = word(at, "status", Status::from_name, &Status::ALL.map(Status::name))?;
    let speedups = at.each("speedups", speedup)?;
    let counts = at.named("models", |name, at| match (Status::from_name(name), at.value.as_u64()) {
        (Some(status), Some(count)) => Ok((status, count)),
        (None, _) => at.wrong("a count under the name of a status"),
        (_, None) => at.wrong("a number of 0 or more"),
    })?;
    let mut speedups = speedups.into_iter();
    Ok(Entry {
        hardware: rule().hardware_name(hardware).into(),
        status: status.unwrap_or(match compatible {
            Some(true) => Status::Measured,
            Some(false) => Status::Failed,
            None => Status::NotTried,
        }),
        rating: rating.unwrap_or(Rating::Unknown),
        compatible,
        reason: at.text(column::REASON)?,
        next: at.text("next_step")?,
        emulated: at.flag(column::EMULATED)?.unwrap_or(false),
        verified: at.flag(column::VERIFIED)?,
        speedup: speedups.next(),
        others: speedups.collect(),
        models: counts.into_iter().collect(),
        failures: at.each("failures", failure)?,
        history: at.each("benchmark_results", measurement)?,
    })
}

/// One of some words.
fn word<T>(at: &At<'_>, name: &str, known: fn(&str) -> Option<T>, all: &[&str]) -> Read<Option<T>> {
    let Some(at) = at.get(name)? else { return Ok(None) };
    let word = at.value.as_str().and_then(known);
    word.map_or_else(|| at.wrong(format!("one of {}", all.join(", "))), |word| Ok(Some(word)))
}

fn needed<T>(at: &At<'_>, name: &str, value: Option<T>) -> Read<T> {
    value.map_or_else(|| at.wrong(format!("an object with {name}")), Ok)
}

fn speedup(at: &At<'_>) -> Read<Speedup> {
    let rating = word(at, "rating", Rating::from_name, &Rating::ALL.map(Rating::name))?;
    Ok(Speedup {
        value: needed(at, "value", at.number("value")?)?,
        rating: needed(at, "rating", rating)?,
        precision: needed(at, column::PRECISION, at.text(column::PRECISION)?)?,
        machine: needed(at, column::MACHINE, at.text(column::MACHINE)?)?,
        points: needed(at, "points", at.count("points")?)?,
        models: needed(at, "models", at.count("models")?)?,
        timestamp: at.text(column::TIMESTAMP)?,
    })
}

fn failure(at: &At<'_>) -> Read<Failure> {
    Ok(Failure {
        outcome: needed(at, column::OUTCOME, at.text(column::OUTCOME)?)?,
        reason: needed(at, column::REASON, at.text(column::REASON)?)?,
        cells: needed(at, "cells", at.count("cells")?)?,
        since: at.flag("since")?.unwrap_or(false),
    })
}

fn measurement(at: &At<'_>) -> Read<Measurement> {
    Ok(Measurement {
        timestamp: at.text(column::TIMESTAMP)?,
        run: at.text(column::RUN)?,
        model_name: at.text("model_name")?,
        outcome: at.text(column::OUTCOME)?,
        mean_latency: at.number("mean_latency")?,
        mean_throughput: at.number("mean_throughput")?,
        precision: at.text(column::PRECISION)?,
        cells: at.count("cells")?,
        emulated: at.flag(column::EMULATED)?.unwrap_or(false),
        verified: at.flag(column::VERIFIED)?,
    })
}
