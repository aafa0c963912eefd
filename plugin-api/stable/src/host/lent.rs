//! What a benchmark is lent: target and reporter as objects. They work until the benchmark returns; one that keeps them, or a model of
//! them, gets an error from then on.

use crate::abi::{
    Answer, Dim, ModelBox, Reporter, Reporter_TO, ReporterBox, Round, Series as SharedSeries, Target, Target_TO,
    TargetBox, TargetFacts, dims,
};
use crate::served::{Loaded, Served, answer, ended};
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RNone, ROption, RSlice, RStr, RVec};
use skillbench_plugin_api::client;
use skillbench_plugin_api::sdk::{self, Context, Series, TargetModel};
use skillbench_plugin_api::{Result, SeriesInfo};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

/// The context of a benchmark that runs; none once it has returned.
pub(super) struct Lent {
    context: RwLock<Option<Borrowed>>,
    models: Mutex<Vec<Weak<Served<TargetModel<'static>>>>>,
}

/// A context whose lifetime is `Lent::during`'s to keep.
#[derive(Clone, Copy)]
struct Borrowed(&'static Context<'static>);

// SAFETY: what is called of it from other threads is [any] in the contract (loading, announcing a series, attaching); rounds and samples
// are the benchmark's own thread's to ask for, as through the C door.
unsafe impl Send for Borrowed {}
// SAFETY: as for Send.
unsafe impl Sync for Borrowed {}

impl Lent {
    /// Lends a context for as long as `run` takes.
    pub fn during<R>(context: &Context<'_>, run: impl FnOnce(Option<TargetBox>, ReporterBox) -> R) -> R {
        // SAFETY: only `with` hands it out, under a lock that `end` waits for, and `end` takes it back before this function returns or
        // unwinds.
        let lasting = unsafe { std::mem::transmute::<&Context<'_>, &'static Context<'static>>(context) };
        let lent = Ending(Arc::new(Lent { context: RwLock::new(Some(Borrowed(lasting))), models: Mutex::default() }));
        let target = context.target().is_ok().then(|| Target_TO::from_value(LentTarget(lent.0.clone()), TD_Opaque));
        run(target, Reporter_TO::from_value(LentReporter(lent.0.clone()), TD_Opaque))
    }

    fn with<R>(&self, work: impl FnOnce(&'static Context<'static>) -> Result<R>) -> Result<R> {
        let context = self.context.read().unwrap_or_else(PoisonError::into_inner);
        work(context.ok_or_else(ended)?.0)
    }

    fn load(&self, part: &str, dims: &[skillbench_plugin_api::Dim]) -> Result<ModelBox> {
        self.with(|context| {
            let model = Served::new(context.target()?.load_for(part, dims)?);
            let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
            models.retain(|model| model.strong_count() > 0);
            models.push(Arc::downgrade(&model));
            Ok(model.object())
        })
    }

    fn end(&self) {
        // Before the models, so that none is loaded after them.
        *self.context.write().unwrap_or_else(PoisonError::into_inner) = None;
        let models = std::mem::take(&mut *self.models.lock().unwrap_or_else(PoisonError::into_inner));
        models.iter().filter_map(Weak::upgrade).for_each(|model| model.end());
    }
}

/// Ends what was lent, also where the benchmark's call unwinds.
struct Ending(Arc<Lent>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}

struct LentTarget(Arc<Lent>);

impl Target for LentTarget {
    fn facts(&self) -> Answer<TargetFacts> {
        let facts = |target: &sdk::Target<'_>| TargetFacts {
            skill: target.skill().into(),
            manifest: target.manifest().into(),
            parts: target.parts().iter().map(|part| part.as_str().into()).collect(),
            axes: target.axes().iter().cloned().map(Dim::from).collect(),
            seed: target.seed(),
        };
        answer(self.0.with(|context| context.target().map(facts)))
    }

    fn load(&self, part: RStr<'_>, dimensions: RVec<Dim>) -> Answer<ModelBox> {
        answer(self.0.load(part.as_str(), &dims(dimensions)))
    }
}

impl Loaded for TargetModel<'static> {
    fn model(&self) -> &client::Model<'static> {
        TargetModel::model(self)
    }

    fn prepare(&self, request: &mut client::Request<'static>, variant: u64) -> Result<()> {
        TargetModel::prepare(self, request, variant)
    }

    fn verify(&self, request: &mut client::Request<'static>) -> Result<()> {
        TargetModel::verify(self, request)
    }
}

struct LentReporter(Arc<Lent>);

impl Reporter for LentReporter {
    fn series(&self, series: SharedSeries) -> Answer<u32> {
        let announce = |info: SeriesInfo| self.0.with(|context| context.reporter.series(&info)).map(|series| series.0);
        answer(series.read().and_then(announce))
    }

    fn next_round(&self, series: u32) -> ROption<Round> {
        let next = self.0.with(|context| Ok(context.reporter.next_round(Series(series))));
        next.ok().flatten().map(Round::from).map_or(RNone, ROption::RSome)
    }

    fn samples(&self, series: u32, round: u64, values: RSlice<'_, f64>) -> Answer<()> {
        answer(self.0.with(|context| context.reporter.hand_over(Series(series), round, values.as_slice())))
    }

    fn attach(&self, name: RStr<'_>, bytes: RSlice<'_, u8>) {
        let attach = |context: &Context<'_>| {
            context.reporter.attach(name.as_str(), bytes.as_slice());
            Ok(())
        };
        // There is nobody to say it to: a benchmark that has returned attaches nothing.
        let _ = self.0.with(attach);
    }
}
