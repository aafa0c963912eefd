//! The target that the host lends, as the SDK's table.

use crate::abi::{Dim as SharedDim, TargetBox, TargetFacts, dims};
use crate::served::taken;
use crate::through::{Through, ThroughModel};
use skillbench_plugin_api::client::{BackendFacts, BackendRef, Instance, Model, Request};
use skillbench_plugin_api::host_tables::{HostTable, TargetParts, TargetServices};
use skillbench_plugin_api::{Dim, Error, Options, Result, Source};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Models by the address that a benchmark knows them by.
type Models = HashMap<usize, Arc<Model<'static>>>;

pub(super) struct Lent {
    target: TargetBox,
    facts: TargetFacts,
    instance: &'static Instance,
    models: Mutex<Models>,
}

/// What stands for the backend of every target: models are adopted by it.
fn adopting(host: &'static HostTable) -> Result<&'static Instance> {
    static INSTANCE: OnceLock<Result<Instance>> = OnceLock::new();
    let open = || {
        let facts = BackendFacts { id: "target".into(), options_schema: String::new(), serial_load: false };
        BackendRef::of(facts, |_, _| Ok(Through::of_target())).open(host, &Options::default())
    };
    INSTANCE.get_or_init(open).as_ref().map_err(Clone::clone)
}

impl Lent {
    pub fn new(host: &'static HostTable, target: TargetBox) -> Result<Lent> {
        let facts = taken(target.facts())?;
        Ok(Lent { target, facts, instance: adopting(host)?, models: Mutex::default() })
    }

    pub fn parts(&self) -> TargetParts<'_> {
        // A benchmark gets the names of parts; their files are the host's to load.
        let named = |name: &abi_stable::std_types::RString| (name.to_string(), Source::onnx(Path::new("")));
        TargetParts {
            instance: self.instance,
            skill: &self.facts.skill,
            manifest: &self.facts.manifest,
            parts: self.facts.parts.iter().map(named).collect(),
            axes: dims(self.facts.axes.clone()),
            seed: self.facts.seed,
        }
    }

    fn models(&self) -> std::sync::MutexGuard<'_, Models> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_request<T>(
        request: &mut Request<'_>,
        work: impl FnOnce(&mut crate::abi::RequestBox) -> crate::abi::Answer<T>,
    ) -> Result<T> {
        let behind = request.behind::<Through>().ok_or_else(|| Error::invalid("a request of another target"))?;
        taken(work(&mut behind.0))
    }
}

impl TargetServices for Lent {
    fn load(&self, part: &str, dims: &[Dim]) -> Result<usize> {
        let dims = dims.iter().cloned().map(SharedDim::from).collect();
        let model = ThroughModel::new(taken(self.target.load(part.into(), dims))?)?;
        let model = self.instance.adopt::<Through>(model)?;
        let address = model.address();
        self.models().insert(address, Arc::new(model));
        Ok(address)
    }

    fn unload(&self, model: usize) {
        let gone = self.models().remove(&model);
        drop(gone);
    }

    fn with_model(&self, model: usize, work: &mut dyn FnMut(&Model<'_>) -> Result<()>) -> Result<()> {
        let found = self.models().get(&model).cloned();
        work(&*found.ok_or_else(|| Error::not_found("the model is not loaded"))?)
    }

    fn prepare(&self, _model: &Model<'_>, request: &mut Request<'_>, variant: u64) -> Result<()> {
        Lent::with_request(request, |request| request.prepare(variant))
    }

    fn verify(&self, _model: &Model<'_>, request: &mut Request<'_>) -> Result<()> {
        Lent::with_request(request, |request| request.verify())
    }
}
