//! The root module: what a plugin's library is reached by.

use super::{
    Answer, BackendFacts, BenchmarkFacts, InstanceBox, OptionValue, ReporterBox, ServicesBox, SkillsetFacts, TargetBox,
};
use abi_stable::StableAbi;
use abi_stable::library::RootModule;
use abi_stable::package_version_strings;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{ROption, RStr, RString, RVec};

/// The root of a plugin: what it says of itself, and its functions. The first to get the host's services is called first: the plugin
/// keeps them.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = RootRef, prefix_fields = RootPrefix)))]
#[sabi(missing_field(panic))]
pub struct Root {
    pub id: RStr<'static>,
    pub name: RStr<'static>,
    pub version: RStr<'static>,
    pub vendor: RStr<'static>,
    pub license: RStr<'static>,
    pub url: RStr<'static>,
    /// Once after loading, with the library's path.
    pub init: extern "C" fn(ServicesBox, RStr<'_>) -> Answer<()>,
    pub backend: extern "C" fn() -> Answer<ROption<BackendFacts>>,
    pub open: extern "C" fn(ServicesBox, RVec<OptionValue>) -> Answer<InstanceBox>,
    pub skillset: extern "C" fn() -> Answer<ROption<SkillsetFacts>>,
    /// Each skill's description, as JSON.
    pub skills: extern "C" fn() -> Answer<RVec<RString>>,
    /// Writes a skill into an empty folder.
    pub build: extern "C" fn(ServicesBox, RStr<'_>, RVec<OptionValue>, RStr<'_>) -> Answer<()>,
    pub benchmarks: extern "C" fn() -> Answer<RVec<BenchmarkFacts>>,
    /// Runs the benchmark of this id. What it gets lives until it returns; objects that it keeps refuse every call from then on.
    #[sabi(last_prefix_field)]
    pub run: extern "C" fn(ServicesBox, RStr<'_>, ROption<TargetBox>, RVec<OptionValue>, ReporterBox) -> Answer<()>,
}

impl RootModule for RootRef {
    abi_stable::declare_root_module_statics! {RootRef}
    const BASE_NAME: &'static str = "skillbench_plugin";
    const NAME: &'static str = "skillbench plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}
