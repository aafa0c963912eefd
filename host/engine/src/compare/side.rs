//! What one side of a live comparison is measured with: `cpu`, `openvino:GPU`, `cpu@threads=1,precision=float16`, or a library of
//! another version, `./old/libskillbench_cpu.so`.

use skillbench_record::{BackendChoice, OptionChoice, RunRequest};
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// As it was written.
    pub name: String,
    pub backend: String,
    pub device: Option<String>,
    /// The library itself, where that was named.
    pub library: Option<PathBuf>,
    pub threads: Option<u64>,
    pub precision: Option<String>,
    /// An installed version of what the plugin runs on; `None`: the one of the registry.
    pub runtime: Option<String>,
    pub options: Vec<(String, String)>,
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Side, String> {
        let expected = || format!("'{text}': expected PLUGIN[:DEVICE][@KEY=VALUE,...], or the library of a plugin");
        let (target, settings) = text.split_once('@').unwrap_or((text, ""));
        if target.is_empty() {
            return Err(expected());
        }
        let is_file = Path::new(target).components().count() > 1 || Path::new(target).extension().is_some();
        let (backend, device, library) = match is_file {
            true => {
                let library = std::path::absolute(target).map_err(|error| format!("'{target}': {error}"))?;
                if !library.is_file() {
                    return Err(format!("'{target}': there is no such library"));
                }
                (String::new(), None, Some(library))
            }
            false => {
                let choice = BackendChoice::parse(target);
                (choice.plugin, choice.device, None)
            }
        };
        let name = text.to_string();
        let mut side =
            Side { name, backend, device, library, threads: None, precision: None, runtime: None, options: vec![] };
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let (key, value) = setting.split_once('=').ok_or_else(expected)?;
            match key {
                "threads" => side.threads = Some(value.parse().ok().filter(|n| *n > 0).ok_or_else(expected)?),
                "precision" => side.precision = Some(value.into()),
                "runtime" => side.runtime = Some(value.into()),
                _ => side.options.push((key.into(), value.into())),
            }
        }
        Ok(side)
    }
}

impl Side {
    /// A request for both sides, made one for this side. `plugin` is the id of its library, where that was named.
    pub fn of(&self, both: &RunRequest, plugin: &str) -> RunRequest {
        let own = self.options.iter().map(|(key, value)| OptionChoice {
            plugin: None,
            key: key.clone(),
            value: value.clone(),
        });
        RunRequest {
            backends: vec![BackendChoice { plugin: plugin.into(), device: self.device.clone() }],
            options: both.options.iter().cloned().chain(own).collect(),
            threads: self.threads.or(both.threads),
            precision: self.precision.clone().or_else(|| both.precision.clone()),
            ..both.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_a_backend_with_what_is_set_for_it() {
        let side: Side = "openvino:GPU@threads=2,precision=float16,cache=off".parse().unwrap();
        let request = side.of(&RunRequest { threads: Some(8), ..RunRequest::default() }, &side.backend);
        assert_eq!(request.backends, [BackendChoice::parse("openvino:GPU")]);
        assert_eq!((request.threads, request.precision.as_deref()), (Some(2), Some("float16")));
        assert_eq!(request.options, [OptionChoice { plugin: None, key: "cache".into(), value: "off".into() }]);
        let plain: Side = "cpu".parse().unwrap();
        assert_eq!(plain.of(&RunRequest { threads: Some(8), ..RunRequest::default() }, "cpu").threads, Some(8));
    }

    #[test]
    fn what_is_no_side_is_refused() {
        for text in ["", "@threads=1", "cpu@threads", "cpu@threads=0", "./missing/libskillbench_cpu.so"] {
            assert!(text.parse::<Side>().is_err(), "{text}");
        }
    }
}
