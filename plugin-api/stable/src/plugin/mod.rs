//! The plugin's side of the door: a root whose functions lead to the plugin's own table, which stays inside the library.

mod host;
mod target;

use crate::abi::{
    Answer, BackendFacts, BenchmarkFacts, Counter, Device, Energy, Instance, Instance_TO, InstanceBox, Load, Memory,
    ModelBox, OptionValue, ReporterBox, Root, RootRef, ServicesBox, SkillsetFacts, TargetBox, options,
};
use crate::served::{Loaded, Served, answer};
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{ROption, RStr, RString, RVec};
use skillbench_plugin_api::client::{self, Plugin, Recording};
use skillbench_plugin_api::host_tables::{ReporterTable, TargetTable};
use skillbench_plugin_api::raw::sb_plugin;
use skillbench_plugin_api::{self as api, Error};
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// What [`export_plugin!`](crate::export_plugin) makes of a plugin.
pub trait Exported: 'static {
    fn table() -> &'static sb_plugin;
}

/// The root of a plugin.
#[doc(hidden)]
pub fn root<E: Exported>() -> RootRef {
    let table = E::table();
    let text = |text: *const std::ffi::c_char| {
        // SAFETY: the texts of the SDK's own table: static, and never null.
        let text: &'static CStr = unsafe { CStr::from_ptr(text) };
        RStr::from_str(text.to_str().unwrap_or_default())
    };
    Root {
        id: text(table.id),
        name: text(table.name),
        version: text(table.version),
        vendor: text(table.vendor),
        license: text(table.license),
        url: text(table.url),
        init: init::<E>,
        backend: backend::<E>,
        open: open::<E>,
        skillset: skillset::<E>,
        skills: skills::<E>,
        build: build::<E>,
        benchmarks: benchmarks::<E>,
        run: run::<E>,
    }
    .leak_into_prefix()
}

/// Runs what a function of the root does: a panic becomes an error.
fn guarded<T>(work: impl FnOnce() -> api::Result<T>) -> Answer<T> {
    let panicked = |_| Err(Error::internal("the plugin panicked outside of its own functions"));
    answer(catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked))
}

fn plugin<E: Exported>() -> api::Result<Plugin> {
    // SAFETY: a static table of the library that this code is in.
    unsafe { Plugin::new(E::table()) }
}

fn missing(what: &str) -> Error {
    Error::not_found(format!("this plugin has no {what}"))
}

extern "C" fn init<E: Exported>(services: ServicesBox, path: RStr<'_>) -> Answer<()> {
    guarded(|| plugin::<E>()?.init(host::kept(services), Path::new(path.as_str())))
}

extern "C" fn backend<E: Exported>() -> Answer<ROption<BackendFacts>> {
    guarded(|| {
        let facts = |backend: client::BackendRef| BackendFacts {
            id: backend.id().into(),
            options_schema: backend.options_schema().into(),
            serial_load: backend.serial_load(),
        };
        Ok(plugin::<E>()?.backend()?.map(facts).into())
    })
}

extern "C" fn open<E: Exported>(services: ServicesBox, values: RVec<OptionValue>) -> Answer<InstanceBox> {
    guarded(|| {
        let backend = plugin::<E>()?.backend()?.ok_or_else(|| missing("backend"))?;
        let instance = backend.open(host::kept(services), &options(values))?;
        Ok(Instance_TO::from_value(Opened(Arc::new(instance)), TD_Opaque))
    })
}

extern "C" fn skillset<E: Exported>() -> Answer<ROption<SkillsetFacts>> {
    let facts =
        |skillset: client::SkillsetRef| SkillsetFacts { id: skillset.id().into(), summary: skillset.summary().into() };
    guarded(|| Ok(plugin::<E>()?.skillset()?.map(facts).into()))
}

extern "C" fn skills<E: Exported>() -> Answer<RVec<RString>> {
    guarded(|| {
        let skillset = plugin::<E>()?.skillset()?.ok_or_else(|| missing("skillset"))?;
        Ok(skillset.descriptions().into_iter().map(RString::from).collect())
    })
}

