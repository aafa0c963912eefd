//! AMD's driver and ROCm on this machine: GPUs, or why there are none.

use skillbench_drivers::hip::{self, Absent, Gpu};
use skillbench_drivers::{Evidence, Library};
use skillbench_plugin_api::{Error, Result, Why};
use std::path::PathBuf;

/// Where ROCm's packages put their libraries.
const ROCM: [&str; 2] = ["/opt/rocm/lib", "/opt/rocm/lib/migraphx/lib"];
const MIGRAPHX: &str = "libmigraphx_c.so.3";

/// The folders of the option, then those of ROCm's packages.
pub(crate) fn folders(option: Option<&str>) -> Vec<PathBuf> {
    skillbench_drivers::folders(option).into_iter().chain(ROCM.map(PathBuf::from)).collect()
}

/// The GPUs that a process may compute on.
///
/// # Errors
/// `Unavailable`: what is missing, what was looked at, and what to do.
pub(crate) fn find(folders: &[PathBuf], evidence: &mut Evidence) -> Result<Vec<Gpu>> {
    if cfg!(not(target_os = "linux")) {
        let text = "ONNX Runtime with MIGraphX is for Linux only: use another backend here";
        return Err(Error::unavailable(Why::PLATFORM, text));
    }
    evidence.line("/sys/module/amdgpu/version");
    evidence.node("/dev/dri/renderD128");
    let node = evidence.node("/dev/kfd");
    let there = std::path::Path::new("/dev/kfd").exists();
    let on_bus = evidence.pci("1002");
    hip::gpus(folders, evidence).map_err(|absent| explain(absent, there, node, on_bus))
}

fn explain(absent: Absent, there: bool, usable: bool, on_bus: Option<usize>) -> Error {
    match absent {
        Absent::Runtime(words) if there => {
            let text = format!("AMD's kernel driver is here, but not ROCm ({words}): install ROCm 7, with MIGraphX");
            Error::unavailable(Why::RUNTIME, text)
        }
        Absent::Runtime(words) if on_bus == Some(0) => {
            let text = format!(
                "this machine has no AMD GPU (none on the PCI bus, no /dev/kfd) and no ROCm ({words}): use another \
                 backend, or a machine with such a GPU"
            );
            Error::unavailable(Why(Why::DRIVER.0 | Why::DEVICE.0), text)
        }
        Absent::Runtime(words) => {
            let text = format!(
                "there is no AMD compute driver here (no /dev/kfd) and no ROCm ({words}): install both, or start the \
                 container with --device /dev/kfd --device /dev/dri"
            );
            Error::unavailable(Why::DRIVER, text)
        }
        Absent::Refused { code, text } => {
            let hint = if there && !usable {
                "/dev/kfd is there, but this user may not open it: join the groups render and video"
            } else {
                "check that rocminfo lists the GPU and that HIP_VISIBLE_DEVICES does not hide it"
            };
            // 100: hipErrorNoDevice.
            let why = if code == 100 { Why::DEVICE } else { Why::DRIVER };
            let text = format!("HIP finds no GPU (error {code}: {text}): {hint}");
            Error { vendor_code: code, ..Error::unavailable(why, text) }
        }
        Absent::NoDevice => {
            let text = "HIP has no GPU for this process: check rocminfo and HIP_VISIBLE_DEVICES";
            Error::unavailable(Why::DEVICE, text)
        }
    }
}

/// Opens MIGraphX, so that ONNX Runtime's provider finds it by name; where it is missing, the provider says so itself.
pub(crate) fn open_migraphx(folders: &[PathBuf], evidence: &mut Evidence) {
    if cfg!(target_os = "linux")
        && let Ok(library) = Library::open(MIGRAPHX, folders, evidence)
    {
        library.keep();
    }
}

#[cfg(test)]
mod tests {
    use super::{explain, folders};
    use skillbench_drivers::hip::Absent;
    use skillbench_plugin_api::Why;

    #[test]
    fn each_reason_has_its_own_sentence_and_next_step() {
        let missing = || Absent::Runtime("libamdhip64.so.7: cannot open shared object file".into());
        let no_rocm = explain(missing(), true, true, Some(1));
        assert!(no_rocm.message.contains("install ROCm 7") && no_rocm.why == Why::RUNTIME);
        let no_gpu = explain(missing(), false, false, Some(0));
        assert!(no_gpu.message.contains("no AMD GPU") && no_gpu.why.0 & Why::DEVICE.0 != 0);
        let in_container = explain(missing(), false, false, Some(1));
        assert!(in_container.message.contains("--device /dev/kfd") && in_container.why == Why::DRIVER);
        let none = || Absent::Refused { code: 100, text: "no ROCm-capable device is detected".into() };
        assert!(explain(none(), true, false, None).message.contains("groups render"));
        assert_eq!(
            (explain(none(), true, true, None).vendor_code, explain(none(), true, true, None).why),
            (100, Why::DEVICE)
        );
    }

    #[test]
    fn folders_of_the_option_go_before_those_of_the_packages() {
        let all = folders(Some("/mine"));
        assert_eq!(all[0].to_str(), Some("/mine"));
        assert!(all.len() > 1);
    }
}
