//! AMD's HIP runtime: which GPUs a process may compute on.

use crate::evidence::Evidence;
use crate::library::Library;
use libloading::Symbol;
use std::ffi::{CStr, c_char, c_int};
use std::path::PathBuf;

/// Why there is nothing to compute on.
#[derive(Debug)]
pub enum Absent {
    /// The runtime's library cannot be loaded, or is something else: the loader's words.
    Runtime(String),
    /// The runtime refuses, with its own number and words.
    Refused {
        code: i32,
        text: String,
    },
    NoDevice,
}

/// A GPU, with the number that HIP knows it by.
#[derive(Clone, Debug)]
pub struct Gpu {
    pub ordinal: i32,
    pub name: String,
    pub memory_bytes: Option<u64>,
    /// "0000:c1:00.0": by it the kernel knows the same GPU.
    pub pci: Option<String>,
}

/// Newest first: MIGraphX of today wants 7.
const RUNTIME: [&str; 3] = if cfg!(windows) {
    ["amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"]
} else {
    ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"]
};

// The types of the calls, the same in every version of HIP; `hipError_t` is an int, 0 where all is well.
type Count = unsafe extern "C" fn(*mut c_int) -> c_int;
type Text = unsafe extern "C" fn(c_int) -> *const c_char;
type Get = unsafe extern "C" fn(*mut c_int, c_int) -> c_int;
type Name = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
type Memory = unsafe extern "C" fn(*mut usize, c_int) -> c_int;

/// The GPUs that HIP lets this process use.
///
/// # Errors
/// Why there are none.
pub fn gpus(folders: &[PathBuf], evidence: &mut Evidence) -> Result<Vec<Gpu>, Absent> {
    let mut first = None;
    let found = RUNTIME
        .iter()
        .find_map(|name| Library::open(name, folders, evidence).map_err(|text| first.get_or_insert(text).clone()).ok());
    let Some(library) = found else { return Err(Absent::Runtime(first.unwrap_or_default())) };
    let library = library.keep();

    for (what, call) in [("HIP version of the driver", "hipDriverGetVersion"), ("HIP version", "hipRuntimeGetVersion")]
    {
        if let Ok(version) = count(library, call) {
            evidence.add(what, version);
        }
    }
    let count = count(library, "hipGetDeviceCount");
    let told = count.as_ref().map_or_else(said, ToString::to_string);
    evidence.add("hipGetDeviceCount", told);
    let gpus: Vec<Gpu> = (0..count?).filter_map(|ordinal| describe(library, ordinal)).collect();
    if gpus.is_empty() { Err(Absent::NoDevice) } else { Ok(gpus) }
}

fn said(absent: &Absent) -> String {
    match absent {
        Absent::Runtime(text) => text.clone(),
        Absent::Refused { code, text } => format!("error {code}: {text}"),
        Absent::NoDevice => "no device".into(),
    }
}

/// A call that gives back one number.
fn count(library: &Library, call: &str) -> Result<i32, Absent> {
    let mut number: c_int = 0;
    // SAFETY: the calls that this is asked for have this type; the pointer to a local is writable.
    let code = unsafe {
        let ask: Symbol<'_, Count> = library.opened.get(call).map_err(|_| missing(library, call))?;
        ask(&raw mut number)
    };
    if code == 0 { Ok(number) } else { Err(Absent::Refused { code, text: text(library, code) }) }
}

fn missing(library: &Library, call: &str) -> Absent {
    Absent::Runtime(format!("{} is not the HIP runtime (no {call})", library.path.display()))
}

fn text(library: &Library, code: c_int) -> String {
    // SAFETY: the symbol has this type; the text that comes back is static.
    unsafe {
        let Ok(tell) = library.opened.get::<Text>(b"hipGetErrorString") else { return String::new() };
        let text = tell(code);
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

fn describe(library: &Library, ordinal: i32) -> Option<Gpu> {
    let (mut handle, mut bytes) = (0, 0usize);
    let mut name = [0u8; 256];
    let mut pci = [0u8; 64];
    // SAFETY: the symbols have these types; pointers to locals are writable, and the lengths are those of the locals.
    unsafe {
        let get: Symbol<'_, Get> = library.opened.get(b"hipDeviceGet").ok()?;
        if get(&raw mut handle, ordinal) != 0 {
            return None;
        }
        let named = library.opened.get::<Name>(b"hipDeviceGetName");
        let named = named.is_ok_and(|call| call(name.as_mut_ptr().cast(), name.len() as c_int, handle) == 0);
        let sized = library.opened.get::<Memory>(b"hipDeviceTotalMem");
        let sized = sized.is_ok_and(|call| call(&raw mut bytes, handle) == 0);
        let placed = library.opened.get::<Name>(b"hipDeviceGetPCIBusId");
        let placed = placed.is_ok_and(|call| call(pci.as_mut_ptr().cast(), pci.len() as c_int, ordinal) == 0);
        Some(Gpu {
            ordinal,
            name: named.then(|| until_nul(&name)).filter(|name| !name.is_empty()).unwrap_or_else(|| "AMD GPU".into()),
            memory_bytes: sized.then_some(bytes as u64),
            pci: placed.then(|| until_nul(&pci).to_lowercase()).filter(|id| !id.is_empty()),
        })
    }
}

fn until_nul(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::{Absent, gpus, until_nul};
    use crate::Evidence;

    /// Holds with a GPU and without: never a panic, and either GPUs or a reason.
    #[test]
    fn a_machine_has_gpus_or_says_why_not() {
        let mut evidence = Evidence::default();
        match gpus(&[], &mut evidence) {
            Ok(gpus) => assert!(gpus.iter().all(|gpu| !gpu.name.is_empty()), "{gpus:?}"),
            Err(Absent::Runtime(text)) => assert!(text.contains("libamdhip64") || text.contains("amdhip64"), "{text}"),
            Err(Absent::Refused { code, text }) => assert!(code != 0 && !text.is_empty()),
            Err(Absent::NoDevice) => {}
        }
        assert!(evidence.iter().next().is_some());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_of_that_name_that_is_no_hip_runtime_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let files = maps.lines().filter_map(|line| line.find('/').map(|start| &line[start..]));
        let other = files.into_iter().find(|file| file.contains("libgcc_s.so")).expect("a library of this process");
        std::fs::copy(other, folder.path().join("libamdhip64.so.7")).unwrap();
        let answer = gpus(&[folder.path().into()], &mut Evidence::default());
        assert!(matches!(&answer, Err(Absent::Runtime(text)) if text.contains("not the HIP runtime")), "{answer:?}");
    }

    #[test]
    fn a_name_ends_where_c_ends_it() {
        assert_eq!(until_nul(b"AMD Instinct \0rest"), "AMD Instinct");
        assert_eq!(until_nul(b""), "");
    }
}
