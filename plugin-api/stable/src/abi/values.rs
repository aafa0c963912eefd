//! The values that cross, and their forms in the SDK. They are frozen: what has to be said besides gets a function of its own.

use abi_stable::StableAbi;
use abi_stable::std_types::{ROption, RSlice, RString, RVec};
use skillbench_plugin_api as api;
use skillbench_plugin_api::raw::sb_dtype;
use skillbench_plugin_api::{Code, DType, DeviceKind, Options, RoundKind, Scope, SeriesKind, Source, Why};
use std::path::{Path, PathBuf};

/// Values in the layout of C, each as the SDK's value of the same fields.
macro_rules! values {
    ($($(#[$attribute:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => { $(
        $(#[$attribute])*
        #[repr(C)]
        #[derive(Clone, Debug, StableAbi)]
        pub struct $name { $(pub $field: $type),* }
    )* };
}

values! {
    /// An error. The numbers are `sb_error`'s.
    Failure { code: i32, why: u32, vendor_code: i32, message: RString }
    OptionValue { key: RString, value: RString }
    Dim { name: RString, min: i64, opt: i64, max: i64 }
    BackendFacts { id: RString, options_schema: RString, serial_load: bool }
    SkillsetFacts { id: RString, summary: RString }
    BenchmarkFacts {
        id: RString, version: RString, category: RString, summary: RString, options_schema: RString,
        needs_target: bool, cold_start: bool, shares_models: bool, skill: RString,
    }
    TargetFacts { skill: RString, manifest: RString, parts: RVec<RString>, axes: RVec<Dim>, seed: u64 }
    Device {
        id: RString, name: RString, kind: u32, vendor: RString, arch: RString, driver: RString,
        memory_bytes: ROption<u64>, emulated: bool, why: u32, reason: RString,
    }
    Load {
        format: RString, path: RString, precision: ROption<RString>, cache_dir: ROption<RString>, devices: RVec<u32>,
        dims: RVec<Dim>, allow_fallback: bool, profile: bool,
    }
    Placement {
        precision: RString, device: RString, engine: RString, nodes_total: ROption<u64>, nodes_on_device: ROption<u64>,
        cache_hit: ROption<bool>, read_ns: ROption<u64>, compile_ns: ROption<u64>, upload_ns: ROption<u64>,
    }
    Timing {
        start_ns: ROption<u64>, end_ns: ROption<u64>, host_to_device_ns: ROption<u64>, device_to_host_ns: ROption<u64>,
    }
    Memory { used: ROption<u64>, peak: ROption<u64>, total: ROption<u64> }
    Energy {
        microjoules: u64, at_ns: ROption<u64>, period_ns: ROption<u64>, scope: u32, source: RString,
    }
    Counter { name: RString, unit: RString, value: f64 }
    Operator {
        run: ROption<u64>, start_ns: ROption<u64>, duration_ns: u64, as_seen_by_host: bool, name: RString,
        kind: RString, kernel: RString, device: RString,
    }
    Series {
        name: RString, unit: RString, kind: u32, higher_is_better: ROption<bool>, concurrent: bool,
        items_per_sample: f64,
    }
    Round { id: u64, measured: bool, iterations: u64, settle: u64 }
    /// The element type of a tensor, as `sb_dtype`.
    #[derive(Copy)]
    ElementType { code: u8, bits: u8, lanes: u16 }
    /// A negative dimension is dynamic.
    Port { name: RString, element: ElementType, shape: RVec<i64>, dim_names: RVec<ROption<RString>> }
}

/// A dense tensor in host memory that the caller lends.
#[repr(C)]
#[derive(Clone, StableAbi)]
pub struct Tensor<'a> {
    pub element: ElementType,
    pub shape: RSlice<'a, i64>,
    pub data: *mut u8,
}

/// Each way between a value here and the SDK's: field by field, with the expression where it is not just `into`.
macro_rules! same {
    ($($name:ident = $other:path { $($field:ident $(: $there:expr => $back:expr)?),* $(,)? })*) => { $(
        impl From<$other> for $name {
            fn from(value: $other) -> $name {
                $name { $($field: same!(@ value.$field $(, $there)?)),* }
            }
        }

        impl From<$name> for $other {
            fn from(value: $name) -> $other {
                $other { $($field: same!(@ value.$field $(, $back)?)),* }
            }
        }
    )* };
    (@ $value:expr) => { $value.into() };
    (@ $value:expr, $with:expr) => { $with($value) };
}

fn optional(text: Option<String>) -> ROption<RString> {
    text.map(Into::into).into()
}

fn text(optional: ROption<RString>) -> Option<String> {
    optional.into_option().map(Into::into)
}

same! {
    Failure = api::Error {
        code: |code: Code| code.status() => Code::from_status, why: |why: Why| why.0 => Why, vendor_code, message,
    }
    Dim = api::Dim { name, min, opt, max }
    Placement = api::Placement {
        precision, device, engine, nodes_total, nodes_on_device, cache_hit, read_ns, compile_ns, upload_ns,
    }
    Memory = api::Memory { used, peak, total }
    Energy = api::Energy {
        microjoules, at_ns, period_ns, scope: |scope: Scope| scope.to_raw() => Scope::from_raw, source,
    }
    Counter = api::Counter { name, unit, value }
    Operator = api::Operator { run, start_ns, duration_ns, as_seen_by_host, name, kind, kernel, device }
    BackendFacts = api::client::BackendFacts { id, options_schema, serial_load }
    BenchmarkFacts = api::client::BenchmarkFacts {
        id, version, category, summary, options_schema, needs_target, cold_start, shares_models, skill,
    }
}

/// A value behind this door never changes: a device that is remote cannot be told through it, and so such a plugin takes the other one.
impl From<api::Device> for Device {
    fn from(device: api::Device) -> Device {
        let api::Device { id, name, kind, vendor, arch, driver, memory_bytes, emulated, why, reason, .. } = device;
        Device {
            id: id.into(),
            name: name.into(),
            kind: kind.to_raw(),
            vendor: vendor.into(),
            arch: arch.into(),
            driver: driver.into(),
            memory_bytes: memory_bytes.into(),
            emulated,
            why: why.0,
            reason: reason.into(),
        }
    }
}

impl From<Device> for api::Device {
    fn from(device: Device) -> api::Device {
        api::Device {
            vendor: device.vendor.into(),
            arch: device.arch.into(),
            driver: device.driver.into(),
            memory_bytes: device.memory_bytes.into(),
            emulated: device.emulated,
            why: Why(device.why),
            reason: device.reason.into(),
            ..api::Device::new(&device.id, &device.name, DeviceKind::from_raw(device.kind))
        }
    }
}

/// As above: what `sb_timing` tells besides does not come through it.
impl From<api::Timing> for Timing {
    fn from(timing: api::Timing) -> Timing {
        let api::Timing { start_ns, end_ns, host_to_device_ns, device_to_host_ns, .. } = timing;
        Timing {
            start_ns: start_ns.into(),
            end_ns: end_ns.into(),
            host_to_device_ns: host_to_device_ns.into(),
            device_to_host_ns: device_to_host_ns.into(),
        }
    }
}

impl From<Timing> for api::Timing {
    fn from(timing: Timing) -> api::Timing {
        api::Timing {
            start_ns: timing.start_ns.into(),
            end_ns: timing.end_ns.into(),
            host_to_device_ns: timing.host_to_device_ns.into(),
            device_to_host_ns: timing.device_to_host_ns.into(),
            ..api::Timing::default()
        }
    }
}

impl From<api::Load> for Load {
    fn from(load: api::Load) -> Load {
        let lossy = |path: &Path| RString::from(path.to_string_lossy().into_owned());
        Load {
            format: load.source.format.into(),
            path: lossy(&load.source.path),
            precision: optional(load.precision),
            cache_dir: load.cache_dir.as_deref().map(lossy).into(),
            devices: load.devices.into(),
            dims: load.dims.into_iter().map(Dim::from).collect(),
            allow_fallback: load.allow_fallback,
            profile: load.profile,
        }
    }
}

impl From<Load> for api::Load {
    fn from(load: Load) -> api::Load {
        api::Load {
            source: Source { format: load.format.into(), path: PathBuf::from(load.path.as_str()), bytes: None },
            options: Options::default(),
            precision: text(load.precision),
            cache_dir: text(load.cache_dir).map(PathBuf::from),
            devices: load.devices.into(),
            dims: dims(load.dims),
            allow_fallback: load.allow_fallback,
            profile: load.profile,
        }
    }
}

impl From<DType> for ElementType {
    fn from(dtype: DType) -> ElementType {
        let sb_dtype { code, bits, lanes } = dtype.to_raw();
        ElementType { code, bits, lanes }
    }
}

impl ElementType {
    /// # Errors
    /// `Unimplemented` for a type that the SDK does not know.
    pub fn dtype(self) -> api::Result<DType> {
        DType::from_raw(self.raw())
    }

    pub(crate) fn raw(self) -> sb_dtype {
        sb_dtype { code: self.code, bits: self.bits, lanes: self.lanes }
    }
}

impl From<&api::Port> for Port {
    fn from(port: &api::Port) -> Port {
        Port {
            name: port.name.as_str().into(),
            element: port.dtype.into(),
            shape: port.shape.iter().map(|dim| dim.map_or(-1, |dim| dim as i64)).collect(),
            dim_names: port.dim_names.iter().cloned().map(optional).collect(),
        }
    }
}

impl Port {
    /// # Errors
    /// `Unimplemented` for an element type that the SDK does not know.
    pub fn read(self) -> api::Result<api::Port> {
        Ok(api::Port {
            name: self.name.into(),
            dtype: self.element.dtype()?,
            shape: self.shape.iter().map(|dim| usize::try_from(*dim).ok()).collect(),
            dim_names: self.dim_names.into_iter().map(text).collect(),
        })
    }
}

impl From<api::SeriesInfo> for Series {
    fn from(info: api::SeriesInfo) -> Series {
        Series {
            name: info.name.into(),
            unit: info.unit.into(),
            kind: info.kind.to_raw(),
            higher_is_better: info.higher_is_better.into(),
            concurrent: info.concurrent,
            items_per_sample: info.items_per_sample,
        }
    }
}

impl Series {
    /// # Errors
    /// `InvalidArgument` for a kind that is none.
    pub fn read(self) -> api::Result<api::SeriesInfo> {
        Ok(api::SeriesInfo {
            name: self.name.into(),
            unit: self.unit.into(),
            kind: SeriesKind::from_raw(self.kind)?,
            higher_is_better: self.higher_is_better.into(),
            concurrent: self.concurrent,
            items_per_sample: self.items_per_sample,
        })
    }
}

impl From<api::Round> for Round {
    fn from(round: api::Round) -> Round {
        let measured = round.kind == RoundKind::Measured;
        Round { id: round.id, measured, iterations: round.iterations, settle: round.settle }
    }
}

impl From<Round> for api::Round {
    fn from(round: Round) -> api::Round {
        let kind = if round.measured { RoundKind::Measured } else { RoundKind::WarmUp };
        api::Round { id: round.id, kind, iterations: round.iterations, settle: round.settle }
    }
}

pub(crate) fn dims(dims: RVec<Dim>) -> Vec<api::Dim> {
    dims.into_iter().map(api::Dim::from).collect()
}

pub(crate) fn options(values: RVec<OptionValue>) -> Options {
    Options(values.into_iter().map(|option| (option.key.into(), option.value.into())).collect())
}

pub(crate) fn shared_options(options: &Options) -> RVec<OptionValue> {
    let pairs = options.0.iter();
    pairs.map(|(key, value)| OptionValue { key: key.as_str().into(), value: value.as_str().into() }).collect()
}
