//! A graph for a provider that cannot run it as it is, or would compute it wrongly: ONNX Runtime fixes its shapes and folds what is
//! constant, and then operators are put in terms of others. What was changed stands in the placement.

use crate::errors;
use crate::rewrite::{Rewritten, Rules, rewrite};
use crate::runtime::Runtime;
use crate::session::{EXTERNAL_FOLDER, fixed};
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use skillbench_plugin_api::{Error, Load, Result};
use std::path::Path;

/// Fusions whose names a second pass over the folded graph would use again.
const NOT_NOW: &str = "MatMulAddFusion;GemmActivationFusion";

/// The graph in other operators, and which ones were replaced: "1 GatherND, 2 IsNaN". `None` where nothing can be replaced.
///
/// # Errors
/// ONNX Runtime's, where it does not even fold the graph.
pub(crate) fn adapt(
    runtime: &Runtime,
    load: &Load,
    graph: &[u8],
    rules: &[&Rules],
) -> Result<Option<(Vec<u8>, String)>> {
    let scratch =
        tempfile::tempdir().map_err(|error| Error::internal(format!("a folder for the folded graph: {error}")))?;
    let folded = scratch.path().join("folded.onnx");
    fold(runtime, load, graph, &folded)?;
    let bytes = std::fs::read(&folded).map_err(|error| Error::internal(format!("the folded graph: {error}")))?;
    let rewritten = rewrite(&bytes, rules).map_err(|error| Error::internal(format!("the folded graph: {error}")))?;
    Ok(rewritten.map(|Rewritten { model, replaced }| {
        let counts: Vec<String> = replaced.iter().map(|(operator, count)| format!("{count} {operator}")).collect();
        (model, counts.join(", "))
    }))
}

fn fold(runtime: &Runtime, load: &Load, graph: &[u8], out: &Path) -> Result<()> {
    let path = &load.source.path;
    let folder = path.parent().unwrap_or(Path::new("")).to_string_lossy();
    let make = || -> ort::Result<Session> {
        let cpu = runtime.devices(crate::provider::CPU).into_iter().map(|(device, _)| device).take(1);
        let mut builder = Session::builder(&runtime.environment)?
            .with_devices(cpu, None)?
            .with_optimization_level(GraphOptimizationLevel::Level1)?
            .with_disabled_optimizers(NOT_NOW)?
            .with_config_entry(EXTERNAL_FOLDER, folder)?
            .with_optimized_model_path(out)?;
        for dim in fixed(load) {
            builder = builder.with_dimension_override(&dim.name, dim.opt)?;
        }
        builder.commit_from_memory(graph)
    };
    make().map(drop).map_err(|error| errors::loading(path, &error))
}
