//! The values that cross the contract, as a Rust program sees them.

use crate::raw::*;
use crate::{Error, Result, Why, grow, text};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};

/// `None` where the contract says `SB_UNKNOWN`.
fn known(value: u64) -> Option<u64> {
    (value != SB_UNKNOWN).then_some(value)
}

fn or_unknown(value: Option<u64>) -> u64 {
    value.unwrap_or(SB_UNKNOWN)
}

/// The element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    F16,
    BF16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

impl DType {
    const ALL: [(DType, u8, u8, &'static str); 13] = [
        (DType::F16, SB_FLOAT, 16, "f16"),
        (DType::BF16, SB_BFLOAT, 16, "bf16"),
        (DType::F32, SB_FLOAT, 32, "f32"),
        (DType::F64, SB_FLOAT, 64, "f64"),
        (DType::I8, SB_INT, 8, "i8"),
        (DType::I16, SB_INT, 16, "i16"),
        (DType::I32, SB_INT, 32, "i32"),
        (DType::I64, SB_INT, 64, "i64"),
        (DType::U8, SB_UINT, 8, "u8"),
        (DType::U16, SB_UINT, 16, "u16"),
        (DType::U32, SB_UINT, 32, "u32"),
        (DType::U64, SB_UINT, 64, "u64"),
        (DType::Bool, SB_BOOL, 8, "bool"),
    ];

    fn row(self) -> &'static (DType, u8, u8, &'static str) {
        Self::ALL.iter().find(|row| row.0 == self).expect("every type has its row")
    }

    /// "f32", "i64", ...
    pub fn name(self) -> &'static str {
        self.row().3
    }

    pub fn from_name(name: &str) -> Option<DType> {
        Self::ALL.iter().find(|row| row.3 == name).map(|row| row.0)
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        usize::from(self.row().2) / 8
    }

    pub(crate) fn to_raw(self) -> sb_dtype {
        let (_, code, bits, _) = *self.row();
        sb_dtype { code, bits, lanes: 1 }
    }

    pub(crate) fn from_raw(raw: sb_dtype) -> Result<DType> {
        let found = Self::ALL.iter().find(|row| row.1 == raw.code && row.2 == raw.bits && raw.lanes == 1);
        found.map(|row| row.0).ok_or_else(|| {
            let text = format!(
                "a tensor type with code {}, {} bits, {} lanes is not supported",
                raw.code, raw.bits, raw.lanes
            );
            Error::unimplemented(Why::MODEL, text)
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Input,
    Output,
}

impl Direction {
    pub(crate) fn to_raw(self) -> i32 {
        match self {
            Direction::Input => SB_INPUT,
            Direction::Output => SB_OUTPUT,
        }
    }

    pub(crate) fn from_raw(raw: i32) -> Result<Direction> {
        match raw {
            SB_INPUT => Ok(Direction::Input),
            SB_OUTPUT => Ok(Direction::Output),
            other => Err(Error::invalid(format!("direction {other} is neither input (0) nor output (1)"))),
        }
    }
}

/// An input or output of a model. In `shape`, `None` is a dynamic dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<Option<usize>>,
    /// As many as `shape` has; `None` where a dimension has no name.
    pub dim_names: Vec<Option<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    Cpu,
    Gpu,
    Npu,
    Dsp,
    Browser,
    Other,
}

impl DeviceKind {
    fn to_raw(self) -> u32 {
        match self {
            DeviceKind::Cpu => SB_CPU,
            DeviceKind::Gpu => SB_GPU,
            DeviceKind::Npu => SB_NPU,
            DeviceKind::Dsp => SB_DSP,
            DeviceKind::Browser => SB_BROWSER,
            DeviceKind::Other => SB_OTHER,
        }
    }

    fn from_raw(raw: u32) -> DeviceKind {
        match raw {
            SB_CPU => DeviceKind::Cpu,
            SB_GPU => DeviceKind::Gpu,
            SB_NPU => DeviceKind::Npu,
            SB_DSP => DeviceKind::Dsp,
            SB_BROWSER => DeviceKind::Browser,
            _ => DeviceKind::Other,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Gpu => "gpu",
            DeviceKind::Npu => "npu",
            DeviceKind::Dsp => "dsp",
            DeviceKind::Browser => "browser",
            DeviceKind::Other => "other",
        }
    }
}

/// A device of a backend, or the evidence that it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub id: String,
    pub name: String,
    pub kind: DeviceKind,
    pub vendor: String,
    pub arch: String,
    pub driver: String,
    pub memory_bytes: Option<u64>,
    pub emulated: bool,
    /// Not [`Why::NONE`]: known of but not usable, and `reason` tells what was looked at.
    pub why: Why,
    pub reason: String,
}

impl Device {
    /// A usable device about which nothing else is known.
    pub fn new(id: &str, name: &str, kind: DeviceKind) -> Device {
        Device {
            id: id.into(),
            name: name.into(),
            kind,
            vendor: String::new(),
            arch: String::new(),
            driver: String::new(),
            memory_bytes: None,
            emulated: false,
            why: Why::NONE,
            reason: String::new(),
        }
    }

