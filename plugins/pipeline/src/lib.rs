//! A skill in several parts, as benchmarks measure it whole: one inference runs each part once, one after the other, or as often as the
//! skill says, such as a denoising network for each step of its scheduler.
//!
//! Not here: what goes from one part to the next. Each runs on the inputs that the host makes for it, so that it can be
//! verified alone; the work is the same.

#![deny(unsafe_code)]

use serde_json::Value;
use skillbench_plugin_api::client::Request;
use skillbench_plugin_api::sdk::{Target, TargetModel};
use skillbench_plugin_api::{Dim, Error, Result};

/// A part of an inference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name of the part; empty for a skill that is one graph.
    pub part: String,
    /// How often it runs for one inference, at least once.
    pub times: u64,
}

impl Stage {
    fn once(part: &str) -> Stage {
        Stage { part: part.into(), times: 1 }
    }
}

/// The stages in the order in which one inference runs them: what `pipeline` of skill.json says, else all parts once.
///
/// # Errors
/// `InvalidArgument` for a pipeline that is no list of the skill's parts.
pub fn order(target: &Target<'_>) -> Result<Vec<Stage>> {
    let stages = stages(target.manifest(), |axis| target.axis(axis)).map_err(|what| broken(target, &what))?;
    match stages {
        None if target.parts().is_empty() => Ok(vec![Stage::once("")]),
        None => Ok(target.parts().iter().map(|part| Stage::once(part)).collect()),
        Some(stages) => match stages.iter().find(|stage| !target.parts().contains(&stage.part)) {
            Some(Stage { part, .. }) => {
                Err(broken(target, &format!("`pipeline` names a part '{part}' that is not there")))
            }
            None => Ok(stages),
        },
    }
}

fn broken(target: &Target<'_>, what: &str) -> Error {
    Error::invalid(format!("skill.json of {}: {what}", target.skill()))
}

/// What `pipeline` of a manifest says: a name, or `{"part": NAME, "times": NUMBER or AXIS}`, for each stage. `None`: nothing.
fn stages(manifest: &str, axis: impl Fn(&str) -> Option<i64>) -> Result<Option<Vec<Stage>>, String> {
    if manifest.is_empty() {
        return Ok(None);
    }
    let manifest: Value = serde_json::from_str(manifest).map_err(|_| "it is no JSON")?;
    let list = match manifest.get("pipeline") {
        None | Some(Value::Null) => return Ok(None),
        Some(list) => list.as_array().filter(|list| !list.is_empty()).ok_or("`pipeline` is no list of parts")?,
    };
    let times = |times: &Value| match times {
        Value::String(name) => {
            axis(name).ok_or_else(|| format!("`times` of `pipeline` names an axis '{name}' that is not there"))
        }
        Value::Null => Ok(1),
        times => times.as_i64().ok_or_else(|| "`times` of `pipeline` is neither a whole number nor an axis".into()),
    };
    let stage = |stage: &Value| match stage {
        Value::String(part) => Ok(Stage::once(part)),
        stage => {
            let part = stage["part"].as_str().ok_or("`pipeline` is no list of parts")?;
            let times = u64::try_from(times(&stage["times"])?).ok().filter(|times| *times > 0);
            Ok(Stage { part: part.into(), times: times.ok_or("`times` of `pipeline` is less than 1")? })
        }
    };
    list.iter().map(stage).collect::<Result<Vec<Stage>, String>>().map(Some)
}

/// Loads the part of every stage, at the size of the target.
///
/// # Errors
/// Whatever the host says of one of them.
pub fn load<'t>(target: &'t Target<'_>, order: &[Stage]) -> Result<Vec<TargetModel<'t>>> {
    load_for(target, order, &[])
}

/// The same at another size.
///
/// # Errors
/// As for [`load`].
pub fn load_for<'t>(target: &'t Target<'_>, order: &[Stage], size: &[Dim]) -> Result<Vec<TargetModel<'t>>> {
    order.iter().map(|stage| target.load_for(&stage.part, size)).collect()
}

/// A request on the part of each stage, with its inputs bound: all that one inference runs.
pub struct Prepared<'m> {
    pub stages: Vec<(Request<'m>, u64)>,
}

/// `models`: those of the stages of `order`.
///
/// # Errors
/// Whatever backend and host say.
pub fn prepared<'m>(target: &Target<'_>, order: &[Stage], models: &'m [TargetModel<'_>]) -> Result<Prepared<'m>> {
    let stage = |(stage, model): (&Stage, &'m TargetModel<'_>)| {
        let mut request = model.request()?;
        target.prepare(model, &mut request, 0)?;
        Ok((request, stage.times))
    };
    Ok(Prepared { stages: order.iter().zip(models).map(stage).collect::<Result<_>>()? })
}

impl Prepared<'_> {
    /// Holds what the run of each part gave against the reference.
    ///
    /// # Errors
    /// `WrongOutput` of the first that differs.
    pub fn verify(&mut self, target: &Target<'_>, models: &[TargetModel<'_>]) -> Result<()> {
        models.iter().zip(&mut self.stages).try_for_each(|(model, (request, _))| target.verify(model, request))
    }

    /// One inference.
    ///
    /// # Errors
    /// That of the first part that fails.
    pub fn run(&mut self) -> Result<()> {
        self.stages.iter_mut().try_for_each(|(request, times)| (0..*times).try_for_each(|_| request.run()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Stage, stages};

    fn read(manifest: &str) -> Result<Option<Vec<Stage>>, String> {
        stages(manifest, |axis| (axis == "steps").then_some(20))
    }

    #[test]
    fn a_pipeline_is_a_list_of_names_or_none_at_all() {
        for manifest in ["", "{}", "{\"pipeline\": null}"] {
            assert_eq!(read(manifest), Ok(None));
        }
        assert_eq!(
            read("{\"pipeline\": [\"vision\", \"decoder\"]}"),
            Ok(Some(vec![Stage::once("vision"), Stage::once("decoder")]))
        );
        for manifest in ["{\"pipeline\": []}", "{\"pipeline\": \"vision\"}", "{\"pipeline\": [1]}", "{"] {
            assert!(read(manifest).is_err(), "{manifest}");
        }
    }

    #[test]
    fn a_part_runs_as_often_as_a_number_or_an_axis_says() {
        let of = |times: &str| read(&format!("{{\"pipeline\": [{{\"part\": \"unet\", \"times\": {times}}}]}}"));
        let times = |count| Ok(Some(vec![Stage { part: "unet".into(), times: count }]));
        assert_eq!(of("4"), times(4));
        assert_eq!(of("\"steps\""), times(20));
        assert_eq!(of("null"), times(1));
        for wrong in ["0", "-1", "1.5", "\"others\"", "[]"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
