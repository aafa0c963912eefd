//! NVIDIA's driver on this machine: GPUs, or why there are none.

use skillbench_drivers::Evidence;
use skillbench_drivers::cuda::{self, Absent, Gpu};
use skillbench_plugin_api::{Error, Result, Why};

/// The GPUs that a process may compute on.
///
/// # Errors
/// `Unavailable`: what is missing, what was looked at, and what to do.
pub(crate) fn find(evidence: &mut Evidence) -> Result<Vec<Gpu>> {
    if cfg!(target_os = "macos") {
        let text = "CUDA has no version for macOS: use the mps backend there";
        return Err(Error::unavailable(Why::PLATFORM, text));
    }
    if cfg!(target_os = "linux") {
        evidence.node("/dev/nvidiactl");
        evidence.line("/proc/driver/nvidia/version");
    }
    let node = cfg!(target_os = "linux") && evidence.node("/dev/nvidia0");
    let on_bus = if cfg!(target_os = "linux") { evidence.pci("10de") } else { None };
    cuda::gpus(evidence).map_err(|absent| explain(absent, node, on_bus))
}

fn explain(absent: Absent, node: bool, on_bus: Option<usize>) -> Error {
    match absent {
        Absent::Driver(words) if node => {
            let text = format!(
                "NVIDIA's kernel driver is here, but not its library ({words}): install it, or in a container use \
                 NVIDIA's container toolkit (--gpus all)"
            );
            Error::unavailable(Why::DRIVER, text)
        }
        Absent::Driver(words) if on_bus == Some(0) => {
            let text = format!(
                "this machine has no NVIDIA GPU (none on the PCI bus, no /dev/nvidia0) and no driver for one ({words}): \
                 use another backend or machine"
            );
            Error::unavailable(Why(Why::DRIVER.0 | Why::DEVICE.0), text)
        }
        Absent::Driver(words) => {
            let text = format!(
                "there is no NVIDIA driver here ({words}; no /dev/nvidia0): install it, or start the container with its \
                 GPUs (--gpus all)"
            );
            Error::unavailable(Why::DRIVER, text)
        }
        Absent::Refused { code, text } => {
            // 100: CUDA_ERROR_NO_DEVICE.
            let why = if code == 100 { Why::DEVICE } else { Why::DRIVER };
            let text = format!(
                "NVIDIA's driver refuses to start (error {code}: {text}): check that nvidia-smi lists the GPU and that \
                 CUDA_VISIBLE_DEVICES does not hide it"
            );
            Error { vendor_code: code, ..Error::unavailable(why, text) }
        }
        Absent::NoDevice => {
            let text = "NVIDIA's driver has no GPU for this process: check nvidia-smi and CUDA_VISIBLE_DEVICES";
            Error::unavailable(Why::DEVICE, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::explain;
    use skillbench_drivers::cuda::Absent;
    use skillbench_plugin_api::Why;

    #[test]
    fn each_reason_has_its_own_sentence_and_next_step() {
        let missing = || Absent::Driver("libcuda.so.1: cannot open shared object file".into());
        let in_container = explain(missing(), true, Some(1));
        assert!(in_container.message.contains("libcuda.so.1") && in_container.message.contains("--gpus"));
        let no_gpu = explain(missing(), false, Some(0));
        assert!(no_gpu.message.contains("no NVIDIA GPU") && no_gpu.why.0 & Why::DEVICE.0 != 0);
        let no_driver = explain(missing(), false, None);
        assert!(no_driver.message.contains("no NVIDIA driver") && no_driver.why == Why::DRIVER);
        let hidden = explain(Absent::Refused { code: 100, text: "no CUDA-capable device".into() }, true, Some(1));
        assert_eq!((hidden.vendor_code, hidden.why), (100, Why::DEVICE));
        assert!(hidden.message.contains("CUDA_VISIBLE_DEVICES"));
    }
}
