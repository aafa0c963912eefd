//! What a backend says about its execution provider.

use crate::graph::Arithmetic;
use ort::AsPointer;
use ort::device::Device as EpDevice;
use ort::memory::DeviceType;
use ort::sys::OrtKeyValuePairs;
use skillbench_drivers::Copier;
use skillbench_plugin_api::{Device, DeviceKind, Load, Result};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The name of the provider that every library has, and that nodes fall back to.
pub(crate) const CPU: &str = "CPUExecutionProvider";

/// One execution provider, as one backend uses it.
pub trait Provider: Send + Sync + 'static {
    /// The name that ONNX Runtime knows it by: "CPUExecutionProvider".
    fn name(&self) -> &str;

    /// The library that it comes in; `None`: libonnxruntime itself.
    fn library(&self) -> Option<&Path> {
        None
    }

    /// Its devices where sessions take it in by name: it is built into libonnxruntime, or lies beside it as a library that only
    /// that can load. ONNX Runtime lists no devices of it; these are the backend's own, and an option of the provider says
    /// which one a load means.
    fn by_name(&self) -> Option<&[Device]> {
        None
    }

    /// The memory of one of the devices that it has [by name](Provider::by_name). `None`: ONNX Runtime copies within a run, and nobody tells for
    /// how long.
    fn named_memory(&self, _device: usize) -> Option<NamedMemory> {
        None
    }

    /// A listed device, as the host is to know it. Ids differ between devices.
    fn describe(&self, hardware: &Hardware) -> Device {
        Device::new(hardware.kind.name(), &hardware.vendor, hardware.kind)
    }

    /// The backend's devices, given those that the provider lists: for each the one of the list that it is reached through;
    /// none for a device that is known of and cannot be used.
    fn devices(&self, listed: &[Hardware]) -> Vec<(Option<usize>, Device)> {
        let devices: Vec<Device> = match self.by_name() {
            Some(own) => own.to_vec(),
            None => listed.iter().map(|hardware| self.describe(hardware)).collect(),
        };
        devices.into_iter().enumerate().map(|(index, device)| (Some(index), device)).collect()
    }

    /// What computes beneath it, and its version: "QNN SDK 2.51.0". `None`: what its devices say.
    fn beneath(&self) -> Option<String> {
        None
    }

    /// Whether ONNX Runtime leaves arithmetic of shapes on the processor. The engine's name says how much, and it counts for no fallback.
    fn leaves_shapes(&self) -> bool {
        false
    }

    /// Whether it takes only graphs whose dimensions are all fixed.
    fn fixed_shapes(&self) -> bool {
        false
    }

    /// Whether a float32 graph is put in this precision where it is asked for: the provider has kernels for it.
    fn converts_to(&self, _precision: &str) -> bool {
        false
    }

    /// Whether what it makes of points where to quantize shows in the optimized graph of a session: which kernels multiply integers.
    fn shows_integers(&self) -> bool {
        false
    }

    /// Whether it computes a sum or a product with a constant that is repeated along outer dimensions wrongly, where a LayerNormalization
    /// takes the result. Such constants are written out before it gets the graph.
    fn mistakes_repeated_constants(&self) -> bool {
        false
    }

    /// How to run this load on a device.
    ///
    /// # Errors
    /// `Unimplemented` for a precision that it has not.
    fn configure(&self, load: &Load, device: &Device) -> Result<Configuration>;

    /// The precision that the provider computes a graph in ("float32"), given what the graph asks for; `None` where that
    /// cannot be told. A request for another precision is refused after it.
    fn precision(&self, load: &Load, device: &Device, graph: Option<Arithmetic>) -> Option<&'static str>;
}

/// A device's memory that ONNX Runtime knows by a name, and what copies to it and back.
#[derive(Clone)]
pub struct NamedMemory {
    /// "Cuda".
    pub name: &'static CStr,
    /// The number of the device, as the provider's options have it.
    pub device: i32,
    /// The backend's devices whose memory this is, by their numbers: `Place::id` of tensors there.
    pub places: Vec<i32>,
    pub copier: Arc<dyn Copier>,
}

/// Options of one load, as texts; for their keys see ONNX Runtime's documentation.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// Options of the provider, without the provider's name before the key.
    pub provider: Vec<(String, String)>,
    /// Configuration entries of the session.
    pub session: Vec<(String, String)>,
}

/// A device, as ONNX Runtime and the provider describe it.
#[derive(Clone, Debug)]
pub struct Hardware {
    pub kind: DeviceKind,
    pub vendor: String,
    /// What the provider and the platform say about it, by their keys.
    pub metadata: BTreeMap<String, String>,
}

impl fmt::Display for Hardware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.kind.name(), self.vendor)?;
        self.metadata.iter().try_for_each(|(key, value)| write!(f, ", {key} {value}"))
    }
}

impl Hardware {
    pub(crate) fn of(device: &EpDevice<'_>) -> Hardware {
        let hardware = device.hardware_device();
        let kind = match hardware.ty() {
            DeviceType::CPU => DeviceKind::Cpu,
            DeviceType::GPU => DeviceKind::Gpu,
            DeviceType::NPU => DeviceKind::Npu,
            _ => DeviceKind::Other,
        };
        let api = ort::api();
        // SAFETY: both devices belong to the environment, which is never dropped, and so do their pairs.
        let metadata = unsafe {
            let platform = pairs((api.HardwareDevice_Metadata)(hardware.ptr()));
            platform.into_iter().chain(pairs((api.EpDevice_EpMetadata)(device.ptr()))).collect()
        };
        Hardware { kind, vendor: hardware.vendor().unwrap_or_default().into(), metadata }
    }
}

/// # Safety
/// `list` is null or a list of ONNX Runtime that lives through the call.
unsafe fn pairs(list: *const OrtKeyValuePairs) -> Vec<(String, String)> {
    if list.is_null() {
        return vec![];
    }
    let (mut keys, mut values, mut count) = (std::ptr::null(), std::ptr::null(), 0);
    // SAFETY: the caller promises the list; the arrays hold `count` strings that live as long as it.
    unsafe {
        (ort::api().GetKeyValuePairs)(list, &raw mut keys, &raw mut values, &raw mut count);
        let text =
            |strings: *const *const c_char, index| CStr::from_ptr(*strings.add(index)).to_string_lossy().into_owned();
        (0..count).map(|index| (text(keys, index), text(values, index))).collect()
    }
}