    pub(crate) fn to_raw(&self) -> sb_device {
        let mut raw: sb_device = grow::sized();
        raw.kind = self.kind.to_raw();
        raw.why = self.why.0;
        raw.flags = if self.emulated { SB_DEVICE_EMULATED } else { 0 };
        raw.place = sb_place { r#type: SB_HOST_MEMORY, id: 0 };
        raw.memory_bytes = or_unknown(self.memory_bytes);
        raw.id = text::to_array(&self.id);
        raw.name = text::to_array(&self.name);
        raw.vendor = text::to_array(&self.vendor);
        raw.arch = text::to_array(&self.arch);
        raw.driver = text::to_array(&self.driver);
        raw.reason = text::to_array(&self.reason);
        raw
    }

    pub(crate) fn from_raw(raw: &sb_device) -> Device {
        Device {
            id: text::from_array(&raw.id),
            name: text::from_array(&raw.name),
            kind: DeviceKind::from_raw(raw.kind),
            vendor: text::from_array(&raw.vendor),
            arch: text::from_array(&raw.arch),
            driver: text::from_array(&raw.driver),
            memory_bytes: known(raw.memory_bytes),
            emulated: raw.flags & SB_DEVICE_EMULATED != 0,
            why: Why(raw.why),
            reason: text::from_array(&raw.reason),
        }
    }
}

/// What really happened at load: never what was asked for. `None` where the engine cannot tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The effective precision: "float32", "float16", "bfloat16", "int8".
    pub precision: String,
    /// The id of the device that runs the model.
    pub device: String,
    /// Name and version of the engine.
    pub engine: String,
    pub nodes_total: Option<u64>,
    pub nodes_on_device: Option<u64>,
    /// Whether compiled code came from the cache folder; `None` for an engine that keeps no cache.
    pub cache_hit: Option<bool>,
    pub read_ns: Option<u64>,
    pub compile_ns: Option<u64>,
    pub upload_ns: Option<u64>,
}

impl Placement {
    pub(crate) fn to_raw(&self) -> sb_placement {
        let mut raw: sb_placement = grow::sized();
        raw.nodes_total = or_unknown(self.nodes_total);
        raw.nodes_on_device = or_unknown(self.nodes_on_device);
        raw.cache_hit = or_unknown(self.cache_hit.map(u64::from));
        raw.read_ns = or_unknown(self.read_ns);
        raw.compile_ns = or_unknown(self.compile_ns);
        raw.upload_ns = or_unknown(self.upload_ns);
        raw.precision = text::to_array(&self.precision);
        raw.device = text::to_array(&self.device);
        raw.engine = text::to_array(&self.engine);
        raw
    }

    /// A field beyond the size that the callee filled is unknown, not zero.
    pub(crate) fn from_raw(raw: &sb_placement) -> Placement {
        let size = raw.size as usize;
        let number = |offset: usize, value: u64| if size >= offset + 8 { known(value) } else { None };
        macro_rules! field {
            ($name:ident) => {
                number(std::mem::offset_of!(sb_placement, $name), raw.$name)
            };
        }
        Placement {
            precision: text::from_array(&raw.precision),
            device: text::from_array(&raw.device),
            engine: text::from_array(&raw.engine),
            nodes_total: field!(nodes_total),
            nodes_on_device: field!(nodes_on_device),
            cache_hit: field!(cache_hit).map(|hit| hit != 0),
            read_ns: field!(read_ns),
            compile_ns: field!(compile_ns),
            upload_ns: field!(upload_ns),
        }
    }
}

/// When a run happened, in nanoseconds of the host's clock. `None` where the engine cannot tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    pub start_ns: Option<u64>,
    pub end_ns: Option<u64>,
    pub host_to_device_ns: Option<u64>,
    pub device_to_host_ns: Option<u64>,
}

impl Timing {
    pub(crate) fn to_raw(self) -> sb_timing {
        let mut raw: sb_timing = grow::sized();
        raw.submit_ns = SB_UNKNOWN;
        raw.clock_error_ns = SB_UNKNOWN;
        raw.start_ns = or_unknown(self.start_ns);
        raw.end_ns = or_unknown(self.end_ns);
        raw.host_to_device_ns = or_unknown(self.host_to_device_ns);
        raw.device_to_host_ns = or_unknown(self.device_to_host_ns);
        raw
    }
}

/// Memory of a device in bytes. `None` where it cannot be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pub used: Option<u64>,
    pub peak: Option<u64>,
    pub total: Option<u64>,
}

impl Memory {
    pub(crate) fn to_raw(self) -> sb_memory {
        let mut raw: sb_memory = grow::sized();
        raw.scope = SB_SCOPE_DEVICE;
        raw.used = or_unknown(self.used);
        raw.peak = or_unknown(self.peak);
        raw.total = or_unknown(self.total);
        raw
    }

    pub(crate) fn from_raw(raw: &sb_memory) -> Memory {
        Memory { used: known(raw.used), peak: known(raw.peak), total: known(raw.total) }
    }
}

/// A named dimension. `min == opt == max` is a fixed one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    pub name: String,
    pub min: i64,
    pub opt: i64,
    pub max: i64,
}

