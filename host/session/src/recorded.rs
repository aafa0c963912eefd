//! What records ask for is data: whoever made one chose its options, and a path among them may be a library that a plugin would load.
//!
//! A path that the registry or the host itself names is taken; any other has to be named again by whoever has the record measured again.
//! A model's path is opened in a worker, as a file of data, and stays.

use skillbench_engine::run::{self, Inventory, Plugin};
use skillbench_record::{OptionChoice, PluginOptions, RunRequest};
use skillbench_worker::options::names_a_file;

#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    #[error(
        "the record opens '{plugin}' with {key}={value}, and a path is not taken from a record; where you trust it, name it yourself: --option {plugin}:{key}={value}"
    )]
    Path { plugin: String, key: String, value: String },
    #[error("--option {key}={value} is none of what was recorded: only a path of a record is named again")]
    Unknown { key: String, value: String },
}

/// Refuses a request of a record that has a path of its own, unless it is among `named`.
///
/// # Errors
/// The first such path; or one that is named and that the request does not have.
pub fn held(inventory: &Inventory, request: &RunRequest, named: &[OptionChoice]) -> Result<(), RecordedError> {
    all_known(named, [request])?;
    inventory.backends().try_for_each(|(plugin, _)| held_for(plugin, request, named))?;
    let is_named = |file: &OptionChoice| named.iter().any(|one| (&one.key, &one.value) == (&file.key, &file.value));
    match run::files_among(inventory, request).find(|(_, file)| !is_named(file)) {
        None => Ok(()),
        Some((benchmark, OptionChoice { key, value, .. })) => {
            Err(RecordedError::Path { plugin: benchmark.into(), key: key.clone(), value: value.clone() })
        }
    }
}

/// The same of one plugin.
///
/// # Errors
/// The first such path.
pub fn held_for(plugin: &Plugin, request: &RunRequest, named: &[OptionChoice]) -> Result<(), RecordedError> {
    let own = |options: &[OptionChoice]| -> PluginOptions {
        run::own_options(&RunRequest { options: options.to_vec(), ..RunRequest::default() }, plugin)
    };
    let of_host = plugin.opened_with(&PluginOptions::new(), None).map(|opened| opened.options).unwrap_or_default();
    let named = own(named);
    let is_ours = |key: &String, value: &String| [&of_host, &named].iter().any(|known| known.get(key) == Some(value));
    let schema = plugin.options_schema();
    let path =
        own(&request.options).into_iter().find(|(key, value)| names_a_file(schema, key, value) && !is_ours(key, value));
    match path {
        None => Ok(()),
        Some((key, value)) => Err(RecordedError::Path { plugin: plugin.id.clone(), key, value }),
    }
}

/// What is named is of one of the requests: an option that changes nothing is a slip.
///
/// # Errors
/// The first that is not.
pub fn all_known<'r>(
    named: &[OptionChoice],
    requests: impl IntoIterator<Item = &'r RunRequest>,
) -> Result<(), RecordedError> {
    let mut unknown: Vec<&OptionChoice> = named.iter().collect();
    for request in requests {
        unknown.retain(|one| !request.options.iter().any(|own| (&own.key, &own.value) == (&one.key, &one.value)));
    }
    match unknown.first() {
        None => Ok(()),
        Some(one) => Err(RecordedError::Unknown { key: one.key.clone(), value: one.value.clone() }),
    }
}
