//! The host's side of the door: a root becomes the plugin that the C door would have given.

mod lent;
mod refusal;
mod services;

pub use refusal::Refusal;

use crate::abi::{BenchmarkFacts, RootRef, SkillsetFacts, shared_options};
use crate::served::taken;
use crate::through::Through;
use abi_stable::std_types::{RNone, ROption, RStr};
use lent::Lent;
use services::shared;
use skillbench_plugin_api::client::{BackendRef, BenchmarkRef, Plugin, PluginParts, SkillsetRef, SkillsetValue};
use skillbench_plugin_api::sdk::{Context, Host};
use skillbench_plugin_api::{Options, Result};
use std::path::Path;

/// What a library exports under [`SYMBOL`].
pub use abi_stable::library::AbiHeaderRef;

/// The symbol of a root module, ended with NUL.
pub const SYMBOL: &[u8] = abi_stable::library::ROOT_MODULE_LOADER_NAME_WITH_NUL.as_bytes();

/// The plugin behind a root module, once its version and the layout of all that crosses were held against this host's.
///
/// # Errors
/// What does not fit, with both versions where it is those.
pub fn plugin(header: AbiHeaderRef) -> std::result::Result<Plugin, Refusal> {
    Ok(of_root(root(header)?)?)
}

fn root(header: AbiHeaderRef) -> std::result::Result<RootRef, Refusal> {
    let (major, minor) = (header.abi_major, header.abi_minor);
    let header = header.upgrade().map_err(|error| Refusal::of_header(&error, (major, minor)))?;
    // Without it abi_stable has nothing to check, and would take the library's word.
    if header.layout().is_none() {
        return Err(Refusal::NoLayout);
    }
    header.init_root_module::<RootRef>().map_err(|error| Refusal::of_root(&error))
}

fn of_root(root: RootRef) -> Result<Plugin> {
    let backend = taken(root.backend()())?.into_option();
    let skillset = taken(root.skillset()())?.into_option();
    let benchmarks = taken(root.benchmarks()())?;
    let opening =
        move |host: Host, options: &Options| Through::new(taken(root.open()(shared(host), shared_options(options)))?);
    let text = |text: RStr<'static>| text.as_str().to_owned();
    Plugin::of(PluginParts {
        id: text(root.id()),
        name: text(root.name()),
        version: text(root.version()),
        vendor: text(root.vendor()),
        license: text(root.license()),
        url: text(root.url()),
        init: Box::new(move |host, path| {
            taken(root.init()(shared(host.services()), path.to_string_lossy().as_ref().into()))
        }),
        backend: backend.map(|facts| BackendRef::of(facts.into(), opening)),
        skillset: skillset.map(|facts| SkillsetRef::of(Skillset { root, facts })),
        benchmarks: benchmarks.into_iter().map(|facts| benchmark(root, facts)).collect(),
    })
}

fn benchmark(root: RootRef, facts: BenchmarkFacts) -> BenchmarkRef {
    let id = facts.id.clone();
    BenchmarkRef::of(facts.into(), move |context: &Context<'_>| {
        Lent::during(context, |target, reporter| {
            let options = shared_options(&context.options);
            let target = target.map_or(RNone, ROption::RSome);
            taken(root.run()(shared(context.host), id.as_rstr(), target, options, reporter))
        })
    })
}

struct Skillset {
    root: RootRef,
    facts: SkillsetFacts,
}

impl SkillsetValue for Skillset {
    fn id(&self) -> String {
        self.facts.id.to_string()
    }

    fn summary(&self) -> String {
        self.facts.summary.to_string()
    }

    /// None where making them fails, as of a table.
    fn descriptions(&self) -> Vec<String> {
        taken(self.root.skills()()).map(|all| all.into_iter().map(String::from).collect()).unwrap_or_default()
    }

    fn build(&self, host: Host, skill: &str, options: &Options, directory: &Path) -> Result<()> {
        let directory = directory.to_string_lossy();
        taken(self.root.build()(shared(host), skill.into(), shared_options(options), directory.as_ref().into()))
    }
}