impl Dim {
    pub fn fixed(name: &str, value: i64) -> Dim {
        Dim { name: name.into(), min: value, opt: value, max: value }
    }
}

/// Where a model's graph is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// "onnx".
    pub format: String,
    /// A file, its external data beside it.
    pub path: PathBuf,
}

impl Source {
    pub fn onnx(path: &Path) -> Source {
        Source { format: "onnx".into(), path: path.into() }
    }
}

/// What to load, and how.
#[derive(Clone, Debug)]
pub struct Load {
    pub source: Source,
    /// `None`: as the graph says.
    pub precision: Option<String>,
    /// An empty folder is a cold compile; `None`: no cache.
    pub cache_dir: Option<PathBuf>,
    /// Indices of devices; none: the first usable one.
    pub devices: Vec<u32>,
    pub dims: Vec<Dim>,
    pub allow_fallback: bool,
}

impl Load {
    pub fn new(source: Source) -> Load {
        Load { source, precision: None, cache_dir: None, devices: vec![], dims: vec![], allow_fallback: false }
    }
}

/// Options as a plugin gets them: dotted keys; scalars as text, objects as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(pub BTreeMap<String, String>);

impl Options {
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The option as `T`.
    ///
    /// # Errors
    /// `InvalidArgument`, naming the key and the text, where it does not parse.
    pub fn parse<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let wrong = |_| Error::invalid(format!("option {key}: '{value}' is not a {}", std::any::type_name::<T>()));
        value.parse().map(Some).map_err(wrong)
    }

    /// # Safety
    /// `raw` is null or a caller's options, its items readable.
    pub(crate) unsafe fn from_raw(raw: *const sb_options) -> Options {
        // SAFETY: the caller promises it.
        let Some(raw) = (unsafe { grow::read(raw) }) else { return Options::default() };
        if raw.items.is_null() {
            return Options::default();
        }
        // SAFETY: `count` frozen elements at `items`, each with two strings that live through the call.
        let items = unsafe { std::slice::from_raw_parts(raw.items, raw.count as usize) };
        let pair = |item: &sb_option| unsafe {
            Some((text::borrow(item.key)?.into_owned(), text::borrow(item.value).unwrap_or_default().into_owned()))
        };
        Options(items.iter().filter_map(pair).collect())
    }

    /// Lends the options in C layout for the length of one call.
    pub(crate) fn lend<R>(&self, call: impl FnOnce(*const sb_options) -> R) -> R {
        let texts: Vec<(CString, CString)> =
            self.0.iter().map(|(k, v)| (text::c_string(k), text::c_string(v))).collect();
        let items: Vec<sb_option> =
            texts.iter().map(|(key, value)| sb_option { key: key.as_ptr(), value: value.as_ptr() }).collect();
        let mut raw: sb_options = grow::sized();
        raw.count = items.len() as u32;
        raw.items = items.as_ptr();
        call(&raw const raw)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesKind {
    Duration,
    Rate,
    Bytes,
    Joules,
    Count,
    Ratio,
}

impl SeriesKind {
    const ALL: [(SeriesKind, u32, &'static str); 6] = [
        (SeriesKind::Duration, SB_DURATION, "duration"),
        (SeriesKind::Rate, SB_RATE, "rate"),
        (SeriesKind::Bytes, SB_BYTES, "bytes"),
        (SeriesKind::Joules, SB_JOULES, "joules"),
        (SeriesKind::Count, SB_COUNT, "count"),
        (SeriesKind::Ratio, SB_RATIO, "ratio"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("count", |row| row.2)
    }

    pub(crate) fn to_raw(self) -> u32 {
        Self::ALL.iter().find(|row| row.0 == self).map_or(SB_COUNT, |row| row.1)
    }

    pub(crate) fn from_raw(raw: u32) -> Result<SeriesKind> {
        let found = Self::ALL.iter().find(|row| row.1 == raw).map(|row| row.0);
        found.ok_or_else(|| Error::invalid(format!("series kind {raw} is not one of 0 to 5")))
    }
}

/// What a series of samples is.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesInfo {
    pub name: String,
    /// "ns" for durations.
    pub unit: String,
    pub kind: SeriesKind,
    /// `None` where neither direction is better.
    pub higher_is_better: Option<bool>,
    /// Samples of one round may overlap in time.
    pub concurrent: bool,
    /// How many inferences, tokens, models ... one sample stands for.
    pub items_per_sample: f64,
}

impl SeriesInfo {
    /// Durations in nanoseconds, one after the other, lower being better.
    pub fn duration(name: &str, items_per_sample: f64) -> SeriesInfo {
        SeriesInfo {
            name: name.into(),
            unit: "ns".into(),
            kind: SeriesKind::Duration,
            higher_is_better: Some(false),
            concurrent: false,
            items_per_sample,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundKind {
    WarmUp,
    Measured,
}

/// One round that a benchmark is asked to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    pub id: u64,
    pub kind: RoundKind,
    /// Iterations to run and to report, one sample each.
    pub iterations: u64,
    /// Unreported iterations before them.
    pub settle: u64,
}
