//! A skill in several parts, as benchmarks measure it whole: one inference runs each part once, one after the other.
//!
//! Not here: what goes from one part to the next. Each runs on the inputs that the host makes for it, so that it can be
//! verified alone; the work is the same.

#![deny(unsafe_code)]

use serde_json::Value;
use skillbench_plugin_api::client::Request;
use skillbench_plugin_api::sdk::{Target, TargetModel};
use skillbench_plugin_api::{Error, Result};

/// The names of the parts in the order in which one inference runs them: what `pipeline` of skill.json says, else all of them.
///
/// # Errors
/// `InvalidArgument` for a pipeline that is no list of the skill's parts.
pub fn order(target: &Target<'_>) -> Result<Vec<String>> {
    let named = named(target.manifest()).map_err(|what| broken(target, what))?;
    match named {
        None if target.parts().is_empty() => Ok(vec![String::new()]),
        None => Ok(target.parts().to_vec()),
        Some(names) => match names.iter().find(|name| !target.parts().contains(name)) {
            Some(unknown) => Err(broken(target, &format!("`pipeline` names a part '{unknown}' that is not there"))),
            None => Ok(names),
        },
    }
}

fn broken(target: &Target<'_>, what: &str) -> Error {
    Error::invalid(format!("skill.json of {}: {what}", target.skill()))
}

fn named(manifest: &str) -> Result<Option<Vec<String>>, &'static str> {
    if manifest.is_empty() {
        return Ok(None);
    }
    let manifest: Value = serde_json::from_str(manifest).map_err(|_| "it is no JSON")?;
    let list = match manifest.get("pipeline") {
        None | Some(Value::Null) => return Ok(None),
        Some(list) => list.as_array().filter(|list| !list.is_empty()).ok_or("`pipeline` is no list of parts")?,
    };
    let names: Option<Vec<String>> = list.iter().map(|name| name.as_str().map(String::from)).collect();
    names.map(Some).ok_or("`pipeline` is no list of parts")
}

/// Loads every part.
///
/// # Errors
/// Whatever the host says of one of them.
pub fn load<'t>(target: &'t Target<'_>, order: &[String]) -> Result<Vec<TargetModel<'t>>> {
    order.iter().map(|part| target.load(part)).collect()
}

/// A request on each part, with its inputs bound.
///
/// # Errors
/// Whatever backend and host say.
pub fn prepared<'m>(target: &Target<'_>, models: &'m [TargetModel<'_>]) -> Result<Vec<Request<'m>>> {
    let request = |model: &'m TargetModel<'_>| {
        let mut request = model.request()?;
        target.prepare(model, &mut request, 0)?;
        Ok(request)
    };
    models.iter().map(request).collect()
}

/// Holds what each part's run gave against the reference.
///
/// # Errors
/// `WrongOutput` of the first that differs.
pub fn verify(target: &Target<'_>, models: &[TargetModel<'_>], requests: &mut [Request<'_>]) -> Result<()> {
    models.iter().zip(requests).try_for_each(|(model, request)| target.verify(model, request))
}

/// One inference.
///
/// # Errors
/// That of the first part that fails.
pub fn run(requests: &mut [Request<'_>]) -> Result<()> {
    requests.iter_mut().try_for_each(Request::run)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_pipeline_is_a_list_of_names_or_none_at_all() {
        for manifest in ["", "{}", "{\"pipeline\": null}"] {
            assert_eq!(named(manifest), Ok(None));
        }
        assert_eq!(
            named("{\"pipeline\": [\"vision\", \"decoder\"]}"),
            Ok(Some(vec!["vision".into(), "decoder".into()]))
        );
        for manifest in ["{\"pipeline\": []}", "{\"pipeline\": \"vision\"}", "{\"pipeline\": [1]}", "{"] {
            assert!(named(manifest).is_err(), "{manifest}");
        }
    }
}
