//! The library that is looked at: where it lies, how it is opened, and what it says of itself.

use crate::cli::SubjectArgs;
use crate::exit::CheckError;
use skillbench_record::{OptionChoice, PluginOptions};
use skillbench_worker::sandbox::{Mode, Sandbox};
use skillbench_worker::{Command, Description, Failure, Library, Limits, PluginUse, Reply, Stop, Worker, options};
use std::path::Path;
use std::time::Duration;

/// How long a backend to measure with may take to be described.
const LIMIT: Duration = Duration::from_secs(30);

pub struct Subject {
    pub library: Library,
    pub options: PluginOptions,
    pub description: Result<Description, Failure>,
}

impl Subject {
    /// `limit`: how many seconds it may take to be described.
    ///
    /// # Errors
    /// There is no such file, or an option is none.
    pub fn look(path: &Path, args: &SubjectArgs, limit: u64) -> Result<Subject, CheckError> {
        let mode = match args.sandbox.as_str() {
            "off" => Mode::Off,
            "strict" => Mode::Strict,
            _ => Mode::Default,
        };
        let sandbox = Sandbox {
            mode,
            environment: args.environment.clone(),
            devices: args.devices.clone(),
            ..Sandbox::default()
        };
        let library = Library::new(whole_path(path)?, sandbox);
        let description = describe(&library, Duration::from_secs(limit));
        let id = description.as_ref().map_or("this library", |description| &description.id);
        let own = OptionChoice::all_of(id, &args.options).map_err(CheckError::Usage)?;
        if let Some(backend) = description.as_ref().ok().and_then(|it| it.backend.as_ref()) {
            options::check(&own, &backend.options_schema, &backend.id).map_err(CheckError::Usage)?;
        }
        Ok(Subject { library, options: own, description })
    }

    /// Its backend, as it is opened.
    ///
    /// # Errors
    /// It has none, or cannot be described.
    pub fn backend(&self) -> Result<PluginUse, CheckError> {
        let described = self.description.as_ref().map_err(|failure| CheckError::Failed(failure.to_string()))?;
        if described.backend.is_none() {
            let text = format!("'{}' is no backend: it runs no models", described.id);
            return Err(CheckError::Usage(text));
        }
        Ok(PluginUse { id: described.id.clone(), library: self.library.clone(), options: self.options.clone() })
    }
}

/// Another library with a backend, opened without options.
pub fn other_backend(path: &Path, like: &Library) -> Result<PluginUse, CheckError> {
    let library = Library::new(whole_path(path)?, like.sandbox.clone());
    let described = describe(&library, LIMIT).map_err(|failure| CheckError::Usage(failure.to_string()))?;
    match described.backend {
        Some(_) => Ok(PluginUse { id: described.id, library, options: PluginOptions::new() }),
        None => Err(CheckError::Usage(format!("--backend: '{}' is no backend", described.id))),
    }
}

fn whole_path(path: &Path) -> Result<std::path::PathBuf, CheckError> {
    match path.is_file() {
        true => std::fs::canonicalize(path).map_err(CheckError::of_file(path)),
        false => Err(CheckError::Usage(format!("there is no file '{}': give the path of a library", path.display()))),
    }
}

fn describe(library: &Library, limit: Duration) -> Result<Description, Failure> {
    let command = Command::Describe { library: library.clone() };
    let limits = Limits { total: limit, opening: limit, ..Limits::probing(&Stop::default()) };
    match Worker::call_once(&command, &limits)? {
        Reply::Described(description) => Ok(*description),
        other => Err(Failure::unexpected(&other)),
    }
}
