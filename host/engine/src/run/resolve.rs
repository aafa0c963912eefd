//! A request whose names are looked up, once. `choose` then takes backends where it names none, and `plan` lays its cells out.

use super::Inventory;
use super::error::RequestError;
use super::named::{PlannedBackend, PlannedBenchmark, choose_backends, choose_benchmarks, choose_models};
use crate::skill::{Catalog, Skill};
use skillbench_record::RunRequest;

/// What the names of a request stand for.
pub struct Resolved<'i> {
    pub(super) inventory: &'i Inventory,
    pub(super) catalog: Catalog,
    pub(super) request: RunRequest,
    /// `None`: the request names none.
    pub(super) backends: Option<Vec<PlannedBackend>>,
    pub(super) benchmarks: Vec<PlannedBenchmark>,
    /// Those that are named, selected, or part of a benchmark.
    pub(super) models: Vec<Skill>,
    pub(super) warnings: Vec<String>,
}

/// Looks up what a request names.
///
/// # Errors
/// The first name or value that cannot be, with what was expected.
pub fn resolve(inventory: &Inventory, mut request: RunRequest) -> Result<Resolved<'_>, RequestError> {
    let mut warnings = vec![];
    let named = (!request.backends.is_empty()).then(|| choose_backends(inventory, &request, &mut warnings));
    let backends = named.transpose()?;
    let benchmarks = choose_benchmarks(inventory, &request)?;
    let catalog = inventory.catalog();
    let mut names = std::mem::take(&mut request.names);
    let models = choose_models(&catalog, &request, &benchmarks, &mut names, &mut warnings)?;
    request.names = names;
    Ok(Resolved { inventory, catalog, request, backends, benchmarks, models, warnings })
}

impl Resolved<'_> {
    pub fn names_backends(&self) -> bool {
        self.backends.is_some()
    }
}
