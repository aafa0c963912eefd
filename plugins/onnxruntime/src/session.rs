//! From a load to a session.

use crate::append::append;
use crate::assignment;
use crate::errors;
use crate::profile::Scratch;
use crate::provider::{CPU, Configuration, Provider};
use crate::runtime::Runtime;
use crate::settings::Settings;
use ort::session::Session;
use ort::session::builder::SessionBuilder;
use skillbench_plugin_api::{Dim, Load, Result};
use std::path::Path;

/// The folder that external data of a graph in memory is looked for in. ONNX Runtime maps those files itself.
pub(crate) const EXTERNAL_FOLDER: &str = "session.model_external_initializers_file_folder_path";
/// Folds what is constant at any size: by default nothing beyond 1 GiB, which weights can be.
pub(crate) const FOLD_ALL: (&str, &str) = ("optimization.constant_folding_max_output_size_in_bytes", "0");
/// A product whose weights alone are quantized computes in float32, as the graph says: by default its data is quantized to 8 bits as well.
const AS_THE_GRAPH_SAYS: (&str, &str) = ("session.qdq_matmulnbits_accuracy_level", "1");
/// Packs no weights for kernels.
const NO_PACKING: (&str, &str) = ("session.disable_prepacking", "1");
const NO_FALLBACK: &str = "session.disable_cpu_ep_fallback";

/// Everything that a session is made with.
pub(crate) struct Recipe<'r> {
    pub runtime: &'r Runtime,
    pub provider: &'r dyn Provider,
    /// Which of the provider's devices; of no use for a provider that is taken in by name.
    pub listed: usize,
    pub settings: &'r Settings,
    pub load: &'r Load,
    pub configuration: Configuration,
    /// Where the session's profile goes; none for one that is measured.
    pub profile: Option<&'r Scratch>,
}

impl Recipe<'_> {
    /// # Errors
    /// What ONNX Runtime says, with the file's name.
    pub fn make(&self, graph: &[u8]) -> Result<Session> {
        self.commit(graph, self.load.allow_fallback, self.profile)
    }

    /// A session that may give nodes to the CPU whatever the load says: whoever makes it looks where they went.
    ///
    /// # Errors
    /// As for [`Recipe::make`].
    pub fn with_fallback(&self, graph: &[u8]) -> Result<Session> {
        self.commit(graph, true, self.profile)
    }

    /// Writes the graph as a session would run it; weights that lie in a file beside it stay there.
    ///
    /// # Errors
    /// As for [`Recipe::make`].
    pub fn write_optimized(&self, graph: &[u8], to: &Path) -> Result<()> {
        let failed = |error: ort::Error| errors::loading(&self.load.source.path, &error);
        let mut builder = self.builder(self.load.allow_fallback).map_err(failed)?;
        builder = builder.with_optimized_model_path(to).map_err(|error| failed(error.into()))?;
        builder = builder.with_config_entry(NO_PACKING.0, NO_PACKING.1).map_err(|error| failed(error.into()))?;
        builder.commit_from_memory(graph).map(drop).map_err(failed)
    }

    fn commit(&self, graph: &[u8], allow_fallback: bool, profile: Option<&Scratch>) -> Result<Session> {
        let path = &self.load.source.path;
        let mut builder = self.builder(allow_fallback).map_err(|error| errors::loading(path, &error))?;
        if let Some(profile) = profile {
            builder = builder.with_profiling(profile.prefix()).map_err(|error| errors::loading(path, &error))?;
        }
        builder.commit_from_memory(graph).map_err(|error| errors::loading(path, &error))
    }

    fn builder(&self, allow_fallback: bool) -> ort::Result<SessionBuilder> {
        let Recipe { runtime, provider, settings, load, configuration, .. } = self;
        let folder = load.source.path.parent().unwrap_or(Path::new("")).to_string_lossy();

        // Without a named device or provider ONNX Runtime chooses among all providers that are registered in the process.
        let mut builder = Session::builder(&runtime.environment)?;
        if provider.by_name().is_some() {
            append(&mut builder, provider.name(), &configuration.provider)?;
        } else {
            let listed = runtime.devices(provider.name()).into_iter().skip(self.listed).take(1);
            let named = |(key, value): &(String, String)| (format!("{}.{key}", provider.name()), value.clone());
            let options: Vec<_> = configuration.provider.iter().map(named).collect();
            builder = builder.with_devices(listed.map(|(device, _)| device), Some(&options))?;
        }
        builder = builder
            .with_intra_threads(settings.threads)?
            .with_optimization_level(settings.optimization)?
            .with_config_entry(EXTERNAL_FOLDER, folder)?
            .with_config_entry(AS_THE_GRAPH_SAYS.0, AS_THE_GRAPH_SAYS.1)?;
        for (key, value) in &configuration.session {
            builder = builder.with_config_entry(key, value)?;
        }
        // After what a user or a vendor sets: these two are not theirs to change.
        builder = builder.with_config_entry(assignment::RECORD.0, assignment::RECORD.1)?;
        if provider.name() != CPU && !allow_fallback {
            builder = builder.with_config_entry(NO_FALLBACK, "1")?;
        }
        if !settings.dynamic_shapes {
            for dim in fixed(load) {
                builder = builder.with_dimension_override(&dim.name, dim.opt)?;
            }
        }
        Ok(builder)
    }
}

/// The dimensions that a load fixes.
pub(crate) fn fixed(load: &Load) -> impl Iterator<Item = &Dim> {
    load.dims.iter().filter(|dim| is_fixed(dim))
}

/// An empty dimension (no past yet) stays open: shape inference refuses it in many graphs that run with it.
fn is_fixed(dim: &Dim) -> bool {
    dim.min == dim.max && dim.opt > 0
}
