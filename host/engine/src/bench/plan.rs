//! Functions that are called, in order, each with its options.

use super::choose::options;
use super::{Discovery, Found};
use crate::run::RequestError;
use skillbench_record::{Cell, CellName, FUNCTION, PluginOptions, RunRequest};

/// What a run of functions will do: one cell each.
#[derive(Debug)]
pub struct FunctionPlan {
    pub request: RunRequest,
    pub functions: Vec<PlannedFunction>,
}

/// A function that is called.
#[derive(Clone, Debug)]
pub struct PlannedFunction {
    pub found: Found,
    pub options: PluginOptions,
}

impl Discovery {
    /// The plan of a request: its benchmarks are names of functions or of plugins, its categories those of functions, its models those that
    /// functions are about. Empty lists mean any.
    ///
    /// # Errors
    /// A name that nothing has, with the nearest ones; an option that none of them takes, or a value that one of them does not; a library
    /// that cannot be read.
    pub fn plan(&self, request: RunRequest) -> Result<FunctionPlan, RequestError> {
        let mut plan = self.outline(request)?;
        for function in &mut plan.functions {
            function.found.library.seal([]).map_err(|error| RequestError(error.to_string()))?;
        }
        Ok(plan)
    }

    /// The plan of a request that is carried out elsewhere. No library has to be here.
    ///
    /// # Errors
    /// As [`Discovery::plan`], but for libraries.
    pub fn outline(&self, request: RunRequest) -> Result<FunctionPlan, RequestError> {
        let chosen = self.choose(&request)?;
        let options = options(&chosen, &request)?;
        let all = chosen.into_iter().zip(options).map(|(found, options)| PlannedFunction { found, options });
        let functions = match &request.exactly[..] {
            [] => all.collect(),
            exactly => all.filter(|one| exactly.contains(&CellName::of(&one.cell(0)))).collect(),
        };
        Ok(FunctionPlan { request, functions })
    }
}

impl PlannedFunction {
    /// Its cell, before it is run.
    pub fn cell(&self, index: usize) -> Cell {
        let Found { plugin, plugin_version, plugin_door, description, category, model, .. } = &self.found;
        Cell {
            index,
            plugin: plugin.clone(),
            plugin_version: plugin_version.clone(),
            plugin_door: Some(plugin_door.name().into()),
            about: model.clone(),
            family: FUNCTION.into(),
            category: category.clone().unwrap_or_default(),
            benchmark: description.id.clone(),
            benchmark_version: description.version.clone(),
            options: skillbench_worker::options::of_key(&self.options, &description.options_schema),
            ..Cell::blank()
        }
    }
}

impl FunctionPlan {
    /// What each cell is called, by index.
    pub fn names(&self) -> Vec<String> {
        self.functions.iter().map(|function| CellName::of(&function.cell(0)).to_string()).collect()
    }
}
