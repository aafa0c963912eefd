//! NVIDIA's driver: which GPUs a process may compute on, and copies to them (`copies`). Looking makes no context: that would take memory
//! of the GPU.

mod copies;

pub use copies::Copies;

use crate::evidence::Evidence;
use crate::library::Library;
use cudarc::driver::result::device;
use cudarc::driver::sys::{self, CUdevice_attribute, CUresult};
use cudarc::driver::{DriverError, result};
use libloading::Symbol;
use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};

/// Why there is nothing to compute on.
#[derive(Debug)]
pub enum Absent {
    /// The driver's library cannot be loaded: the loader's words.
    Driver(String),
    /// The driver refuses, with its own number and words.
    Refused { code: i32, text: String },
    /// The driver is well, and has no GPU for this process.
    NoDevice,
}

/// A GPU, in the order and with the number that CUDA knows it by.
#[derive(Clone, Debug)]
pub struct Gpu {
    pub ordinal: i32,
    pub name: String,
    /// "GPU-...": by it NVML knows the same GPU, whatever the environment hides or renumbers.
    pub uuid: Option<String>,
    pub memory_bytes: Option<u64>,
    /// Compute capability: (9, 0).
    pub capability: Option<(i32, i32)>,
}

/// The file name of the driver's library.
const DRIVER: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// Where NVIDIA's libraries are in containers and under WSL whose loader does not look there.
const FOLDERS: [&str; 2] = ["/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"];

/// A library of the driver that lies in a folder of its own; `None` where the loader has to find it.
pub fn beside_the_loader(name: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

/// The GPUs that the driver lets this process use.
///
/// # Errors
/// Why there are none.
pub fn gpus(evidence: &mut Evidence) -> Result<Vec<Gpu>, Absent> {
    let library = Library::open(DRIVER, &[], evidence);
    // Opened by its path, it is the one that is found by its name from then on.
    let library = library.or_else(|words| {
        let found = beside_the_loader(DRIVER).ok_or(words)?;
        Library::open(&found.to_string_lossy(), &[], evidence)
    });
    let library = library.map_err(Absent::Driver)?;
    library.keep();
    // SAFETY: it opens the driver's library, which is open, and closes it again. Without it every later call would panic.
    if !unsafe { sys::is_culib_present() } {
        return Err(Absent::Driver(format!("{DRIVER} is there, but under a name that is not searched for")));
    }
    let refused = |error: DriverError| Absent::Refused { code: error.0 as i32, text: words(error) };
    let started = result::init().map_err(refused);
    evidence.add("cuInit", outcome(&started));
    started?;
    if let Some(version) = api_version() {
        evidence.add("CUDA version of the driver", format!("{}.{}", version / 1000, version % 1000 / 10));
    }
    let count = device::get_count().map_err(refused);
    evidence.add("cuDeviceGetCount", count.as_ref().map_or_else(said, ToString::to_string));
    let gpus: Vec<Gpu> = (0..count?).filter_map(describe).collect();
    if gpus.is_empty() { Err(Absent::NoDevice) } else { Ok(gpus) }
}

/// The driver's own, or the name of the error.
fn words(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("{:?}", error.0))
}

fn outcome<T>(result: &Result<T, Absent>) -> String {
    result.as_ref().map_or_else(said, |_| "ok".into())
}

fn said(absent: &Absent) -> String {
    match absent {
        Absent::Driver(text) => text.clone(),
        Absent::Refused { code, text } => format!("error {code}: {text}"),
        Absent::NoDevice => "no device".into(),
    }
}

/// The highest version of CUDA that the driver serves: 13000 for 13.0.
fn api_version() -> Option<i32> {
    let mut version = 0;
    // SAFETY: the driver is loaded; the pointer to a local is writable.
    let status = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    (status == CUresult::CUDA_SUCCESS).then_some(version)
}

fn describe(ordinal: i32) -> Option<Gpu> {
    let handle = device::get(ordinal).ok()?;
    // SAFETY: `handle` was just returned by the driver, for these three calls.
    let attribute = |which: CUdevice_attribute| unsafe { device::get_attribute(handle, which) }.ok();
    let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    Some(Gpu {
        ordinal,
        name: device::get_name(handle).unwrap_or_else(|_| "NVIDIA GPU".into()),
        uuid: device::get_uuid(handle).ok().map(|uuid| uuid_text(uuid.bytes.map(|byte| byte as u8))),
        // SAFETY: as above.
        memory_bytes: unsafe { device::total_mem(handle) }.ok().map(|bytes| bytes as u64),
        capability: major.zip(minor),
    })
}