extern "C" fn build<E: Exported>(
    services: ServicesBox,
    skill: RStr<'_>,
    values: RVec<OptionValue>,
    directory: RStr<'_>,
) -> Answer<()> {
    guarded(|| {
        let skillset = plugin::<E>()?.skillset()?.ok_or_else(|| missing("skillset"))?;
        skillset.build(host::kept(services), skill.as_str(), &options(values), Path::new(directory.as_str()))
    })
}

extern "C" fn benchmarks<E: Exported>() -> Answer<RVec<BenchmarkFacts>> {
    let facts = |benchmark: &client::BenchmarkRef| BenchmarkFacts {
        id: benchmark.id().into(),
        version: benchmark.version().into(),
        category: benchmark.category().into(),
        summary: benchmark.summary().into(),
        options_schema: benchmark.options_schema().into(),
        needs_target: benchmark.needs_target(),
        cold_start: benchmark.cold_start(),
        shares_models: benchmark.shares_models(),
        skill: benchmark.skill().unwrap_or_default().into(),
    };
    guarded(|| Ok(plugin::<E>()?.benchmarks()?.iter().map(facts).collect()))
}

extern "C" fn run<E: Exported>(
    services: ServicesBox,
    benchmark: RStr<'_>,
    target: ROption<TargetBox>,
    values: RVec<OptionValue>,
    reporter: ReporterBox,
) -> Answer<()> {
    guarded(|| {
        let all = plugin::<E>()?.benchmarks()?;
        let found = all.into_iter().find(|known| known.id() == benchmark.as_str());
        let found = found.ok_or_else(|| missing(&format!("benchmark '{benchmark}'")))?;
        let (host, options, reporter) = (host::kept(services), options(values), host::Reporting(reporter));
        let reporter = ReporterTable::new(&reporter);
        match target.into_option() {
            None => found.run(host, None, &options, &reporter),
            Some(target) => {
                let target = target::Lent::new(host, target)?;
                found.run(host, Some(&TargetTable::new(&target.parts(), &target)), &options, &reporter)
            }
        }
    })
}

/// An opened backend of this plugin.
struct Opened(Arc<client::Instance>);

/// A model, and the instance that it borrows from; the model goes first.
struct OwnModel {
    model: client::Model<'static>,
    instance: Arc<client::Instance>,
}

impl OwnModel {
    fn load(instance: &Arc<client::Instance>, load: &api::Load) -> api::Result<OwnModel> {
        // SAFETY: the instance stays where it is behind its Arc, which the model keeps for longer than itself.
        let lasting: &'static client::Instance = unsafe { &*Arc::as_ptr(instance) };
        Ok(OwnModel { model: lasting.load(load)?, instance: instance.clone() })
    }
}

impl Loaded for OwnModel {
    fn model(&self) -> &client::Model<'static> {
        &self.model
    }

    fn recording(&self) -> Option<Recording<'_>> {
        self.instance.recording(&self.model)
    }
}

impl Instance for Opened {
    fn devices(&self) -> Answer<RVec<Device>> {
        answer(self.0.devices().map(|devices| devices.into_iter().map(Device::from).collect()))
    }

    fn supports(&self, load: Load) -> Answer<()> {
        answer(self.0.supports(&load.into()))
    }

    fn load(&self, load: Load) -> Answer<ModelBox> {
        answer(OwnModel::load(&self.0, &load.into()).map(|model| Served::new(model).object()))
    }

    fn memory(&self, device: u32) -> Answer<Memory> {
        answer(self.0.memory(device).map(Memory::from))
    }

    fn energy(&self, device: u32) -> Answer<ROption<Energy>> {
        answer(self.0.energy(device).map(|energy| energy.map(Energy::from).into()))
    }

    fn counters(&self, device: u32) -> Answer<RVec<Counter>> {
        answer(self.0.counters(device).map(|counters| counters.into_iter().map(Counter::from).collect()))
    }

    fn profiles(&self) -> bool {
        self.0.profiles()
    }
}