fn uuid_text(bytes: [u8; 16]) -> String {
    let hex = |range: std::ops::Range<usize>| bytes[range].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("GPU-{}-{}-{}-{}-{}", hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16))
}

/// Asks the CUDA runtime that a library was built for whether the driver serves it: the count of its devices.
///
/// # Errors
/// The runtime's number and words: an older driver, for one.
pub fn ask_runtime(runtime: &Library) -> Result<i32, (i32, String)> {
    let strange = || (-1, "it is not the CUDA runtime".to_string());
    let mut count: c_int = 0;
    // SAFETY: the symbols have these types in every version of the CUDA runtime; the pointer to a local is writable; the
    // text that comes back is static.
    unsafe {
        let ask: Symbol<'_, unsafe extern "C" fn(*mut c_int) -> c_int> =
            runtime.opened.get(b"cudaGetDeviceCount").map_err(|_| strange())?;
        let tell: Symbol<'_, unsafe extern "C" fn(c_int) -> *const c_char> =
            runtime.opened.get(b"cudaGetErrorString").map_err(|_| strange())?;
        match ask(&raw mut count) {
            0 => Ok(count),
            code => {
                let text = tell(code);
                let known = !text.is_null();
                let text = if known { CStr::from_ptr(text).to_string_lossy().into_owned() } else { String::new() };
                Err((code, text))
            }
        }
    }
}

/// The version of a CUDA runtime: "13.0". It is known without a driver.
pub fn runtime_version(runtime: &Library) -> Option<String> {
    let mut version: c_int = 0;
    // SAFETY: the symbol has this type in every version of the CUDA runtime; the pointer to a local is writable.
    let status = unsafe {
        let ask: Symbol<'_, unsafe extern "C" fn(*mut c_int) -> c_int> =
            runtime.opened.get(b"cudaRuntimeGetVersion").ok()?;
        ask(&raw mut version)
    };
    (status == 0 && version > 0).then(|| format!("{}.{}", version / 1000, version % 1000 / 10))
}

/// The version of a cuDNN since 9: "9.19.0".
pub fn cudnn_version(cudnn: &Library) -> Option<String> {
    // SAFETY: the symbol has this type in every version of cuDNN.
    let version = unsafe {
        let ask: Symbol<'_, unsafe extern "C" fn() -> usize> = cudnn.opened.get(b"cudnnGetVersion").ok()?;
        ask()
    };
    (version >= 90_000).then(|| format!("{}.{}.{}", version / 10_000, version % 10_000 / 100, version % 100))
}

/// The version of CUDA that a cuDNN since 9 was built for: 13000 for 13.0.
pub fn cudnn_built_for(cudnn: &Library) -> Option<usize> {
    // SAFETY: the symbol has this type in every version of cuDNN.
    let version = unsafe {
        let ask: Symbol<'_, unsafe extern "C" fn() -> usize> = cudnn.opened.get(b"cudnnGetCudartVersion").ok()?;
        ask()
    };
    (version > 0).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::{Absent, gpus, uuid_text};
    use crate::Evidence;

    /// Holds with a GPU and without: never a panic, and either GPUs or a reason that the evidence repeats.
    #[test]
    fn a_machine_has_gpus_or_says_why_not() {
        let mut evidence = Evidence::default();
        let answer = gpus(&mut evidence);
        let (what, found) = evidence.iter().next().expect("the driver's library was looked at");
        match answer {
            Ok(gpus) => assert!(gpus.iter().all(|gpu| !gpu.name.is_empty()), "{gpus:?}"),
            Err(Absent::Driver(text)) => assert!(found.contains(&*text) && text.contains(what), "{what}: {text}"),
            Err(Absent::Refused { code, text }) => assert!(code != 0 && !text.is_empty()),
            Err(Absent::NoDevice) => {}
        }
    }

    #[test]
    fn a_uuid_is_written_as_nvml_writes_it() {
        let bytes = [0x1a, 0, 0, 1, 0x2b, 2, 3, 3, 4, 4, 5, 5, 5, 5, 5, 0xff];
        assert_eq!(uuid_text(bytes), "GPU-1a000001-2b02-0303-0404-0505050505ff");
    }
}
